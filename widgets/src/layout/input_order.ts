// After the ordering by crossings: inputs go from left to right where that adds no crossing, so that sub(a, b) shows a
// before b.
import type dagre from "@dagrejs/dagre";

type Graph = InstanceType<typeof dagre.graphlib.Graph>;

interface Label {
  rank: number;
  order: number;
  dummy?: string;
  edgeObj?: { v: string; w: string };
}

/** For a pair "from\u0001to" the place of that edge among the reader's inputs. */
export type Places = Map<string, number>;

export function orderInputs(graph: Graph, places: Places): void {
  for (const id of graph.nodes()) if (label(graph, id).dummy === undefined) swapLoose(graph, id, places);
}

/** Boxes with the same sources and the same readers, like the towers of a model, change places without a new crossing:
 * by their order among the reader's inputs, else by creation; from the left or the right. True if there are any. */
export function orderLike(graph: Graph, made: readonly string[], places: Places, fromRight: boolean): boolean {
  const groups = new Map<string, { id: string; lines: string[][] }[]>();
  for (const id of made) {
    const [above, below] = [linesOf(graph, id, "predecessors"), linesOf(graph, id, "successors")];
    if (above.length === 0) continue; // these are ordered as inputs
    const ends = (lines: string[][]): string =>
      lines
        .map((line) => `${line.at(-1)!}\u0001${line.length}`)
        .sort()
        .join("\u0002");
    const key = `${ends(above)}\u0003${ends(below)}`;
    const mine = { id, lines: [...above, ...below].sort((one, other) => (one.at(-1)! < other.at(-1)! ? -1 : 1)) };
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [mine]);
    else known.push(mine);
  }
  let some = false;
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    some = true;
    const readers = linesOf(graph, group[0]!.id, "successors").map((line) => line.at(-1)!);
    const place = (id: string): number => Math.min(...readers.map((to) => places.get(`${id}\u0001${to}`) ?? Infinity));
    const rank = new Map(group.map(({ id }) => [id, place(id)]));
    group.sort((one, other) =>
      rank.get(one.id)! === rank.get(other.id)! ? 0 : rank.get(one.id)! - rank.get(other.id)!,
    );
    const deal = (ids: string[]): void => {
      const free = ids.map((id) => label(graph, id).order).sort((x, y) => (fromRight ? y - x : x - y));
      for (const [i, id] of ids.entries()) label(graph, id).order = free[i]!;
    };
    deal(group.map(({ id }) => id));
    group[0]!.lines.forEach((line, n) => {
      for (let level = 0; level < line.length - 1; level++) deal(group.map(({ lines }) => lines[n]![level]!));
    });
  }
  return some;
}

/** The lines at one side of a box: their bend points, then the box at the other end. */
function linesOf(graph: Graph, id: string, side: "predecessors" | "successors"): string[][] {
  return (graph[side](id) ?? []).map((first) => {
    const line = [first];
    while (label(graph, line.at(-1)!).dummy !== undefined) line.push((graph[side](line.at(-1)!) ?? [])[0]!);
    return line;
  });
}

interface Spot {
  x: number;
  y: number;
  height: number;
}

/** Whether the whole drawing reads better from right to left: then its mirror image is taken. Where inputs do not tell,
 * what was made first (`made` is in that order) stands at the left. */
export function readsBackwards(
  edges: Iterable<[from: string, to: string]>,
  places: Places,
  made: readonly string[],
  at: (id: string) => Spot,
): boolean {
  const x = (id: string): number => at(id).x;
  const arriving = new Map<string, { from: string; place: number }[]>();
  const note = (key: string, from: string, place: number): void => {
    const known = arriving.get(key);
    if (known === undefined) arriving.set(key, [{ from, place }]);
    else known.push({ from, place });
  };
  const ports = new Map<string, number>();
  for (const [from, to] of edges) {
    const place = places.get(`${from}\u0001${to}`) ?? Infinity;
    note(to, from, place);
    if (from.startsWith("in\u0003")) ports.set(from, Math.min(place, ports.get(from) ?? Infinity));
  }
  let balance = 0;
  const weigh = (items: { from: string; place: number }[], weight: number): void => {
    items.sort((a, b) => a.place - b.place);
    for (let i = 1; i < items.length; i++) balance += weight * Math.sign(x(items[i]!.from) - x(items[i - 1]!.from));
  };
  for (const items of arriving.values()) weigh(items, 1);
  // Lines from outside would cross all others.
  weigh(
    [...ports].map(([from, place]) => ({ from, place })),
    3,
  );
  return (balance === 0 ? madeInOrder(made, at) : balance) < 0;
}

function madeInOrder(made: readonly string[], at: (id: string) => Spot): number {
  const last = new Map<number, number>();
  let balance = 0;
  for (const id of made) {
    const { x, y, height } = at(id);
    const rank = Math.round(y - height / 2); // boxes of one rank share their upper side
    const before = last.get(rank);
    if (before !== undefined) balance += Math.sign(x - before);
    last.set(rank, x);
  }
  return balance;
}

const label = (graph: Graph, id: string): Label => graph.node(id) as Label;

/** The nodes right above a box, ordered by their edge's position among the inputs. */
function inputsOf(graph: Graph, id: string, places: Places): { id: string; order: number; place: number }[] {
  const found = (graph.predecessors(id) ?? []).map((above) => {
    const { order, edgeObj } = label(graph, above);
    return { id: above, order, place: places.get(`${edgeObj?.v ?? above}\u0001${id}`) ?? Infinity };
  });
  return found.sort((a, b) => a.place - b.place || a.order - b.order);
}

/** Swaps neighbouring sources that only this box reads, together with their lines. */
function swapLoose(graph: Graph, id: string, places: Places): void {
  const loose = inputsOf(graph, id, places).flatMap(({ id: above, place }) => {
    const chain = chainOf(graph, above);
    return chain === null ? [] : [{ chain, place }];
  });
  for (let round = 0; round < loose.length; round++) {
    for (const a of loose) {
      for (const b of loose) {
        if (a.place < b.place && sideBySide(graph, b.chain, a.chain)) swap(graph, b.chain, a.chain);
      }
    }
  }
}

/** A line up to its source, if neither has other connections. */
function chainOf(graph: Graph, start: string): string[] | null {
  const chain = [start];
  for (let id = start; label(graph, id).dummy !== undefined; ) {
    id = (graph.predecessors(id) ?? [])[0]!;
    chain.push(id);
  }
  const source = chain.at(-1)!;
  const alone = (graph.predecessors(source) ?? []).length === 0 && (graph.successors(source) ?? []).length === 1;
  return alone ? chain : null;
}

const sideBySide = (graph: Graph, left: string[], right: string[]): boolean =>
  left.length === right.length && left.every((id, i) => label(graph, right[i]!).order - label(graph, id).order === 1);

function swap(graph: Graph, one: string[], other: string[]): void {
  one.forEach((id, i) => {
    const [a, b] = [label(graph, id), label(graph, other[i]!)];
    [a.order, b.order] = [b.order, a.order];
  });
}
