import { expect, test } from "vitest";
import type { WireStep, WireValue } from "../../src/kernel/view_step_messages";
import { globbed, RecordedRun } from "../../src/model/recorded_run";

const value = (name: string, short: string, nans = 0, first = -1): WireValue => [
  name,
  "float32",
  [],
  short,
  short,
  [nans, 0],
  null,
  [],
  [],
  first,
];

/** Values get their own number unless they say another. */
const values = (...all: WireValue[]): WireValue[] =>
  all.map((v, i) => [...v.slice(0, 9), v[9] < 0 ? i : v[9]] as WireValue);

const step = (op: number, loops: number[], inputs: number[], outputs: number[], passed: number[] = []): WireStep => [
  op,
  loops,
  inputs,
  outputs,
  passed,
  "CPU:0",
  1,
  0,
];

const WORDS = { first: 0, steps: 0, missed: 0, error: "", message: "", failed: null, added: [], fed: [] };
const NAMES = ["x", "log", "mul", "loss"];

/** x=0 is fed; log makes NaN; mul takes it; loss takes that. */
const nan = new RecordedRun(
  values(value("x:0", "0"), value("log:0", "NaN", 1), value("mul:0", "NaN", 1), value("loss:0", "NaN", 1)),
  [step(1, [], [0], [1]), step(2, [], [1, 0], [2]), step(3, [], [2], [3])],
  [],
  { ...WORDS, steps: 3, fed: [0] },
);

/** Before the loop op 0; in it twice ops 1 (test) and 2 (with an inner loop of op 4); then the test; then op 3. */
const loop = new RecordedRun(
  values(value("a:0", "1")),
  [
    step(0, [], [], []),
    step(1, [0, 0], [], []),
    step(2, [0, 0], [], []),
    step(4, [0, 0, 1, 0], [], []),
    step(4, [0, 0, 1, 1], [], []),
    step(1, [0, 1], [], []),
    step(2, [0, 1], [], []),
    step(1, [0, 2], [], []),
    step(3, [], [], []),
  ],
  [
    ["while", [1, 5, 7], 7, 2, false],
    ["while/inner", [3, 4], 4, 2, false],
  ],
  { ...WORDS, steps: 9 },
);

test("what is known after a step", () => {
  const { made, ran } = nan.known(1, (value) => nan.values[value]!.name);
  expect([...made.keys()]).toEqual(["x:0", "log:0", "mul:0"]);
  expect(made.get("mul:0")).toEqual({ value: 2, step: 1 });
  expect([...ran.keys()]).toEqual([1, 2]);
});

test("stops on ops by pattern, and on what the recording says", () => {
  const nameOf = (op: number): string => NAMES[op]!;
  expect(nan.stops(["lo*"], nameOf, [])).toEqual([0, 2]);
  expect(nan.stops(["mul", "nothing"], nameOf, [2, 99])).toEqual([1, 2]);
});

test("patterns are Python's", () => {
  expect(globbed("layer1/*").test("layer1/a/b")).toBe(true);
  expect(globbed("layer?/w").test("layer1/w")).toBe(true);
  expect(globbed("a.b").test("axb")).toBe(false);
  expect(globbed("w").test("w/read")).toBe(false);
});

test("back to where a NaN began", () => {
  expect(nan.origin(2)).toEqual({ step: 0, came: undefined });
  expect(nan.makerOf(1, 1)).toBe(0);
  expect(nan.makerOf(0, 1)).toBeUndefined();
  const fed = new RecordedRun(
    values(value("x:0", "NaN", 1), value("y:0", "NaN", 1)),
    [step(0, [], [0], [1])],
    [],
    WORDS,
  );
  expect(fed.origin(0).came?.name).toBe("x:0");
});

test("a value that a Merge hands on is still the one that was made", () => {
  const run = new RecordedRun(
    values(value("mul:0", "NaN", 1), value("Merge:0", "NaN", 1, 0), value("y:0", "NaN", 1)),
    [step(2, [], [], [0]), step(3, [], [1], [2], [1])],
    [],
    WORDS,
  );
  expect(run.makerOf(1, 1)).toBe(0);
  expect(run.origin(1).step).toBe(0);
});

test("iterations of loops, over them and out of them", () => {
  expect(loop.iteration(2, 1)).toBe(6);
  expect(loop.iteration(6, -1)).toBe(2);
  expect(loop.iteration(6, 1)).toBe(7); // the test that ends the loop has no op 2
  expect(loop.iteration(7, 1)).toBeUndefined();
  expect(loop.iteration(0, 1)).toBeUndefined();
  expect(loop.iteration(3, 1)).toBe(4);
  expect(loop.toIteration(loop.at(3)!, 0, 1)).toBe(5); // from inside the inner loop: where the iteration begins
  expect(loop.over(0, 1)).toBe(8);
  expect(loop.over(2, 1)).toBe(5);
  expect(loop.over(8, -1)).toBe(0);
  expect(loop.over(8, 1)).toBeUndefined();
  expect(loop.out(loop.at(3)!, 1)).toBe(5);
  expect(loop.out(loop.at(3)!, 0)).toBe(8);
});

test("the step of an op that is next to another", () => {
  expect(loop.nearest(1, 6)).toBe(5);
  expect(loop.nearest(4, 8)).toBe(4);
  expect(loop.nearest(3, 0)).toBe(8);
  expect(loop.nearest(9, 0)).toBeUndefined();
});

test("the op that failed is the last step; a part of a long run keeps its numbers", () => {
  const run = new RecordedRun([], [step(0, [], [], [])], [], {
    ...WORDS,
    first: 41,
    steps: 42,
    error: "E",
    failed: step(1, [], [], []),
  });
  expect([run.first, run.last]).toEqual([41, 42]);
  expect(run.at(42)?.failed).toBe(true);
  expect(run.within(3)).toBe(41);
});
