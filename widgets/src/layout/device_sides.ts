// What a device sends and receives, stacked at the sides of its graph that face the other devices.

import type { GraphModel, Op } from "../model/graph";
import type { Bundle, OpenScope } from "./edge_bundles";
import { siblingPort } from "./edge_bundles";
import type { Block, PlacedBox, Point } from "./layered_layout";

const BETWEEN = 20; // boxes of a stack, with room for their badges
const TRACK = 5;
const BESIDE = 22; // from the graph to the nearest line up or down

/** The box is one end of a transfer between devices. */
export const isTransfer = (model: GraphModel, frame: OpenScope, box: PlacedBox): boolean =>
  frame.parent?.apart === true && box.node.kind === "op" && /^_(Send|Recv)$/.test(model.opOf(box.node)!.type);

/** The side that faces the other end: 1 for right. */
function sideOf(model: GraphModel, frame: OpenScope, op: Op): 1 | -1 {
  const other = op.type === "_Recv" ? op.inputs[0]?.op : model.uses[op.index]?.[0]?.op;
  const { boxes, rep } = frame.parent!;
  const at = (index: number | undefined): number => boxes.indexOf(rep.get(index ?? -1)!);
  return at(other) < at(op.index) ? -1 : 1;
}

export function placeSides(
  model: GraphModel,
  frame: OpenScope,
  block: Block,
  transfers: PlacedBox[],
  bundles: Bundle[],
): void {
  const byId = new Map([...block.boxes, ...transfers].map((box) => [box.node.id, box]));
  const places = new Map(transfers.map((box) => [box, sideOf(model, frame, model.opOf(box.node)!)]));
  const [left, right] = [0, block.w];
  for (const side of [1, -1] as const) {
    const stack = transfers.filter((box) => places.get(box) === side);
    if (stack.length === 0) continue;
    const tracks = bundles.filter(({ from, to }) => stack.some(({ node }) => node.id === from || node.id === to));
    const w = Math.max(...stack.map((box) => box.w));
    const away = 2 * BESIDE + tracks.length * TRACK;
    const wanted = new Map(stack.map((box) => [box, wantedY(box, bundles, byId)]));
    let bottom = -Infinity;
    for (const box of stack.sort((a, b) => wanted.get(a)! - wanted.get(b)!)) {
      box.w = w;
      box.x = side > 0 ? right + away + w / 2 : left - away - w / 2;
      box.y = Math.max(wanted.get(box)!, bottom + BETWEEN + box.h / 2);
      bottom = box.y + box.h / 2;
    }
    block.boxes.push(...stack);
    tracks.forEach((bundle, i) => {
      const x = side > 0 ? right + BESIDE + i * TRACK : left - BESIDE - i * TRACK;
      const start = endOf(frame, byId.get(bundle.from)!, bundle, true, places, i);
      const end = endOf(frame, byId.get(bundle.to)!, bundle, false, places, i).reverse();
      const points: Point[] = [...start, [x, start.at(-1)![1]], [x, end[0]![1]], ...end];
      const goesOn = byId.get(bundle.to)!.inner?.inPorts.has(siblingPort(frame, bundle.from)) ?? false;
      block.edges.push({ bundle, points, label: "", labelAt: null, labelWidth: 0, arrow: !goesOn, corners: true });
    });
  }
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
  places: ReadonlyMap<PlacedBox, 1 | -1>,
  number: number,
): Point[] {
  const side = places.get(box);
  if (side !== undefined) return [[box.x - (side * box.w) / 2, box.y]];
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
