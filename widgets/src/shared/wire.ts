// What comes from Python: the state of the widget, and the batches in which a graph grows.
import type { OpRow } from "./model";

/** An op on its way here: a list, because a graph may have 50,000. The last entry may be missing. */
export type WireRow = [
  name: string, type: string, inputs: number[], controls: number[], outputs: [string, number[] | null][], more?: WireMore,
];

export interface WireMore {
  device?: string;
  source?: [string, number, string, string];
  attrs?: Record<string, string>;
  value?: string;
}

/** Ops added since the last batch; ops whose inputs changed; how many runs there were. */
export interface Batch {
  from: number;
  rows: WireRow[];
  patches?: [number, WireRow][];
  runs?: number;
  /** How many ops there were when the first run began; -1 before. */
  first?: number;
}

export interface State {
  /** Which graph of the kernel's this is; "" for none that others show as well. */
  _graph: string;
  _ops: WireRow[];
  _runs: number;
  _first: number;
  /** How many batches came after `_ops`; batch n is the attribute `_batch_n`. */
  _batches: number;
  fetches: string[];
  feeds: string[];
  /** Ids of open scopes ("layer1/"), null before the first look. */
  expanded: string[] | null;
  selected: string;
  depth: number;
  height: number;
  group_above: number;
  aside: string[];
  inline: string[];
  labels: boolean;
  stopped_at: string;
}

/** The part of anywidget's model that a view uses. */
export interface WidgetModel {
  get<K extends keyof State>(key: K): State[K];
  get(key: `_batch_${number}`): Batch | undefined;
  set<K extends keyof State>(key: K, value: State[K]): void;
  save_changes(): void;
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback: (...args: never[]) => void): void;
}

export function decode([name, type, inputs, controls, outputs, more]: WireRow): OpRow {
  return { name, type, inputs, controls, outputs, ...more };
}
