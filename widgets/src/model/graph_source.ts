// The graph as the kernel sends it: what there was when the view was made, then batches of what is added and changed.

import type { Signal } from "@preact/signals-core";
import { signal } from "@preact/signals-core";
import type { Steps } from "../base/time_slices";
import type { GraphTraits } from "../kernel/graph_messages";
import { decode, decodeAll } from "../kernel/graph_messages";
import type { Traits } from "../kernel/traits";
import { GraphModel } from "./graph";

const CHUNK = 2000; // ops that are read in one step

export class GraphSource {
  readonly #traits: Traits<GraphTraits>;
  readonly model = new GraphModel();
  /** How many runs there were, and how many ops when the first of them began (-1 before). */
  readonly counts: Signal<{ runs: number; opsAtFirstRun: number }>;
  #taken = 0;
  #batches = 0;

  constructor(traits: Traits<GraphTraits>) {
    this.#traits = traits;

    this.counts = signal({ runs: traits.get("_runs"), opsAtFirstRun: traits.get("_first") });
  }

  /** Reads the rest of the initial ops, then the batches that have arrived since. */
  *read(): Steps<void> {
    const all = this.#traits.get("_ops");
    for (; this.#taken < all.rows.length; this.#taken += CHUNK) {
      this.model.add(decodeAll(all, this.#taken, this.#taken + CHUNK));
      yield;
    }
    this.take();
  }

  /** Applies the batches that have arrived since the last call; true if the graph changed. */
  take(): boolean {
    if (this.#taken < this.#traits.get("_ops").rows.length) return false;
    const before = this.model.version;
    for (; this.#batches < this.#traits.get("_batches"); this.#batches++) {
      const batch = this.#traits.get(`_batch_${this.#batches}`);
      if (batch === undefined) continue; // it is in _ops already
      const known = this.model.ops.length - batch.from;
      if (known < batch.rows.length) this.model.add(decodeAll(batch, Math.max(0, known)));
      for (const [index, row] of batch.patches ?? []) this.model.patch(index, decode(row));
      const { runs, opsAtFirstRun } = this.counts.peek();
      this.counts.value = { runs: batch.runs ?? runs, opsAtFirstRun: batch.first ?? opsAtFirstRun };
    }
    return this.model.version !== before;
  }
}
