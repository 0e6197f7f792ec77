import { expect, test } from "vitest";
import type { LabelPlace, Rect, Wish } from "../../src/layout/label_places";
import { placeLabels } from "../../src/layout/label_places";
import type { Scene, SceneEdge } from "../../src/layout/scene";
import { makeScene } from "../../src/layout/scene";
import { HEADER } from "../../src/layout/scope_layout";
import type { GraphModel } from "../../src/model/graph";
import type { Spec } from "../helpers";
import { golden, model, options, random } from "../helpers";

const meet = (a: Rect, b: Rect): boolean =>
  Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.1 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.1;
const holds = (a: Rect, b: Rect): boolean =>
  a.left <= b.left && a.right >= b.right && a.top <= b.top && a.bottom >= b.bottom;
const around = ({ x, y, w, h }: { x: number; y: number; w: number; h: number }): Rect => ({
  left: x - w / 2,
  right: x + w / 2,
  top: y - h / 2,
  bottom: y + h / 2,
});

/** A label on each line for which `wide` has a width. */
function labelled(scene: Scene, wide: (edge: SceneEdge) => number): Map<string, LabelPlace> {
  const wishes = new Map<string, Wish>();
  for (const edge of scene.edges) {
    const width = wide(edge);
    if (width > 0) wishes.set(edge.id, { lines: [edge], width });
  }
  return placeLabels(scene, wishes);
}

/** What lies on something else. */
function faults(scene: Scene, places: Map<string, LabelPlace>): string[] {
  const found: string[] = [];
  const all = [...places];
  for (const [i, [key, place]] of all.entries()) {
    for (const [other, there] of all.slice(i + 1))
      if (meet(place, there)) found.push(`${key} on the label of ${other}`);
    for (const node of scene.nodes) {
      const box = around(node);
      const header = { ...box, bottom: box.top + HEADER - 2 };
      if (node.open ? meet(place, header) : meet(place, box)) found.push(`${key} on ${node.id}`);
      if (node.open && meet(place, box) && !holds(box, place)) found.push(`${key} on the border of ${node.id}`);
    }
    for (const { id, x, y, w, h } of scene.areas) {
      const area = { left: x, right: x + w, top: y, bottom: y + h };
      if (meet(place, area) && !holds(area, place)) found.push(`${key} on the border of ${id}`);
    }
  }
  return found;
}

/** A graph with scopes in scopes, and lines between all of them. */
function generated(seed: number): GraphModel {
  const next = random(seed);
  const pick = (n: number): number => Math.floor(next() * n);
  const specs: Spec[] = [];
  for (let i = 0; i < 20 + pick(60); i++) {
    const scope = ["", "a/", "b/", "a/in/", "b/in/", "b/in/deep/"][pick(6)]!;
    const reads: string[] = [];
    for (let k = pick(4); k > 0 && i > 0; k--) {
      const other = specs[Math.max(0, i - 1 - pick(12))]!.name;
      const read = next() < 0.2 ? `^${other}` : other;
      if (!reads.includes(read)) reads.push(read);
    }
    const shape = next() < 0.2 ? null : Array.from({ length: pick(5) }, () => 1 + pick(300));
    specs.push({ name: `${scope}${"n".repeat(1 + pick(12))}${i}`, reads, outputs: [["float32", shape]] });
  }
  return model(specs);
}

const opened = (m: GraphModel, open: string[], extra = {}): Scene =>
  makeScene(m, { ...options(...open), ...extra }, new Map());

const GRAPHS: [string, GraphModel, string[]][] = [
  ["linear_regression", golden("linear_regression"), ["gradients/", "GradientDescent/", "weights/"]],
  ["softmax", golden("softmax_regression_adam"), ["model/", "model/w/", "loss/", "accuracy/", "train/", "train/Adam/"]],
  ["while_loop", golden("while_loop"), ["while/", "while/Add/"]],
  ...Array.from({ length: 24 }, (_, i): [string, GraphModel, string[]] => {
    const next = random(i + 100);
    return [`generated ${i}`, generated(i), ["a/", "b/", "a/in/", "b/in/", "b/in/deep/"].filter(() => next() < 0.7)];
  }),
];

test.each(GRAPHS)("%s: labels lie on no box, header or border, and not on one another", (_, m, open) => {
  const scene = opened(m, open);
  const next = random(7);
  const places = labelled(scene, (edge) => (edge.kind === "control" || next() < 0.2 ? 0 : 20 + next() * 130));
  expect(places.size).toBeGreaterThan(3);
  expect(faults(scene, places)).toEqual([]);
});

test.each(GRAPHS)("%s: where the layout keeps room, all labels are there, whole and on no line", (_, m, open) => {
  const note = (base: readonly { from: number; port: number }[]) => {
    const key = [...new Set(base.map(({ from, port }) => `${from}:${port}`))].join();
    return base[0]!.port < 0 ? undefined : { text: "8×28×28×6 · -0.94…0.81", subject: key };
  };
  const scene = opened(m, open, { note });
  const width = 22 * 10 * 0.6;
  const kept = scene.edges.filter((edge) => edge.labelAt !== null);
  const places = labelled(scene, (edge) => (edge.kind === "control" ? 0 : width)); // others do not take that room
  expect(faults(scene, places)).toEqual([]);
  const cut = kept.filter(({ id }) => {
    const place = places.get(id);
    return place === undefined || place.right - place.left < width - 0.1;
  });
  expect(cut.length / Math.max(1, kept.length)).toBeLessThan(0.06);
});

test("a label without any room is left out", () => {
  const scene = opened(model([{ name: "a" }, { name: "b", reads: ["a"] }]), []);
  const edge = scene.edges[0]!;
  const box = scene.nodes[0]!;
  const covered = { ...scene, nodes: [...scene.nodes, { ...box, id: "c", w: 4000, h: 4000 }] };
  const wishes = new Map([["x", { lines: [edge], width: 60 }]]);
  expect(placeLabels(covered, wishes).size).toBe(0);
  const titled = { ...scene, areas: [{ id: "t", scope: "", lane: "training" as const, depth: 0 }] };
  const area = { x: -200, y: (edge.points[0]![1] + edge.points.at(-1)![1]) / 2 - 12, w: 400, h: 400 };
  const place = placeLabels({ ...titled, areas: [{ ...titled.areas[0]!, ...area }] }, wishes).get("x");
  if (place !== undefined) expect(place.bottom <= area.y || place.top >= area.y + 24).toBe(true);
});

test("labels that would meet are moved along their lines; one line may lend its place", () => {
  const scene = opened(model([{ name: "a" }, { name: "b", reads: ["a"] }, { name: "c", reads: ["a"] }]), []);
  const [one, two] = scene.edges as [SceneEdge, SceneEdge];
  const wishes = new Map([
    ["x", { lines: [one], width: 50 }],
    ["y", { lines: [one, two], width: 50 }],
  ]);
  const places = placeLabels(scene, wishes);
  expect(faults(scene, places)).toEqual([]);
  expect(places.get("x")!.edge).toBe(one);
  expect(places.size).toBe(2);
});
