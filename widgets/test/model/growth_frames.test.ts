import { expect, test } from "vitest";
import type { Grown } from "../../src/model/growth_frames";
import { corners, makeFrames, opsAtFirstRun, ranAt, runsOf, wayTo } from "../../src/model/growth_frames";

const normal: Grown = {
  before: 0,
  rounds: [{ stop: 3, runs: 3, bytes: 100, at: "In [1] line 4", text: "sess.run(z)" }],
};
const lazy: Grown = {
  before: 0,
  rounds: [
    { stop: 3, runs: 1, bytes: 100, at: "In [2] line 4", text: "sess.run(tf.add(x, y))" },
    { stop: 4, runs: 1, bytes: 120 },
    { stop: 5, runs: 1, bytes: 140 },
  ],
};

test("building op by op, then a run", () => {
  const frames = makeFrames([normal]);
  expect(frames.map((f) => f.ops[0])).toEqual([0, 1, 2, 3, 3, 3, 3]);
  expect(frames.map((f) => f.run)).toEqual([0, 0, 0, 0, 1, 2, 3]);
  expect(frames.map((f) => f.ran)).toEqual([false, false, false, false, true, true, true]);
});

test("two keep step by their runs", () => {
  const frames = makeFrames([normal, lazy]);
  expect(frames.filter((f) => f.ran).map((f) => f.ops)).toEqual([
    [3, 3],
    [3, 4],
    [3, 5],
  ]);
  expect(frames.at(-1)).toEqual({ run: 3, ops: [3, 5], ran: true });
});

test("one that runs less waits for the other, with all that it built", () => {
  const short: Grown = {
    before: 1,
    rounds: [
      { stop: 2, runs: 1, bytes: 1 },
      { stop: 5, runs: 0, bytes: 1 },
    ],
  };
  expect(
    makeFrames([short, lazy])
      .filter((f) => f.ran)
      .map((f) => f.ops[0]),
  ).toEqual([2, 5, 5]);
  expect(makeFrames([short]).at(-1)).toEqual({ run: 1, ops: [5], ran: false });
});

test("long programs have few frames, and lose neither the first nor the last", () => {
  const rounds: Grown["rounds"] = Array.from({ length: 5000 }, (_, i) => ({ stop: 5000 + i * 3, runs: 2, bytes: 0 }));
  const frames = makeFrames([{ before: 0, rounds }]);
  expect(frames.length).toBeLessThan(2000);
  expect(frames[0]).toEqual({ run: 0, ops: [0], ran: false });
  expect(frames.find((f) => f.ran)!.run).toBe(1);
  expect(frames.at(-1)).toEqual({ run: 10_000, ops: [5000 + 4999 * 3], ran: true });
});

test("the way and where it ran", () => {
  expect(runsOf(lazy)).toBe(3);
  expect(opsAtFirstRun(lazy)).toBe(3);
  expect(corners(lazy)).toEqual([
    [0, 0],
    [0, 3],
    [1, 3],
    [1, 4],
    [2, 4],
    [2, 5],
    [3, 5],
  ]);
  expect(wayTo(corners(lazy), 1, 4)).toEqual([
    [0, 0],
    [0, 3],
    [1, 3],
    [1, 4],
    [1, 4],
  ]);
  expect(ranAt(lazy, 3)).toEqual(["In [2] line 4", "sess.run(tf.add(x, y))"]);
  expect(ranAt({ before: 0, rounds: [] }, 1)).toEqual(["", ""]);
});
