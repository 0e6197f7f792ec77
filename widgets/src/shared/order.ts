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
  const layers: string[][] = [];
  for (const id of graph.nodes()) {
    const { rank, order } = label(graph, id);
    (layers[rank] ??= [])[order] = id;
  }
  let balance = 0;
  for (const id of graph.nodes()) {
    if (label(graph, id).dummy !== undefined) continue;
    const arriving = inputsOf(graph, id, places);
    for (let i = 1; i < arriving.length; i++) balance += Math.sign(arriving[i]!.order - arriving[i - 1]!.order);
  }
  if (balance < 0) for (const layer of layers) layer?.reverse().forEach((id, i) => (label(graph, id).order = i));
  for (const id of graph.nodes()) if (label(graph, id).dummy === undefined) swapLoose(graph, id, places);
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
