import { expect, test } from "vitest";
import type { Grown } from "../../src/model/growth_frames";
import {
  copyAt,
  corners,
  makeFrames,
  opsAtFirstRun,
  ranAt,
  runsOf,
  wayTo,
  withCopies,
} from "../../src/model/growth_frames";

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

test("graphs that the same lines built go on where the first one ended", () => {
  const rounds = [{ stop: 3, runs: 2, bytes: 0, at: "In [1] line 9", text: "sess.run(y)" }];
  const all = withCopies(normal, 4, [
    [5, rounds],
    [7, rounds],
  ]);
  expect(all.copies).toEqual([
    { from: 0, number: 4 },
    { from: 3, number: 5 },
    { from: 6, number: 7 },
  ]);
  expect(runsOf(all)).toBe(7);
  expect(all.rounds.map(({ stop }) => stop)).toEqual([3, 6, 9]);
  expect(normal.rounds.length).toBe(1); // as it was
  // the last op of a graph belongs to it, the next one to the next
  expect([0, 1, 3, 4, 6, 7, 9].map((ops) => copyAt(all, ops))).toEqual([0, 0, 0, 1, 1, 2, 2]);
  const frames = makeFrames([all]);
  expect(frames.filter(({ ran }) => ran).map(({ ops }) => ops[0])).toEqual([3, 3, 3, 6, 6, 9, 9]);
  expect(ranAt(all, 4)).toEqual(["In [1] line 9", "sess.run(y)"]);
});

test("a growth without copies is one graph", () => {
  const alone = withCopies(lazy, 1, []);
  expect([0, 3, 5].map((ops) => copyAt(alone, ops))).toEqual([0, 0, 0]);
  expect(makeFrames([alone])).toEqual(makeFrames([lazy]));
});
