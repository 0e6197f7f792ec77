// Bundles every view (src/views/*.ts) to an ES module of its own, and its style beside it, into the Python package;
// and the script of saved pages, which shows these modules without a host.
// Usage: node build.mjs [--outdir DIR] [--watch]
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { slimDagre } from "./slim_dagre.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf("--outdir");
const outdir = at >= 0 ? args[at + 1] : join(here, "..", "tfteach", "jupyter", "static");
const LIMIT_BYTES = 150_000;

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
