// The state of a graph view: open scopes, selection, fetches, the box under the pointer, and all that is derived from
// them. No DOM: graph_view.ts draws it.
import type { ReadonlySignal } from "@preact/signals-core";
import { computed, signal } from "@preact/signals-core";
import type { Cleanup } from "../base/cleanup";
import type { GraphTraits } from "../kernel/graph_messages";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import { update } from "../kernel/traits";
import { emptyScene } from "../layout/scene";
import type { GraphModel, Node as GraphNode } from "../model/graph";
import type { Highlight } from "../model/highlight";
import { highlight } from "../model/highlight";
import { splitName } from "../model/prune";
import { waves } from "../model/pruning_reasons";
import { likeness } from "./node_marks";

const NOTHING = emptyScene();

export interface Expansion {
  /** The scopes that are open. */
  ids: ReadonlySet<string>;
  /** Someone chose them; until then a growing graph opens to its depth. */
  chosen: boolean;
}

export class GraphState {
  readonly #traits: Traits<GraphTraits>;
  // --- shared with the kernel ---
  readonly selected: ReadonlySignal<string>;
  readonly fetches: ReadonlySignal<string[]>;
  readonly feeds: ReadonlySignal<string[]>;
  readonly stoppedAt: ReadonlySignal<string>;

  // --- the page's own ---
  readonly expansion = signal<Expansion>({ ids: new Set(), chosen: false });
  /** Shows only ops up to this distance from the fetches; null for all. */
  readonly wave = signal<number | null>(null);
  /** The box under the pointer. */
  readonly hovered = signal<string | null>(null);
  /** The ops that a search found. */
  readonly matches = signal<ReadonlySet<number>>(new Set());
  /** The layout; empty while a large graph is being read. */
  readonly scene = signal(NOTHING);
  /** There is a layout. */
  readonly ready = computed(() => this.scene.value !== NOTHING);

  // --- derived ---
  /** Rises when the graph itself changes. */
  readonly version = computed(() => {
    this.scene.value;
    return this.model.version;
  });
  /** The ops that a run of the fetches needs. */
  readonly #needs = computed((): Highlight => {
    this.version.value;
    return highlight(this.model, this.fetches.value, this.feeds.value);
  });
  /** Each needed op's distance from the fetches. */
  readonly #steps = computed(() => waves(this.model, this.#needs.value));
  /** The largest of these distances. */
  readonly depthOfRun = computed(() => Math.max(0, ...this.#steps.value.values()));
  /** The ops drawn as needed: all of them, or those up to `wave`. */
  readonly highlight: ReadonlySignal<Highlight>;
  readonly selectedNode = computed(() => this.nodeOf(this.selected.value));
  /** False while the graph has nothing of that name, perhaps not yet. */
  readonly isSelectedKnown = computed(() => this.selectedNode.value !== undefined);
  /** The box in the picture that shows what is selected; "" without one. */
  readonly selectedBox = computed((): string => {
    const [id, { byId, boxOf }] = [this.selected.value, this.scene.value];
    const hidden = byId.has(id) ? undefined : this.nodeOf(id)?.members[0];
    return hidden === undefined ? id : (boxOf.get(hidden)?.id ?? "");
  });
  /** The ops whose edges are lit. */
  readonly focus = computed((): Set<number> | null => {
    const node = this.scene.value.byId.get(this.hovered.value ?? this.selectedBox.value);
    // An open box contains everything inside it: lighting all of that would show nothing.
    return node === undefined || node.open ? null : new Set(node.node.members);
  });
  /** The colours of boxes with the same structure; a colour never changes once assigned. */
  readonly likeness = computed(() => likeness(this.model, this.scene.value.nodes, this.#likenessKnown));
  readonly #likenessKnown = new Map<string, number>();

  /** `isRun`: the graph is one run's, so nothing in it is pruned. */
  constructor(
    readonly model: GraphModel,
    traits: Traits<GraphTraits>,
    cleanup: Cleanup,
    isRun: boolean,
  ) {
    this.#traits = traits;

    this.selected = traitSignal(traits, "selected", cleanup);
    this.fetches = traitSignal(traits, "fetches", cleanup);
    this.feeds = traitSignal(traits, "feeds", cleanup);
    this.stoppedAt = traitSignal(traits, "stopped_at", cleanup);
    this.highlight = computed(() => {
      const [needs, wave] = [this.#needs.value, this.wave.value];
      if (isRun) return { ...needs, active: false };
      if (wave === null) return needs;
      const reached = [...this.#steps.value].filter(([, step]) => step <= wave).map(([index]) => index);
      return { ...needs, needed: new Set(reached) };
    });
    this.readExpanded();
  }

  /** The node of an id, or of a plain op name as Python writes it. */
  nodeOf(id: string): GraphNode | undefined {
    if (id === "") return undefined;
    const index = this.model.byName.get(splitName(id)[0]);
    return (
      this.scene.value.byId.get(id)?.node ??
      this.model.scopes.get(id) ??
      (index === undefined ? undefined : this.model.ops[index]!.node)
    );
  }

  isOpen(id: string): boolean {
    return this.expansion.value.ids.has(id);
  }

  // --- changes, which the kernel gets too ---

  select(id: string): void {
    update(this.#traits, { selected: id });
  }

  setNames(key: "fetches" | "feeds", names: string[]): void {
    update(this.#traits, key === "fetches" ? { fetches: names } : { feeds: names });
  }

  /** Fetches (or feeds) a tensor, or stops if one of its op's is. */
  toggleName(key: "fetches" | "feeds", name: string): void {
    const names = this[key].value;
    const [op] = splitName(name);
    const others = names.filter((n) => splitName(n)[0] !== op);
    this.setNames(key, others.length < names.length ? others : [...names, name]);
  }

  expand(ids: ReadonlySet<string>): void {
    this.expansion.value = { ids, chosen: true };
    update(this.#traits, { expanded: [...ids] });
  }

  /** Goes back to an earlier expansion. */
  restore(expansion: Expansion): void {
    if (expansion.chosen) this.expand(expansion.ids);
    else this.expansion.value = expansion;
  }

  /** Takes over the trait; true if that opens or closes anything. */
  readExpanded(): boolean {
    const known = this.#traits.get("expanded");
    const { ids } = this.expansion.value;
    if (known !== null && known.length === ids.size && known.every((id) => ids.has(id))) return false;
    this.expansion.value = { ids: new Set(known ?? []), chosen: known !== null };
    return true;
  }

  /** Opens to the trait `depth` again, whatever someone chose. */
  forgetChoice(): void {
    this.expansion.value = { ...this.expansion.value, chosen: false };
  }
}
