import { expect, test } from "vitest";
import type { Node } from "../../src/model/graph";
import { nameOf } from "../../src/model/graph";
import { baseName, grouped, isSetAside } from "../../src/model/series";
import { model } from "../helpers";

const many = (n: number, name = "Add"): { name: string; type: string }[] =>
  Array.from({ length: n }, (_, i) => ({ name: i === 0 ? name : `${name}_${i}`, type: name }));

test("few children stand for themselves", () => {
  const m = model(many(300));
  expect(grouped(m, m.root, 300)).toBe(m.root.children);
});

test("many like children become one series", () => {
  const m = model([{ name: "x" }, ...many(400), { name: "y" }]);
  const boxes = grouped(m, m.root, 300);
  expect(boxes.map((b) => [b.kind, b.label])).toEqual([
    ["op", "x"],
    ["series", "Add"],
    ["op", "y"],
  ]);
  expect(boxes[1]!.members.length).toBe(400);
  expect(boxes[1]!.like).toBe(400); // it opens to fewer boxes
});

test("50,000 children: nowhere more than a hundred boxes, and none is lost", () => {
  const m = model(many(50_000));
  let leaves = 0;
  const visit = (node: Node): void => {
    if (node.kind === "op") {
      leaves++;
      return;
    }
    const boxes = grouped(m, node, 300);
    if (node !== m.root) expect(boxes.length).toBeLessThanOrEqual(100);
    boxes.forEach(visit);
  };
  visit(m.root);
  expect(leaves).toBe(50_000);
});

test("children that are all unlike come in parts too", () => {
  const m = model(
    Array.from({ length: 1000 }, (_, i) => ({ name: `n${String.fromCharCode(97 + (i % 26))}${i}x`, type: `T${i}` })),
  );
  const boxes = grouped(m, m.root, 300);
  expect(boxes.length).toBeLessThanOrEqual(300);
  expect(boxes.flatMap((b) => b.members).length).toBe(1000);
});

test("a series keeps its id while it grows, so that it stays open", () => {
  const m = model(many(400));
  const before = grouped(m, m.root, 300)[0]!.id;
  m.add([{ name: "Add_400", type: "Add", inputs: [], controls: [], outputs: [] }]);
  expect(grouped(m, m.root, 300)[0]!.id).toBe(before);
});

test.each([
  ["Add_12", "Add"],
  ["(w)", "w"],
  ["layer_norm", "layer_norm"],
  ["h1_1", "h1"],
])("%s is one of %s", (name, base) => {
  expect(baseName(name)).toBe(base);
});

test("a series is called by what its members share, and by how many they are", () => {
  const m = model(many(400).map((op) => ({ ...op, name: `net/${op.name}` })));
  const net = m.scopes.get("net/")!;
  const all = grouped(m, net, 300)[0]!;
  expect(nameOf(net)).toBe("net");
  expect(nameOf(all)).toBe("net/Add ×400");
  expect(nameOf(grouped(m, all, 300)[1]!)).toBe("net/Add 10–19 ×10");
});

test("many variables set aside are one box, which opens to all of them", () => {
  const rows = many(60, "VarHandleOp").map(({ type }, i) => ({ name: `block_${i}/w`, type }));
  const m = model([...rows, { name: "save/NoOp", type: "NoOp" }, { name: "net/MatMul", type: "MatMul" }]);
  expect(grouped(m, m.root, 300)).toBe(m.root.children);
  m.setAside = new Set([...rows.slice(1).map(({ name }) => name.split("/")[0]!), "save"]);
  const boxes = grouped(m, m.root, 300);
  expect(boxes.map((box) => nameOf(box))).toEqual(["block_0", "variables ×59", "save", "net"]);
  expect(boxes.map((box) => isSetAside(m.setAside, box))).toEqual([false, true, true, false]);
  expect(grouped(m, boxes[1]!, 300)).toHaveLength(59);
  m.setAside = new Set([...m.setAside].slice(0, 10));
  expect(grouped(m, m.root, 300)).toBe(m.root.children); // few enough to be drawn
});
