// The panel about a step of a recorded run: its op, inputs and outputs, where a NaN began; and the loops around it.
import { untracked } from "@preact/signals-core";
import { breakable, button, focusNear, h } from "../base/elements";
import { bytesText, count, timeText } from "../base/format";
import type { StepState } from "../drawing/step_state";
import type { UnfoldableTraits } from "../kernel/view_messages";
import type { Op } from "../model/graph";
import { isVariable, passesValuesOn } from "../model/op_families";
import { splitName } from "../model/prune";
import type { Step } from "../model/recorded_run";
import { isWrong } from "../model/recorded_run";
import { valueBlock } from "./value_block";

export interface StepActions {
  seek: (step: number) => void;
  toggleBreakpoint: () => void;
  feeds: () => readonly string[];
  /** What becomes of the ops that the run leaves out. */
  fates: UnfoldableTraits["_fates"];
}

type Part = HTMLElement | null;

export class StepPanel {
  readonly #state: StepState;
  readonly #actions: StepActions;
  readonly el = h("section", { class: "tft-step-panel", "aria-label": "The step", tabindex: "0" });

  constructor(state: StepState, actions: StepActions) {
    this.#state = state;
    this.#actions = actions;
  }

  show(): void {
    this.el.scrollTop = 0;
    const [other, step] = [this.#state.other.value, this.#state.step.value];
    const parts =
      other !== undefined ? this.#withoutStep(other) : step !== undefined ? this.#parts(step) : [NO_STEPS()];
    this.el.replaceChildren(...parts.filter((part) => part !== null));
  }

  #parts(step: Step): Part[] {
    const { run } = this.#state;
    const op = this.#state.opOf(step);
    const { name, type } = this.#state.nameOf(step.op);
    const elapsed = step.failed ? "" : timeText(step.elapsedUs);
    const facts = [type, step.device, elapsed, `${bytesText(step.live)} alive`].filter((fact) => fact !== "");
    const stop = button("◆ Breakpoint", "Stop whenever this op runs (b)", this.#actions.toggleBreakpoint);
    stop.setAttribute("aria-pressed", `${this.#state.stopsAt(name)}`);
    const error = h("b", {}, `✕ ${run.facts.error}. `);
    const copies = "Added by the runtime, to copy a value between devices; it is not in the graph.";
    const inputs = step.inputs.map((value) => valueBlock(run.values[value]!, this.#originOf(value, step)));
    const outputs = step.outputs.map((value) => valueBlock(run.values[value]!, null));
    return [
      h("div", { class: "tft-step-head" }, title(name), stop),
      h("div", { class: "tft-step-facts" }, ...facts.map((fact) => h("span", {}, fact))),
      step.failed ? h("p", { class: "tft-failed-words" }, error, "Here the run ended; above stands why.") : null,
      sourceOf(op),
      op === undefined ? h("p", { class: "tft-muted" }, copies) : null,
      this.#blame(step),
      section("Inputs", inputs),
      section("Outputs", outputs),
    ];
  }

  /** The origin of a NaN, if the step has one. */
  #blame(step: Step): Part {
    const { run } = this.#state;
    const wrong = [...step.inputs, ...step.outputs].some((value) => isWrong(run.values[value]));
    if (!wrong) return null;
    const { step: origin, came } = run.origin(step.number);
    const line = h("p", { class: "tft-blame" });
    if (came !== undefined) line.append(`✕ ${came.name} came in with it: no op of this run made it.`);
    else if (origin === step.number) line.append(h("b", {}, "✕ It begins here:"), " only numbers come in.");
    else {
      const { name } = this.#state.nameOf(run.at(origin)!.op);
      line.append("✕ It began at ", this.#link(name, `Back to step ${origin}, ${name}, where it began`, origin));
    }
    return line;
  }

  /** The step that made an input, as a link; else where it was from. */
  #originOf(value: number, step: Step): HTMLElement | string {
    const { run } = this.#state;
    const maker = run.makerOf(value, step.number);
    if (maker !== undefined) return this.#link(`from step ${maker}`, `To step ${maker}, which made it`, maker);
    const op = this.#state.producerOf(run.values[value]!.first);
    if (op === undefined) return "";
    if (this.#isFed(op)) return "fed";
    if (op.type === "Const") return "constant";
    return isVariable(op.type) ? "the variable, as it stood" : "known before the run";
  }

  #link(text: string, title: string, step: number): HTMLElement {
    return button(text, title, () => this.#actions.seek(step), "tft-link");
  }

  #isFed(op: Op): boolean {
    return this.#actions.feeds().some((feed) => splitName(feed)[0] === op.name);
  }

  #withoutStep(op: Op): Part[] {
    const back = (): void => this.#actions.seek(untracked(() => this.#state.at.value));
    return [
      h("div", { class: "tft-step-head" }, title(op.name)),
      h("div", { class: "tft-step-facts" }, h("span", {}, op.type)),
      h("p", {}, `It has no step of its own: ${this.#whyNoStep(op)}.`),
      sourceOf(op),
      button("Back to the step", "Back to the step in view", back),
    ];
  }

  #whyNoStep(op: Op): string {
    if (this.#isFed(op)) return "it was fed";
    const fate = Object.hasOwn(this.#actions.fates, op.name) ? this.#actions.fates[op.name] : undefined;
    if (fate !== undefined) return `it was ${fate[0]}: ${fate[1]}`;
    if (op.type === "Const") return "a constant is known before the run";
    if (isVariable(op.type)) return "a variable only holds its value; what reads or writes it has steps";
    if (passesValuesOn(op.type)) return "it only hands values on; see its lines";
    return "nothing fetched needs it, or its branch was not taken";
  }
}

const NO_STEPS = (): HTMLElement =>
  h("p", {}, "No op had to run: all that is fetched was known before the run, from constants and what was fed.");

function section(title: string, content: HTMLElement[]): Part {
  return content.length === 0 ? null : h("section", {}, h("h4", {}, title), ...content);
}

const title = (name: string): HTMLElement => h("h3", {}, ...breakable(name));

function sourceOf(op: Op | undefined): Part {
  if (op?.source === undefined) return null;
  const { file, line, text } = op.source;
  const where = h("span", { class: "tft-muted" }, `${file} line ${line}`);
  return h("div", { class: "tft-step-source" }, where, text === "" ? null : h("pre", {}, text.trim()));
}

/** The iteration of each loop around a step, with the ways to the others and out of it. */
export class LoopBar {
  readonly #state: StepState;
  readonly #seek: (step: number) => void;
  readonly el = h("div", { class: "tft-iterations", role: "toolbar", "aria-label": "Loops" });
  readonly over: HTMLButtonElement;

  constructor(state: StepState, seek: (step: number) => void) {
    this.#state = state;
    this.#seek = seek;

    const { run, at } = state;
    this.over = button("Over ›", "Forward over a whole loop (o)", () => seek(run.over(at.value, 1) ?? run.last));
    this.el.hidden = this.over.hidden = run.loops.length === 0;
  }

  show(): void {
    const { run, at, step } = this.#state;
    if (run.loops.length === 0) return;
    this.over.disabled = run.over(at.value, 1) === undefined;
    const focus = focusNear(this.el);
    const move = focus !== null && this.el.contains(focus) ? focus.getAttribute("data-move") : null;
    const loops = step.value === undefined ? [] : this.#loops(step.value);
    const none = h("span", { class: "tft-muted" }, "outside of loops");
    this.el.replaceChildren(this.over, h("span", { class: "tft-rule" }), ...(loops.length > 0 ? loops : [none]));
    if (move === null) return;
    (this.el.querySelector<HTMLElement>(`[data-move="${move}"]:enabled`) ?? this.over).focus();
  }

  #loops(step: Step): HTMLElement[] {
    const { run } = this.#state;
    return step.loops.map(({ loop, iteration }, depth) => {
      const { name, times, isFunction } = run.loops[loop]!;
      const [kind, noun] = isFunction ? ["Function", "call"] : ["Loop", "iteration"];
      const words = iteration < times ? `${noun} ${iteration + 1} of ${times}` : "the test that ends it";
      const move = (text: string, title: string, key: string, to: number | undefined): HTMLButtonElement => {
        const made = button(text, title, () => to !== undefined && this.#seek(to));
        made.disabled = to === undefined;
        made.dataset.move = `${key}${depth}`;
        return made;
      };
      return h(
        "span",
        { class: "tft-iteration", role: "group", "aria-label": `${kind} ${name}` },
        h("code", {}, name),
        move(
          "‹",
          `Previous ${noun} of ${name} (Shift and left arrow)`,
          "back",
          run.toIteration(step, depth, iteration - 1),
        ),
        h("span", { class: "tft-iteration-words" }, words),
        move(
          "›",
          `Next ${noun} of ${name} (Shift and right arrow)`,
          "next",
          run.toIteration(step, depth, iteration + 1),
        ),
        move("Out ›", `Out of ${name}: to the first step after it`, "out", run.out(step, depth)),
      );
    });
  }
}

/** "3 steps are here; the run had more" for a recording that was cut. */
export function cutWords({ run }: StepState): string {
  const { missed, steps } = run.facts;
  return missed > 0 || steps > run.steps.length ? `${count(run.steps.length, "step")} are here; the run had more` : "";
}
