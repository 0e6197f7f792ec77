// The graph as the kernel sends it: what there was when the view was made, then batches of what is added and changed.

import type { Steps } from "../base/time_slices";
import type { GraphTraits } from "../kernel/graph_messages";
import { decode, decodeAll } from "../kernel/graph_messages";
import type { Traits } from "../kernel/traits";
import { GraphModel } from "./graph";

const CHUNK = 2000; // ops that are read in one step

export class Source {
  readonly model = new GraphModel();
  runs: number;
  opsAtFirstRun: number;
  private taken = 0;
  private batches = 0;

  constructor(private readonly state: Traits<GraphTraits>) {
    this.runs = state.get("_runs");
    this.opsAtFirstRun = state.get("_first");
  }

  /** Reads what was there at first, as far as it is not read yet, and the batches that came since. */
  *read(): Steps<void> {
    const all = this.state.get("_ops");
    for (; this.taken < all.rows.length; this.taken += CHUNK) {
      this.model.add(decodeAll(all, this.taken, this.taken + CHUNK));
      yield;
    }
    this.take();
  }

  /** Takes in what came since; true if the graph changed. */
  take(): boolean {
    if (this.taken < this.state.get("_ops").rows.length) return false;
    const before = this.model.version;
    for (; this.batches < this.state.get("_batches"); this.batches++) {
      const batch = this.state.get(`_batch_${this.batches}`);
      if (batch === undefined) continue; // it is in _ops already
      const known = this.model.ops.length - batch.from;
      if (known < batch.rows.length) this.model.add(decodeAll(batch, Math.max(0, known)));
      for (const [index, row] of batch.patches ?? []) this.model.patch(index, decode(row));
      this.runs = batch.runs ?? this.runs;
      this.opsAtFirstRun = batch.first ?? this.opsAtFirstRun;
    }
    return this.model.version !== before;
  }
}
