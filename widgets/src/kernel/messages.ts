// What comes from Python: the state of the widget, and the batches in which a graph grows.

/** One op as Python sends it; the indices are positions in the graph's list of ops. */
export interface OpRow {
  name: string;
  type: string;
  /** Producer and output index by turns: [op, output, op, output, ...]. */
  inputs: number[];
  controls: number[];
  /** For each output its dtype ("float32", "float32_ref") and shape (-1 unknown size, null unknown rank). */
  outputs: [string, number[] | null][];
  device?: string;
  /** File, line number, function, and the line's text. */
  source?: [string, number, string, string];
  attrs?: Record<string, string>;
  /** A constant's value, short. */
  value?: string;
}

type WireOutputs = [string, number[] | null][];

/** An op on its way here: a list, because a graph may have 100,000. The last entry may be missing. */
export type WireRow = [
  name: string,
  type: string,
  inputs: number[],
  controls: number[],
  outputs: WireOutputs,
  more?: WireMore,
];

/** Ops as they travel: outputs and more are numbers of what is shared. */
export interface WireRows {
  rows: [name: string, type: string, inputs: number[], controls: number[], outputs: number, more: number][];
  shared: unknown[];
}

export interface WireMore {
  device?: string;
  source?: [string, number, string, string];
  attrs?: Record<string, string>;
  value?: string;
}

/** Ops added since the last batch; ops whose inputs changed; how many runs there were. */
export interface Batch extends WireRows {
  from: number;
  patches?: [number, WireRow][];
  runs?: number;
  /** How many ops there were when the first run began; -1 before. */
  first?: number;
}

export interface State {
  /** Which graph of the kernel's this is; "" for none that others show as well. */
  _graph: string;
  _ops: WireRows;
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

export function decodeAll({ rows, shared }: WireRows, from = 0, to = rows.length): OpRow[] {
  return rows
    .slice(from, to)
    .map(([name, type, inputs, controls, outputs, more]) =>
      decode([name, type, inputs, controls, shared[outputs] as WireOutputs, shared[more] as WireMore]),
    );
}
