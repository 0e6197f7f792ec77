// The position in a recorded run, and the values known there. No DOM.
import type { ReadonlySignal } from "@preact/signals-core";
import { computed, signal } from "@preact/signals-core";
import type { Cleanup } from "../base/cleanup";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import type { StepTraits } from "../kernel/view_step_messages";
import type { Op } from "../model/graph";
import { passesValuesOn } from "../model/op_families";
import { splitName } from "../model/prune";
import type { Known, RecordedRun, Step } from "../model/recorded_run";
import { globbed, isWrong } from "../model/recorded_run";
import type { GraphState } from "./graph_state";

export class StepState {
  readonly #graph: GraphState;
  readonly at: ReadonlySignal<number>;
  readonly step: ReadonlySignal<Step | undefined>;
  /** A selected op that has no step; shown instead of the step. */
  readonly other = signal<Op | undefined>(undefined);
  readonly breakNan: ReadonlySignal<boolean>;
  /** The steps at which to stop. */
  readonly stops: ReadonlySignal<readonly number[]>;
  /** The values of tensors by "op:port", and the ops that ran. */
  readonly known: ReadonlySignal<Known>;
  /** Ops, like Merge, that passed a value on. */
  readonly passed: ReadonlySignal<ReadonlySet<number>>;
  /** Of each tensor, by "op:port": the longest text of its values in this run, and whether any is NaN or infinite. */
  readonly longest: ReadonlySignal<Map<string, { text: string; wrong: boolean }>>;
  readonly #patterns: ReadonlySignal<RegExp[]>;
  /** "op:port" of each value's tensor. */
  readonly #keys: ReadonlySignal<string[]>;

  constructor(
    readonly run: RecordedRun,
    graph: GraphState,
    traits: Traits<StepTraits>,
    cleanup: Cleanup,
  ) {
    this.#graph = graph;

    const at = traitSignal(traits, "at", cleanup);
    const breakOn = traitSignal(traits, "break_on", cleanup);
    const when = traitSignal(traits, "_when", cleanup);
    const spoilers = traitSignal(traits, "_spoilers", cleanup);
    this.breakNan = traitSignal(traits, "break_nan", cleanup);
    this.at = computed(() => run.within(at.value));
    this.step = computed(() => run.at(this.at.value));
    this.#patterns = computed(() => breakOn.value.map(globbed));
    this.stops = computed(() => {
      const others = [...when.value, ...(this.breakNan.value ? spoilers.value : [])];
      return run.stops(breakOn.value, (op) => this.nameOf(op).name, others);
    });
    this.#keys = computed(() => {
      graph.version.value; // a large graph is read in chunks
      return run.values.map(({ name }) => {
        const [op, port] = splitName(name);
        return `${graph.model.byName.get(op) ?? -1}:${port ?? 0}`;
      });
    });
    this.longest = computed(() => {
      const found = new Map<string, { text: string; wrong: boolean }>();
      run.values.forEach((value, i) => {
        const key = this.#keys.value[i]!;
        const { text, wrong } = found.get(key) ?? { text: "", wrong: false };
        const longer = value.short.length > text.length ? value.short : text;
        found.set(key, { text: longer, wrong: wrong || isWrong(value) });
      });
      return found;
    });
    this.known = computed(() => run.known(this.at.value, (value) => this.#keys.value[value]!));
    this.passed = computed(() => {
      const ops = [...this.known.value.made.keys()].map((key) => Number(key.split(":")[0]));
      return new Set(ops.filter((index) => passesValuesOn(graph.model.ops[index]?.type ?? "")));
    });
  }

  /** The op that the panel shows. */
  get op(): Op | undefined {
    return this.other.value ?? this.opOf(this.step.value);
  }

  opOf(step: Step | undefined): Op | undefined {
    this.#graph.version.value;
    return step === undefined ? undefined : this.#graph.model.ops[step.op];
  }

  /** The op whose output a value is. */
  producerOf(value: number): Op | undefined {
    return this.#graph.model.ops[Number(this.#keys.value[value]!.split(":")[0])];
  }

  /** Name and type, also of copies between devices, which are in no graph. */
  nameOf(op: number): { name: string; type: string } {
    this.#graph.version.value;
    const found = this.#graph.model.ops[op];
    if (found !== undefined) return found;
    const [name, type] = this.run.facts.added[-1 - op] ?? ["?", ""];
    return { name, type };
  }

  /** A breakpoint matches the name. */
  stopsAt(name: string): boolean {
    return this.#patterns.value.some((pattern) => pattern.test(name));
  }
}
