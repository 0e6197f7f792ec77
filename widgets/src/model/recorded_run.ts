// A run that was written down: its steps, what is known after each of them, where to go next. No DOM.

import type { RecordedFacts, WireLoop, WireStep, WireValue } from "../kernel/view_step_messages";

export interface Value {
  name: string;
  dtype: string;
  shape: number[];
  text: string;
  short: string;
  nans: number;
  infinities: number;
  figures: { low: string; mean: string; high: string } | null;
  bins: number[];
  cells: string[][];
  /** The number of the value that this one was when it was made: Switch and Merge hand values on. */
  first: number;
}

export interface Step {
  number: number;
  op: number;
  /** The loops that it ran in, outermost first, and the iteration of each (`iteration`). */
  loops: { loop: number; iteration: number }[];
  inputs: number[];
  outputs: number[];
  passed: number[];
  device: string;
  elapsedUs: number;
  live: number;
  failed: boolean;
}

export interface Loop {
  name: string;
  /** The first step of each iteration; the last entry may only be the test that ends the loop. */
  starts: number[];
  last: number;
  times: number;
  /** It is a function, such as that of a mapped dataset: its iterations are calls. */
  isFunction: boolean;
}

/** Values and ops known at a step: each tensor's value with the step that made it, each op's last step. */
export interface Known {
  made: Map<string, { value: number; step: number }>;
  ran: Map<number, { step: Step; times: number }>;
}

export const isWrong = (value: Value | undefined): boolean => value !== undefined && value.nans + value.infinities > 0;

export class RecordedRun {
  readonly values: Value[];
  readonly steps: Step[];
  readonly loops: Loop[];
  /** The number of the first step that is here, and of the last. */
  readonly first: number;
  readonly last: number;
  /** The steps of an op. */
  readonly ofOp = new Map<number, number[]>();
  /** Which step made a value, by the value's first number. */
  readonly #maker = new Map<number, number>();

  constructor(
    values: readonly WireValue[],
    steps: readonly WireStep[],
    loops: readonly WireLoop[],
    readonly facts: RecordedFacts,
  ) {
    this.values = values.map(([name, dtype, shape, text, short, [nans, infinities], figures, bins, cells, first]) => ({
      name,
      dtype,
      shape,
      text,
      short,
      nans,
      infinities,
      bins,
      cells,
      first,
      figures: figures === null ? null : { low: figures[0], mean: figures[1], high: figures[2] },
    }));
    this.first = facts.first;
    this.steps = steps.map((row, i) => decode(row, facts.first + i, false));
    if (facts.failed !== null) this.steps.push(decode(facts.failed, facts.steps, true));
    this.last = this.first + Math.max(0, this.steps.length - 1);
    this.loops = loops.map(([name, starts, last, times, isFunction]) => ({ name, starts, last, times, isFunction }));
    for (const step of this.steps) {
      const before = this.ofOp.get(step.op);
      if (before === undefined) this.ofOp.set(step.op, [step.number]);
      else before.push(step.number);
      for (const value of step.outputs) this.#maker.set(this.values[value]!.first, step.number);
    }
  }

  at(number: number): Step | undefined {
    return this.steps[number - this.first];
  }

  within(number: number): number {
    return Math.max(this.first, Math.min(this.last, number));
  }

  /** Everything that is known once step `number` has run. */
  known(number: number, keyOf: (value: number) => string): Known {
    const made: Known["made"] = new Map();
    const ran: Known["ran"] = new Map();
    for (const value of this.facts.fed) made.set(keyOf(value), { value, step: -1 });
    for (const step of this.steps) {
      if (step.number > number) break;
      for (const value of [...step.passed, ...step.outputs]) made.set(keyOf(value), { value, step: step.number });
      ran.set(step.op, { step, times: (ran.get(step.op)?.times ?? 0) + 1 });
    }
    return { made, ran };
  }

  // --- where to go ---

  /** The steps at which to stop, in order. */
  stops(patterns: readonly string[], nameOf: (op: number) => string, others: readonly number[]): number[] {
    const found = new Set(others.filter((n) => this.at(n) !== undefined));
    const tests = patterns.map(globbed);
    if (tests.length > 0) {
      for (const step of this.steps) if (tests.some((test) => test.test(nameOf(step.op)))) found.add(step.number);
    }
    return [...found].sort((a, b) => a - b);
  }

  /** The op's step closest to `number`: in the same iterations, else the last one before, else the first one after. */
  nearest(op: number, number: number): number | undefined {
    const steps = this.ofOp.get(op);
    if (steps === undefined) return undefined;
    const here = iterationsOf(this.at(number));
    const same = steps.filter((n) => n !== number && iterationsOf(this.at(n)) === here);
    return same.at(-1) ?? steps.filter((n) => n <= number).at(-1) ?? steps[0];
  }

  /** The same op in another iteration of the innermost loop, or that iteration's first step, if it exists. */
  iteration(number: number, by: 1 | -1): number | undefined {
    const step = this.at(number);
    const inner = step?.loops.at(-1);
    if (step === undefined || inner === undefined) return undefined;
    return this.toIteration(step, step.loops.length - 1, inner.iteration + by);
  }

  /** The same op in an iteration of one of the loops around a step, or that iteration's first step. */
  toIteration(step: Step, depth: number, iteration: number): number | undefined {
    const { loop } = step.loops[depth]!;
    const start = this.loops[loop]?.starts[iteration];
    if (start === undefined || this.at(start) === undefined) return undefined;
    const end = this.loops[loop]!.starts[iteration + 1] ?? this.loops[loop]!.last + 1;
    const same =
      step.loops.length === depth + 1 ? this.ofOp.get(step.op)?.find((n) => n >= start && n < end) : undefined;
    return same ?? start;
  }

  /** The next step that is in no loop deeper than this one: over a whole loop at once. */
  over(number: number, by: 1 | -1): number | undefined {
    const depth = this.at(number)?.loops.length ?? 0;
    for (let n = number + by; this.at(n) !== undefined; n += by) if (this.at(n)!.loops.length <= depth) return n;
    return undefined;
  }

  /** The first step after a loop, or the last one of the run. */
  out(step: Step, depth: number): number {
    return this.within((this.loops[step.loops[depth]!.loop]?.last ?? this.last) + 1);
  }

  // --- where values come from ---

  /** The step that made a value before step `number`. */
  makerOf(value: number, number: number): number | undefined {
    const found = this.#maker.get(this.values[value]!.first);
    return found !== undefined && found < number ? found : undefined;
  }

  /** Traces a NaN or infinity back to the step that produced it, or to the value that brought it into the run. */
  origin(number: number): { step: number; came: Value | undefined } {
    let step = this.at(number);
    for (let guard = this.steps.length; step !== undefined && guard > 0; guard--) {
      const wrong = step.inputs.filter((value) => isWrong(this.values[value]));
      if (wrong.length === 0) return { step: step.number, came: undefined };
      const makers = wrong.map((value) => this.makerOf(value, step!.number)).filter((n) => n !== undefined);
      if (makers.length === 0) return { step: step.number, came: this.values[wrong[0]!] };
      step = this.at(Math.min(...makers));
    }
    return { step: number, came: undefined };
  }
}

function decode(
  [op, loops, inputs, outputs, passed, device, elapsedUs, live]: WireStep,
  number: number,
  failed: boolean,
): Step {
  const iterations: Step["loops"] = [];
  for (let i = 0; i < loops.length; i += 2) iterations.push({ loop: loops[i]!, iteration: loops[i + 1]! });
  return { number, op, loops: iterations, inputs, outputs, passed, device, elapsedUs, live, failed };
}

const iterationsOf = (step: Step | undefined): string =>
  step?.loops.map(({ loop, iteration }) => `${loop}.${iteration}`).join() ?? "";

/** A name with * for any part and ? for any character, as Python's fnmatch has them. */
export function globbed(pattern: string): RegExp {
  const parts = [...pattern].map((c) => (c === "*" ? ".*" : c === "?" ? "." : c.replace(/[.+^${}()|[\]\\]/g, "\\$&")));
  return new RegExp(`^${parts.join("")}$`, "s");
}
