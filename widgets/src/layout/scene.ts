// The layouts of all open scopes as one flat picture in absolute coordinates, for the canvas.

import type { Steps } from "../base/time_slices";
import { atOnce } from "../base/time_slices";
import type { GraphModel, Node } from "../model/graph";
import { grouped } from "../model/series";
import type { BoxStyle } from "./box_style";
import type { Base, EdgeKind, Lane } from "./edge_bundles";
import type { LayoutCache, LayoutOptions, Point, ScopeLayout } from "./scope_layout";
import { HEADER, layoutScope } from "./scope_layout";

export interface SceneNode {
  id: string;
  /** The id of the scope in which it is drawn, as of edges and areas. */
  scope: string;
  node: Node;
  style: BoxStyle;
  lane: Lane;
  depth: number;
  open: boolean;
  /** Represents an op that a run can fetch. */
  fetchable: boolean;
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface SceneEdge {
  id: string;
  scope: string;
  depth: number;
  kind: EdgeKind;
  /** Straight pieces with rounded corners: closes a loop, or joins devices. */
  back: boolean;
  points: Point[];
  label: string;
  /** The centre of the room that the layout keeps for a label. */
  labelAt: Point | null;
  arrow: boolean;
  base: Base[];
  /** Starts at a box; false for the continuation of another line at a border. */
  starts: boolean;
}

export interface SceneArea {
  id: string;
  scope: string;
  lane: Lane;
  depth: number;
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Scene {
  w: number;
  h: number;
  nodes: SceneNode[];
  edges: SceneEdge[];
  areas: SceneArea[];
  /** Edges between lanes, which are not drawn. */
  cut: Base[];
  /** The visible box of an op. */
  boxOf: Map<number, SceneNode>;
  byId: Map<string, SceneNode>;
  /** Some scopes stay closed, since the picture would have too many boxes. */
  crowded: boolean;
}

export const emptyScene = (): Scene => ({
  w: 0,
  h: 0,
  nodes: [],
  edges: [],
  areas: [],
  cut: [],
  boxOf: new Map(),
  byId: new Map(),
  crowded: false,
});

export const makeScene = (model: GraphModel, options: LayoutOptions, cache: LayoutCache): Scene =>
  atOnce(sceneSteps(model, options, cache));

export function* sceneSteps(model: GraphModel, options: LayoutOptions, cache: LayoutCache): Steps<Scene> {
  const room = { boxes: MOST_BOXES };
  const layout = yield* layoutScope(model, model.root, null, options, cache, room);
  yield;
  const scene: Scene = { ...emptyScene(), w: layout.w, h: layout.h, crowded: room.boxes < 0 };
  flatten(model, scene, layout, 0, 0, 0);
  yield;
  for (const n of scene.nodes) {
    scene.byId.set(n.id, n);
    if (!n.open) for (const index of n.node.members) scene.boxOf.set(index, n);
  }
  return scene;
}

function flatten(model: GraphModel, scene: Scene, layout: ScopeLayout, dx: number, dy: number, depth: number): void {
  const scope = layout.frame.scope.id;
  const at = ([x, y]: Point): Point => [x + dx, y + dy];
  for (const area of layout.areas) {
    scene.areas.push({ ...area, id: `${scope}|${area.lane}`, scope, depth, x: area.x + dx, y: area.y + dy });
  }
  for (const bundle of layout.frame.cut) scene.cut.push(...bundle.base);
  scene.cut.push(...layout.frame.hidden);
  for (const e of layout.edges) {
    scene.edges.push({
      id: `${scope}|${e.bundle.key}`,
      scope,
      depth,
      kind: e.bundle.kind,
      back: e.bundle.back || e.corners === true,
      points: e.points.map(at),
      label: e.label,
      labelAt: e.labelAt === null ? null : at(e.labelAt),
      arrow: e.arrow,
      base: e.bundle.base,
      starts: !e.bundle.from.includes("\u0002"),
    });
  }
  for (const box of layout.boxes) {
    const { node, style, lane, w, h, inner } = box;
    const [x, y] = at([box.x, box.y]);
    scene.nodes.push({
      id: node.id,
      scope,
      node,
      style,
      lane,
      depth,
      open: inner !== null,
      fetchable: model.opOf(node) !== undefined,
      x,
      y,
      w,
      h,
    });
    if (inner !== null) flatten(model, scene, inner, x - inner.w / 2, y - h / 2 + HEADER, depth + 1);
  }
}

/** A closed box that "Expand" opens: not a variable, nor an op with its constants. */
export const opensByLevel = (n: SceneNode): boolean =>
  n.node.kind !== "op" && !n.open && n.style.glyph !== "variable" && n.style.glyph !== "op";

const LARGEST_FIRST_VIEW = 150; // boxes
const MOST_BOXES = 3000; // a page draws these in acceptable time

/** The scopes to open initially: those down to `depth`, except variables, training and scopes set aside, and never more
 * than fit into a readable picture. */
export const openToDepth = (model: GraphModel, options: Omit<LayoutOptions, "expanded">, depth: number): Set<string> =>
  atOnce(depthSteps(model, options, depth));

export function* depthSteps(
  model: GraphModel,
  options: Omit<LayoutOptions, "expanded">,
  depth: number,
): Steps<Set<string>> {
  const expanded = new Set<string>();
  for (let level = 1; level < depth; level++) {
    const scene = yield* sceneSteps(model, { ...options, expanded }, new Map());
    const more = scene.nodes.filter(
      (n) => n.depth === level - 1 && opensByLevel(n) && n.node.kind === "scope" && n.lane === "main",
    );
    const inside = more.map((n) => grouped(model, n.node, options.groupAbove).length);
    const boxes = inside.reduce((sum, count) => sum + count, scene.nodes.length);
    if (more.length === 0 || boxes > LARGEST_FIRST_VIEW) break;
    for (const n of more) expanded.add(n.id);
  }
  return expanded;
}
