import { expect, test } from "vitest";
import type { Painting } from "../../src/drawing/box_colours";
import { deviceText, paint, timeText } from "../../src/drawing/box_colours";
import type { ColourBy, Figures } from "../../src/kernel/graph_messages";
import { makeScene } from "../../src/layout/scene";
import { GraphModel } from "../../src/model/graph";
import { highlight } from "../../src/model/highlight";
import { familyOf } from "../../src/model/op_families";
import { golden, options, rows } from "../helpers";

function painted(m: GraphModel, by: ColourBy, fetches: string[] = [], figures: Figures = {}): Painting {
  const scene = makeScene(m, options(), new Map());
  return paint(m, scene.nodes, by, highlight(m, fetches, []), figures);
}

const devices = (): GraphModel => {
  const made = rows([{ name: "a" }, { name: "b/x", reads: ["a"] }, { name: "b/y" }, { name: "c" }]);
  made[1]!.device = "/device:GPU:0";
  made[3]!.device = "/job:ps/task:1/device:CPU:0";
  return new GraphModel(made);
};

test("by device: a word on each box, a box with several says how many more", () => {
  const { of, key } = painted(devices(), "device");
  expect(of.get("a")).toEqual({ tone: "tft-tone tft-tone-none", badge: "" });
  expect(of.get("b/")!.badge).toBe("GPU:0 +1");
  expect(of.get("c")!.badge).toBe("ps:1 CPU:0");
  expect(key.map(({ text, ops }) => [text, ops])).toEqual([
    ["any device", 2],
    ["GPU:0", 1],
    ["ps:1 CPU:0", 1],
  ]);
});

test("devices in short", () => {
  expect(
    ["", "/gpu:1", "/device:GPU:1", "/job:worker/replica:0/task:2/device:CPU:0", "/job:ps", "odd"].map(deviceText),
  ).toEqual(["any device", "GPU:1", "GPU:1", "worker:2 CPU:0", "ps", "odd"]);
});

test("by family: every op of three real graphs has one", () => {
  for (const name of ["linear_regression", "softmax_regression_adam", "while_loop"]) {
    expect(
      golden(name)
        .ops.filter((op) => familyOf(op.type) === "other")
        .map((op) => op.type),
    ).toEqual([]);
  }
  expect(["MatMul", "VariableV2", "ApplyAdam", "Relu", "Mean", "Switch", "MyOp"].map(familyOf)).toEqual([
    "product",
    "variable",
    "update",
    "network",
    "reduction",
    "flow",
    "other",
  ]);
});

test("by run: without fetches it asks for one", () => {
  const m = golden("linear_regression");
  expect(painted(m, "run").missing).toContain("Fetch");
  const { of } = painted(m, "run", ["add:0"]);
  expect(of.get("add")!.tone).toContain("tft-like-");
  expect(of.get("loss")!.tone).toContain("tft-tone-none");
});

test("by cell: in the order of the cells", () => {
  const made = rows([{ name: "a" }, { name: "b" }]);
  made[0]!.source = { file: "In [3]", line: 1, scope: "", text: "" };
  made[1]!.source = { file: "In [1]", line: 1, scope: "", text: "" };
  expect(painted(new GraphModel(made), "cell").key.map((row) => row.text)).toEqual(["In [3]", "In [1]"]);
});

test("by time: a scope is the sum of its ops; names that are no ops change nothing", () => {
  const figures = {
    a: { time_us: 100 },
    "b/x": { time_us: 300 },
    "b/y": { time_us: 100 },
    nobody: { time_us: 1e9 },
    constructor: {},
  };
  const { of, key } = painted(devices(), "time", [], figures);
  expect(of.get("b/")).toEqual({ tone: "tft-tone tft-heat-4", badge: "400 µs" });
  expect(of.get("a")).toEqual({ tone: "tft-tone tft-heat-2", badge: "100 µs" });
  expect(of.get("c")).toEqual({ tone: "tft-tone tft-tone-none", badge: "" });
  expect(key.at(-1)!.text).toBe("up to 400 µs");
  expect(painted(devices(), "memory", [], figures).missing).toContain("figures");
});

test("times for people", () => {
  expect([0.4, 42, 1500, 25_000, 3e6].map(timeText)).toEqual(["0.4 µs", "42 µs", "1.50 ms", "25.0 ms", "3.00 s"]);
});
