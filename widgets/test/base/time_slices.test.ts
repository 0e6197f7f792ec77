import { expect, test, vi } from "vitest";
import type { Steps } from "../../src/base/time_slices";
import { atOnce, inSlices } from "../../src/base/time_slices";
import type { Batch, WireRows } from "../../src/kernel/graph_messages";
import { LocalTraits } from "../../src/kernel/local_traits";
import type { Scene } from "../../src/layout/scene";
import { makeScene } from "../../src/layout/scene";
import { GraphModel } from "../../src/model/graph";
import { GraphSource } from "../../src/model/graph_source";
import { grouped } from "../../src/model/series";
import { options } from "../helpers";

function* slow(steps: number, ms: number, log: number[] = []): Steps<string> {
  for (let i = 0; i < steps; i++) {
    const until = performance.now() + ms;
    while (performance.now() < until);
    log.push(i);
    yield;
  }
  return "done";
}

const later = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

test("short work is done at once, long work lets others in and can be stopped", async () => {
  const done = vi.fn();
  expect(inSlices(slow(3, 1), done)).toBeNull();
  expect(done).toHaveBeenCalledWith("done");
  expect(atOnce(slow(2, 0))).toBe("done");

  let others = 0;
  const timer = setInterval(() => others++, 1);
  const finished = await new Promise((end) => inSlices(slow(12, 25), end));
  clearInterval(timer);
  expect(finished).toBe("done");
  expect(others).toBeGreaterThan(1);

  const log: number[] = [];
  const never = vi.fn();
  const stop = inSlices(slow(50, 25, log), never)!;
  expect(log.length).toBeLessThan(12);
  stop();
  const sofar = log.length;
  await later(60);
  expect(log.length).toBe(sofar);
  expect(never).not.toHaveBeenCalled();
});

const rows = (count: number, name: (i: number) => string): WireRows => ({
  rows: Array.from({ length: count }, (_, i) => [name(i), "Add", i > 0 ? [i - 1, 0] : [], [], 0, 1]),
  shared: [[["float32", []]], {}],
});

test("a large graph is read in steps, and batches wait until it is read", () => {
  const traits = new LocalTraits(rows(5000, (i) => `n${i}`));
  const source = new GraphSource(traits);
  const steps = source.read();
  steps.next();
  expect(source.model.ops.length).toBeLessThan(5000);
  const batch: Batch = { from: 5000, ...rows(1, () => "late"), runs: 2, first: 1 };
  traits.push(batch);
  expect(source.take()).toBe(false);
  atOnce(source.read()); // somebody stopped it and began again
  expect(source.model.ops.map((op) => op.name).at(-1)).toBe("late");
  expect(source.model.ops.length).toBe(5001);
  expect(source.model.ops[4999]!.outputs).toEqual([{ dtype: "float32", shape: [] }]);
  expect(source.counts.value).toEqual({ runs: 2, opsAtFirstRun: 1 });
});

test("a page gets no more boxes than it can draw", () => {
  const source = new GraphSource(new LocalTraits(rows(6000, (i) => `s${i % 40}/${i % 4 === 0 ? "a" : "b"}/n${i}`)));
  atOnce(source.read());
  const draw = (...open: string[]): Scene =>
    makeScene(source.model, { ...options(...open), groupAbove: 5000 }, new Map());
  const all = draw(...source.model.scopes.keys());
  expect(all.crowded).toBe(true);
  expect(all.nodes.length).toBeGreaterThan(2000);
  expect(all.nodes.length).toBeLessThan(3100);
  expect(draw("s0/").crowded).toBe(false);

  const flat = new GraphModel(
    Array.from({ length: 2000 }, (_, i) => ({ name: `n_${i}`, type: "Add", inputs: [], controls: [], outputs: [] })),
  );
  expect(grouped(flat, flat.root, 5000).length).toBeLessThanOrEqual(600);
});
