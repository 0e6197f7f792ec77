// The traits of each view, and the rows in them: as lists in transit (Wire...), and as the objects decoded from them.
import type { GraphTraits, WireRows } from "./graph_messages";

// --- a run, folded or not ---

/** The line above a run that says what the optimizer left out; without text there is nothing to say. */
export interface FoldedNotice {
  text?: string;
  /** The words on the button; "" without one. */
  button?: string;
  /** What a click does. */
  about?: string;
  /** The view shows the run unfolded. */
  unfolded?: boolean;
}

export interface UnfoldableTraits {
  unfolded: boolean;
  _folded: FoldedNotice;
  /** What becomes of the ops that the run leaves out, where the view marks them. */
  _fates: Record<string, [fate: "folded" | "merged" | "left out", reason: string]>;
  /** A number that the page sends, and the last one that the kernel received. */
  _asked: number;
  _heard: number;
}

// --- two graphs side by side ---

export interface DifferenceTraits extends GraphTraits {
  _before: WireRows;
  /** Op name -> what differs, in words. */
  _changes: Record<string, string[]>;
  _summary: string;
}

/** A pass of the optimizer. */
export interface Pass {
  name: string;
  about: string;
  /** Indices of stages. */
  before: number;
  after: number;
  /** How many ops are left to compute. */
  from: number;
  to: number;
  changes: Record<string, string[]>;
  reasons: Record<string, string[]>;
}

export interface OptimizingTraits {
  _graph: string;
  _stages: (WireRows & { fetched: string[] })[];
  _passes: Pass[];
  _summary: string;
  /** Of a run of which nothing is left, a sentence that says so. */
  _folded: string;
  fetches: string[];
  feeds: string[];
  problem: string;
  chosen: number;
}

// --- session runs ---

/** A `session.run` of a cell, or several identical ones. */
export interface CellRun {
  label: string;
  where: string;
  text: string;
  count: number;
  needed: number;
  ops: number;
  fetches: string[];
  feeds: string[];
  /** The class and first line of the exception that ended it; "" without one. */
  error: string;
  /** The op that raised it; "" if none did. */
  failed_at: string;
  /** The session refused it: no op was executed, and there are no fetches. */
  refused: boolean;
}

export interface RunTraits extends GraphTraits, UnfoldableTraits {
  _run_list: CellRun[];
  chosen: number;
  predict: boolean;
  guessed: string[];
  revealed: boolean;
  score: { right: number; wrong: number; missed: number } | null;
}

/** One session's variable values as text; null for uninitialized. */
export type Holds = Record<string, string | null>;

export interface SessionRun {
  session: string;
  fetches: string[];
  feeds: string[];
  where: string;
  text: string;
  error: string;
  /** Variable -> what it holds after the run. */
  changes: Holds;
}

export interface SessionRow {
  name: string;
  closed: boolean;
  devices: string;
}

export interface SessionsTraits {
  _sessions: SessionRow[];
  _variables: { name: string; type: string }[];
  _start: Record<string, Holds>;
  _log: SessionRun[];
  /** How many runs before `_log` are no longer known. */
  _forgotten: number;
  _ops: number;
  height: number;
}

// --- rows of embeddings ---

/** At a step and an index into `rows`; `level` -1 has not moved, otherwise `distance` says how far. */
export type RowCell = [step: number, row: number, level: number, read: 0 | 1, distance: string | null];

export interface HeatMap {
  variable: string;
  about: string;
  verdict: string;
  /** The numbers of the rows shown. */
  rows: number[];
  others: number;
  cells: RowCell[];
  /** Of each step: how many of the other rows moved, and the level of the farthest. */
  others_moved: [count: number, level: number][];
  /** The number of the first step. */
  first: number;
  /** What ran, and where. */
  steps: string[];
}

export interface RowsTraits {
  _panels: { title: string; heat_maps: HeatMap[] }[];
  _note: string;
}

// --- devices ---

export interface DeviceRow {
  label: string;
  name: string;
  simulated: boolean;
  about: string;
  ops: number;
  variables: number;
  variable_bytes: number;
  limit: number | null;
  current: number | null;
  peak: number | null;
  reserved: number | null;
  colour: number;
}

type WirePlacement = [op: number, requested: string, device: number, kind: string, reason: string];

export interface Placement {
  op: number;
  requested: string;
  /** Index of the device. */
  device: number;
  kind: string;
  reason: string;
}

export const decodePlacement = ([op, requested, device, kind, reason]: WirePlacement): Placement => ({
  op,
  requested,
  device,
  kind,
  reason,
});

type WireCopy = [
  op: number,
  port: number,
  from: number,
  to: number,
  size: string,
  measured: boolean,
  fed: boolean,
  fetched: boolean,
  readers: number[],
];

/** A tensor copied from one device to another. */
export interface Copy {
  op: number;
  port: number;
  from: number;
  to: number;
  size: string;
  /** The size is that of the last run, not of the static shape. */
  measured: boolean;
  fed: boolean;
  fetched: boolean;
  readers: number[];
}

export const decodeCopy = ([op, port, from, to, size, measured, fed, fetched, readers]: WireCopy): Copy => ({
  op,
  port,
  from,
  to,
  size,
  measured,
  fed,
  fetched,
  readers,
});

type WireDeviceLink = [
  send: number,
  recv: number,
  from: number,
  to: number,
  tensor: string,
  what: string,
  short: string,
  bytes: number | null,
];

/** A value that goes from one device to another; `send` and `recv` are ops of the cut graph. */
export interface DeviceLink {
  send: number;
  recv: number;
  from: number;
  to: number;
  tensor: string;
  /** Its type, shape and size. */
  what: string;
  /** The same for a label. */
  short: string;
  /** -1 if only the order is sent, null if unknown. */
  bytes: number | null;
}

export const decodeLink = ([send, recv, from, to, tensor, what, short, bytes]: WireDeviceLink): DeviceLink => ({
  send,
  recv,
  from,
  to,
  tensor,
  what,
  short,
  bytes,
});

/** The graphs that a run is cut into, as one whose names begin with devices. */
export interface Parts {
  ops: WireRows;
  devices: { label: string; colour: number }[];
  links: WireDeviceLink[];
  summary: string;
}

export interface PlacementTraits extends GraphTraits, UnfoldableTraits {
  _devices: DeviceRow[];
  _placed: WirePlacement[];
  _copies: WireCopy[];
  _summary: string;
  problem: string;
  /** Draws the graph of each device; the kernel then sends `_parts`. */
  partitions: boolean;
  _parts: Parts | Record<string, never>;
}

export interface WireCurve {
  title: string;
  simulated: boolean;
  policy: string;
  limit: number | null;
  peak: number;
  points: [at: number, taken: number, reserved: number | null][];
  holders: [name: string, size: number][];
  runs: [from: number, to: number, fetches: string, error: string][];
  exhausted: [at: number, needed: number, message: string][];
}

/** A device's memory over time; sizes in bytes, times in microseconds. */
export interface Curve {
  title: string;
  simulated: boolean;
  policy: string;
  limit: number | null;
  peak: number;
  points: { at: number; taken: number; reserved: number | null }[];
  /** Tensors alive at the peak, largest first. */
  holders: { name: string; size: number }[];
  runs: { from: number; to: number; fetches: string; error: string }[];
  /** Allocations that failed. */
  exhausted: { at: number; needed: number; message: string }[];
}

export const decodeCurve = (curve: WireCurve): Curve => ({
  ...curve,
  points: curve.points.map(([at, taken, reserved]) => ({ at, taken, reserved })),
  holders: curve.holders.map(([name, size]) => ({ name, size })),
  runs: curve.runs.map(([from, to, fetches, error]) => ({ from, to, fetches, error })),
  exhausted: curve.exhausted.map(([at, needed, message]) => ({ at, needed, message })),
});

export interface MemoryTraits {
  _graph: string;
  _curves: WireCurve[];
  selected: string;
}

// --- the order of a run ---

type WireScheduledOp = [name: string, type: string, inputs: number[], control: number[]];

export interface ScheduledOp {
  name: string;
  type: string;
  inputs: number[];
  controls: number[];
}

export const decodeScheduledOp = ([name, type, inputs, controls]: WireScheduledOp): ScheduledOp => ({
  name,
  type,
  inputs,
  controls,
});

/** Two ops on one variable, in no order. */
export interface Race {
  variable: string;
  first: number;
  second: number;
  /** `first` reads. */
  reads: boolean;
  /** How many ops at the start and at the end are the same in both orders. */
  alike: [before: number, after: number];
  /** The ops between; -1 stands for omitted ones. */
  orders: [one: number[], other: number[]];
}

export interface ScheduleTraits extends UnfoldableTraits {
  _graph: string;
  _ops: WireScheduledOp[];
  /** Ready sets, as indices of ops. */
  _sets: number[][];
  _races: Race[];
  _ordered: [variable: string, first: number, second: number][];
  _summary: string;
  fetches: string[];
  feeds: string[];
  problem: string;
  selected: string;
}

type WireBar = [name: string, type: string, lane: number, start: number, elapsed: number, size: number];

/** An op of a traced run; times in microseconds, `size` in bytes. */
export interface OpBar {
  name: string;
  type: string;
  lane: number;
  start: number;
  elapsed: number;
  size: number;
}

export const decodeBar = ([name, type, lane, start, elapsed, size]: WireBar): OpBar => ({
  name,
  type,
  lane,
  start,
  elapsed,
  size,
});

type WireTotal = [name: string, calls: number, elapsed: number, size: number, share: number];

/** Totals of one op type or scope. */
export interface Total {
  name: string;
  calls: number;
  elapsed: number;
  size: number;
  /** Of the time of all. */
  share: number;
}

export const decodeTotal = ([name, calls, elapsed, size, share]: WireTotal): Total => ({
  name,
  calls,
  elapsed,
  size,
  share,
});

/** What bounds a run; see `tfteach.explain.profiling.critical_path`. */
export interface TimelinePath {
  sentence: string;
  idle: string;
  /** One thread ran the ops of several devices: the parts are no line in time. */
  shared: boolean;
  bounds: {
    name: string;
    /** Short, for where there is little room. */
    label: string;
    kind: "compute" | "launch" | "copy" | "host" | "thread" | "gap";
    elapsed: number;
    share: number;
    /** The index of the bound that its parts have. */
    of: number;
  }[];
  /** `op` is an index of `_ops`; `bound` one of `bounds`, or -1. A wait is one for the start of the op. */
  parts: [op: number, start: number, elapsed: number, bound: number, isWait: boolean][];
  /** Op -> why it could not begin sooner. */
  because: Record<string, string>;
}

export interface TimelineTraits extends UnfoldableTraits {
  /** Rises with each run that is shown. */
  _shown: number;
  _graph: string;
  /** `model`: the card that the times are modelled after; "" if they were measured. `busy`: a share of the run. */
  _lanes: { label: string; name: string; simulated: boolean; model: string; busy: number; thread: number }[];
  _ops: WireBar[];
  /** Copies between devices, as indices of ops: `_Send`, `_Recv`. */
  _copies: [send: number, receive: number][];
  /** Of ops whose time is modelled: how it comes about. */
  _models: Record<string, string>;
  _path: TimelinePath;
  _types: WireTotal[];
  _scopes: WireTotal[];
  _summary: string;
  selected: string;
  height: number;
}
