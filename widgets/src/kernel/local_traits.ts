// Traits of a graph view inside another view, which supplies the graph; the kernel has no part in them.
import type { Batch, GraphTraits, WireRows } from "./graph_messages";
import type { Change, Traits } from "./traits";

export class LocalTraits implements Traits<GraphTraits> {
  readonly #values: GraphTraits;
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(ops: WireRows, values: Partial<GraphTraits> = {}) {
    this.#values = {
      _graph: "",
      _ops: ops,
      _runs: 0,
      _first: -1,
      _batches: 0,
      fetches: [],
      feeds: [],
      expanded: null,
      selected: "",
      depth: 1,
      height: 0,
      group_above: 300,
      aside: [],
      inline: [],
      labels: false,
      colour_by: "structure",
      figures: {},
      stopped_at: "",
      ...values,
    };
  }

  /** Appends a batch of rows. */
  push(batch: Batch): void {
    const count = this.#values._batches;
    this.#values[`_batch_${count}`] = batch;
    this.set("_batches", count + 1);
  }

  get<K extends keyof GraphTraits>(key: K): GraphTraits[K] {
    return this.#values[key];
  }

  set<K extends keyof GraphTraits>(key: K, value: GraphTraits[K]): void {
    this.#values[key] = value;
    for (const act of this.#listeners.get(`change:${key}`) ?? []) act();
  }

  save_changes(): void {
    // The kernel knows nothing of these.
  }

  on(event: Change<GraphTraits>, act: () => void): void {
    const known = this.#listeners.get(event);
    if (known === undefined) this.#listeners.set(event, new Set([act]));
    else known.add(act);
  }

  off(event: Change<GraphTraits>, act: () => void): void {
    this.#listeners.get(event)?.delete(act);
  }
}
