// The graph as the page knows it: ops in creation order, and the tree of scopes that their names make.

import type { OpRow } from "../kernel/graph_messages";

export interface Op extends OpRow {
  index: number;
  node: Node;
}

/** A reader of an op: `port` is the output that it reads, or -1 for a control edge. */
export interface Use {
  op: number;
  port: number;
}

export type Kind = "op" | "scope" | "series";

/** A box in the tree: an op, a scope, or a series (many like siblings drawn as one). */
export class Node {
  children: Node[] | null = null;
  /** For a series, how many similar siblings it stands for; a long one opens to ranges of them. */
  like = 0;
  /** The ops inside, in creation order; for an op, itself alone. */
  members: number[] = [];
  /** Graph version at which this box or an edge at it last changed. */
  version = 0;
  constructor(
    readonly id: string,
    readonly kind: Kind,
    public label: string,
    public parent: Node | null,
  ) {}

  get depth(): number {
    let depth = 0;
    for (let n = this.parent; n !== null; n = n.parent) depth++;
    return depth;
  }
}

/** The name to show for a scope or a series; the graph itself has no name for a series. */
export function nameOf(node: Node): string {
  if (node.kind !== "series") return node.id.replace(/\/$/, "");
  let home = node.parent;
  while (home?.kind === "series") home = home.parent;
  return `${home?.id ?? ""}${node.label} ×${node.like}`;
}

export const ROOT = "";

// In the graphs of devices, whose names begin with one ("GPU:0/y"; TensorFlow's own have no colon), what comes and goes
// stands at the top, not in the scope that it is named after.
const TRANSFERS = /^_(Send|Recv|Arg|Retval)$/;
/** A device, and with many transfers their group in it; op names have no spaces. */
const DEVICE = /^[^/]*:\d+(?=\/)(\/(to|from) [^/]*(?=\/))?/;

/** The graph's ops and scopes; grows by `add`. */
export class GraphModel {
  readonly ops: Op[] = [];
  readonly byName = new Map<string, number>();
  readonly uses: Use[][] = [];
  readonly scopes = new Map<string, Node>();
  readonly root = new Node(ROOT, "scope", "", null);
  version = 0;
  /** Names of boxes that a view sets aside: many variables among them are drawn as one box. */
  setAside: ReadonlySet<string> = new Set();

  constructor(rows: readonly OpRow[] = []) {
    this.root.children = [];
    this.scopes.set(ROOT, this.root);
    this.add(rows);
  }

  add(rows: readonly OpRow[]): void {
    this.version++;
    for (const row of rows) {
      if (this.byName.has(row.name)) continue;
      const index = this.ops.length;
      const op: Op = { ...row, index, node: this.#place(row, index) };
      this.ops.push(op);
      this.byName.set(row.name, index);
      this.uses[index] ??= [];
      this.#link(op);
    }
  }

  /** Replaces an op's inputs: a loop was closed, or a control input was added. */
  patch(index: number, row: OpRow): void {
    const op = this.ops[index];
    if (op === undefined) return;
    this.version++;
    for (const source of this.sources(op)) {
      this.#touch(source);
      this.uses[source] = (this.uses[source] ?? []).filter((use) => use.op !== index);
    }
    Object.assign(op, row);
    this.#link(op);
    this.#touch(index);
  }

  /** The op that a node stands for: the op itself, or for scope "w/" the op "w" of the same name. */
  opOf(node: Node): Op | undefined {
    if (node.kind === "op") return this.ops[node.members[0] ?? -1];
    if (node.kind === "series") return undefined;
    const index = this.byName.get(node.id.slice(0, -1));
    return index === undefined ? undefined : this.ops[index];
  }

  /** Ops read by this one, through data and control edges. */
  *sources(op: Op): Iterable<number> {
    for (const input of op.inputs) yield input.op;
    yield* op.controls;
  }

  #link(op: Op): void {
    for (const input of op.inputs) this.#use(input.op, op.index, input.port);
    for (const source of op.controls) this.#use(source, op.index, -1);
  }

  #use(source: number, op: number, port: number): void {
    this.uses[source] ??= [];
    this.uses[source].push({ op, port });
    this.#touch(source);
  }

  #touch(index: number): void {
    for (let n: Node | null = this.ops[index]?.node ?? null; n !== null; n = n.parent) n.version = this.version;
  }

  #scope(path: string): Node {
    const known = this.scopes.get(path);
    if (known !== undefined) return known;
    const cut = path.lastIndexOf("/", path.length - 2);
    const parent = this.#scope(path.slice(0, cut + 1));
    const made = new Node(path, "scope", path.slice(cut + 1, -1), parent);
    made.children = [];
    this.scopes.set(path, made);
    parent.children!.push(made);
    this.#adopt(made, parent);
    return made;
  }

  /** An op "w" created before "w/read" moves into the scope of its name. */
  #adopt(scope: Node, parent: Node): void {
    const index = this.byName.get(scope.id.slice(0, -1));
    if (index === undefined) return;
    const node = this.ops[index]!.node;
    // The scope replaces its op among the siblings, so that nothing else moves.
    parent.children = parent.children!.filter((n) => n !== scope);
    parent.children.splice(parent.children.indexOf(node), 1, scope);
    node.parent = scope;
    node.label = `(${scope.label})`;
    scope.children!.push(node);
    scope.members.push(index);
  }

  #place({ name, type }: OpRow, index: number): Node {
    const own = this.scopes.get(`${name}/`);
    const device = TRANSFERS.test(type) ? DEVICE.exec(name) : null;
    const cut = device?.[0].length ?? name.lastIndexOf("/");
    const parent = own ?? this.#scope(name.slice(0, cut + 1));
    const base = name.slice(cut + 1);
    const node = new Node(name, "op", own === undefined ? base : `(${base})`, parent);
    node.members.push(index);
    parent.children!.push(node);
    for (let n: Node | null = node; n !== null; n = n.parent) {
      if (n !== node) n.members.push(index);
      n.version = this.version;
    }
    return node;
  }
}

/** "32×?" for a shape; "[10]" for rank 1, "scalar" for rank 0, "?" for an unknown rank. */
export function shapeText(shape: number[] | null): string {
  if (shape === null) return "?";
  if (shape.length === 0) return "scalar";
  const sizes = shape.map((d) => (d < 0 ? "?" : String(d))).join("×");
  return shape.length === 1 ? `[${sizes}]` : sizes;
}

export const isReference = (dtype: string): boolean => dtype.endsWith("_ref");
