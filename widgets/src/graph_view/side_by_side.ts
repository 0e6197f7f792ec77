// Two graphs side by side: removed, added and changed ops are marked; both pan, open and select together.

import { computed, effect, untracked } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import type { Badge } from "../drawing/badges";
import type { NodeMarks } from "../drawing/canvas";
import { withoutLikeness } from "../drawing/node_marks";
import type { GraphTraits, WireRows } from "../kernel/graph_messages";
import type { Traits } from "../kernel/traits";
import { overlaid, update } from "../kernel/traits";
import type { SceneNode } from "../layout/scene";
import { Comparison } from "../model/comparison";
import type { Node as GraphNode } from "../model/graph";
import type { Extensions } from "./extensions";
import { GraphView } from "./graph_view";

/** By op name: the differences, and the reasons for them. */
export interface Differences {
  changes: Record<string, string[]>;
  reasons?: Record<string, string[]>;
}

type Side = "before" | "after";

const SIGN: Record<Side, string> = { before: "−", after: "+" };
const WORD: Record<Side, string> = { before: "removed", after: "added" };

/** The traits as the view of the earlier graph sees them: other ops (and fetches), all else in common. */
export function earlier(traits: Traits<GraphTraits>, rows: WireRows, fetches: string[] = []): Traits<GraphTraits> {
  const own = { _ops: rows, _batches: 0, _runs: 0, _first: -1, stopped_at: "" };
  return overlaid(traits, fetches.length > 0 ? { ...own, fetches } : own);
}

export function legend(): HTMLElement[] {
  const rows: [string, string][] = [
    ["removed", "− only before"],
    ["added", "+ only after"],
    ["changed", "~ differs"],
  ];
  return rows.map(([name, text]) =>
    h("span", { class: "tft-diff-sign" }, h("i", { class: `tft-swatch tft-${name}`, "aria-hidden": "true" }), text),
  );
}

export class SideBySide {
  readonly #models: Record<Side, Traits<GraphTraits>>;
  readonly #differences: Differences;
  readonly #views: Record<Side, GraphView>;
  /** The differences, once both graphs are read; large ones arrive in chunks. */
  readonly #compared = computed((): Record<Side, Comparison> | null => {
    const { before, after } = this.#views;
    for (const { state } of [before, after]) {
      if (!state.ready.value) return null;
      state.version.value;
    }
    const changed = new Set(Object.keys(this.#differences.changes));
    return {
      before: new Comparison(before.model, after.model, changed),
      after: new Comparison(after.model, before.model, changed),
    };
  });
  readonly #cleanup = new Cleanup();
  readonly #root = h("div", { class: "tft-diff-pair" });
  readonly next = button("Next difference", "Go to the next op that differs (n)", () => this.#step(1));
  #at = -1;
  #following = false;
  #aligning = 0;

  constructor(
    models: Record<Side, Traits<GraphTraits>>,
    differences: Differences,
    parent: HTMLElement,
    extensions: Extensions = {},
  ) {
    this.#models = models;
    this.#differences = differences;

    parent.append(this.#root);
    const make = (side: Side): GraphView => {
      const title = side === "before" ? "Before" : "After";
      const half = h("section", { class: `tft-diff-half tft-diff-${side}`, "aria-label": title }, h("h3", {}, title));
      this.#root.append(half);
      return new GraphView(models[side], half, {
        ...extensions,
        decorate: (node, marks) => this.#decorate(side, node, marks),
        details: (panel, node) => this.#details(side, panel, node),
        drawn: () => this.#level(),
        key: (key) => {
          if (key === "n") this.#step(1);
          return key === "n";
        },
      });
    };
    this.#views = { before: make("before"), after: make("after") };
    const { before, after } = this.#views;
    before.canvas.onView = () => this.#follow(before, after);
    after.canvas.onView = () => this.#follow(after, before);
    this.next.hidden = true;
    before.start();
    after.start();
    this.#cleanup.add(
      () => this.#root.remove(),
      () => before.destroy(),
      () => after.destroy(),
      () => cancelAnimationFrame(this.#aligning),
      effect(() => {
        if (this.#compared.value !== null) untracked(() => this.#showCompared());
      }),
    );
  }

  #showCompared(): void {
    this.next.hidden = this.#places().length === 0;
    this.#level();
    this.#align();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  /** Selects an op, where it still is or where it was, and brings it into view. */
  goTo(name: string): void {
    const { before, after } = this.#views;
    const side: Side = after.model.byName.has(name) ? "after" : "before";
    const view = side === "after" ? after : before;
    const index = view.model.byName.get(name);
    if (index === undefined) return;
    if (!view.scene.byId.has(name)) view.goTo(index);
    else {
      update(this.#models[side], { selected: name });
      view.canvas.reveal(name);
    }
  }

  /** One half moves with the other. */
  #follow(from: GraphView, to: GraphView): void {
    if (this.#following) return;
    if (!from.userMoved && !to.userMoved) {
      // Each has fitted itself; once both have, they use the same scale.
      cancelAnimationFrame(this.#aligning);
      this.#aligning = requestAnimationFrame(() => this.#align());
      return;
    }
    this.#following = true;
    const { x, y, k } = from.canvas.view;
    if (from.userMoved) {
      to.moved();
      to.canvas.setView(x, y, k);
    } else to.fit();
    this.#following = false;
  }

  /** One scale for both, each from its top. */
  #align(): void {
    const views = Object.values(this.#views);
    if (views.some((view) => view.userMoved)) return;
    this.#following = true;
    const k = Math.min(...views.map((view) => view.canvas.view.k));
    for (const { canvas, scene } of views) {
      const { width } = canvas.el.getBoundingClientRect();
      canvas.setView(Math.max(22, (width - scene.w * k) / 2), 22, k);
    }
    this.#following = false;
  }

  /** Both halves as high as the higher one. */
  #level(): void {
    const views = Object.values(this.#views);
    if (views.some(({ state }) => !state.ready.value)) return;
    const most = Math.max(...views.map((view) => view.tall));
    for (const { frame } of views) frame.stage.style.height = `${most}px`;
  }

  #decorate(side: Side, node: SceneNode, marks: NodeMarks): NodeMarks {
    const found = this.#compared.value?.[side].count(node.node);
    if (found === undefined) return marks;
    const { classes, badges } = withoutLikeness(marks);
    const { alone, changed, ops } = found;
    if (alone + changed === 0) return { ...marks, classes: [...classes, "tft-same"], badges };
    const whole = alone === ops;
    const words =
      ops === 1
        ? [whole ? SIGN[side] : "~"]
        : [...(alone > 0 ? [`${SIGN[side]}${alone}`] : []), ...(changed > 0 ? [`~${changed}`] : [])];
    const spoken = [
      ...(alone > 0 ? [`${alone} ${WORD[side]}`] : []),
      ...(changed > 0 ? [`${changed} changed`] : []),
    ].join(", ");
    return {
      ...marks,
      label: `${marks.label}, ${spoken}`,
      classes: [...classes, "tft-differs", whole ? `tft-${WORD[side]}` : "tft-changed"],
      badges: [...(node.open ? [] : words.map((text): Badge => ({ text, kind: "difference" }))), ...badges],
    };
  }

  #details(side: Side, panel: HTMLElement, node: GraphNode): void {
    // Ops in both graphs show their details once, beside the later graph.
    panel.classList.toggle("tft-elsewhere", side === "before" && this.#views.after.nodeOf(node.id) !== undefined);
    const name = node.kind === "op" ? node.id : node.id.replace(/\/$/, "");
    const { changes, reasons = {} } = this.#differences;
    const said = (
      [
        ["Why", reasons],
        ["Changed", changes],
      ] as const
    ).map(([title, of]) => [title, Object.hasOwn(of, name) ? of[name]! : []] as const);
    const parts = said
      .filter(([, lines]) => lines.length > 0)
      .map(([title, lines]) =>
        h(
          "section",
          { class: "tft-diff-what" },
          h("h4", {}, title),
          h("ul", {}, ...lines.map((line) => h("li", {}, line))),
        ),
      );
    panel.querySelector(".tft-details-buttons")?.after(...parts);
  }

  /** All ops that differ: those of the later graph in its order, then what is gone. */
  #places(): { side: Side; index: number }[] {
    const { before, after } = this.#views;
    const differs = after.model.ops.filter(
      (op) => !before.model.byName.has(op.name) || Object.hasOwn(this.#differences.changes, op.name),
    );
    const gone = before.model.ops.filter((op) => !after.model.byName.has(op.name));
    return [
      ...differs.map((op) => ({ side: "after" as const, index: op.index })),
      ...gone.map((op) => ({ side: "before" as const, index: op.index })),
    ];
  }

  #step(by: number): void {
    const places = this.#places();
    if (places.length === 0) return;
    this.#at = (this.#at + by + places.length) % places.length;
    const { side, index } = places[this.#at]!;
    const view = this.#views[side];
    view.goTo(index);
    view.say(`Difference ${this.#at + 1} of ${places.length}: ${view.model.ops[index]!.name}`);
  }
}
