import { highlight } from "../../src/model/highlight";
import { labelPoint, resample } from "../../src/layout/polyline";
import { expect, test } from "vitest";
import { glyphOf, guess, lookOf, shorten } from "../../src/layout/box_style";
import { likeness, makeMarks } from "../../src/drawing/node_marks";
import { linePath } from "../../src/drawing/paths";
import { makeScene } from "../../src/layout/scene";
import { golden, model, options } from "../helpers";

test("kinds of boxes", () => {
  const m = golden("linear_regression");
  const kind = (id: string): string => glyphOf(m, m.root.children!.find((n) => n.id === id)!);
  expect([kind("X"), kind("weights/"), kind("Const"), kind("mul"), kind("gradients/")]).toEqual([
    "placeholder", "variable", "const", "op", "scope"]);
  const loop = golden("while_loop");
  expect(glyphOf(loop, loop.scopes.get("while/")!.children![0]!)).toBe("flow");
});

test("an op with its own constants is one op that shows them", () => {
  const m = golden("while_loop");
  expect(lookOf(m, m.scopes.get("while/Less/")!, guess)).toMatchObject({ glyph: "op", title: "Less", subtitle: "y = 10" });
});

test("a long name keeps both ends", () => {
  expect(shorten("a".repeat(40) + "_12", 20)).toMatch(/^a+….*_12$/);
  expect(shorten("short")).toBe("short");
});

test("marks say what runs, is fed, is fetched and is left out", () => {
  const m = golden("linear_regression");
  const scene = makeScene(m, options(), new Map());
  const marks = makeMarks(m, highlight(m, ["add:0"], ["X:0"]), null, "", new Set(), new Map());
  const of = (id: string): ReturnType<typeof marks.node> => marks.node(scene.byId.get(id)!);
  expect(of("add").badges).toEqual(["fetch"]);
  expect(of("X")).toMatchObject({ badges: ["feed"], classes: ["tft-needed", "tft-fed"] });
  expect(of("loss").classes).toEqual(["tft-dim"]);
  expect(of("weights/").note).toBe("2 of 3 run");
  expect(of("loss").label).toContain("does not run");
});

test("without fetches nothing is dim", () => {
  const m = golden("linear_regression");
  const scene = makeScene(m, options(), new Map());
  const marks = makeMarks(m, highlight(m, [], []), null, "", new Set(), new Map());
  expect(scene.nodes.flatMap((n) => marks.node(n).classes)).toEqual([]);
});

test("scopes built alike share a colour that growth does not change", () => {
  const m = model(["p", "q", "r"].flatMap((s) => [{ name: `${s}/a`, type: "A" }, { name: `${s}/b`, type: "B", reads: [`${s}/a`] }, { name: `${s}/c`, type: "C" }]));
  const known = new Map<string, number>();
  const scene = makeScene(m, options(), new Map());
  const first = likeness(m, scene.nodes, known);
  expect([...first.keys()]).toEqual(["p/", "q/", "r/"]);
  m.add([{ name: "r/d", type: "D", inputs: [], controls: [], outputs: [] }]);
  const later = likeness(m, makeScene(m, options(), new Map()).nodes, known);
  expect(later.get("p/")).toBe(first.get("p/"));
  expect(later.has("r/")).toBe(false);
});

test("lines pass through their ends; resampling keeps them", () => {
  const points: [number, number][] = [[0, 0], [30, 40], [10, 100]];
  expect(linePath(points)).toMatch(/^M0,0C.*L10,100$/);
  const again = resample(points, 7);
  expect(again.length).toBe(7);
  expect([again[0], again[6]]).toEqual([[0, 0], [10, 100]]);
  expect(labelPoint(points, [30, 40])[1]).toBe(40);
});
