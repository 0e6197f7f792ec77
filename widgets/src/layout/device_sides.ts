// What a device sends and receives, stacked at the side of its graph that faces the other column.

import type { GraphModel } from "../model/graph";
import type { Bundle, OpenScope } from "./edge_bundles";
import { siblingPort } from "./edge_bundles";
import type { Block, PlacedBox, Point } from "./layered_layout";

const BETWEEN = 20; // boxes of a stack, with room for their badges
const TRACK = 5;
const BESIDE = 22; // from the graph to the nearest line up or down

const TRANSFER = /^_(Send|Recv)$/;

/** The box is one end of a transfer between devices, or holds such ends alone; also inside of such a box. */
export const isTransfer = (model: GraphModel, frame: OpenScope, box: PlacedBox): boolean =>
  (frame.parent?.apart === true || frame.parent?.parent?.apart === true) &&
  box.node.members.every((op) => TRANSFER.test(model.ops[op]!.type));

/** Stacks what a device sends and receives at one of its sides: 1 for the right one. */
export function placeSide(
  frame: OpenScope,
  block: Block,
  transfers: PlacedBox[],
  bundles: Bundle[],
  side: 1 | -1,
): void {
  const byId = new Map([...block.boxes, ...transfers].map((box) => [box.node.id, box]));
  const w = Math.max(...transfers.map((box) => box.w));
  const away = block.boxes.length === 0 ? 0 : 2 * BESIDE + bundles.length * TRACK;
  const wanted = new Map(transfers.map((box) => [box, wantedY(box, bundles, byId)]));
  const [right, ends] = [block.w, new Set(transfers)];
  let bottom = -Infinity;
  for (const box of transfers.sort((a, b) => wanted.get(a)! - wanted.get(b)!)) {
    if (box.inner === null) box.w = w;
    box.x = side > 0 ? right + away + w / 2 : -away - w / 2;
    box.y = Math.max(wanted.get(box)!, bottom + BETWEEN + box.h / 2);
    bottom = box.y + box.h / 2;
  }
  block.boxes.push(...transfers);
  bundles.forEach((bundle, i) => {
    const x = side > 0 ? right + BESIDE + i * TRACK : -BESIDE - i * TRACK;
    const start = endOf(frame, byId.get(bundle.from)!, bundle, true, ends, side, i);
    const end = endOf(frame, byId.get(bundle.to)!, bundle, false, ends, side, i).reverse();
    const points: Point[] = [...start, [x, start.at(-1)![1]], [x, end[0]![1]], ...end];
    const goesOn = byId.get(bundle.to)!.inner?.inPorts.has(siblingPort(frame, bundle.from)) ?? false;
    block.edges.push({ bundle, points, label: "", labelAt: null, labelWidth: 0, arrow: !goesOn, corners: true });
  });
  settle(block);
}

/** The height of what it reads or what reads it. */
function wantedY(box: PlacedBox, bundles: Bundle[], byId: Map<string, PlacedBox>): number {
  const { id } = box.node;
  const others = bundles.flatMap(({ from, to }) =>
    from === id ? [byId.get(to)!] : to === id ? [byId.get(from)!] : [],
  );
  const known = others.filter((other) => other.y > 0);
  const sends = bundles.some(({ to }) => to === id);
  const ys = known.map((other) => other.y + ((sends ? 1 : -1) * other.h) / 2);
  return Math.max(box.h / 2, (sends ? Math.max(...ys, 0) : Math.min(...ys, 1e6)) % 1e6);
}

/** Where a line leaves (or reaches) a box: a transfer at its inner side, others from below (or above). */
function endOf(
  frame: OpenScope,
  box: PlacedBox,
  { from, to }: Bundle,
  isFirst: boolean,
  transfers: ReadonlySet<PlacedBox>,
  side: 1 | -1,
  number: number,
): Point[] {
  if (transfers.has(box)) return [[box.x - (side * box.w) / 2, box.y]];
  const port = (isFirst ? box.inner?.outPorts : box.inner?.inPorts)?.get(siblingPort(frame, isFirst ? to : from));
  const x = port === undefined ? box.x + (((number % 5) - 2) * box.w) / 8 : box.x - box.inner!.w / 2 + port;
  const y = box.y + (isFirst ? box.h / 2 : -box.h / 2);
  return [
    [x, y],
    [x, y + (isFirst ? 1 : -1) * (9 + 3 * (number % 4))],
  ];
}

/** Moves everything so that the block starts at 0,0. */
function settle(block: Block): void {
  const edges = block.edges.flatMap(({ points }) => points);
  const left = Math.min(...block.boxes.map((b) => b.x - b.w / 2), ...edges.map(([x]) => x));
  const top = Math.min(0, ...block.boxes.map((b) => b.y - b.h / 2), ...edges.map(([, y]) => y));
  for (const box of block.boxes) [box.x, box.y] = [box.x - left, box.y - top];
  for (const edge of block.edges) {
    edge.points = edge.points.map(([x, y]): Point => [x - left, y - top]);
    if (edge.labelAt !== null) edge.labelAt = [edge.labelAt[0] - left, edge.labelAt[1] - top];
  }
  block.w = Math.max(...block.boxes.map((b) => b.x + b.w / 2), ...edges.map(([x]) => x - left));
  block.h = Math.max(block.h - top, ...block.boxes.map((b) => b.y + b.h / 2), ...edges.map(([, y]) => y - top)) + 8;
}
