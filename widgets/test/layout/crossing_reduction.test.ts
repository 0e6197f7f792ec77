import dagre from "@dagrejs/dagre";
import { expect, test } from "vitest";
import { orderRanks } from "../../src/layout/crossing_reduction";
import { random } from "../helpers";

type Graph = InstanceType<typeof dagre.graphlib.Graph>;

/** The order of each node after dagre's ordering, or ours. */
function ordersOf(g: Graph, ours: boolean): Record<string, number> {
  const found: Record<string, number> = {};
  dagre.layout(g, {
    customOrder: (graph, order) => {
      if (ours) orderRanks(graph);
      else (order as (g: unknown) => void)(graph);
      const names = graph.nodes();
      // dagre numbers its dummies on through all layouts; by their turn they are the same
      for (const [i, id] of names.entries()) found[`${i}`] = (graph.node(id) as { order: number }).order;
    },
  });
  return found;
}

function randomGraph(seed: number): Graph {
  const next = random(seed);
  const g = new dagre.graphlib.Graph({ directed: true, multigraph: false, compound: false });
  g.setGraph({ rankdir: "TB" });
  const n = 3 + Math.floor(next() * 40);
  for (let i = 0; i < n; i++) g.setNode(`n${i}`, { width: 20 + Math.floor(next() * 60), height: 30 });
  for (let i = 1; i < n; i++) {
    for (let k = Math.floor(next() * 3); k > 0; k--) {
      const from = Math.floor(next() * i);
      g.setEdge(`n${from}`, `n${i}`, { weight: next() < 0.5 ? 1 : 3, minlen: next() < 0.8 ? 1 : 2 });
    }
  }
  return g;
}

test("orders are dagre's own", () => {
  let several = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const dagres = ordersOf(randomGraph(seed), false);
    expect(ordersOf(randomGraph(seed), true), `seed ${seed}`).toEqual(dagres);
    if (Math.max(...Object.values(dagres)) > 2) several++;
  }
  expect(several).toBeGreaterThan(20);
}, 60_000);
