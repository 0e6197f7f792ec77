// Scopes with hundreds of children would freeze the page and say nothing: like siblings become one stacked box.

import type { GraphModel } from "./graph";
import { Node, nameOf } from "./graph";
import { isVariable } from "./op_families";

export const GROUP_ABOVE = 300;
const MANY = 5; // so many like siblings make a series
const MOST_ASIDE = 20; // boxes with variables
const VARIABLES = "variables";
const CHUNKS = 100; // a series opens to at most so many boxes
const MOST = 600; // an upper bound for any setting: laying out more boxes would freeze the page

/** "dense_12" -> "dense": the name before the number that makes it unique. */
export const baseName = (label: string): string => label.replace(/^\((.*)\)$/, "$1").replace(/_\d+$/, "");

function members(nodes: readonly Node[]): number[] {
  return nodes.flatMap((n) => n.members).sort((a, b) => a - b);
}

function series(parent: Node, key: string, label: string, children: Node[]): Node {
  const node = new Node(`${parent.id}\u0000${key}`, "series", label, parent);
  node.members = members(children);
  node.version = children.reduce((v, c) => Math.max(v, c.version), 0);
  node.children = children;
  node.like = children.length;
  return node;
}

/** A series of like siblings; a very long one opens to parts of a round size, and those to their parts. */
function family(parent: Node, key: string, base: string, children: Node[], from: number | null): Node {
  const label = from === null ? base : `${base} ${from}–${from + children.length - 1}`;
  const node = series(parent, key, label, children);
  if (children.length > CHUNKS) node.children = parts(node, base, children, from ?? 0);
  return node;
}

function parts(parent: Node, base: string, children: Node[], from: number): Node[] {
  const size = 10 ** Math.max(1, Math.ceil(Math.log10(children.length / CHUNKS)));
  const made: Node[] = [];
  for (let i = 0; i < children.length; i += size) {
    made.push(family(parent, `${base}${from + i}`, base, children.slice(i, i + size), from + i));
  }
  return made;
}

/** A scope's children; if many of those set aside hold variables, these are one box, or they would dwarf the model. */
function withVariablesAsOne(model: GraphModel, scope: Node): Node[] {
  const children = scope.children ?? [];
  if (model.setAside.size <= MOST_ASIDE) return children;
  const holds = (child: Node): boolean =>
    model.setAside.has(nameOf(child)) && child.members.some((index) => isVariable(model.ops[index]!.type));
  const some = children.filter(holds);
  if (some.length <= MOST_ASIDE) return children;
  const inside = some.length > GROUP_ABOVE ? likeOnes(model, scope, some).flat().sort(byFirst) : some;
  const all =
    inside.length > GROUP_ABOVE
      ? family(scope, VARIABLES, VARIABLES, inside, null)
      : series(scope, VARIABLES, VARIABLES, inside);
  all.like = all.members.filter((index) => isVariable(model.ops[index]!.type)).length;
  return [...children.filter((child) => !holds(child)), all].sort(byFirst);
}

/** Whether a box is set aside by its name; a series is if all in it are. */
export const isSetAside = (names: ReadonlySet<string>, box: Node): boolean =>
  box.kind === "series" ? box.children!.every((child) => isSetAside(names, child)) : names.has(nameOf(box));

/** The boxes to draw in a scope: its children, or with more than `most` of them, series of like ones. */
export function grouped(model: GraphModel, scope: Node, most: number): Node[] {
  const above = Math.min(most, MOST);
  if (scope.kind === "series") return scope.children ?? [];
  const children = withVariablesAsOne(model, scope);
  if (children.length <= above) return children;
  const [boxes, singles] = likeOnes(model, scope, children);
  if (boxes.length + singles.length <= above) return [...boxes, ...singles].sort(byFirst);
  if (boxes.length > CHUNKS) return parts(scope, "group", [...boxes, ...singles].sort(byFirst), 0);
  return [...boxes, ...parts(scope, "others", singles.sort(byFirst), 0)];
}

/** Series of siblings with like names, and the siblings without enough others like them. */
function likeOnes(model: GraphModel, scope: Node, children: Node[]): [series: Node[], singles: Node[]] {
  const families = new Map<string, Node[]>();
  for (const child of children) {
    const type = child.kind === "op" ? model.ops[child.members[0]!]!.type : "scope";
    const key = `${baseName(child.label)}|${type}`;
    const like = families.get(key);
    if (like === undefined) families.set(key, [child]);
    else like.push(child);
  }
  const boxes: Node[] = [];
  const singles: Node[] = [];
  for (const [key, like] of families) {
    if (like.length >= MANY) boxes.push(family(scope, key, baseName(like[0]!.label), like, null));
    else singles.push(...like);
  }
  return [boxes, singles];
}

const byFirst = (a: Node, b: Node): number => (a.members[0] ?? 0) - (b.members[0] ?? 0);
