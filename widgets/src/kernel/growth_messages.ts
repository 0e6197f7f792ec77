// The traits of the growth view, and the rows in them.
import type { Batch, WireRows } from "./graph_messages";

export interface Verdict {
  kind: "none" | "clean" | "late" | "lazy" | "eager" | "held";
  headline: string;
  fix: string[];
  /** `runs` counts the runs before which the line built ops. */
  lines: { at: string; text: string; ops: number; runs: number }[];
  constants: string[];
}

type WireRound = [stop: number, runs: number, bytes: number, at?: string, text?: string];

/** Ops were built up to `stop`, then run so many times. */
export interface Round {
  stop: number;
  runs: number;
  /** The size of the GraphDef. */
  bytes: number;
  /** The line of the runs, where it is another than before. */
  at?: string | undefined;
  text?: string | undefined;
}

export const decodeRound = ([stop, runs, bytes, at, text]: WireRound): Round => ({ stop, runs, bytes, at, text });

/** What ran eagerly: there is no graph. */
export interface WireEager {
  ops: number;
  /** The tensors in use after the first and the last iteration, in words; none without a loop. */
  held: string[];
  lines: { at: string; text: string; ops: number }[];
}

export interface WireGrowth {
  title: string;
  before: number;
  ops: WireRows;
  /** For each op the first one like it, itself if there is none. */
  twins: number[];
  rounds: WireRound[];
  verdict: Verdict;
  eager: WireEager | null;
}

export interface GrowthBatch extends Batch {
  pane: number;
  twins_from: number;
  twins: number[];
  rounds_from: number;
  rounds: WireRound[];
  verdict?: Verdict;
  eager?: WireEager | null;
}

/** What a graph or a session does at a time; the numbers are milliseconds, and ops, programs or runs. */
export type Stretch = [kind: TrackKind, from: number, to: number, amount: number];

export type TrackKind = "build" | "open" | "compile" | "initialize" | "restore" | "library" | "run";

/** A graph with its first session, or a further session (0: none) of that graph. */
export interface Track {
  graph: number;
  session: number;
  is_first: boolean;
  stretches: Stretch[];
  to_ms: number;
  end: "closed" | "dropped" | "open" | "";
  text: string;
}

export type RebuildingKind = "clean" | "kept" | "repeated" | "unclosed" | "reopened" | "rebuilt";

/** What one graph took, with its sessions: each part in words and milliseconds. */
export interface Cost {
  name: string;
  parts: [kind: TrackKind, words: string, ms: number][];
}

export interface Finding {
  kind: RebuildingKind;
  headline: string;
  at: string;
  text: string;
  cost: string;
  /** Those of the first graphs, and the number of further ones. */
  costs: Cost[];
  more: number;
  fix: string[];
  code: string;
}

/** The graphs and sessions of a recording. */
export interface WireLives {
  /** The number of the pane's graph, and the finding on it. */
  number: number;
  kind: RebuildingKind;
  sign: string;
  /** Whether the worst finding of all is a waste, and it in a few words. */
  is_waste: boolean;
  whole_sign: string;
  /** None where another view has them, or there is nothing to compare. */
  tracks: Track[];
  total_ms: number;
  left_out: number;
  /** Graphs that the same lines built later. */
  copies: [number: number, rounds: WireRound[]][];
  findings: Finding[];
}

export interface GrowthTraits {
  _panes: WireGrowth[];
  _lives: (WireLives | null)[];
  _batches: number;
  [batch: `_batch_${number}`]: GrowthBatch | undefined;
  height: number;
}
