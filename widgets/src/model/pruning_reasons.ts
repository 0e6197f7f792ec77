// Why a run executes an op, or does not. explain/runs/pruning.py says the same; a browser test holds the two together.

import type { GraphModel } from "./graph";
import type { Highlight } from "./highlight";
import { splitName } from "./prune";

export interface Why {
  runs: boolean;
  /** From the op to a fetch, or to the fed op that cuts it off. */
  path: number[];
  text: string;
}

/** The reason for one op, null while nothing is fetched. */
export function why(model: GraphModel, light: Highlight, feeds: readonly string[], index: number): Why | null {
  if (!light.active) return null;
  const fed = new Map<string, string>();
  for (const name of feeds) {
    const [op, port] = splitName(name);
    const source = model.byName.get(op);
    if (source !== undefined) fed.set(`${source}:${port ?? 0}`, `${op}:${port ?? 0}`);
  }
  const quoted = (i: number): string => `'${model.ops[i]!.name}'`;
  const runs = light.needed.has(index);
  const path = shortest(
    model,
    light.fetched,
    index,
    runs ? (from, to, port) => light.needed.has(to) && !fed.has(`${from}:${port}`) : () => true,
  );
  if (runs) {
    const end = path?.[path.length - 1];
    if (path === null || end === undefined || end === index)
      return { runs, path: [index], text: `${quoted(index)} runs: it is fetched` };
    return { runs, path, text: `${quoted(index)} runs: the fetch ${quoted(end)} depends on it` };
  }
  const no = `${quoted(index)} does not run: `;
  if (path === null)
    return {
      runs,
      path: [index],
      text: no + ((model.uses[index] ?? []).length === 0 ? "nothing reads it" : "no fetch depends on it"),
    };
  for (const [i, op] of path.entries()) {
    const port = model.ops[op]!.outputs.findIndex((_, n) => fed.has(`${op}:${n}`));
    if (port < 0) continue;
    const text = i === 0 ? "it is fed" : `'${model.ops[op]!.name}:${port}' is fed instead, on its way`;
    return { runs, path: path.slice(0, i + 1), text: no + text };
  }
  return { runs, path, text: `${no}only what is fed would have needed it` };
}

function shortest(
  model: GraphModel,
  ends: ReadonlySet<number>,
  start: number,
  open: (from: number, to: number, port: number) => boolean,
): number[] | null {
  const came = new Map<number, number>([[start, -1]]);
  const queue = [start];
  for (const passed of queue) {
    if (ends.has(passed)) {
      const path: number[] = [];
      for (let at = passed; at >= 0; at = came.get(at)!) path.unshift(at);
      return path;
    }
    for (const use of model.uses[passed] ?? []) {
      if (came.has(use.op) || !open(passed, use.op, use.port)) continue;
      came.set(use.op, passed);
      queue.push(use.op);
    }
  }
  return null;
}

/** Each needed op's distance from the fetches: pruning discovers the ops in this order. */
export function waves(model: GraphModel, light: Highlight): Map<number, number> {
  const found = new Map<number, number>();
  const queue = [...light.fetched].filter((i) => light.needed.has(i));
  for (const i of queue) found.set(i, 0);
  for (const index of queue) {
    const op = model.ops[index]!;
    for (const source of model.sources(op)) {
      if (found.has(source) || !light.needed.has(source)) continue;
      found.set(source, found.get(index)! + 1);
      queue.push(source);
    }
  }
  return found;
}
