import type { Input, OpRow, WireRow } from "../src/kernel/graph_messages";
import { decode } from "../src/kernel/graph_messages";
import { estimateWidth } from "../src/layout/box_style";
import type { LayoutOptions } from "../src/layout/scope_layout";
import { NO_NOTES } from "../src/layout/scope_layout";
import { GraphModel } from "../src/model/graph";
import linear from "./fixtures/linear_regression.json";
import softmax from "./fixtures/softmax_regression_adam.json";
import loop from "./fixtures/while_loop.json";

const GOLDEN: Record<string, unknown> = {
  linear_regression: linear,
  softmax_regression_adam: softmax,
  while_loop: loop,
};

/** An op with one float32 scalar output; inputs by name, "^a" for a control edge, "a:1" for a second output. */
export interface Spec {
  name: string;
  type?: string;
  reads?: string[];
  outputs?: [string, number[] | null][];
}

export function rows(specs: Spec[]): OpRow[] {
  const index = new Map(specs.map((s, i) => [s.name, i]));
  return specs.map(({ name, type = "Op", reads = [], outputs = [["float32", []]] }) => {
    const inputs: Input[] = [];
    const controls: number[] = [];
    for (const read of reads) {
      const [, op, port] = /^\^?(.*?)(?::(\d+))?$/.exec(read)!;
      if (read.startsWith("^")) controls.push(index.get(op!)!);
      else inputs.push({ op: index.get(op!)!, port: Number(port ?? 0) });
    }
    return { name, type, inputs, controls, outputs: outputs.map(([dtype, shape]) => ({ dtype, shape })) };
  });
}

export const model = (specs: Spec[]): GraphModel => new GraphModel(rows(specs));

/** A graph that real TensorFlow built (written by tests/jupyter/fixtures.py). */
export const golden = (name: string): GraphModel => new GraphModel((GOLDEN[name] as WireRow[]).map(decode));

export const options = (...expanded: string[]): LayoutOptions => ({
  expanded: new Set(expanded),
  measure: estimateWidth,
  groupAbove: 300,
  rules: { aside: new Set(), inline: new Set() },
  labels: true,
  note: NO_NOTES,
});

/** The same numbers in every run. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
