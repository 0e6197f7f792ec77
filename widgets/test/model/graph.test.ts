import { expect, test } from "vitest";
import { decode } from "../../src/kernel/graph_messages";
import { GraphModel, shapeText } from "../../src/model/graph";
import { golden, model, rows } from "../helpers";

test("names make nested scopes", () => {
  const m = model([{ name: "a" }, { name: "layer/w" }, { name: "layer/sub/y", reads: ["layer/w"] }]);
  expect(m.root.children!.map((n) => n.id)).toEqual(["a", "layer/"]);
  expect(m.scopes.get("layer/")!.members).toEqual([1, 2]);
  expect(m.scopes.get("layer/sub/")!.depth).toBe(2);
});

test("an op and the scope of its name are one box, whichever comes first", () => {
  const opFirst = model([{ name: "w" }, { name: "w/read", reads: ["w"] }, { name: "z" }]);
  const scopeFirst = model([{ name: "add/y" }, { name: "add", reads: ["add/y"] }]);
  expect(opFirst.root.children!.map((n) => n.id)).toEqual(["w/", "z"]);
  expect(opFirst.scopes.get("w/")!.children!.map((n) => n.label)).toEqual(["(w)", "read"]);
  expect(opFirst.scopes.get("w/")!.members).toEqual([0, 1]);
  expect(scopeFirst.opOf(scopeFirst.scopes.get("add/")!)!.name).toBe("add");
});

test("a graph that grows op by op equals one that comes whole", () => {
  const whole = golden("softmax_regression_adam");
  const grown = new GraphModel();
  for (const op of whole.ops) grown.add([op]);
  const outline = (m: GraphModel): string[] => [...m.scopes.values()].map((s) => `${s.id}:${s.members.join()}`).sort();
  expect(outline(grown)).toEqual(outline(whole));
  expect(grown.uses.map((u) => u.length)).toEqual(whole.uses.map((u) => u.length));
});

test("what comes twice counts once, and a patch moves the edges", () => {
  const specs = [{ name: "a" }, { name: "b" }, { name: "c", reads: ["a"] }];
  const m = model(specs);
  m.add(rows(specs));
  expect(m.ops.length).toBe(3);
  m.patch(2, rows([...specs.slice(0, 2), { name: "c", reads: ["b", "^a"] }])[2]!);
  expect(m.uses[0]).toEqual([{ op: 2, port: -1 }]);
  expect(m.uses[1]).toEqual([{ op: 2, port: 0 }]);
  m.patch(99, rows(specs)[0]!); // an op that is not here yet
  expect(m.ops.length).toBe(3);
});

test("change reaches every scope around both ends of a new edge", () => {
  const m = model([{ name: "s/a" }, { name: "t/b" }]);
  const before = m.scopes.get("t/")!.version;
  m.add([{ name: "u/c", type: "Op", inputs: [{ op: 0, port: 0 }], controls: [], outputs: [] }]);
  expect(m.scopes.get("s/")!.version).toBe(m.version);
  expect(m.scopes.get("t/")!.version).toBe(before);
});

test("names that look like HTML or like object fields are names", () => {
  const m = model([{ name: "__proto__" }, { name: "constructor/toString" }, { name: "<img src=x onerror=alert(1)>" }]);
  expect(m.byName.get("__proto__")).toBe(0);
  expect(m.ops.map((op) => op.name)).toContain("constructor/toString");
});

test("rows come over the wire as lists", () => {
  const row = decode(["c", "Const", [], [], [["float32", []]], { value: "2" }]);
  expect(row).toMatchObject({ name: "c", type: "Const", value: "2" });
  expect(decode(["n", "NoOp", [], [0], []]).controls).toEqual([0]);
});

test.each([
  [null, "?"],
  [[], "scalar"],
  [[10], "[10]"],
  [[-1, 784], "?×784"],
] as const)("shape %j reads %s", (shape, text) => {
  expect(shapeText(shape as number[] | null)).toBe(text);
});
