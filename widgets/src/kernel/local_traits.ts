// The state of a graph view that is a part of another: its graph comes from there, what is open or selected stays in the page.
import type { Batch, State, WidgetModel, WireRows } from "./messages";

export class PaneState {
  private readonly values: Omit<State, "_batches">;
  private readonly batches: Batch[] = [];
  private readonly listeners = new Map<string, Set<() => void>>();

  constructor(ops: WireRows, values: Partial<State> = {}) {
    this.values = {
      _graph: "",
      _ops: ops,
      _runs: 0,
      _first: -1,
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
      stopped_at: "",
      ...values,
    };
  }

  /** Rows that came later, in order. */
  push(batch: Batch): void {
    this.batches.push(batch);
    this.tell("_batches");
  }

  get model(): WidgetModel {
    return this as unknown as WidgetModel;
  }

  get(key: string): unknown {
    if (key === "_batches") return this.batches.length;
    if (key.startsWith("_batch_")) return this.batches[Number(key.slice(7))];
    return this.values[key as keyof typeof this.values];
  }

  set(key: string, value: unknown): void {
    Object.assign(this.values, { [key]: value });
    this.tell(key);
  }

  save_changes(): void {
    // nothing of this is the kernel's business
  }

  on(event: string, act: () => void): void {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    this.listeners.get(event)!.add(act);
  }

  off(event: string, act: () => void): void {
    this.listeners.get(event)?.delete(act);
  }

  private tell(key: string): void {
    for (const act of this.listeners.get(`change:${key}`) ?? []) act();
  }
}
