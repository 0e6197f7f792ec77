// The graphs of devices, beside each other: lines from what one sends to what another receives.

import { isTransfer, placeSides } from "./device_sides";
import type { Base } from "./edge_bundles";
import { NOTE_PX } from "./layered_layout";
import type { Scene, SceneEdge, SceneNode } from "./scene";
import type { DeviceLayout, LayoutOptions, Point, ScopeLayout } from "./scope_layout";

const TRACK = 7; // between parallel lines
const MOST_TRACKS = 24;
const MARGIN = 26; // between a device and the first label or line
const LABEL_ABOVE = 9;
const NEAREST = 5; // lines that leave at the same height

interface Column {
  left: number;
  right: number;
  top: number;
}

interface Link {
  base: Base[];
  from: SceneNode;
  to: SceneNode;
}

/** What is between two devices: room for the labels of what each of them sends, and lines up and down. */
interface Gap {
  left: number;
  right: number;
  tracks: number;
}

/** Devices beside each other, and the lines between them. */
export class DeviceColumns implements DeviceLayout {
  readonly isTransfer = isTransfer;
  readonly placeSides = placeSides;
  #gaps: Gap[] = [];

  placeColumns(layout: ScopeLayout, { note, measure }: LayoutOptions): void {
    const { boxes, frame } = layout;
    this.#gaps = boxes.slice(1).map(() => ({ left: MARGIN, right: MARGIN, tracks: 0 }));
    const at = (op: number): number => frame.boxes.indexOf(frame.rep.get(op)!);
    let above = 0;
    for (const base of frame.cut.flatMap((bundle) => bundle.base)) {
      const [from, to] = [at(base.from), at(base.to)];
      const [out, into] = gapsBetween(from, to);
      for (const gap of new Set([out, into])) this.#gaps[gap]!.tracks++;
      if (out !== into) above++;
      const width = MARGIN + measure(note([base])?.text ?? "", NOTE_PX, true);
      const side = to > from ? "left" : "right";
      this.#gaps[out]![side] = Math.max(this.#gaps[out]![side], width);
    }
    const top = above === 0 ? 0 : Math.min(above, MOST_TRACKS) * TRACK + 10;
    boxes.forEach((box, i) => {
      box.x = layout.w + box.w / 2;
      box.y = top + box.h / 2;
      layout.h = Math.max(layout.h, top + box.h);
      layout.w += box.w;
      const gap = this.#gaps[i];
      if (gap !== undefined) layout.w += gap.left + Math.min(gap.tracks, MOST_TRACKS) * TRACK + gap.right;
    });
  }

  complete(scene: Scene): void {
    linkDevices(scene, this.#gaps);
  }
}

/** The gaps into which a line leaves its device, and from which it reaches the other. */
const gapsBetween = (from: number, to: number): [out: number, into: number] =>
  to > from ? [from, to - 1] : [from - 1, to];

/** Adds the edges that the layout of devices left out. */
function linkDevices(scene: Scene, gaps: readonly Gap[]): void {
  const devices = scene.nodes.filter(({ depth }) => depth === 0).sort((a, b) => a.x - b.x);
  const columns = devices.map(({ x, y, w, h }): Column => ({ left: x - w / 2, right: x + w / 2, top: y - h / 2 }));
  const columnOf = ({ id }: SceneNode): number =>
    devices.findIndex((device) => id === device.id || id.startsWith(device.id));
  const links = new Map<string, Link>();
  for (const base of scene.cut) {
    const [from, to] = [scene.boxOf.get(base.from), scene.boxOf.get(base.to)];
    if (from === undefined || to === undefined) continue;
    const key = `${from.id}\u0001${to.id}`;
    const link = links.get(key) ?? { base: [], from, to };
    link.base.push(base);
    links.set(key, link);
  }
  const ordered = [...links].sort(([, a], [, b]) => a.from.y - b.from.y || a.from.x - b.from.x);
  const ways = new Ways(columns, gaps);
  for (const [key, { base, from, to }] of ordered) {
    const [first, last] = [columnOf(from), columnOf(to)];
    const points = ways.between(from, first, to, last);
    const [x, y] = points[1]!;
    const labelAt: Point = [(columns[first]![last > first ? "right" : "left"] + x) / 2, y - LABEL_ABOVE];
    scene.edges.push({
      id: `link|${key}`,
      scope: "",
      depth: Math.max(from.depth, to.depth),
      kind: "data",
      back: true, // straight pieces, see cornerPath
      points,
      label: "",
      labelAt,
      arrow: true,
      base,
      starts: true,
    } satisfies SceneEdge);
  }
}

/** Hands out heights at boxes, and tracks between the columns and above them, so that no two lines coincide. */
class Ways {
  readonly #columns: Column[];
  readonly #used = new Map<string, number[]>();
  readonly #tracks = new Map<string, number>();
  readonly #gaps: readonly Gap[];

  constructor(columns: Column[], gaps: readonly Gap[]) {
    this.#columns = columns;
    this.#gaps = gaps;
  }

  between(from: SceneNode, first: number, to: SceneNode, last: number): Point[] {
    const side = last > first ? 1 : -1;
    const leave: Point = [from.x + (side * from.w) / 2, this.#height(from, `${first}${side}`)];
    const enter: Point = [to.x - (side * to.w) / 2, this.#height(to, `${last}${-side}`)];
    const [out, into] = gapsBetween(first, last);
    const x = this.#across(out);
    if (out === into) return [leave, [x, leave[1]], [x, enter[1]], enter];
    const above = Math.min(...this.#columns.map(({ top }) => top)) - 8 - this.#next("above") * TRACK;
    const then = this.#across(into);
    return [leave, [x, leave[1]], [x, above], [then, above], [then, enter[1]], enter];
  }

  /** A height at a box at which no other line leaves its column on that side. */
  #height({ y, h }: SceneNode, side: string): number {
    const used = this.#used.get(side) ?? [];
    this.#used.set(side, used);
    let best = y;
    for (let k = 0; k < 9; k++) {
      const at = y + (k % 2 === 0 ? k / 2 : -(k + 1) / 2) * NEAREST;
      if (Math.abs(at - y) > h / 2 - 4) break;
      if (used.some((other) => Math.abs(other - at) < NEAREST - 1)) continue;
      best = at;
      break;
    }
    used.push(best);
    return best;
  }

  /** The x of a line up or down between a column and the next. */
  #across(gap: number): number {
    return this.#columns[gap]!.right + this.#gaps[gap]!.left + (this.#next(`${gap}`) + 0.5) * TRACK;
  }

  #next(where: string): number {
    const number = this.#tracks.get(where) ?? 0;
    this.#tracks.set(where, number + 1);
    return number % MOST_TRACKS;
  }
}
