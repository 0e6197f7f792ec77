// The ops related to an op: all that it depends on, all that depend on it, and its gradients.
import type { GraphModel, Node } from "./graph";

/** The ops themselves and all that they read (or that read them), through data and control edges. */
export function trace(model: GraphModel, from: readonly number[], way: "inputs" | "outputs"): Set<number> {
  const found = new Set(from);
  const stack = [...from];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const next = way === "inputs" ? model.sources(model.ops[at]!) : (model.uses[at] ?? []).map((use) => use.op);
    for (const index of next) {
      if (found.has(index)) continue;
      found.add(index);
      stack.push(index);
    }
  }
  return found;
}

const GRADIENTS = /^(.*?(?:^|\/)gradients(?:_\d+)?\/)(.+)$/;

/** The other half of a forward op (or scope) and its gradients: ids of boxes, which need not be open.
 *
 * `gradients/layer/MatMul_grad/` belongs to `layer/MatMul`, `gradients/layer/` to `layer/`. In eager code both are in
 * the scope of an iteration: `iteration_1/gradients/MatMul_grad/` belongs to `iteration_1/MatMul`.
 */
export function partners(model: GraphModel, id: string): string[] {
  const inside = GRADIENTS.exec(id);
  if (inside !== null) {
    const forward = forwardOf(inside[2]!);
    if (forward === null) return [];
    const beside = inside[1]!.replace(/gradients(_\d+)?\/$/, "");
    const found = known(model, beside + forward);
    return found.length > 0 ? found : known(model, forward);
  }
  const path = id.replace(/\/$/, "");
  const found: string[] = [];
  for (const root of gradientRoots(model)) {
    const beside = root.replace(/gradients(_\d+)?\/$/, "");
    const own = path.startsWith(beside) ? path.slice(beside.length) : path;
    const names = [`${root}${path}_grad/`, `${root}${path}/`, `${root}${own}_grad/`, `${root}${own}/`];
    const scope = names.find((name) => model.scopes.has(name));
    if (scope !== undefined) found.push(scope);
  }
  return found;
}

/** "layer/MatMul_grad/tuple/group" belongs to "layer/MatMul". */
function forwardOf(path: string): string | null {
  const parts = path.replace(/\/$/, "").split("/");
  const at = parts.findIndex((part) => part.endsWith("_grad"));
  if (at >= 0) return [...parts.slice(0, at), parts[at]!.slice(0, -"_grad".length)].join("/");
  return path.endsWith("/") ? parts.join("/") : null;
}

function known(model: GraphModel, path: string): string[] {
  if (model.scopes.has(`${path}/`)) return [`${path}/`];
  return model.byName.has(path) ? [path] : [];
}

function gradientRoots(model: GraphModel): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    for (const child of node.children ?? []) {
      if (child.kind !== "scope") continue;
      if (/^gradients(_\d+)?$/.test(child.label)) found.push(child.id);
      else visit(child);
    }
  };
  visit(model.root);
  return found;
}
