// dagre's layout without what no view asks of it: nested clusters, directions other than downwards, its own order of
// the boxes in a rank (layout/crossing_reduction.ts has a faster one), graphlib's algorithms. That is 20 kB of each view that draws a graph.
//
// dagre is published as a single minified file, in which objects that list whole namespaces keep everything. The source
// map beside it holds the sources, so that a bundler can drop what is not used, and whole modules can be left out.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, posix } from "node:path";

const NAMESPACE = "dagre-source";
const GRAPHLIB = "node_modules/@dagrejs/graphlib/lib";

/** What stands in for modules of which a flat graph that runs downwards needs nothing, or less. */
const STAND_INS = {
  "lib/parent-dummy-chains.ts": "export default () => {};",
  "lib/add-border-segments.ts": "export default () => {};",
  "lib/coordinate-system.ts": "export const adjust = () => {}; export const undo = () => {};",
  "lib/greedy-fas.ts": "export default () => { throw new Error('no greedy acyclicer in this build'); };",
  "lib/order/index.ts": "export default (graph, { customOrder }) => customOrder(graph);",
  [`${GRAPHLIB}/index.ts`]: `
    import { preorder } from "./alg/preorder";
    import { postorder } from "./alg/postorder";
    export { Graph } from "./graph";
    export const alg = { preorder, postorder };`,
};

/** Cut out of a module: everything from the first text to before the second. */
const CUTS = {
  "lib/layout.ts": [
    ["    // Find clusters (nodes with children)", "    // --- Step 5: run the main layout"],
    ["    // --- Step 6: remove proxy edges", "}\n\n// Copy routes for original internal edges"],
  ],
};

/** An esbuild plugin. */
export const slimDagre = {
  name: "slim-dagre",
  setup(build) {
    const sources = readSources();
    build.onResolve({ filter: /^@dagrejs\/dagre$/ }, () => ({
      path: "entry",
      namespace: NAMESPACE,
      sideEffects: false,
    }));
    build.onResolve({ filter: /./, namespace: NAMESPACE }, ({ path, importer }) => ({
      path: resolve(sources, path, importer),
      namespace: NAMESPACE,
      sideEffects: false,
    }));
    build.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({ contents: sources.get(path), loader: "ts" }));
  },
};

function readSources() {
  const published = join(dirname(createRequire(import.meta.url).resolve("@dagrejs/dagre/package.json")), "dist");
  const map = JSON.parse(readFileSync(join(published, "dagre.esm.js.map"), "utf8"));
  const sources = new Map(map.sources.map((name, i) => [posix.join("dist", name), map.sourcesContent[i]]));
  const license = /\/\*\s*@license[\s\S]*?\*\//.exec(sources.get("index.ts") ?? "")?.[0];
  if (license === undefined) throw new Error("dagre has another form now: no license in its index.ts");
  for (const [name, text] of Object.entries(STAND_INS)) {
    if (!sources.has(name) && name !== `${GRAPHLIB}/index.ts`)
      throw new Error(`dagre has another form now: no ${name}`);
    sources.set(name, text);
  }
  for (const [name, cuts] of Object.entries(CUTS))
    sources.set(
      name,
      cuts.reduce((text, [from, to]) => cut(name, text, from, to), sources.get(name)),
    );
  sources.set("entry", `${license}\nexport { Graph } from "./lib/graph-lib"; export { layout } from "./lib/layout";`);
  return sources;
}

function cut(name, text, from, to) {
  const start = text.indexOf(from);
  const end = text.indexOf(to, start);
  if (start < 0 || end < 0) throw new Error(`dagre has another form now: ${name} lacks ${JSON.stringify([from, to])}`);
  return text.slice(0, start) + text.slice(end);
}

function resolve(sources, path, importer) {
  const name = path === "@dagrejs/graphlib" ? `${GRAPHLIB}/index` : posix.join(posix.dirname(importer), path);
  const found = [`${name}.ts`, `${name}/index.ts`].find((file) => sources.has(file));
  if (found === undefined) throw new Error(`dagre has another form now: no ${name}`);
  return found;
}
