import { expect, test } from "vitest";
import { fetchName, prune, splitName } from "../../src/model/prune";
import type { Spec } from "../helpers";
import { golden, model, random } from "../helpers";

const names = (m: ReturnType<typeof model>, needed: Set<number>): string[] =>
  [...needed].sort((a, b) => a - b).map((i) => m.ops[i]!.name);

test("backwards from the fetch, through data and control edges", () => {
  const m = model([{ name: "a" }, { name: "b" }, { name: "c", reads: ["a", "^b"] }, { name: "d", reads: ["c"] }]);
  expect(names(m, prune(m, ["c:0"]).needed)).toEqual(["a", "b", "c"]);
});

test("a fed tensor cuts only its own output", () => {
  const m = model([
    { name: "a" },
    { name: "s", reads: ["a"] },
    { name: "x", reads: ["s:0"] },
    { name: "y", reads: ["s:1"] },
  ]);
  expect(names(m, prune(m, ["x"], ["s:0"]).needed)).toEqual(["x"]);
  expect(names(m, prune(m, ["x", "y"], ["s:0"]).needed)).toEqual(["a", "s", "x", "y"]);
});

test("a fetched and fed tensor needs nothing; its op, fetched as an op, does", () => {
  const m = model([{ name: "a" }, { name: "b", reads: ["a"] }]);
  expect(prune(m, ["b:0"], ["b:0"]).needed.size).toBe(0);
  expect(names(m, prune(m, ["b"], ["b:0"]).needed)).toEqual(["a", "b"]);
});

test("unknown names are told, loops end", () => {
  const m = golden("while_loop");
  const found = prune(m, ["while/Exit", "nowhere:0"]);
  expect(found.unknown).toEqual(["nowhere:0"]);
  expect(found.needed.size).toBe(m.ops.length);
});

test("linear regression: the sum needs 6 of 78 ops when X is fed", () => {
  const m = golden("linear_regression");
  expect(m.ops.length).toBe(78);
  expect(names(m, prune(m, ["add:0"], ["X:0"]).needed)).toEqual([
    "weights",
    "weights/read",
    "bias",
    "bias/read",
    "mul",
    "add",
  ]);
});

test("against a definition: needed is what some fetch reaches without passing a fed tensor", () => {
  const next = random(7);
  for (let round = 0; round < 60; round++) {
    const specs: Spec[] = [];
    for (let i = 0; i < 25; i++) {
      const reads = Array.from(
        { length: Math.floor(next() * 3) },
        () => `${next() < 0.2 ? "^" : ""}n${Math.floor(next() * i)}`,
      ).filter(() => i > 0);
      specs.push({ name: `n${i}`, reads });
    }
    const m = model(specs);
    const fetch = `n${Math.floor(next() * 25)}`;
    const fed = `n${Math.floor(next() * 25)}`;
    const reach = (name: string): Set<string> => {
      const found = new Set([name]);
      for (const read of specs.find((s) => s.name === name)!.reads!) {
        const control = read.startsWith("^");
        if (control || read !== fed) for (const n of reach(read.replace("^", ""))) found.add(n);
      }
      return found;
    };
    expect(new Set(names(m, prune(m, [fetch], [`${fed}:0`]).needed))).toEqual(reach(fetch));
  }
});

test("names of tensors, ops and control inputs", () => {
  expect([splitName("a:1"), splitName("a"), splitName("^a")]).toEqual([
    ["a", 1],
    ["a", null],
    ["a", null],
  ]);
  expect(fetchName({ name: "a", outputs: [1] })).toBe("a:0");
  expect(fetchName({ name: "init", outputs: [] })).toBe("init");
});
