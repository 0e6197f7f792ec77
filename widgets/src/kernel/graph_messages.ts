// The messages between kernel and page about a graph: its traits, the rows that carry ops, and the objects decoded from
// them. view_messages.ts adds the traits of each view; a test compares all of them with the Python classes.

export interface GraphTraits {
  /** Identifies the kernel's graph; "" for one that no other view shows. */
  _graph: string;
  _ops: WireRows;
  /** How many `session.run` there were. */
  _runs: number;
  /** How many ops there were when the first run began; -1 before. */
  _first: number;
  /** How many batches followed `_ops`; batch n is the trait `_batch_n`. */
  _batches: number;
  [batch: `_batch_${number}`]: Batch | undefined;
  fetches: string[];
  feeds: string[];
  /** Ids of open scopes ("layer1/"), null until someone opens or closes one. */
  expanded: string[] | null;
  selected: string;
  depth: number;
  height: number;
  group_above: number;
  aside: string[];
  inline: string[];
  labels: boolean;
  colour_by: ColourBy;
  figures: Figures;
  /** Where an error in a cell ended the building; "" without one. */
  stopped_at: string;
}

export const COLOUR_BY = ["structure", "device", "family", "run", "cell", "time", "memory"] as const;
export type ColourBy = (typeof COLOUR_BY)[number];

/** By op name: what a run of it took. */
export type Figures = Record<string, { time_us?: number; bytes?: number }>;

type WireOutputs = [dtype: string, shape: number[] | null][];

interface WireMore {
  device?: string;
  source?: [file: string, line: number, scope: string, text: string];
  attrs?: Record<string, string>;
  value?: string;
  unknown?: boolean;
}

/** An op in transit: a list, since a graph may have 100,000 ops. `inputs` alternates op and output index. */
export type WireRow = [
  name: string,
  type: string,
  inputs: number[],
  controls: number[],
  outputs: WireOutputs,
  more?: WireMore,
];

/** Ops in transit, with `outputs` and `more` as indices into `shared`. */
export interface WireRows {
  rows: [name: string, type: string, inputs: number[], controls: number[], outputs: number, more: number][];
  shared: unknown[];
}

/** Ops added since the last batch, ops whose inputs changed, how many runs there were. */
export interface Batch extends WireRows {
  from: number;
  patches?: [index: number, row: WireRow][];
  runs?: number;
  first?: number;
}

/** An output of an op; `port` is its index. */
export interface Input {
  op: number;
  port: number;
}

export interface Output {
  /** "float32", or "float32_ref" of a reference. */
  dtype: string;
  /** null for an unknown rank, -1 for an unknown size. */
  shape: number[] | null;
}

/** The line of the program that built an op. */
export interface SourceLine {
  file: string;
  line: number;
  /** The function that the line is in. */
  scope: string;
  text: string;
}

/** One op as Python sends it; `op` numbers are positions in the graph's list of ops. */
export interface OpRow {
  name: string;
  type: string;
  inputs: readonly Input[];
  controls: readonly number[];
  outputs: readonly Output[];
  device?: string;
  source?: SourceLine;
  attrs?: Record<string, string>;
  /** A constant's value, abbreviated. */
  value?: string;
  /** tfteach does not have this op type. */
  unknown?: boolean;
}

export function decode([name, type, inputs, controls, outputs, more]: WireRow): OpRow {
  return { name, type, inputs: inputsOf(inputs), controls, outputs: outputsOf(outputs), ...moreOf(more) };
}

/** The ops `from` to `to`; what rows share is decoded once. */
export function decodeAll({ rows, shared }: WireRows, from = 0, to = rows.length): OpRow[] {
  const outputs: Output[][] = [];
  const more: Partial<OpRow>[] = [];
  return rows.slice(from, to).map(([name, type, inputs, controls, out, rest]) => {
    outputs[out] ??= outputsOf(shared[out] as WireOutputs);
    more[rest] ??= moreOf(shared[rest] as WireMore);
    return { name, type, inputs: inputsOf(inputs), controls, outputs: outputs[out], ...more[rest] };
  });
}

function inputsOf(flat: readonly number[]): Input[] {
  const inputs = new Array<Input>(flat.length / 2);
  for (let i = 0; i < inputs.length; i++) inputs[i] = { op: flat[2 * i]!, port: flat[2 * i + 1]! };
  return inputs;
}

const outputsOf = (outputs: WireOutputs): Output[] => outputs.map(([dtype, shape]) => ({ dtype, shape }));

function moreOf(more: WireMore = {}): Partial<OpRow> {
  const { source, ...rest } = more;
  if (source === undefined) return rest;
  const [file, line, scope, text] = source;
  return { ...rest, source: { file, line, scope, text } };
}
