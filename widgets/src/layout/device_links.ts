// The graphs of devices in two columns: lines from what one sends to what another receives, all through one gap.

import { isTransfer, placeSide } from "./device_sides";
import type { Base, Bundle, OpenScope } from "./edge_bundles";
import type { Block } from "./layered_layout";
import { NOTE_PX } from "./layered_layout";
import type { Scene, SceneEdge, SceneNode } from "./scene";
import type { DeviceLayout, LayoutOptions, PlacedBox, Point, ScopeLayout } from "./scope_layout";

const TRACK = 7; // between parallel lines
const MOST_TRACKS = 24;
const MARGIN = 20; // between a device and the first label or line
const BETWEEN = 26; // devices of a column
const LABEL_ABOVE = 9;
const NEAREST = 5; // lines that leave at the same height

/** 0 for the left column. */
type Column = 0 | 1;

interface Link {
  base: Base[];
  from: SceneNode;
  to: SceneNode;
  first: Column;
  last: Column;
}

/** Devices in two columns, so that most of what is sent crosses from one to the other, and the lines between them. */
export class DeviceColumns implements DeviceLayout {
  readonly isTransfer = isTransfer;
  #columns = new Map<string, Column>();
  /** The gap between the columns: room for the labels of what each of them sends, and lines up and down. */
  #gap = { left: 0, right: 0, labels: [0, 0] };

  placeSides(frame: OpenScope, block: Block, transfers: PlacedBox[], bundles: Bundle[]): void {
    const column = frame.parent?.apart === true ? columnsOf(frame.parent).get(frame.scope.id) : 0;
    placeSide(frame, block, transfers, bundles, column === 1 ? -1 : 1);
  }

  placeColumns(layout: ScopeLayout, { note, measure }: LayoutOptions): void {
    const { boxes, frame } = layout;
    const columns = columnsOf(frame);
    const links = new Map<string, { base: Base[]; column: Column }>();
    for (const base of frame.cut.flatMap((bundle) => bundle.base)) {
      const key = `${visible(layout, base.from)}|${visible(layout, base.to)}`;
      const link = links.get(key) ?? { base: [], column: columns.get(frame.rep.get(base.from)!.id)! };
      link.base.push(base);
      links.set(key, link);
    }
    const labels = [MARGIN, MARGIN];
    for (const { base, column } of links.values()) {
      const width = MARGIN + measure(note(base)?.text ?? "", NOTE_PX, true);
      labels[column] = Math.max(labels[column]!, width);
    }
    const stacks = ([0, 1] as const).map((column) => boxes.filter(({ node }) => columns.get(node.id) === column));
    const widths = stacks.map((stack) => Math.max(0, ...stack.map(({ w }) => w)));
    const heights = stacks.map((stack) => stack.reduce((sum, { h }) => sum + h + BETWEEN, -BETWEEN));
    const left = widths[0]!;
    const right = left + labels[0]! + Math.min(links.size, MOST_TRACKS) * TRACK + labels[1]!;
    layout.w = stacks[1]!.length > 0 ? right + widths[1]! : left;
    layout.h = Math.max(...heights);
    for (const [column, stack] of stacks.entries()) {
      let y = (layout.h - heights[column]!) / 2;
      for (const box of stack) {
        box.x = column === 0 ? left - box.w / 2 : right + box.w / 2;
        box.y = y + box.h / 2;
        y += box.h + BETWEEN;
      }
    }
    this.#columns = columns;
    this.#gap = { left, right, labels };
  }

  /** Adds the edges that the layout of devices left out. */
  complete(scene: Scene): void {
    const { left, right, labels } = this.#gap;
    const columnOf = ({ id }: SceneNode): Column => {
      for (const [device, column] of this.#columns) if (id === device || id.startsWith(device)) return column;
      return 0;
    };
    const links = new Map<string, Link>();
    for (const base of scene.cut) {
      const [from, to] = [scene.boxOf.get(base.from), scene.boxOf.get(base.to)];
      if (from === undefined || to === undefined) continue;
      const key = `${from.id}\u0001${to.id}`;
      const link = links.get(key) ?? { base: [], from, to, first: columnOf(from), last: columnOf(to) };
      link.base.push(base);
      links.set(key, link);
    }
    const ordered = [...links].sort(([, a], [, b]) => a.from.y - b.from.y || a.from.x - b.from.x);
    const heights = new Heights();
    const ends = new Map<Link, [leave: number, enter: number]>();
    for (const [, link] of ordered) ends.set(link, [heights.at(link.from, link.first), heights.at(link.to, link.last)]);
    const tracks = tracksOf(ends);
    for (const [key, link] of ordered) {
      const { base, from, to, first, last } = link;
      const [leave, enter] = ends.get(link)!;
      const x = left + labels[0]! + ((tracks.get(link)! % MOST_TRACKS) + 0.5) * TRACK;
      const start = from.x + (first === 0 ? from.w : -from.w) / 2;
      const end = to.x + (last === 0 ? to.w : -to.w) / 2;
      const labelX = first === 0 ? left + labels[0]! / 2 : right - labels[1]! / 2;
      scene.edges.push({
        id: `link|${key}`,
        scope: "",
        depth: Math.max(from.depth, to.depth),
        kind: "data",
        back: true, // straight pieces, see cornerPath
        points: [
          [start, leave],
          [x, leave],
          [x, enter],
          [end, enter],
        ] satisfies Point[],
        label: "",
        labelAt: [labelX, leave - LABEL_ABOVE],
        arrow: true,
        base,
        starts: true,
      } satisfies SceneEdge);
    }
  }
}

/** The column of each device: each stands where it exchanges less with those that stand there already. */
function columnsOf({ boxes, cut, rep }: OpenScope): Map<string, Column> {
  const exchanged = new Map<string, number>();
  for (const { from, to } of cut.flatMap(({ base }) => base)) {
    const [one, other] = [rep.get(from)!.id, rep.get(to)!.id];
    for (const key of [`${one}|${other}`, `${other}|${one}`]) exchanged.set(key, (exchanged.get(key) ?? 0) + 1);
  }
  const columns = new Map<string, Column>();
  for (const { id } of boxes) {
    const weights = [0, 0];
    const sizes = [0, 0];
    for (const [other, column] of columns) {
      weights[column]! += exchanged.get(`${id}|${other}`) ?? 0;
      sizes[column]!++;
    }
    const more = weights[0]! - weights[1]! || sizes[0]! - sizes[1]!;
    columns.set(id, more > 0 ? 1 : 0);
  }
  return columns;
}

/** The id of the box that shows an op. */
function visible(layout: ScopeLayout, op: number): string {
  const node = layout.frame.rep.get(op)!;
  const inner = layout.boxes.find((box) => box.node === node)?.inner;
  return inner == null ? node.id : visible(inner, op);
}

/** The order of the lines up and down: those within a column nearest to it, the others so that few cross. */
function tracksOf(ends: ReadonlyMap<Link, [leave: number, enter: number]>): Map<Link, number> {
  const rank = ([{ first, last }, [leave, enter]]: [Link, [number, number]]): [number, number] => {
    if (first === last) return [first === 0 ? 0 : 3, leave];
    const [left, right] = first === 0 ? [leave, enter] : [enter, leave];
    return right > left ? [2, -left] : [1, left];
  };
  const ranked = [...ends].map((each) => ({ link: each[0], rank: rank(each) }));
  ranked.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
  return new Map(ranked.map(({ link }, i) => [link, i]));
}

/** Hands out heights at boxes, so that no two lines coincide that leave a column. */
class Heights {
  readonly #used: [number[], number[]] = [[], []];

  at({ y, h }: SceneNode, column: Column): number {
    const used = this.#used[column];
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
}
