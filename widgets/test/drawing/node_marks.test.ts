import { expect, test } from "vitest";
import { likeness, makeMarks } from "../../src/drawing/node_marks";
import { makeScene } from "../../src/layout/scene";
import { highlight } from "../../src/model/highlight";
import { golden, model, options } from "../helpers";

test("marks say what runs, is fed, is fetched and is left out", () => {
  const m = golden("linear_regression");
  const scene = makeScene(m, options(), new Map());
  const marks = makeMarks(m, highlight(m, ["add:0"], ["X:0"]), null, "", new Set(), new Map());
  const of = (id: string): ReturnType<typeof marks.node> => marks.node(scene.byId.get(id)!);
  expect(of("add").badges).toEqual([{ text: "fetch", kind: "fetch" }]);
  expect(of("X")).toMatchObject({ badges: [{ text: "feed", kind: "feed" }], classes: ["tft-needed", "tft-fed"] });
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
  const m = model(
    ["p", "q", "r"].flatMap((s) => [
      { name: `${s}/a`, type: "A" },
      { name: `${s}/b`, type: "B", reads: [`${s}/a`] },
      { name: `${s}/c`, type: "C" },
    ]),
  );
  const known = new Map<string, number>();
  const scene = makeScene(m, options(), new Map());
  const first = likeness(m, scene.nodes, known);
  expect([...first.keys()]).toEqual(["p/", "q/", "r/"]);
  m.add([{ name: "r/d", type: "D", inputs: [], controls: [], outputs: [] }]);
  const later = likeness(m, makeScene(m, options(), new Map()).nodes, known);
  expect(later.get("p/")).toBe(first.get("p/"));
  expect(later.has("r/")).toBe(false);
});
