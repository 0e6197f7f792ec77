// A step shown on the graph: boxes that have run, and the values on the lines.
import { shorten } from "../layout/box_style";
import type { Base } from "../layout/edge_bundles";
import type { SceneEdge, SceneNode } from "../layout/scene";
import type { EdgeNote } from "../layout/scope_layout";
import type { Value } from "../model/recorded_run";
import { isWrong } from "../model/recorded_run";
import type { NodeMarks } from "./canvas";
import type { GraphState } from "./graph_state";
import { withoutLikeness } from "./node_marks";
import type { StepState } from "./step_state";

const LONGEST = 34; // letters of a value on a line: text has no end

export class StepMarks {
  readonly #graph: GraphState;
  readonly #state: StepState;

  constructor(graph: GraphState, state: StepState) {
    this.#graph = graph;
    this.#state = state;
  }

  node(node: SceneNode, marks: NodeMarks): NodeMarks {
    const { run, known, passed, step: current } = this.#state;
    const [{ ran }, step] = [known.value, current.value];
    const { badges, ...rest } = withoutLikeness(marks);
    const classes = rest.classes.filter((name) => name !== "tft-needed");
    const { members } = node.node;
    const done = members.filter((index) => ran.has(index) || passed.value.has(index));
    const now = step !== undefined && members.includes(step.op);
    if (done.length > 0) classes.push("tft-done");
    else if (members.some((index) => run.ofOp.has(index))) classes.push("tft-to-come");
    const outputs = done.flatMap((index) => ran.get(index)?.step.outputs ?? []).map((value) => run.values[value]!);
    const bad = outputs.filter(isWrong);
    if (bad.length > 0 && !node.open) {
      classes.push("tft-bad");
      badges.push({ text: bad.some(({ nans }) => nans > 0) ? "NaN" : "∞", kind: "wrong" });
    }
    const own = this.#graph.model.opOf(node.node);
    const stopped = own !== undefined && this.#state.stopsAt(own.name);
    if (stopped && !node.open) badges.push({ text: "◆", kind: "breakpoint" });
    const times = own === undefined ? 0 : (ran.get(own.index)?.times ?? 0);
    if (!node.open && times > 1) badges.push({ text: `×${times}`, kind: "count" });
    else if (!node.open && done.length > 0 && !now) badges.push({ text: "✓", kind: "done" });
    if (now && !node.open) {
      classes.push("tft-now", ...(step.failed ? ["tft-failed"] : []));
      badges.push(step.failed ? { text: "✕ failed", kind: "wrong" } : { text: "now", kind: "now" });
    }
    const counts = node.node.kind !== "op" && rest.note !== undefined;
    const state = now ? "this step" : done.length > 0 ? "has run" : "has not run yet";
    const wrong = bad.length > 0 ? ", holds NaN or infinity" : "";
    return {
      classes,
      badges,
      label: `${rest.label}, ${state}${wrong}${stopped ? ", breakpoint" : ""}`,
      note: counts ? `${done.length} of ${members.length} so far` : rest.note,
    };
  }

  edge(edge: SceneEdge, classes: string[]): string[] {
    const values = this.#flowed(edge.base);
    const kept = classes.filter((name) => name !== "tft-needed");
    if (values.length > 0) kept.push("tft-flowed");
    if (values.some(isWrong)) kept.push("tft-bad");
    return kept;
  }

  /** The values that have flowed along a line; undefined leaves it its label. */
  note({ base }: SceneEdge): EdgeNote | undefined {
    const values = this.#flowed(base);
    if (values.length === 0) return undefined;
    const text = values.length === 1 ? values[0]!.short : manyText(values.length, values.filter(isWrong).length);
    return { text: shorten(text, LONGEST), subject: tensorsOf(base).join() };
  }

  /** The longest text that the line will show in this run. */
  longestNote(base: readonly Base[]): EdgeNote | undefined {
    const { longest } = this.#state;
    const values = tensorsOf(base).flatMap((tensor) => longest.value.get(tensor) ?? []);
    if (values.length === 0) return undefined;
    const text = values.length === 1 ? values[0]!.text : manyText(values.length, values.filter((v) => v.wrong).length);
    return { text: shorten(text, LONGEST), subject: tensorsOf(base).join() };
  }

  /** The values that flowed along a line, each tensor's last. */
  #flowed(base: readonly Base[]): Value[] {
    const found = new Map<string, Value>();
    const { made, ran } = this.#state.known.value;
    for (const { from, port, to } of base) {
      if (port < 0) continue;
      const reader = ran.get(to)?.step;
      const { inputs } = this.#graph.model.ops[to]!;
      const place = inputs.findIndex((input) => input.op === from && input.port === port);
      const taken = reader?.inputs.length === inputs.length ? reader.inputs[place] : undefined;
      const source = made.get(`${from}:${port}`);
      const isLater = source !== undefined && (taken === undefined || source.step > reader!.number);
      const value = isLater ? source.value : taken;
      if (value !== undefined) found.set(`${from}:${port}`, this.#state.run.values[value]!);
    }
    return [...found.values()];
  }
}

const manyText = (values: number, wrong: number): string => `${values} values${wrong > 0 ? `, ${wrong} with NaN` : ""}`;

/** "op:port" of each tensor of a line. */
const tensorsOf = (base: readonly Base[]): string[] => [
  ...new Set(base.filter(({ port }) => port >= 0).map(({ from, port }) => `${from}:${port}`)),
];
