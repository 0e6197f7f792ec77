// Two graphs matched by names: what only one has, what differs.
import type { GraphModel, Node } from "./graph";

export interface Counted {
  /** Ops that the other graph lacks. */
  alone: number;
  /** Ops of both that differ. */
  changed: number;
  ops: number;
}

export class Comparison {
  readonly #alone: Set<number>;
  readonly #changed: Set<number>;

  constructor(model: GraphModel, other: GraphModel, changes: ReadonlySet<string>) {
    this.#alone = new Set(model.ops.filter((op) => !other.byName.has(op.name)).map((op) => op.index));
    this.#changed = new Set(model.ops.filter((op) => changes.has(op.name)).map((op) => op.index));
  }

  count(node: Node): Counted {
    let [alone, changed] = [0, 0];
    for (const i of node.members) {
      if (this.#alone.has(i)) alone++;
      else if (this.#changed.has(i)) changed++;
    }
    return { alone, changed, ops: node.members.length };
  }
}
