// The traits of the view of input pipelines, and the rows in them.

export interface PipelineStage {
  /** The name of its op, by which other views know it. */
  op: string;
  /** "source", "map", "shuffle", ..., "threads", "queue", "step". */
  kind: string;
  title: string;
  detail: string;
  /** The column of its river. */
  lane: number;
  /** Indices of the stages it reads. */
  inputs: number[];
  /** The line that built it, "In [3] line 4", and its code. */
  at: string;
  text: string;
}

export interface River {
  name: string;
  kind: string;
  /** In order: each behind those it reads, the step at the end. */
  stages: PipelineStage[];
  /** The place and the code of the line that runs the step; empty if unknown. */
  runs: [at: string, text: string] | [];
}

type WireFigures = [
  rate: string,
  count: string,
  shares: [busy: number, waits: number, idle: number],
  width: number,
  level: number,
  buffer: string,
  note: string,
  levels: number[],
];

export interface StageFigures {
  /** Elements per second, and how many there were; "" if unknown. */
  rate: string;
  count: string;
  /** Shares of the time, from 0 to 1. */
  shares: [busy: number, waits: number, idle: number];
  /** Of the river's bed, from 0 to 1. */
  width: number;
  /** How full its buffer is, from 0 to 1; negative without one. */
  level: number;
  buffer: string;
  note: string;
  /** How full the buffer was over time, in percent. */
  levels: number[];
}

export interface RiverFigures {
  /** How many steps, and how many per second. */
  head: string;
  /** The width of the water, in the measure of the beds. */
  flow: number;
  rows: WireFigures[];
  /** Of the verdict: "data", "step", "both", "stuck" or "idle". */
  kind: string;
  headline: string;
  /** How this run compares with the one before; "" without one. */
  gain: string;
  factor: number;
  reasons: string[];
  advice: string[];
  /** The index of the narrowest stage; -1 if it is not known. */
  narrowest: number;
}

export const decodeFigures = (row: WireFigures): StageFigures => {
  const [rate, count, shares, width, level, buffer, note, levels] = row;
  return { rate, count, shares, width, level, buffer, note, levels };
};

export interface PipelineTraits {
  _graph: string;
  _rivers: River[];
  _figures: RiverFigures[];
  selected: string;
}
