// Joins lines of code to boxes of a graph: pointing at one lights the other.
import type { ReadonlySignal } from "@preact/signals-core";
import { computed, effect, signal } from "@preact/signals-core";
import type { Cleanup } from "../base/cleanup";
import type { NodeMarks } from "../drawing/canvas";
import type { CodeBlock } from "../kernel/lines_messages";
import type { SceneEdge, SceneNode } from "../layout/scene";
import type { Op } from "../model/graph";
import { CodeListing, keyOf } from "./code_listing";
import type { PanelHost } from "./panel_host";

export class LineLinks {
  readonly #host: () => PanelHost;
  readonly #lineOf: (op: Op) => string | undefined;
  readonly #label: string;
  readonly listings: CodeListing[] = [];
  readonly #pointed = signal<string | null>(null);
  /** Ops that are lit while nothing is pointed at. */
  readonly pinned = signal<ReadonlySet<number>>(new Set());
  /** The ops of each line. */
  readonly ofLine: ReadonlySignal<Map<string, number[]>>;
  readonly #lit: ReadonlySignal<ReadonlySet<number>>;

  /** `inner` has the lines of ops that have none of their own. */
  constructor(label: string, host: () => PanelHost, inner: ReadonlySignal<Record<string, [string, number]>>) {
    this.#host = host;
    this.#lineOf = ({ name, source }) => {
      if (source !== undefined) return keyOf(source.file, source.line);
      return Object.hasOwn(inner.value, name) ? keyOf(...inner.value[name]!) : undefined;
    };
    this.#label = label;
    this.ofLine = computed(() => {
      const { model, state } = host();
      state.version.value;
      const found = new Map<string, number[]>();
      for (const op of model.ops) {
        const key = this.#lineOf(op);
        if (key === undefined) continue;
        const known = found.get(key);
        if (known === undefined) found.set(key, [op.index]);
        else known.push(op.index);
      }
      return found;
    });
    this.#lit = computed(() => {
      const key = this.#pointed.value;
      return key === null ? this.pinned.value : new Set(this.ofLine.value.get(key));
    });
  }

  /** A listing of code, which follows the signal. */
  add(code: ReadonlySignal<CodeBlock[]>, cleanup: Cleanup, label = this.#label): HTMLElement {
    const listing = new CodeListing(label, {
      point: (key) => {
        this.#pointed.value = key;
      },
      choose: (key) => this.#choose(key),
    });
    this.listings.push(listing);
    cleanup.add(effect(() => listing.show(code.value)));
    return listing.el;
  }

  /** Called once the graph view is there; `current` is what the marked lines belong to, by default what is selected. */
  connect(cleanup: Cleanup, current?: () => string): void {
    const { state } = this.#host();
    const marked = current ?? ((): string => state.selectedNode.value?.id ?? "");
    cleanup.add(
      effect(() => {
        const id = state.hovered.value;
        for (const listing of this.listings) listing.light(id === null ? new Set() : this.#linesOf(id));
      }),
      effect(() => {
        for (const listing of this.listings) listing.mark(this.#linesOf(marked()));
      }),
    );
  }

  #linesOf(id: string): Set<string> {
    const { model } = this.#host();
    const node = id === "" ? undefined : this.#host().nodeOf(id);
    const own = node === undefined ? undefined : model.opOf(node);
    const members = own === undefined ? (node?.members ?? []) : [own.index];
    return new Set(members.flatMap((index) => this.#lineOf(model.ops[index]!) ?? []));
  }

  /** Goes to the first op of a line, or on to the next one. */
  #choose(key: string): void {
    const host = this.#host();
    const ops = this.ofLine.value.get(key) ?? [];
    const shown = ops.filter((index) => host.model.ops[index]!.type !== "Const");
    const selected = host.state.selectedNode.value;
    const now = selected === undefined ? undefined : host.model.opOf(selected)?.index;
    const next = shown[(shown.indexOf(now ?? -1) + 1) % Math.max(1, shown.length)] ?? ops[0];
    if (next !== undefined) host.goTo(next);
  }

  node(node: SceneNode, marks: NodeMarks): NodeMarks {
    const lit = this.#lit.value;
    if (lit.size === 0) return marks;
    const isLit = node.node.members.some((index) => lit.has(index));
    if (!isLit) return { ...marks, classes: [...marks.classes, "tft-dim"] };
    const classes = [...marks.classes.filter((name) => name !== "tft-dim"), "tft-of-line"];
    return { ...marks, classes, label: `${marks.label}, of this line` };
  }

  edge(edge: SceneEdge, classes: string[]): string[] {
    const lit = this.#lit.value;
    if (lit.size === 0) return classes;
    const inside = edge.base.some(({ from, to }) => lit.has(from) && lit.has(to));
    return [...classes.filter((name) => name !== "tft-dim"), inside ? "tft-lit" : "tft-dim"];
  }
}
