import { expect, test } from "vitest";
import { find } from "../../src/panels/search";
import { model } from "../helpers";

test("search: the exact name first, then the type, then parts", () => {
  const m = model([
    { name: "model/add_1" },
    { name: "other", type: "add" },
    { name: "add" },
    { name: "x/add" },
    { name: "z" },
  ]);
  expect(find(m, "ADD ").hits.map((h) => h.name)).toEqual(["add", "other", "x/add", "model/add_1"]);
  expect(find(m, "  ").hits).toEqual([]);
  expect(find(m, "nothing").all.size).toBe(0);
});

test("search: between slashes a regular expression, of names and types, in any case", () => {
  const m = model([{ name: "conv1/w" }, { name: "conv/w" }, { name: "x", type: "Conv2D" }, { name: "a/b" }]);
  const names = (text: string): string[] => find(m, text).hits.map((hit) => hit.name);
  expect(names("/conv\\d/")).toEqual(["conv1/w", "x"]);
  expect(names("/^CONV/i")).toEqual(["conv1/w", "conv/w", "x"]);
  expect(names("a/b")).toEqual(["a/b"]);
  expect(names("/b")).toEqual(["a/b"]); // one slash belongs to a path
});

test("search: what is no regular expression says so and finds nothing", () => {
  const found = find(model([{ name: "conv(" }]), "/conv(/");
  expect(found.all.size).toBe(0);
  expect(found.problem).toContain("conv(");
  expect(find(model([{ name: "conv(" }]), "conv(").all.size).toBe(1);
});

test("search: 10,000 ops within 50 ms", () => {
  const m = model(
    Array.from({ length: 10_000 }, (_, i) => ({
      name: `tower_${i % 8}/layer_${i % 100}/conv${i}/kernel`,
      type: "Conv2D",
    })),
  );
  const times = ["kernel", "/conv\\d*7\\/k/", "/layer_(1|2).*nel$/"].map((text) => {
    const tries = Array.from({ length: 5 }, () => {
      const began = performance.now();
      expect(find(m, text).all.size).toBeGreaterThan(0);
      return performance.now() - began;
    });
    return Math.min(...tries);
  });
  console.info(`search of 10,000 ops: ${times.map((t) => t.toFixed(1)).join(", ")} ms`);
  expect(Math.max(...times)).toBeLessThan(50);
});
