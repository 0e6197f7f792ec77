// Layered layout of one lane of one scope: dagre finds ranks and positions, this file routes the lines at the boxes.
import { Graph, layout } from "@dagrejs/dagre";
import type { Node } from "../model/graph";
import type { BoxStyle } from "./box_style";
import { orderRanks } from "./crossing_reduction";
import type { Bundle, Lane, OpenScope } from "./edge_bundles";
import { siblingPort } from "./edge_bundles";
import { orderInputs, orderLike, readsBackwards } from "./input_order";

export type Point = [number, number];

export interface PlacedBox {
  node: Node;
  style: BoxStyle;
  lane: Lane;
  /** Centre and size, in the scope's own coordinates. */
  x: number;
  y: number;
  w: number;
  h: number;
  inner: ScopeLayout | null;
}

export interface PlacedEdge {
  bundle: Bundle;
  points: Point[];
  label: string;
  labelAt: Point | null;
  labelWidth: number;
  /** Ends in an arrow head; false where the line continues inside a box. */
  arrow: boolean;
  /** Straight pieces with rounded corners, not a smooth line. */
  corners?: boolean;
}

/** The label of a line, and the width kept for it and for what will replace it. */
export interface EdgeText {
  label: string;
  width: number;
}

/** A lane's drawing, from 0,0. */
export interface Block {
  w: number;
  h: number;
  boxes: PlacedBox[];
  edges: PlacedEdge[];
}

export interface LaneArea {
  lane: Lane;
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface ScopeLayout {
  frame: OpenScope;
  w: number;
  h: number;
  boxes: PlacedBox[];
  edges: PlacedEdge[];
  areas: LaneArea[];
  /** Where lines cross the border: x of each port on the upper and on the lower side. */
  inPorts: Map<string, number>;
  outPorts: Map<string, number>;
}

interface DagreResult {
  at: Map<string, Point>;
  edges: Map<string, { points: Point[]; label: Point | null }>;
}

/** Results of earlier layouts: a scope that did not change keeps its positions. */
export type LayoutCache = Map<string, { signature: string; structure: string; turn: number; result: DagreResult }>;

export const LABEL_PX = 9.5;
export const NOTE_PX = 10; // bold
export const LABEL_H = 13;
const MOST_TWICE = 80; // boxes that are laid out a second time, if that reads better
const PORT_ROOM = 24; // between the border and the first rank, where lines fan out

/** A port represents the box at the other end of a line that crosses the scope's border. */
const isPort = (id: string): boolean => id.includes("\u0002");

export function layFlow(
  name: string,
  frame: OpenScope,
  flow: PlacedBox[],
  bundles: Bundle[],
  texts: Map<string, EdgeText>,
  cache: LayoutCache,
): Block {
  const block: Block = { w: 0, h: 0, boxes: flow, edges: [] };
  if (flow.length === 0) return block;
  const forward = bundles.filter((b) => !b.back);
  const result = runDagre(name, flow, forward, texts, cache);
  const byId = new Map(flow.map((b) => [b.node.id, b]));
  for (const box of flow) [box.x, box.y] = result.at.get(box.node.id)!;
  for (const bundle of forward) block.edges.push(placeEdge(frame, bundle, byId, texts.get(bundle.key)!, result));
  attach(frame, block.edges, byId);
  routeBack(
    block,
    byId,
    bundles.filter((b) => b.back && !isPort(b.from) && !isPort(b.to)),
  );
  shrinkToFit(
    block,
    forward.some((b) => isPort(b.from)),
    forward.some((b) => isPort(b.to)),
  );
  return block;
}

function runDagre(
  name: string,
  flow: PlacedBox[],
  bundles: Bundle[],
  texts: Map<string, EdgeText>,
  cache: LayoutCache,
): DagreResult {
  const sizes = flow.map((b) => `${b.node.id}:${Math.round(b.w)}x${Math.round(b.h)}`).join("\n");
  const signature = `${sizes}\n\n${bundles.map((b) => `${b.key}:${texts.get(b.key)!.width}:${b.kind}`).join("\n")}`;
  const structure = `${flow.map((b) => b.node.id).join("\n")}\n\n${bundles.map((b) => b.key).join("\n")}`;
  const known = cache.get(name);
  if (known?.signature === signature) return known.result;
  const shape = shapeOf(flow, bundles, texts);
  const twin = cache.get(shape.key);
  if (twin !== undefined && (known?.structure !== structure || known.turn === twin.turn)) {
    const result = renamed(
      twin.result,
      (id) => shape.names[Number(id)]!,
      (key) => bundles[Number(key)]!.key,
    );
    cache.set(name, { signature, structure, turn: twin.turn, result });
    return result;
  }
  const g = new Graph({ directed: true, multigraph: false, compound: false });
  g.setGraph({
    rankdir: "TB",
    rankalign: "top",
    nodesep: 26,
    edgesep: 16,
    ranksep: 36,
    ...(flow.length > 120 ? { ranker: "tight-tree" } : {}),
  });
  for (const box of flow) g.setNode(box.node.id, { width: box.w, height: box.h });
  const above = ranksBeyond(flow, bundles, true);
  const below = ranksBeyond(flow, bundles, false);
  for (const { from, to } of bundles) {
    for (const end of [from, to]) if (isPort(end)) g.setNode(portId(end, from), { width: 10, height: 1 });
  }
  for (const { from, to, key, kind } of bundles) {
    const { width } = texts.get(key)!;
    const label = width === 0 ? {} : { width: width + 4, height: LABEL_H, labelpos: "r", labeloffset: 5 };
    g.setEdge(portId(from, from), portId(to, from), {
      ...label,
      weight: kind === "control" ? 1 : 3,
      key,
      minlen: isPort(from) ? above.get(to)! + 1 : isPort(to) ? below.get(from)! + 1 : 1,
    });
  }
  const places = new Map(bundles.map((b) => [`${portId(b.from, b.from)}\u0001${portId(b.to, b.from)}`, b.place]));
  const made = flow.map((b) => b.node.id);
  let hasLike = false;
  const lay = (turned: boolean): void => {
    layout(g, {
      customOrder: (graph) => {
        orderRanks(graph);
        orderInputs(graph, places);
        hasLike = orderLike(graph, made, places, turned);
      },
    });
  };
  const expected = known?.turn ?? 1;
  lay(expected < 0);
  const result: DagreResult = { at: new Map(), edges: new Map() };
  const pairs = g.edges().map((e): [string, string] => [e.v, e.w]);
  // Sizes can change the result, but opening a scope must not mirror its siblings.
  const turn =
    known?.structure === structure
      ? known.turn
      : readsBackwards(pairs, places, made, (id) => g.node(id) as { x: number; y: number; height: number })
        ? -1
        : 1;
  if (turn !== expected && hasLike && flow.length <= MOST_TWICE) lay(turn < 0);
  for (const id of g.nodes()) {
    const { x, y } = g.node(id) as { x: number; y: number };
    result.at.set(id, [x * turn, y]);
  }
  for (const e of g.edges()) {
    const edge = g.edge(e) as { key?: string; points: { x: number; y: number }[]; x?: number; y?: number };
    if (edge.key === undefined) continue;
    const label: Point | null = edge.x === undefined || edge.y === undefined ? null : [edge.x * turn, edge.y];
    result.edges.set(edge.key, { points: edge.points.map((p): Point => [p.x * turn, p.y]), label });
  }
  cache.set(name, { signature, structure, turn, result });
  const keys = new Map(bundles.map((b, i) => [b.key, `${i}`]));
  const numbers = new Map(shape.names.map((id, i) => [id, `${i}`]));
  cache.set(shape.key, {
    signature,
    structure,
    turn,
    result: renamed(
      result,
      (id) => numbers.get(id)!,
      (key) => keys.get(key)!,
    ),
  });
  forgetShapes(cache);
  return result;
}

/** A key of everything that a layout depends on except names: identical layers are laid out once. */
function shapeOf(flow: PlacedBox[], bundles: Bundle[], texts: Map<string, EdgeText>): { key: string; names: string[] } {
  const names = flow.map((b) => b.node.id);
  const numbers = new Map(names.map((id, i) => [id, i]));
  const number = (end: string, from: string): number => {
    const id = portId(end, from);
    if (!numbers.has(id)) numbers.set(id, names.push(id) - 1);
    return numbers.get(id)!;
  };
  const places = new Map([...new Set(bundles.map((b) => b.place))].sort((a, b) => a - b).map((place, i) => [place, i]));
  const sizes = flow.map((b) => `${Math.round(b.w)}x${Math.round(b.h)}`);
  const lines = bundles.map(
    (b) =>
      `${number(b.from, b.from)} ${number(b.to, b.from)} ${b.kind} ${places.get(b.place)} ${texts.get(b.key)!.width}`,
  );
  return { key: `${SHAPE}${sizes.join()}\n${lines.join("\n")}`, names };
}

const SHAPE = "\u0004";
const MOST_SHAPES = 100;

/** Evicts the oldest shapes: a growing graph adds new ones all the time. */
function forgetShapes(cache: LayoutCache): void {
  const shapes = [...cache.keys()].filter((key) => key.startsWith(SHAPE));
  for (const key of shapes.slice(0, -MOST_SHAPES)) cache.delete(key);
}

function renamed(result: DagreResult, id: (old: string) => string, key: (old: string) => string): DagreResult {
  return {
    at: new Map([...result.at].map(([old, at]) => [id(old), at])),
    edges: new Map([...result.edges].map(([old, edge]) => [key(old), edge])),
  };
}

/** Distinct ids for incoming and outgoing ports: the same neighbour may have both. */
function portId(end: string, from: string): string {
  if (!isPort(end)) return end;
  return end === from ? `in\u0003${end}` : `out\u0003${end}`;
}

/** The number of ranks above (or below) each box: ports are placed beyond them all. */
function ranksBeyond(flow: PlacedBox[], bundles: Bundle[], up: boolean): Map<string, number> {
  const next = new Map<string, string[]>(flow.map((b) => [b.node.id, []]));
  for (const { from, to } of bundles) if (!isPort(from) && !isPort(to)) next.get(up ? to : from)!.push(up ? from : to);
  const beyond = new Map<string, number>();
  const visit = (id: string): number => {
    const known = beyond.get(id);
    if (known !== undefined) return known;
    beyond.set(id, 0); // a cycle ends here
    const found = next.get(id)!.reduce((most, other) => Math.max(most, visit(other) + 1), 0);
    beyond.set(id, found);
    return found;
  };
  for (const b of flow) visit(b.node.id);
  return beyond;
}

function placeEdge(
  frame: OpenScope,
  bundle: Bundle,
  byId: Map<string, PlacedBox>,
  { label, width }: EdgeText,
  result: DagreResult,
): PlacedEdge {
  const edge = result.edges.get(bundle.key)!;
  const points = [...edge.points];
  // Between neighbouring ranks nothing is in the way, and without a label there is nothing to make room for.
  if (width === 0 && points.length === 3) points.splice(1, 1);
  if (width > 0 && edge.label !== null) runPast(points, edge.label[1]);
  if (isPort(bundle.from)) points[0] = result.at.get(portId(bundle.from, bundle.from))!;
  if (isPort(bundle.to)) points[points.length - 1] = result.at.get(portId(bundle.to, bundle.from))!;
  const target = byId.get(bundle.to);
  const goesOn = target?.inner?.inPorts.has(innerPort(frame, bundle.from)) ?? false;
  return { bundle, points, label, labelAt: edge.label, labelWidth: width, arrow: target !== undefined && !goesOn };
}

/** Makes a line vertical beside its label. */
function runPast(points: Point[], y: number): void {
  let nearest = 1;
  for (let i = 1; i < points.length - 1; i++)
    if (Math.abs(points[i]![1] - y) < Math.abs(points[nearest]![1] - y)) nearest = i;
  const at = points[nearest];
  if (at === undefined || nearest === points.length - 1) return;
  points.splice(nearest, 1, [at[0], y - LABEL_H / 2], [at[0], y + LABEL_H / 2]);
}

/** The key under which a box's inner layout has the other end of a line. */
const innerPort = (frame: OpenScope, other: string): string => (isPort(other) ? other : siblingPort(frame, other));

interface End {
  edge: PlacedEdge;
  first: boolean;
  towards: number;
  group: string;
}

/** Spreads the line ends along the upper and lower side of each box, in the order in which they arrive. */
function attach(frame: OpenScope, edges: PlacedEdge[], byId: Map<string, PlacedBox>): void {
  const sides = new Map<string, End[]>();
  for (const edge of edges) {
    const { from, to } = edge.bundle;
    const source = byId.get(from);
    const target = byId.get(to);
    const down = (source?.y ?? -Infinity) <= (target?.y ?? Infinity);
    const inner = edge.points.slice(1, -1);
    const note = (box: PlacedBox, side: string, end: End): void => {
      const key = `${box.node.id}\u0001${side}`;
      const known = sides.get(key);
      if (known === undefined) sides.set(key, [end]);
      else known.push(end);
    };
    // Without intermediate points a line leads straight to its other end.
    const near = (at: 0 | -1): number => (inner.at(at) ?? edge.points.at(at === 0 ? -1 : 0)!)[0];
    // A tensor leaves its op at a single point, for all its readers.
    const ports = new Set(edge.bundle.base.map((b) => `${b.from}:${b.port}`));
    const group = source?.inner === null && source.node.kind === "op" ? [...ports].join() : edge.bundle.key;
    if (source !== undefined) note(source, down ? "bottom" : "top", { edge, first: true, towards: near(0), group });
    if (target !== undefined)
      note(target, down ? "top" : "bottom", { edge, first: false, towards: near(-1), group: edge.bundle.key });
  }
  for (const [key, ends] of sides) {
    const [id, side] = key.split("\u0001") as [string, string];
    spread(frame, byId.get(id)!, side, ends);
  }
  passNeighbours(edges, byId);
}

/** A line leaves a short box straight down until it is past the taller boxes beside it. */
function passNeighbours(edges: PlacedEdge[], byId: Map<string, PlacedBox>): void {
  const bottoms = new Map<number, number>();
  const top = (b: PlacedBox): number => Math.round(b.y - b.h / 2);
  for (const b of byId.values()) bottoms.set(top(b), Math.max(bottoms.get(top(b)) ?? -Infinity, b.y + b.h / 2));
  for (const { bundle, points } of edges) {
    for (const [id, first] of [
      [bundle.from, true],
      [bundle.to, false],
    ] as const) {
      const box = byId.get(id);
      const at = first ? 0 : points.length - 1;
      const [x, y] = points[at]!;
      const bottom = box === undefined ? y : bottoms.get(top(box))!;
      if (box === undefined || y <= box.y || bottom < y + 24) continue;
      points.splice(first ? 1 : at, 0, [x, bottom]);
    }
  }
}

function spread(frame: OpenScope, box: PlacedBox, side: string, ends: End[]): void {
  const y = side === "top" ? box.y - box.h / 2 : box.y + box.h / 2;
  const groups = [...new Map(ends.sort((a, b) => a.towards - b.towards).map((e) => [e.group, e])).keys()];
  const step = Math.min(18, (flatWidth(box) * 0.8) / Math.max(1, groups.length));
  for (const end of ends) {
    const { bundle } = end.edge;
    const other = end.first ? bundle.to : bundle.from;
    const port = (end.first ? box.inner?.outPorts : box.inner?.inPorts)?.get(innerPort(frame, other));
    const slot = (groups.indexOf(end.group) - (groups.length - 1) / 2) * step;
    const x = port === undefined ? box.x + slot : box.x - box.inner!.w / 2 + port;
    end.edge.points[end.first ? 0 : end.edge.points.length - 1] = [x, y];
  }
}

/** How much of a box's upper side is straight enough to end a line on. */
function flatWidth(box: PlacedBox): number {
  if (box.style.glyph === "const") return 10;
  return Math.max(10, box.w - (box.style.glyph === "scope" || box.inner !== null ? 24 : Math.min(box.h, 36)));
}

/** A loop's way back: below the last box, beside everything, and from above into the first. */
function routeBack(block: Block, byId: Map<string, PlacedBox>, backs: Bundle[]): void {
  let right = Math.max(...block.boxes.map((b) => b.x + b.w / 2));
  for (const edge of block.edges) for (const [x] of edge.points) right = Math.max(right, x);
  backs.forEach((bundle, i) => {
    const source = byId.get(bundle.from)!;
    const target = byId.get(bundle.to)!;
    right += i === 0 ? 22 : 14;
    const below = source.y + source.h / 2;
    const above = target.y - target.h / 2;
    const [down, up] = [below + 12 + 5 * (i % 3), above - 12 - 4 * (i % 3)];
    const enter = target.x + Math.min(target.w / 2 - 10, 16);
    const points: Point[] = [
      [source.x, below],
      [source.x, down],
      [right, down],
      [right, up],
      [enter, up],
      [enter, above],
    ];
    block.edges.push({ bundle, points, label: "", labelAt: null, labelWidth: 0, arrow: true });
  });
}

/** Moves everything so that the block starts at 0,0. */
function shrinkToFit(block: Block, entering: boolean, leaving: boolean): void {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  const cover = (x: number, y: number, w: number, h: number): void => {
    left = Math.min(left, x - w / 2);
    right = Math.max(right, x + w / 2);
    top = Math.min(top, y - h / 2);
    bottom = Math.max(bottom, y + h / 2);
  };
  for (const b of block.boxes) cover(b.x, b.y, b.w, b.h);
  for (const e of block.edges) {
    for (const [x, y] of e.points) if (e.bundle.back || (y > top && y < bottom)) cover(x, y, 6, 0);
    if (e.labelAt !== null) cover(...e.labelAt, e.labelWidth + 8, 0);
  }
  for (const { bundle, points } of block.edges) {
    if (isPort(bundle.from)) cover(points[0]![0], top, 6, 0);
    if (isPort(bundle.to)) cover(points.at(-1)![0], bottom, 6, 0);
  }
  top -= entering ? PORT_ROOM : 0;
  bottom += leaving ? PORT_ROOM : 0;
  for (const { bundle, points } of block.edges) {
    if (isPort(bundle.from)) points[0] = [points[0]![0], top - 4];
    if (isPort(bundle.to)) points[points.length - 1] = [points.at(-1)![0], bottom + 2];
  }
  const move = ([x, y]: Point): Point => [x - left, y - top];
  for (const b of block.boxes) [b.x, b.y] = move([b.x, b.y]);
  for (const e of block.edges) {
    e.points = e.points.map(move);
    if (e.labelAt !== null) e.labelAt = move(e.labelAt);
  }
  block.w = right - left;
  block.h = bottom - top;
}
