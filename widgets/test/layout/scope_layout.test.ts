import { expect, test } from "vitest";
import type { Scene, SceneNode } from "../../src/layout/scene";
import { makeScene, openToDepth } from "../../src/layout/scene";
import type { LayoutCache } from "../../src/layout/scope_layout";
import type { GraphModel } from "../../src/model/graph";
import { golden, model, options } from "../helpers";

const scene = (m: GraphModel, ...open: string[]): Scene => makeScene(m, options(...open), new Map());
const at = (s: Scene, id: string): SceneNode => s.byId.get(id)!;
const overlap = (a: SceneNode, b: SceneNode): boolean =>
  Math.abs(a.x - b.x) < (a.w + b.w) / 2 - 0.5 && Math.abs(a.y - b.y) < (a.h + b.h) / 2 - 0.5;
const inside = (a: SceneNode, b: SceneNode): boolean =>
  b.node.members.length >= a.node.members.length && (a.id.startsWith(b.id) || a.node.parent === b.node);

const GRAPHS: [string, string[]][] = [
  ["linear_regression", []],
  ["linear_regression", ["gradients/", "GradientDescent/", "weights/"]],
  ["softmax_regression_adam", ["model/", "model/w/", "loss/", "accuracy/", "train/", "train/Adam/"]],
  ["while_loop", ["while/", "while/Add/"]],
];

test.each(GRAPHS)("%s with %j open: no box covers another, and all lie in the picture", (name, open) => {
  const s = scene(golden(name), ...open);
  for (const [i, a] of s.nodes.entries()) {
    expect(a.x - a.w / 2).toBeGreaterThanOrEqual(-0.5);
    expect(a.y + a.h / 2).toBeLessThanOrEqual(s.h + 0.5);
    for (const b of s.nodes.slice(i + 1)) {
      if (!inside(a, b) && !inside(b, a)) expect(overlap(a, b), `${a.id} and ${b.id}`).toBe(false);
    }
  }
});

test.each(GRAPHS)("%s with %j open: every line begins and ends on the border of a box", (name, open) => {
  const s = scene(golden(name), ...open);
  const onBorder = (x: number, y: number): boolean =>
    s.nodes.some(
      (n) =>
        Math.abs(x - n.x) <= n.w / 2 + 1 &&
        (Math.abs(Math.abs(y - n.y) - n.h / 2) < 1.5 || Math.abs(Math.abs(x - n.x) - n.w / 2) < 1.5),
    );
  expect(s.edges.length).toBeGreaterThan(3);
  for (const e of s.edges) {
    expect(onBorder(...e.points[0]!), `start of ${e.id}`).toBe(true);
    expect(onBorder(...e.points.at(-1)!), `end of ${e.id}`).toBe(true);
  }
});

test.each(GRAPHS)(
  "%s with %j open: every edge of the graph is drawn, inside one box, or cut between lanes",
  (name, open) => {
    const m = golden(name);
    const s = scene(m, ...open);
    const key = (b: { from: number; to: number; port: number }): string => `${b.from}:${b.port}>${b.to}`;
    const shown = new Set([...s.edges.flatMap((e) => e.base), ...s.cut].map(key));
    for (const op of m.ops) {
      const bases = op.controls.map((from) => ({ from, port: -1, to: op.index }));
      for (const input of op.inputs) bases.push({ from: input.op, port: input.port, to: op.index });
      for (const b of bases)
        if (s.boxOf.get(b.from) !== s.boxOf.get(b.to)) expect(shown.has(key(b)), key(b)).toBe(true);
    }
  },
);

test("opening a scope keeps the order of everything else", () => {
  const m = golden("softmax_regression_adam");
  const closed = scene(m);
  for (const scope of closed.nodes.filter((n) => n.node.kind === "scope")) {
    const opened = scene(m, scope.id);
    for (const a of closed.nodes) {
      for (const b of closed.nodes) {
        if (a.lane !== b.lane || a.lane === "aside") continue;
        const [a2, b2] = [at(opened, a.id), at(opened, b.id)];
        // ranks stay above one another, and rows keep their order
        if (a.y + a.h / 2 < b.y - b.h / 2) expect(a2.y - a2.h / 2).toBeLessThan(b2.y - b2.h / 2 + 0.5);
        if (a.y - a.h / 2 === b.y - b.h / 2 && a.x < b.x) expect(a2.x, `${a.id} left of ${b.id}`).toBeLessThan(b2.x);
      }
    }
  }
});

test("what reads one box stands as it was made, from left to right, also where the drawing is turned", () => {
  const ops = ["Add", "Add_1", "Add_2", "Add_3"].map((name) => ({ name, reads: ["c"] }));
  for (const inputs of [
    ["a", "b"],
    ["b", "a"],
  ]) {
    const s = scene(model([{ name: "a" }, { name: "b" }, { name: "c", reads: inputs }, ...ops]));
    const xs = ops.map(({ name }) => at(s, name).x);
    expect(xs).toEqual([...xs].sort((a, b) => a - b));
    expect(at(s, inputs[0]!).x).toBeLessThan(at(s, inputs[1]!).x);
  }
  const towers = ["t0", "t1", "t2", "t3"];
  for (const taken of [towers, [...towers].reverse()]) {
    const s = scene(
      model([
        { name: "split" },
        { name: "w" },
        { name: "v" },
        ...towers.map((name) => ({ name, reads: ["split", "w", "v"] })),
        { name: "sum", reads: taken },
      ]),
    );
    expect([...towers].sort((a, b) => at(s, a).x - at(s, b).x)).toEqual(taken);
  }
});

test("the same graph gives the same picture, from the cache too", () => {
  const cache: LayoutCache = new Map();
  const m = golden("linear_regression");
  const places = (s: Scene): string => JSON.stringify(s.nodes.map(({ id, x, y, w, h }) => [id, x, y, w, h]));
  const first = places(makeScene(m, options("weights/"), cache));
  expect(places(makeScene(m, options("weights/"), cache))).toBe(first);
  expect(places(scene(golden("linear_regression"), "weights/"))).toBe(first);
});

test("inputs read from left to right", () => {
  const m = model([{ name: "b" }, { name: "a" }, { name: "sub", reads: ["a", "b"] }]);
  const s = scene(m);
  expect(at(s, "a").x).toBeLessThan(at(s, "b").x);
});

test("gradients and optimizers stand in the training lane, init and save aside", () => {
  const s = scene(golden("linear_regression"));
  expect([at(s, "gradients/").lane, at(s, "GradientDescent/").lane, at(s, "save/").lane, at(s, "add").lane]).toEqual([
    "training",
    "training",
    "aside",
    "main",
  ]);
  expect(s.areas.map((a) => a.lane)).toEqual(["training", "aside"]);
});

test("code may say what is set aside and what is not", () => {
  const m = golden("linear_regression");
  const rules = { aside: new Set(["range"]), inline: new Set(["gradients"]) };
  const s = makeScene(m, { ...options(), rules }, new Map());
  expect([at(s, "range/").lane, at(s, "gradients/").lane]).toEqual(["aside", "main"]);
});

test.each([
  [40, "aside"],
  [20, "main"],
])("a hub that all %i others read stands in lane %s", (n, lane) => {
  const readers = Array.from({ length: n }, (_, i) => ({
    name: `r${i}x`,
    reads: i === 0 ? ["hub"] : ["hub", `r${i - 1}x`],
  }));
  const s = scene(model([{ name: "hub" }, ...readers]));
  expect(at(s, "hub").lane).toBe(lane);
  expect(s.cut.length).toBe(lane === "aside" ? n : 0);
});

test("a loop's way back runs beside the boxes, upwards", () => {
  const s = scene(golden("while_loop"), "while/");
  const back = s.edges.filter((e) => e.back);
  expect(back.length).toBe(1);
  expect(back[0]!.points[0]![1]).toBeGreaterThan(back[0]!.points.at(-1)![1]);
});

test("an input that was made after its reader stands above it", () => {
  const s = scene(model([{ name: "x" }, { name: "product", reads: ["x", "rounded"] }, { name: "rounded" }]));
  expect(s.edges.filter((e) => e.back)).toEqual([]);
  expect(at(s, "rounded").y).toBeLessThan(at(s, "product").y);
});

test("control edges and references are told apart", () => {
  const s = scene(golden("linear_regression"), "weights/", "GradientDescent/");
  expect(new Set(s.edges.map((e) => e.kind))).toEqual(new Set(["data", "control", "reference"]));
});

test("the first look opens scopes, but no variables and nothing that trains", () => {
  const { expanded: _, ...rest } = options();
  const open = openToDepth(golden("softmax_regression_adam"), rest, 2);
  expect([...open].sort()).toEqual(["accuracy/", "loss/", "model/"]);
  expect(openToDepth(golden("softmax_regression_adam"), rest, 1).size).toBe(0);
});

test("a picture of 290 boxes that know nothing of each other's order takes no seconds", () => {
  const specs = Array.from({ length: 290 }, (_, i) => ({
    name: `op${i}x`,
    reads: i < 2 ? [] : [`op${(i * 7) % i}x`, `op${(i * 13) % i}x`],
  }));
  const began = performance.now();
  expect(scene(model(specs)).nodes.length).toBe(290);
  expect(performance.now() - began).toBeLessThan(20_000);
});

test("layers built alike are drawn alike, each under its own names", () => {
  const layers = ["a", "b", "c", "d"].flatMap((name, i) => [
    { name: `${name}/w` },
    { name: `${name}/mul`, reads: [i === 0 ? "x" : `${"abcd"[i - 1]!}/out`, `${name}/w`] },
    { name: `${name}/out`, reads: [`${name}/mul`, `${name}/w`] },
  ]);
  const m = model([{ name: "x" }, ...layers]);
  const all = scene(m, "a/", "b/", "c/", "d/");
  const alone = scene(m, "c/");
  for (const part of ["w", "mul", "out"]) {
    const beside = (s: Scene, scope: string): number[] => {
      const [box, around] = [at(s, `${scope}/${part}`), at(s, `${scope}/`)];
      return [box.x - around.x, box.y - around.y, box.w, box.h];
    };
    expect(beside(all, "b")).toEqual(beside(all, "c"));
    expect(beside(all, "c")).toEqual(beside(alone, "c"));
  }
  expect(
    all.edges
      .filter((e) => e.id.startsWith("b/"))
      .flatMap((e) => e.base)
      .every(({ to }) => m.ops[to]!.name[0] !== "a"),
  ).toBe(true);
});
