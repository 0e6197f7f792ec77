// The view of eager code: what ran as a graph, beside the lines, with the tapes on it and the values.
import type { ReadonlySignal } from "@preact/signals-core";
import { computed, effect } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import { digits, timeText } from "../base/format";
import type { NodeMarks } from "../drawing/canvas";
import { GraphWithTools } from "../graph_view/graph_with_tools";
import { hosted } from "../kernel/host";
import type { CodeBlock } from "../kernel/lines_messages";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import type { EagerTraits, WireRecording } from "../kernel/view_step_messages";
import { readable } from "../layout/box_style";
import type { SceneNode } from "../layout/scene";
import type { Node as GraphNode } from "../model/graph";
import { RecordedRun } from "../model/recorded_run";
import { LineLinks } from "../panels/line_links";
import { valueBlock } from "../panels/value_block";

/** A button that lights some of the ops. */
interface Chip {
  words: string;
  button: HTMLButtonElement;
  ops: ReadonlySignal<ReadonlySet<number>>;
}

class EagerView {
  readonly #graph: GraphWithTools;
  readonly #links: LineLinks;
  readonly #cleanup = new Cleanup();
  readonly #run: ReadonlySignal<RecordedRun>;
  readonly #taped: ReadonlySignal<Record<string, number[]>>;
  readonly #gradientOf: ReadonlySignal<Record<string, string>>;
  readonly #summary: ReadonlySignal<string>;
  readonly #root = h("div", { class: "tfteach-eager" });
  readonly #said = h("span", { class: "tft-eager-said" });
  readonly #chips: Chip[];

  constructor(traits: Traits<EagerTraits>, parent: HTMLElement) {
    parent.append(this.#root);
    const cleanup = this.#cleanup;
    const recorded = traitSignal(traits, "_recorded", cleanup);
    const code = traitSignal(traits, "_code", cleanup);
    this.#taped = traitSignal(traits, "_taped", cleanup);
    this.#gradientOf = traitSignal(traits, "_gradient_of", cleanup);
    this.#summary = traitSignal(traits, "_summary", cleanup);
    this.#run = computed(() => {
      const { values, steps, loops, words } = JSON.parse(recorded.value) as WireRecording;
      return new RecordedRun(values, steps, loops, words);
    });
    this.#links = new LineLinks("Code", () => this.#graph.view, traitSignal(traits, "_inner", cleanup));
    this.#graph = new GraphWithTools(traits, this.#root, {
      isRecord: true,
      decorate: (node, marks) => this.#links.node(node, this.#withTape(node, marks)),
      edge: (edge, classes) => this.#links.edge(edge, classes),
      details: (panel, node) => this.#details(panel, node),
    });
    this.#chips = [
      this.#chip("tape", "recorded by a tape", "The ops that a GradientTape recorded", this.#taped),
      this.#chip("backward", "for gradients", "The ops that compute gradients from a tape", this.#gradientOf),
    ];
    const { bar, body, legend } = this.#graph.view.frame;
    legend
      .querySelector("p")
      ?.replaceChildren(
        "Point at a line to see its ops; a click goes to the first of them, the next click to the next. ",
        "In the code, the arrow keys go from line to line. Boxes with the same letter (≅A) are built alike. ",
        "i and o trace what a box is made from and what is made from it; c changes the colours. ",
        "Under the pointer, ∇ joins an op and its gradients. Drag to pan; Ctrl and wheel to zoom.",
      );
    const strip = h("div", { class: "tft-eager-bar", role: "group", "aria-label": "What ran" });
    strip.append(this.#said, ...this.#chips.map((chip) => chip.button));
    bar.after(strip);
    const blocks = computed(() => JSON.parse(code.value) as CodeBlock[]);
    body.prepend(this.#links.add(blocks, cleanup));
    this.#links.connect(cleanup);
    this.#graph.start();
    cleanup.add(
      effect(() => this.#showStrip()),
      () => this.#graph.destroy(),
      () => this.#root.remove(),
    );
  }

  destroy(): void {
    this.#cleanup.end();
  }

  // --- what ran ---

  #chip(kind: string, words: string, title: string, names: ReadonlySignal<Record<string, unknown>>): Chip {
    const ops = computed((): ReadonlySet<number> => {
      const { model, state } = this.#graph.view;
      state.version.value;
      return new Set(Object.keys(names.value).flatMap((name) => model.byName.get(name) ?? []));
    });
    const made = button(words, title, () => {
      this.#links.pinned.value = this.#links.pinned.value === ops.value ? new Set() : ops.value;
    });
    made.classList.add(`tft-chip-${kind}`);
    return { words, button: made, ops };
  }

  #showStrip(): void {
    this.#said.textContent = this.#summary.value;
    for (const { words, button: chip, ops } of this.#chips) {
      chip.hidden = ops.value.size === 0;
      chip.textContent = `${digits(ops.value.size)} ${words}`;
      chip.setAttribute("aria-label", `${chip.textContent}: ${chip.title}`);
      chip.setAttribute("aria-pressed", `${ops.value.size > 0 && this.#links.pinned.value === ops.value}`);
    }
  }

  /** Marks what a tape recorded, and the op that failed. */
  #withTape(node: SceneNode, marks: NodeMarks): NodeMarks {
    const { model } = this.#graph.view;
    const own = model.opOf(node.node);
    const { failed, error } = this.#run.value.facts;
    if (failed !== null && !node.open && node.node.members.includes(failed[0])) {
      const badges = [...marks.badges, { text: "✕ failed", kind: "wrong" as const }];
      const label = `${marks.label}, failed with ${error}`;
      return { ...marks, classes: [...marks.classes, "tft-failed"], badges, label };
    }
    const isOn = own !== undefined && Object.hasOwn(this.#taped.value, own.name);
    if (!isOn || node.open) return marks;
    return { ...marks, classes: [...marks.classes, "tft-taped"], label: `${marks.label}, recorded by a tape` };
  }

  // --- the details of a box ---

  #details(panel: HTMLElement, node: GraphNode): void {
    const { view } = this.#graph;
    const op = view.model.opOf(node);
    if (op === undefined) return;
    const run = this.#run.value;
    const number = run.nearest(op.index, run.last);
    const step = number === undefined ? undefined : run.at(number);
    const facts: HTMLElement[] = [];
    const tapes = Object.hasOwn(this.#taped.value, op.name) ? this.#taped.value[op.name]! : [];
    if (step?.failed === true) facts.push(h("p", { class: "tft-failed-words" }, failureOf(run)));
    else if (step !== undefined) facts.push(h("p", {}, `Ran in ${timeText(step.elapsedUs)} on ${step.device}.`));
    if (tapes.length > 0) facts.push(h("p", { class: "tft-on-tape" }, `Recorded by tape ${tapes.join(" and tape ")}.`));
    const forward = Object.hasOwn(this.#gradientOf.value, op.name) ? this.#gradientOf.value[op.name]! : "";
    const index = view.model.byName.get(forward);
    if (index !== undefined) {
      const go = button(readable(forward), `Go to ${forward}`, () => view.goTo(index), "tft-link");
      facts.push(h("p", {}, "Part of the gradient of ", go));
    }
    const parts = [...facts];
    if (step !== undefined) {
      const block = (value: number): HTMLElement => valueBlock(run.values[value]!, null);
      if (step.inputs.length > 0) parts.push(section("It read", step.inputs.map(block)));
      if (step.outputs.length > 0) parts.push(section("It gave", step.outputs.map(block)));
    }
    panel.querySelector(".tft-details-head")?.after(h("div", { class: "tft-ran" }, ...parts));
  }
}

const failureOf = ({ facts }: RecordedRun): string => `✕ Failed with ${facts.error}: ${facts.message}`;

const section = (title: string, blocks: HTMLElement[]): HTMLElement => h("section", {}, h("h4", {}, title), ...blocks);

export default hosted((traits: Traits<EagerTraits>, el) => new EagerView(traits, el));
