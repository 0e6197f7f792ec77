// Bundles every view (src/views/*.ts) to an ES module of its own, and its style beside it, into the Python package;
// and the script of saved pages, which shows these modules without a host.
// Usage: node build.mjs [--outdir DIR] [--watch]
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf("--outdir");
const outdir = at >= 0 ? args[at + 1] : join(here, "..", "tfteach", "jupyter", "static");
const LIMIT_BYTES = 150_000;

// dagre comes as one minified file, in which objects that list whole namespaces keep graphlib's algorithms (shortest
// paths, spanning trees, JSON) in every bundle: 6.7 kB that no layout calls. Without these lists they are dropped,
// and so are two methods that only programs call.
const slimDagre = {
  name: "slim-dagre",
  setup(build) {
    build.onLoad({ filter: /dagre\.esm\.js$/ }, ({ path }) => ({
      contents: withoutNamespaces(readFileSync(path, "utf8")),
      loader: "js",
    }));
  },
};

function withoutNamespaces(source) {
  const algorithms = /\w+\(\w+,\{(CycleException:[^}]*)\}\);/;
  const names = Object.fromEntries((algorithms.exec(source)?.[1] ?? "").split(",").map((pair) => pair.split(":()=>")));
  const cuts = [
    [algorithms, ""],
    [/\w+\(\w+,\{Graph:\(\)=>\w+,alg:\(\)=>\w+\}\);/, ""],
    [/\w+\(\w+,\{read:\(\)=>\w+,write:\(\)=>\w+\}\);/, ""],
    [/filterNodes\(\w+\)\{.*?\}(?=setDefaultEdgeLabel\()/, ""],
    [/setPath\(\w+,\w+\)\{.*?\}(?=setEdge\()/, ""],
    [/var\{preorder:(\w+),postorder:(\w+)\}=\w+,/, `var $1=${names.preorder},$2=${names.postorder},`],
  ];
  return cuts.reduce((text, [pattern, replacement]) => {
    if (!pattern.test(text)) throw new Error(`dagre has another form now: ${pattern} is not in it`);
    return text.replace(pattern, replacement);
  }, source);
}

const views = readdirSync(join(here, "src", "views"))
  .filter((f) => f.endsWith(".ts"))
  .map((f) => f.slice(0, -3));
const options = {
  entryPoints: views.flatMap((v) =>
    [`${v}.ts`, `${v}.css`].map((f) => join(here, "src", "views", f)).filter((f) => existsSync(f)),
  ),
  bundle: true,
  format: "esm",
  target: ["es2022", "chrome105", "firefox110", "safari16"], // container queries; nested styles are made flat
  minify: true,
  charset: "utf8",
  legalComments: "eof",
  plugins: [slimDagre],
  outdir,
};
const page = {
  ...options,
  entryPoints: ["ts", "css"].map((kind) => join(here, "src", "page", `saved_page.${kind}`)),
  format: "iife",
};
if (args.includes("--watch")) {
  for (const each of [options, page]) await (await esbuild.context(each)).watch();
} else {
  for (const each of [options, page]) await esbuild.build(each);
  for (const view of views) {
    const size = statSync(join(outdir, `${view}.js`)).size;
    console.log(`${view}.js ${(size / 1000).toFixed(1)} kB`);
    if (size > LIMIT_BYTES) throw new Error(`${view}.js is ${size} bytes; a view may have ${LIMIT_BYTES}`);
  }
}
