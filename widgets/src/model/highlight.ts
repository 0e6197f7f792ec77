// The ops that a run of these fetches needs, and those that are fetched or fed.
import type { GraphModel } from "./graph";
import { prune, splitName } from "./prune";

export interface Highlight {
  active: boolean;
  needed: Set<number>;
  unknown: string[];
  fetched: Set<number>;
  fed: Set<number>;
}

export function highlight(model: GraphModel, fetches: readonly string[], feeds: readonly string[]): Highlight {
  const { needed, unknown } = prune(model, fetches, feeds);
  const indices = (names: readonly string[]): Set<number> => {
    const found = names.map((name) => model.byName.get(splitName(name)[0]));
    return new Set(found.filter((i) => i !== undefined));
  };
  const fetched = indices(fetches);
  return { active: fetched.size > 0, needed, unknown, fetched, fed: indices(feeds) };
}
