// The ops that a run needs: all that are reachable backwards from the fetches, cut at the feeds. Python's prune decides
// the same; tests hold the two together.
import type { GraphModel } from "./graph";

export interface Pruned {
  needed: Set<number>;
  /** Names that no op in the graph answers to. */
  unknown: string[];
}

const PLACEHOLDERS = new Set(["Placeholder", "PlaceholderV2"]);

/** "a:0" -> ["a", 0]; "a" -> ["a", null]; "^a" -> ["a", null]. */
export function splitName(name: string): [string, number | null] {
  const plain = name.startsWith("^") ? name.slice(1) : name;
  const colon = plain.lastIndexOf(":");
  const port = colon > 0 ? Number(plain.slice(colon + 1)) : NaN;
  return Number.isInteger(port) ? [plain.slice(0, colon), port] : [plain, null];
}

export function prune(model: GraphModel, fetches: readonly string[], feeds: readonly string[] = []): Pruned {
  const unknown: string[] = [];
  const fed = new Set<string>();
  const find = (name: string): [number, number | null] | null => {
    const [op, port] = splitName(name);
    const index = model.byName.get(op);
    if (index === undefined) unknown.push(name);
    return index === undefined ? null : [index, port];
  };
  for (const name of feeds) {
    const found = find(name);
    if (found !== null) fed.add(`${found[0]}:${found[1] ?? 0}`);
  }
  // Feeding a placeholder also does for those that only wait for it.
  const waits = (source: number): boolean => !(fed.has(`${source}:0`) && PLACEHOLDERS.has(model.ops[source]!.type));
  const needed = new Set<number>();
  const stack: number[] = [];
  const need = (index: number): void => {
    if (!needed.has(index)) {
      needed.add(index);
      stack.push(index);
    }
  };
  for (const name of fetches) {
    const found = find(name);
    if (found === null) continue;
    const [index, port] = found;
    if (port === null || !fed.has(`${index}:${port}`)) need(index);
  }
  for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
    const op = model.ops[index]!;
    for (const { op: source, port } of op.inputs) if (fed.size === 0 || !fed.has(`${source}:${port}`)) need(source);
    for (const source of op.controls) if (waits(source)) need(source);
  }
  return { needed, unknown };
}

/** The name under which a click fetches an op: its first output, or the op itself when it has none. */
export const fetchName = (op: { name: string; outputs: readonly unknown[] }): string =>
  op.outputs.length > 0 ? `${op.name}:0` : op.name;
