// Places for the labels of lines: beside their line, on no box, no header, no badge and no other label.
import { LABEL_H } from "./layered_layout";
import { lengthOf, onSpline, resample } from "./polyline";
import type { Scene, SceneEdge, SceneNode } from "./scene";
import type { Point } from "./scope_layout";
import { HEADER, LANE_TITLE } from "./scope_layout";

/** A label to place. */
export interface Wish {
  /** The lines beside which it may stand, the best first. */
  lines: readonly SceneEdge[];
  width: number;
}

export interface Rect {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface LabelPlace extends Rect {
  edge: SceneEdge;
  /** The end of the label that is next to its line. */
  anchor: "start" | "middle" | "end";
}

const GAP = 5; // between a line and its label
const STEP = 6; // between positions on a line
const MOST_STEPS = 60; // to either side
const CELL = 64;
const BADGE_ROOM = 64; // of the usual badges
const BADGE_H = 13;
const BEYOND = 16; // the outermost scope has no border
// What is as bad as moving a label along its line by 50.
const OTHER_SIDE = 0.3;
const OWN_LINE = 2;
const OTHER_LINE = 2.5;
const CUT = 12; // for the share of the label that is cut off
/** A label without room at its full width is shortened, down to a few letters. */
const SHARES = [1, 0.7, 0.45];
const LEAST_WIDTH = 24;

interface Item extends Rect {
  /** A point of this line; nothing else may be covered. */
  edge?: SceneEdge;
}

/** What stands in one scope, by the cells of a grid. A label stands in its line's scope, between the boxes there, open
 * or closed: what these contain cannot meet it. */
class Space {
  readonly #limits: Rect;
  readonly #cells = new Map<number, Item[]>();

  constructor(limits: Rect) {
    this.#limits = limits;
  }

  *#cellsOf({ left, right, top, bottom }: Rect): Generator<Item[]> {
    for (let x = Math.floor(left / CELL); x <= right / CELL; x++) {
      for (let y = Math.floor(top / CELL); y <= bottom / CELL; y++) {
        const key = x * 65536 + y;
        const cell = this.#cells.get(key) ?? [];
        if (cell.length === 0) this.#cells.set(key, cell);
        yield cell;
      }
    }
  }

  add(item: Item): void {
    for (const cell of this.#cellsOf(item)) cell.push(item);
  }

  addBox(box: SceneNode, badgeWidth: number): void {
    const { x, y, w, h, open } = box;
    const [left, right, top, bottom] = [x - w / 2 - 2, x + w / 2 + 2, y - h / 2 - 2, y + h / 2 + 2];
    const stacked = box.style.glyph === "series" ? 11 : 0;
    this.add({ left, right: right + stacked, top: top - stacked, bottom });
    const end = open ? right - 26 : right + 12;
    const edge = open ? top : bottom;
    const tall = open ? 0 : BADGE_H;
    this.add({ left: end - Math.max(BADGE_ROOM, badgeWidth), right: end, top: edge - BADGE_H, bottom: edge + tall });
  }

  /** What speaks against a place: the lines through it, or all if it is taken. */
  cost({ left, right, top, bottom }: Rect, own: readonly SceneEdge[]): number {
    const room = this.#limits;
    if (left < room.left || right > room.right || top < room.top || bottom > room.bottom) return Infinity;
    const crossed = new Set<SceneEdge>();
    for (const cell of this.#cellsOf({ left, right, top, bottom })) {
      for (const item of cell) {
        if (left >= item.right || item.left >= right || top >= item.bottom || item.top >= bottom) continue;
        if (item.edge === undefined) return Infinity;
        crossed.add(item.edge);
      }
    }
    return [...crossed].reduce((sum, edge) => sum + (own.includes(edge) ? OWN_LINE : OTHER_LINE), 0);
  }
}

interface Candidate extends LabelPlace {
  cost: number;
}

/** Finds a place for each label, in the order of importance that `wishes` has; a place may be narrower than wished,
 * and where a line has no room at all there is none. */
export function placeLabels<Key>(
  scene: Scene,
  wishes: ReadonlyMap<Key, Wish>,
  badgeWidth: (node: SceneNode) => number = () => 0,
): Map<Key, LabelPlace> {
  const places = new Map<Key, LabelPlace>();
  if (wishes.size === 0) return places;
  const drawn = new Map(scene.edges.map((edge) => [edge, evenly(edge)]));
  const spaces = makeSpaces(scene, drawn, badgeWidth);
  // First those for which the layout keeps room: any other might take it.
  const isKept = ({ lines }: Wish): number => (lines[0]!.labelAt === null ? 1 : 0);
  for (const [key, wish] of [...wishes].sort((a, b) => isKept(a[1]) - isKept(b[1]))) {
    const place = bestPlace(wish, spaces, drawn);
    if (place === null) continue;
    places.set(key, place);
    const { left, right, top, bottom } = place;
    spaces.get(place.edge.scope)!.add({ left: left - 4, right: right + 4, top, bottom });
  }
  return places;
}

/** Points on a line, STEP apart. */
function evenly({ points, back }: SceneEdge): Point[] {
  const line = back ? points : onSpline(points);
  return resample(line, Math.max(3, Math.ceil(lengthOf(line) / STEP)));
}

function makeSpaces(
  scene: Scene,
  drawn: ReadonlyMap<SceneEdge, readonly Point[]>,
  badgeWidth: (node: SceneNode) => number,
): Map<string, Space> {
  const spaces = new Map<string, Space>();
  const spaceOf = (scope: string): Space => {
    const known = spaces.get(scope);
    if (known !== undefined) return known;
    const { x, y, w, h } = scene.byId.get(scope) ?? aroundAll(scene);
    const made = new Space({
      left: x - w / 2 + 3,
      right: x + w / 2 - 3,
      top: y - h / 2 + HEADER - 2,
      bottom: y + h / 2 - 3,
    });
    spaces.set(scope, made);
    return made;
  };
  for (const node of scene.nodes) spaceOf(node.scope).addBox(node, badgeWidth(node));
  for (const { scope, x, y, w, h } of scene.areas) {
    const space = spaceOf(scope);
    const [right, bottom] = [x + w, y + h];
    space.add({ left: x, right, top: y, bottom: y + LANE_TITLE - 4 });
    space.add({ left: x, right, top: bottom - 1, bottom });
    for (const at of [x, right]) space.add({ left: at - 1, right: at + 1, top: y, bottom });
  }
  for (const [edge, points] of drawn) {
    const space = spaceOf(edge.scope);
    for (const [x, y] of points) space.add({ left: x, right: x, top: y, bottom: y, edge });
  }
  return spaces;
}

/** The outermost scope has no border, and no header. */
const aroundAll = ({ w, h }: Scene): { x: number; y: number; w: number; h: number } => ({
  x: w / 2,
  y: (h - HEADER) / 2,
  w: w + 2 * BEYOND,
  h: h + HEADER + 2 * BEYOND,
});

function bestPlace(
  { lines, width }: Wish,
  spaces: ReadonlyMap<string, Space>,
  drawn: ReadonlyMap<SceneEdge, readonly Point[]>,
): LabelPlace | null {
  let best: Candidate | null = null;
  for (const share of SHARES) {
    const narrow = Math.min(width, Math.max(LEAST_WIDTH, width * share));
    const cut = (1 - narrow / width) * CUT;
    for (const [i, edge] of lines.entries()) {
      const space = spaces.get(edge.scope)!;
      for (const place of candidates(edge, drawn.get(edge)!, narrow)) {
        const cost = place.cost + i + cut; // of the lines, the first that will do
        const least = best?.cost ?? Infinity;
        if (cost - OTHER_SIDE >= least) break; // they get worse along the line
        place.cost = cost + space.cost(place, lines);
        if (place.cost < least) best = place;
      }
    }
  }
  return best;
}

/** Places beside a line, from its best position on, with what speaks against each. */
function* candidates(edge: SceneEdge, at: readonly Point[], width: number): Generator<Candidate> {
  const want = edge.labelAt;
  let start = Math.floor(at.length / 2);
  if (want !== null) start = at.reduce((best, p, i) => (far(p, want) < far(at[best]!, want) ? i : best), 0);
  const first = want !== null && want[0] < at[start]![0] ? -1 : 1;
  for (let k = 0; k <= 2 * MOST_STEPS; k++) {
    const i = start + (k % 2 === 0 ? k / 2 : -(k + 1) / 2);
    if (i < 1 || i > at.length - 2) continue;
    const moved = (Math.abs(i - start) * STEP) / 50;
    const [dx, dy] = [at[i + 1]![0] - at[i - 1]![0], at[i + 1]![1] - at[i - 1]![1]];
    const isLevel = Math.abs(dy) < Math.abs(dx) / 2;
    for (const side of [first, -first]) {
      const place = beside(edge, at, i, isLevel ? 1 : 0, side, width);
      place.cost += moved + (isLevel || side !== first ? OTHER_SIDE : 0);
      yield place;
    }
  }
}

/** From a label's middle; most of all from its height. */
const far = (p: Point, want: Point): number => Math.abs(p[1] - want[1]) + Math.abs(p[0] - want[0]) / 8;

/** The place at one side of a point of a line: left or right of it (axis 0), or above or below (1). */
function beside(edge: SceneEdge, at: readonly Point[], i: number, axis: 0 | 1, side: number, width: number): Candidate {
  const size: Point = [width, LABEL_H];
  const across = axis === 0 ? 1 : 0;
  // The furthest that the line reaches to this side, along the label.
  const here = at[i]!;
  let edgeAt = here[axis];
  for (const by of [-1, 1]) {
    for (let j = i + by; j >= 0 && j < at.length; j += by) {
      if (Math.abs(at[j]![across] - here[across]) > size[across] / 2 + 1) break;
      if ((at[j]![axis] - edgeAt) * side > 0) edgeAt = at[j]![axis];
    }
  }
  const middle: Point = [...here];
  middle[axis] = edgeAt + (size[axis] / 2 + GAP - 2 * axis) * side;
  const [left, top] = [middle[0] - width / 2, middle[1] - LABEL_H / 2];
  const anchor = axis === 1 ? "middle" : side > 0 ? "start" : "end";
  const cost = Math.abs(edgeAt - here[axis]) / 16;
  return { edge, left, right: left + width, top, bottom: top + LABEL_H, anchor, cost };
}
