// What must come before what, and where two orders of the same ops differ.

/** For each op all that must have run before it, and all that run after it. */
export class Precedence {
  constructor(private readonly waits: readonly (readonly number[])[]) {}

  private reach(from: number, next: (op: number) => readonly number[]): Set<number> {
    const found = new Set<number>();
    const stack = [...next(from)];
    while (stack.length > 0) {
      const op = stack.pop()!;
      if (found.has(op)) continue;
      found.add(op);
      stack.push(...next(op));
    }
    found.delete(from); // a loop comes back to itself
    return found;
  }

  before(op: number): Set<number> {
    return this.reach(op, (at) => this.waits[at]!);
  }

  after(op: number): Set<number> {
    const readers: number[][] = this.waits.map(() => []);
    for (const [reader, sources] of this.waits.entries()) for (const source of sources) readers[source]!.push(reader);
    return this.reach(op, (at) => readers[at]!);
  }
}

/** The part in which two orders of the same ops differ: from, and up to but without. */
export function differing(one: readonly number[], other: readonly number[]): { from: number; to: number } {
  let from = 0;
  while (from < one.length && one[from] === other[from]) from += 1;
  let to = one.length;
  while (to > from && one[to - 1] === other[to - 1]) to -= 1;
  return { from, to };
}

/** The numbers of a long list that are worth showing: those near what matters; null where some are left out. */
export function shortened(order: readonly number[], matters: ReadonlySet<number>, most: number): (number | null)[] {
  if (order.length <= most) return [...order];
  const found: (number | null)[] = [];
  for (const [i, op] of order.entries()) {
    const near = i === 0 || i === order.length - 1 || [-1, 0, 1].some((d) => matters.has(order[i + d] ?? -1));
    if (near) found.push(op);
    else if (found.at(-1) !== null) found.push(null);
  }
  return found;
}
