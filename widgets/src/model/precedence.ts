// Which ops must run before which.

/** For each op all that must have run before it, and all that run after it. */
export class Precedence {
  readonly #waits: readonly (readonly number[])[];
  constructor(waits: readonly (readonly number[])[]) {
    this.#waits = waits;
  }

  #reach(from: number, next: (op: number) => readonly number[]): Set<number> {
    const found = new Set<number>();
    const stack = [...next(from)];
    while (stack.length > 0) {
      const op = stack.pop()!;
      if (found.has(op)) continue;
      found.add(op);
      stack.push(...next(op));
    }
    found.delete(from); // a loop leads back to the op itself
    return found;
  }

  before(op: number): Set<number> {
    return this.#reach(op, (at) => this.#waits[at]!);
  }

  after(op: number): Set<number> {
    const readers: number[][] = this.#waits.map(() => []);
    for (const [reader, sources] of this.#waits.entries()) for (const source of sources) readers[source]!.push(reader);
    return this.#reach(op, (at) => readers[at]!);
  }
}
