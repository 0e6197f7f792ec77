// Lays out an open scope. Each scope is laid out separately (dagre), inner scopes first, so that opening one makes room
// but never reorders its siblings: their order depends on the edges alone.

import type { Steps } from "../base/time_slices";
import type { GraphModel, Node } from "../model/graph";
import { shapeText } from "../model/graph";
import { grouped } from "../model/series";
import type { Measure } from "./box_style";
import { boxStyleOf } from "./box_style";
import type { Base, Bundle, Lane, LaneRules, OpenScope } from "./edge_bundles";
import { makeOpenScope } from "./edge_bundles";
import type { Block, EdgeText, LayoutCache, PlacedBox, Point, ScopeLayout } from "./layered_layout";
import { LABEL_PX, layFlow, NOTE_PX } from "./layered_layout";

export type { LayoutCache, PlacedBox, PlacedEdge, Point, ScopeLayout } from "./layered_layout";

export interface LayoutOptions {
  expanded: ReadonlySet<string>;
  measure: Measure;
  groupAbove: number;
  rules: LaneRules;
  labels: boolean;
  /** What a view will write on a line in place of its label. */
  note: (base: readonly Base[]) => EdgeNote | undefined;
  devices?: DeviceLayout | undefined;
}

/** How the graphs of devices are laid out, of which the outermost boxes are the devices. */
export interface DeviceLayout {
  /** Places the devices in columns. */
  placeColumns: (layout: ScopeLayout, options: LayoutOptions) => void;
  /** Places at a device's side what it sends and receives. */
  placeSides: (frame: OpenScope, block: Block, transfers: PlacedBox[], bundles: Bundle[]) => void;
  isTransfer: (model: GraphModel, frame: OpenScope, box: PlacedBox) => boolean;
}

/** A view's words on a line. */
export interface EdgeNote {
  text: string;
  /** Lines of the same subject, such as the readers of one tensor, are labelled once. */
  subject: string;
}

export const NO_NOTES = (): undefined => undefined;

export const HEADER = 30;
export const PADDING = 18;
const GAP = 22; // between things in a list
const LANE_GAP = 56;
const LARGE_FAN = 4;
export const LANE_TITLE = 28;

/** The boxes that may still be added by opening scopes: a page cannot draw any number. */
export interface Room {
  boxes: number;
}

export function* layoutScope(
  model: GraphModel,
  scope: Node,
  parent: OpenScope | null,
  options: LayoutOptions,
  cache: LayoutCache,
  room: Room,
): Steps<ScopeLayout> {
  const frame = yield* makeOpenScope(model, scope, grouped(model, scope, options.groupAbove), parent, options.rules);
  yield;
  const boxes: PlacedBox[] = [];
  for (const node of frame.boxes) boxes.push(yield* placeable(model, node, frame, options, cache, room));
  const layout: ScopeLayout = {
    frame,
    w: 0,
    h: 0,
    boxes,
    edges: [],
    areas: [],
    inPorts: new Map(),
    outPorts: new Map(),
  };
  if (frame.apart) {
    options.devices!.placeColumns(layout, options);
    return layout;
  }
  addCutCounts(layout);
  const main = layLane(model, layout, "main", options, cache);
  yield;
  const training = layLane(model, layout, "training", options, cache);
  const aside = layLane(model, layout, "aside", options, cache);
  arrange(layout, main, training, aside);
  return layout;
}

function* placeable(
  model: GraphModel,
  node: Node,
  frame: OpenScope,
  options: LayoutOptions,
  cache: LayoutCache,
  room: Room,
): Steps<PlacedBox> {
  const style = boxStyleOf(model, node, options.measure);
  const lane = frame.lanes.get(node.id) ?? "main";
  let inner: ScopeLayout | null = null;
  if (node.kind !== "op" && options.expanded.has(node.id)) {
    const inside = grouped(model, node, options.groupAbove).length;
    room.boxes -= inside;
    if (room.boxes >= 0) inner = yield* layoutScope(model, node, frame, options, cache, room);
  }
  const w = inner === null ? style.w : Math.max(inner.w + 2 * PADDING, style.w + 30);
  const h = inner === null ? style.h : inner.h + HEADER + PADDING;
  return { node, style, lane, x: 0, y: 0, w, h, inner };
}

/** Boxes whose edges are not drawn show how many tensors they read from and pass to other lanes. */
function addCutCounts(layout: ScopeLayout): void {
  const counts = new Map<string, [number, number]>();
  const bump = (id: string, side: 0 | 1, by: number): void => {
    const known = counts.get(id) ?? [0, 0];
    known[side] += by;
    counts.set(id, known);
  };
  for (const bundle of layout.frame.cut) {
    bump(bundle.to, 0, bundle.base.length);
    bump(bundle.from, 1, bundle.base.length);
  }
  for (const box of layout.boxes) {
    const [reads, gives] = counts.get(box.node.id) ?? [0, 0];
    if (box.lane === "main" || box.inner !== null || reads + gives === 0) continue;
    const parts = [reads > 0 ? `${reads} in` : "", gives > 0 ? `${gives} out` : ""].filter((p) => p !== "");
    const subtitle = [box.style.subtitle, ...parts].filter((p) => p !== "").join(" · ");
    box.style = { ...box.style, subtitle, h: Math.max(box.style.h, 42) };
    box.style.w = Math.max(box.style.w, subtitle.length * 5.6 + 34);
    box.w = box.style.w;
    box.h = box.style.h;
  }
}

function labelOf(model: GraphModel, bundle: Bundle): string {
  if (bundle.kind === "control") return "";
  if (bundle.tensors > 1) return `${bundle.tensors} tensors`;
  const base = bundle.base.find((b) => b.port >= 0)!;
  const shape = model.ops[base.from]?.outputs[base.port]?.shape ?? null;
  return shape === null ? "" : shapeText(shape); // an unknown shape has no label
}

function layLane(
  model: GraphModel,
  layout: ScopeLayout,
  lane: Lane,
  options: LayoutOptions,
  cache: LayoutCache,
): Block {
  const { frame } = layout;
  const all = layout.boxes.filter((b) => b.lane === lane);
  const transfers = all.filter((b) => options.devices?.isTransfer(model, frame, b) === true);
  const mine = all.filter((b) => !transfers.includes(b));
  const ids = new Set(mine.map((b) => b.node.id));
  const bundles = [
    ...frame.drawn.filter((b) => ids.has(b.from) && ids.has(b.to)),
    ...frame.entering.filter((b) => ids.has(b.to) && !b.back),
    ...frame.leaving.filter((b) => ids.has(b.from) && !b.back),
  ];
  const touched = new Set(bundles.flatMap((b) => [b.from, b.to]));
  const flow = mine.filter((b) => touched.has(b.node.id));
  const texts = edgeTexts(model, frame, bundles, options);
  const block = layFlow(`${frame.scope.id}|${lane}`, frame, flow, bundles, texts, cache);
  stackLoose(
    block,
    mine.filter((b) => !touched.has(b.node.id)),
  );
  block.boxes = mine;
  const ends = new Set(transfers.map((b) => b.node.id));
  const joins = frame.drawn.filter((b) => ends.has(b.from) || ends.has(b.to));
  if (transfers.length > 0) options.devices!.placeSides(frame, block, transfers, joins);
  return block;
}

/** The labels of a lane's lines, and the room for each. */
function edgeTexts(
  model: GraphModel,
  frame: OpenScope,
  bundles: readonly Bundle[],
  { labels, measure, note }: LayoutOptions,
): Map<string, EdgeText> {
  // A line that crosses the border is labelled outside, once.
  const inside = new Set(frame.drawn);
  // A tensor is labelled once; one with many readers only in the details, since its lines fan out.
  const fans = new Map<string, number>();
  for (const b of bundles) if (b.tensors === 1) fans.set(b.from, (fans.get(b.from) ?? 0) + 1);
  const [said, noted] = [new Set<string>(), new Set<string>()];
  const texts = new Map<string, EdgeText>();
  for (const b of bundles) {
    let label = labels && inside.has(b) ? labelOf(model, b) : "";
    const base = b.base.find((one) => one.port >= 0);
    if (b.tensors === 1 && base !== undefined && label !== "") {
      const tensor = `${base.from}:${base.port}`;
      if (said.has(tensor) || fans.get(b.from)! > LARGE_FAN) label = "";
      said.add(tensor);
    }
    const { text, subject } = (inside.has(b) && !b.back ? note(b.base) : undefined) ?? { text: "", subject: "" };
    const room = noted.has(subject) ? "" : text;
    noted.add(subject);
    const widths = [label === "" ? 0 : measure(label, LABEL_PX, false), room === "" ? 0 : measure(room, NOTE_PX, true)];
    texts.set(b.key, { label, width: Math.ceil(Math.max(...widths)) });
  }
  return texts;
}

/** Places boxes without edges in rows below the flow, in creation order. */
function stackLoose(block: Block, loose: PlacedBox[]): void {
  if (loose.length === 0) return;
  const area = loose.reduce((sum, b) => sum + (b.w + GAP) * (b.h + GAP), 0);
  const widest = Math.max(block.w, 260, Math.sqrt(area) * 1.5);
  let x = 0;
  let y = block.h === 0 ? 0 : block.h + GAP + 8;
  let rowH = 0;
  for (const box of loose) {
    if (x > 0 && x + box.w > widest) {
      x = 0;
      y += rowH + GAP;
      rowH = 0;
    }
    box.x = x + box.w / 2;
    box.y = y + box.h / 2;
    x += box.w + GAP;
    rowH = Math.max(rowH, box.h);
    block.w = Math.max(block.w, x - GAP);
  }
  block.h = y + rowH;
}

/** The main flow at the left; training and boxes set aside in a column at the right. */
function arrange(layout: ScopeLayout, main: Block, training: Block, aside: Block): void {
  const hasSide = training.boxes.length + aside.boxes.length > 0;
  move(main, 0, 0);
  layout.w = main.w;
  layout.h = main.h;
  layout.edges.push(...main.edges);
  if (layout.frame.scope.kind === "series" && aside.boxes.length === layout.boxes.length) {
    move(aside, 0, 0); // the series stands in the area already
    [layout.w, layout.h] = [aside.w, aside.h];
  } else if (hasSide) {
    const x = main.w + LANE_GAP;
    const w = Math.max(training.w, aside.w, 110);
    let y = 0;
    for (const [lane, block] of [
      ["training", training],
      ["aside", aside],
    ] as const) {
      if (block.boxes.length === 0) continue;
      move(block, x + (w - block.w) / 2, y + LANE_TITLE);
      layout.edges.push(...block.edges);
      layout.areas.push({ lane, x: x - 14, y, w: w + 28, h: block.h + LANE_TITLE + 14 });
      y += block.h + LANE_TITLE + 14 + GAP;
    }
    layout.w = x + w + 14;
    layout.h = Math.max(main.h, y - GAP);
  }
  reachBorder(layout);
}

function move(block: Block, dx: number, dy: number): void {
  const by = ([x, y]: Point): Point => [x + dx, y + dy];
  for (const b of block.boxes) [b.x, b.y] = by([b.x, b.y]);
  for (const e of block.edges) {
    e.points = e.points.map(by);
    if (e.labelAt !== null) e.labelAt = by(e.labelAt);
  }
}

/** Extends incoming lines to the box's upper side, outgoing ones to its lower side. */
function reachBorder(layout: ScopeLayout): void {
  for (const { bundle, points } of layout.edges) {
    if (bundle.from.includes("\u0002")) {
      const x = points[0]![0];
      points.unshift([x, -HEADER]);
      layout.inPorts.set(bundle.from, x);
    }
    if (bundle.to.includes("\u0002")) {
      const x = points.at(-1)![0];
      points.push([x, layout.h + PADDING]);
      layout.outPorts.set(bundle.to, x);
    }
  }
}

export type { Bundle };
