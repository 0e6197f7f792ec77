// A recorded run in transit, and the traits of the views that show one.
import type { GraphTraits } from "./graph_messages";
import type { LinesTraits } from "./lines_messages";
import type { UnfoldableTraits } from "./view_messages";

export interface StepTraits extends GraphTraits, UnfoldableTraits, LinesTraits {
  /** Rises with each recording. */
  _shown: number;
  /** JSON of WireValue[], WireStep[] and WireLoop[]. */
  _values: string;
  _steps: string;
  _loops: string;
  _words: RecordedFacts;
  /** Steps at which the caller asked to stop. */
  _when: number[];
  /** Steps that make NaN or infinity from numbers. */
  _spoilers: number[];
  at: number;
  break_on: string[];
  break_nan: boolean;
}

/** A value: numbers of a small array in rows, figures of a large one. */
export type WireValue = [
  name: string,
  dtype: string,
  shape: number[],
  text: string,
  short: string,
  wrong: [nans: number, infinities: number],
  figures: [low: string, mean: string, high: string] | null,
  bins: number[],
  cells: string[][],
  first: number,
];

export type WireStep = [
  op: number,
  loops: number[],
  inputs: number[],
  outputs: number[],
  passed: number[],
  device: string,
  elapsedUs: number,
  live: number,
];

export interface WireRecording {
  values: WireValue[];
  steps: WireStep[];
  loops: WireLoop[];
  words: RecordedFacts;
}

export type WireLoop = [name: string, starts: number[], last: number, times: number, isFunction: boolean];

export interface RecordedFacts {
  /** The number of the first step that is here. */
  first: number;
  steps: number;
  missed: number;
  error: string;
  message: string;
  failed: WireStep | null;
  /** Ops that are in no graph, such as copies between devices: op -1 is the first of them. */
  added: [name: string, type: string][];
  /** Values that were fed. */
  fed: number[];
}

export interface EagerTraits extends GraphTraits, LinesTraits {
  /** JSON of WireRecording: one trait, so that its parts always belong together. */
  _recorded: string;
  _summary: string;
}
