// A growth as frames to play: op by op before a run, then the run; several growths keep step by their runs.

import type { Round } from "../kernel/growth_messages";

export interface Grown {
  before: number;
  rounds: Round[];
}

/** A growth that goes on with copies of its graph: their ops and runs are added to it. */
export interface WithCopies extends Grown {
  /** The number of ops before each copy, and the number of its graph; the graph itself comes first. */
  copies: { from: number; number: number }[];
}

export function withCopies(g: Grown, number: number, copies: readonly [number: number, rounds: Round[]][]): WithCopies {
  const found: WithCopies = { before: g.before, rounds: [...g.rounds], copies: [{ from: 0, number }] };
  for (const [copy, rounds] of copies) {
    const from = lastOf(found);
    found.copies.push({ from, number: copy });
    found.rounds.push(...rounds.map((round) => ({ ...round, stop: from + round.stop })));
  }
  return found;
}

/** The copy to which the last of so many ops belongs: its index, 0 for the graph itself. */
export function copyAt({ copies }: WithCopies, ops: number): number {
  const next = copies.findIndex(({ from }, i) => i > 0 && from >= ops);
  return next < 0 ? copies.length - 1 : next - 1;
}

export interface GrowthFrame {
  /** How many runs there were. */
  run: number;
  /** How many ops each growth has. */
  ops: number[];
  /** This frame is a run; else ops were built, or it is the start. */
  ran: boolean;
}

const MOST_RUNS = 300;
const MOST_OPS_STEPS = 1200;

export const runsOf = (g: Grown): number => g.rounds.reduce((sum, { runs }) => sum + runs, 0);

export const lastOf = (g: Grown): number => g.rounds.at(-1)?.stop ?? g.before;

/** The number of ops at each run, from run 1; runs after the last round have the final number. */
function opsAtRuns(g: Grown): (run: number) => number {
  const ends: [number, number][] = [];
  let runs = 0;
  for (const { stop, runs: count } of g.rounds) {
    runs += count;
    if (count > 0) ends.push([runs, stop]);
  }
  let at = 0;
  return (run) => {
    while (at < ends.length && ends[at]![0] < run) at++; // asked in order
    return ends[at]?.[1] ?? lastOf(g);
  };
}

/** Ops there were when the first run began; all of them before one. */
export function opsAtFirstRun(g: Grown): number {
  return g.rounds.find(({ runs }) => runs > 0)?.stop ?? lastOf(g);
}

export function makeFrames(growths: readonly Grown[]): GrowthFrame[] {
  const total = Math.max(0, ...growths.map(runsOf));
  const stride = Math.max(1, Math.ceil(total / MOST_RUNS));
  const steps = Math.max(2, Math.floor(MOST_OPS_STEPS / (Math.min(total, MOST_RUNS) + 1)));
  const at = growths.map(opsAtRuns);
  let ops = growths.map((g) => g.before);
  const frames: GrowthFrame[] = [{ run: 0, ops, ran: false }];
  const build = (run: number, target: number[]): void => {
    const most = Math.max(...target.map((n, i) => n - ops[i]!));
    const step = Math.max(1, Math.ceil(most / steps));
    for (let j = step; j < most + step; j += step) {
      frames.push({ run, ops: target.map((n, i) => Math.min(n, ops[i]! + j)), ran: false });
    }
    ops = target;
  };
  let run = 0;
  while (run < total) {
    const next = Math.min(total, run + (run === 0 ? 1 : stride));
    build(
      run,
      at.map((opsAt) => opsAt(next)),
    );
    frames.push({ run: next, ops, ran: true });
    run = next;
  }
  build(run, growths.map(lastOf));
  return frames;
}

/** The line of a run, and its text; "" where it is not known. */
export function ranAt(g: Grown, run: number): [string, string] {
  let runs = 0;
  let found: [string, string] = ["", ""];
  for (const { runs: count, at, text } of g.rounds) {
    if (at !== undefined) found = [at, text ?? ""];
    runs += count;
    if (runs >= run) break;
  }
  return found;
}

/** The polyline of (runs, ops): its corners. */
export function corners(g: Grown): [number, number][] {
  let runs = 0;
  const found: [number, number][] = [[0, g.before]];
  for (const { stop, runs: count } of g.rounds) {
    found.push([runs, stop], [runs + count, stop]);
    runs += count;
  }
  return found;
}

/** The part of the polyline up to a frame. */
export function wayTo(way: readonly [number, number][], run: number, ops: number): [number, number][] {
  return [...way.filter(([r, n]) => r <= run && n <= ops), [run, ops]];
}
