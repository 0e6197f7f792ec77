// The layout that is bundled gives the same picture as the whole of dagre.
import * as dagre from "@dagrejs/dagre";
import * as esbuild from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { slimDagre } from "../../slim_dagre.mjs";

let slim;
let code = "";

beforeAll(async () => {
  const built = await esbuild.build({
    stdin: { contents: 'export { Graph, layout } from "@dagrejs/dagre";', resolveDir: import.meta.dirname },
    bundle: true,
    format: "esm",
    minify: true,
    legalComments: "eof",
    plugins: [slimDagre],
    write: false,
  });
  code = built.outputFiles[0].text;
  slim = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
});

/** Numbers that look random and are the same each time. */
function randomNumbers(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

/** Boxes of several sizes; lines with and without label, over one rank or more, some against the others. */
function randomGraph({ Graph }, seed, ranker) {
  const random = randomNumbers(seed);
  const graph = new Graph({ directed: true, multigraph: false, compound: false });
  graph.setGraph({ rankdir: "TB", rankalign: "top", nodesep: 26, edgesep: 16, ranksep: 36, ...ranker });
  const count = 2 + random(30);
  for (let i = 0; i < count; i++) graph.setNode(`n${i}`, { width: 20 + random(80), height: 10 + random(40) });
  for (let i = 0; i < count + random(count); i++) {
    const [from, to] = [random(count), random(count)];
    if (from === to) continue;
    const text = random(2) === 0 ? {} : { width: 10 + random(50), height: 13, labelpos: "r", labeloffset: 5 };
    graph.setEdge(`n${from}`, `n${to}`, { ...text, weight: 1 + random(3), minlen: 1 + random(2) });
  }
  return graph;
}

/** An order of each rank, given to both builds from outside, as the views give it. Names of dummies differ. */
function asMade(graph) {
  const ranks = new Map();
  for (const id of graph.nodes()) {
    const { rank } = graph.node(id);
    graph.node(id).order = ranks.get(rank) ?? 0;
    ranks.set(rank, graph.node(id).order + 1);
  }
}

function drawn({ layout }, graph) {
  layout(graph, { customOrder: asMade });
  return {
    size: graph.graph(),
    nodes: graph.nodes().map((id) => [id, graph.node(id)]),
    edges: graph.edges().map((edge) => [edge, graph.edge(edge)]),
  };
}

test.each([{}, { ranker: "tight-tree" }])(
  "places boxes and lines as dagre does, %o",
  (ranker) => {
    for (let seed = 1; seed <= 40; seed++) {
      const [ours, theirs] = [slim, dagre].map((build) => [build, randomGraph(build, seed, ranker)]);
      expect(drawn(...ours)).toEqual(drawn(...theirs));
      expect(drawn(...ours), "a second time, which begins from the first").toEqual(drawn(...theirs));
    }
  },
  120_000,
); // milliseconds: the machine may be busy

test("leaves out what no view calls, and keeps the license", () => {
  expect(code.length).toBeLessThan(30_000);
  expect(code).toContain("Copyright (c) 2012-2014 Chris Pettitt");
});
