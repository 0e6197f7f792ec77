// After dagre's own ordering: inputs read from left to right where that costs no crossing, so that sub(a, b) shows a
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

interface Spot {
  x: number;
  y: number;
  height: number;
}

/** Whether the whole drawing reads better from right to left: then its mirror image is taken. Where inputs do not tell,
 * what was made first (`made` is in that order) stands at the left. */
export function readsBackwards(
  edges: Iterable<[from: string, to: string]>, places: Places, made: readonly string[], at: (id: string) => Spot,
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
  weigh([...ports].map(([from, place]) => ({ from, place })), 3);
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

const label = (graph: Graph, id: string): Label => graph.node(id) as unknown as Label;

/** What stands right above a box, by the place of its edge among the inputs. */
function inputsOf(graph: Graph, id: string, places: Places): { id: string; order: number; place: number }[] {
  const found = (graph.predecessors(id) ?? []).map((above) => {
    const { order, edgeObj } = label(graph, above);
    return { id: above, order, place: places.get(`${edgeObj?.v ?? above}\u0001${id}`) ?? Infinity };
  });
  return found.sort((a, b) => a.place - b.place || a.order - b.order);
}

/** Neighbouring sources that only this box reads change places freely, with their lines. */
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

/** A line up to its source, if nothing else hangs on either. */
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
