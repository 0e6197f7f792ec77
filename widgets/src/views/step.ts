// The step view: a recorded run, op by op, forward and back, with the values on the lines of its graph. All of it in the page.

import { Cleanup } from "../base/cleanup";
import { button, focusNear, h } from "../base/elements";
import { bytesText, timeText } from "../base/format";
import type { NodeMarks } from "../drawing/canvas";
import { withoutLikeness } from "../drawing/node_marks";
import { RunStrip } from "../drawing/run_scrubber";
import { GraphView } from "../graph_view/graph_view";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { StepTraits, WireLoop, WireStep, WireValue } from "../kernel/view_messages";
import { glyphOf } from "../layout/box_style";
import type { Scene, SceneEdge, SceneNode } from "../layout/scene";
import type { Op } from "../model/graph";
import { splitName } from "../model/prune";
import type { Known, Step, Value } from "../model/recorded_run";
import { globbed, isWrong, Recorded } from "../model/recorded_run";
import { grouped } from "../model/series";
import {
  FLOW,
  NO_STEPS,
  noStepWords,
  section,
  sourceOf,
  sourceWords,
  speakers,
  title,
  turnChips,
} from "../panels/step_panel";
import { valueBlock } from "../panels/value_block";

const STEP_MS = [90, 750] as const; // when it plays: the shortest, the longest
const WHOLE_PLAY_MS = 60_000;
const READABLE = 0.55; // scale
const SETTLE_MS = 160; // after so long at a step its scope opens

class StepView {
  private readonly view: GraphView;
  private readonly run: Recorded;
  private readonly strip: RunStrip;
  /** "op:port" of each value's tensor. */
  private readonly keys: string[];
  /** What is shown: "op:port" -> values, ops that ran; and those, like Merge, that handed something on. */
  private known: Known = { made: new Map(), ran: new Map() };
  private handed = new Set<number>();
  /** Lines that say their value: of those with the same tensor not all. */
  private speaking: { scene: Scene | null; edges: Set<string> } = { scene: null, edges: new Set() };
  private stops: number[] = [];
  /** An op that is looked at instead, because it has no step. */
  private other: Op | undefined;
  private timer = 0;
  private settling = 0;
  private readonly said = h("span", { class: "tft-step-said" });
  private readonly moves: Record<
    "first" | "back" | "forward" | "last" | "before" | "after" | "over",
    HTMLButtonElement
  >;
  private readonly play = button("▶ Play", "Play the steps up to the next breakpoint (Space)", () => this.togglePlay());
  private readonly nan = h("input", { type: "checkbox" });
  private readonly turns = h("div", { class: "tft-turns", role: "toolbar", "aria-label": "Loops" });
  private readonly panel = h("section", { class: "tft-step-panel", "aria-label": "The step", tabindex: "0" });
  private readonly root = h("div", { class: "tfteach-step" });
  private readonly cleanup = new Cleanup();

  constructor(
    private readonly traits: Traits<StepTraits>,
    parent: HTMLElement,
  ) {
    this.run = new Recorded(
      JSON.parse(this.traits.get("_values")) as WireValue[],
      JSON.parse(this.traits.get("_steps")) as WireStep[],
      JSON.parse(this.traits.get("_loops")) as WireLoop[],
      this.traits.get("_words"),
    );
    this.strip = new RunStrip(this.run, (step) => this.seek(step));
    this.moves = {
      first: button("|‹", "To the first step (Home)", () => this.seek(this.run.first)),
      back: button("‹ Back", "Back one op (left arrow)", () => this.seek(this.at - 1)),
      forward: button("Forward ›", "Forward one op (right arrow)", () => this.seek(this.at + 1)),
      last: button("›|", "To the last step (End)", () => this.seek(this.run.last)),
      before: button("‹ ◆", "Back to the breakpoint before (p)", () => this.seekStop(-1)),
      after: button("◆ ›", "Forward to the next breakpoint (n)", () => this.seekStop(1)),
      over: button("Over ›", "Forward over a whole loop (o)", () =>
        this.seek(this.run.over(this.at, 1) ?? this.run.last),
      ),
    };
    const root = this.root;
    parent.append(root);
    this.keys = [];
    this.view = new GraphView(traits, root, {
      decorate: (node, said) => this.decorate(node, said),
      edge: (edge, classes) => this.edge(edge, classes),
      edgeNote: (edge) => this.note(edge),
      key: (key) => this.key(key),
    });
    this.keys.push(
      ...this.run.values.map(({ name }) => {
        const [op, port] = splitName(name);
        return `${this.view.model.byName.get(op) ?? -1}:${port ?? 0}`;
      }),
    );
    this.build();
    this.cleanup.add(
      onChange(traits, ["break_on", "break_nan"], () => this.show()),
      onChange(traits, ["at"], () => {
        this.show();
        this.settle(SETTLE_MS);
      }),
      onChange(traits, ["selected"], () => this.followSelected()),
      () => this.strip.stop(),
      () => this.view.destroy(),
      () => root.remove(),
    );
    root.addEventListener("keydown", (event) => this.keydown(event));
    this.show();
    this.settle(0);
  }

  destroy(): void {
    this.pause();
    clearTimeout(this.settling);
    this.cleanup.end();
  }

  private build(): void {
    const { first, back, forward, last, before, after, over } = this.moves;
    const { words, loops } = this.run;
    this.nan.addEventListener("change", () => update(this.traits, { break_nan: this.nan.checked }));
    const bar = h(
      "div",
      { class: "tft-step-bar" },
      h(
        "div",
        { class: "tft-step-moves", role: "toolbar", "aria-label": "Steps" },
        first,
        back,
        forward,
        last,
        this.play,
        h("span", { class: "tft-rule" }),
        before,
        after,
        h(
          "label",
          { title: "A breakpoint wherever a NaN or an infinity is made from numbers" },
          this.nan,
          "Stop at NaN",
        ),
      ),
      this.said,
    );
    const body = this.view.frame.root.querySelector(".tft-bar")!;
    const error = h(
      "p",
      { class: "tft-problem", role: "alert" },
      h("b", {}, words.error === "" ? "" : `Ended by ${words.error}: `),
      words.message,
    );
    error.hidden = words.error === "";
    body.after(bar, this.strip.el, this.turns, error);
    this.turns.hidden = loops.length === 0;
    over.hidden = loops.length === 0;
    this.view.frame.stage.after(this.panel);
    this.view.frame.legend
      .querySelector("p")
      ?.replaceWith(
        h(
          "p",
          {},
          "Dashed boxes are still to come; ✓ has run, ×3 three times; ◆ is a breakpoint. Arrow keys go an op forward and back, with Shift a turn; ",
          "n and p go to breakpoints, b sets one, o goes over a loop, the space bar plays. In the graph, where the arrow keys go from box to box, use . and , instead. ",
          "Drag to pan; Ctrl and wheel to zoom.",
        ),
      );
    if (words.missed > 0 || words.steps > this.run.steps.length) {
      this.said.title = `${this.run.steps.length.toLocaleString("en")} steps are here; the run had more`;
    }
  }

  private get at(): number {
    return this.run.within(this.traits.get("at"));
  }

  private get step(): Step | undefined {
    return this.run.at(this.at);
  }

  private opOf(step: Step | undefined): Op | undefined {
    return step === undefined ? undefined : this.view.model.ops[step.op];
  }

  /** Name and type; of what copies between devices too, which is in no graph. */
  private nameOf(op: number): [name: string, type: string] {
    const found = this.view.model.ops[op];
    return found === undefined ? (this.run.words.added[-1 - op] ?? ["?", ""]) : [found.name, found.type];
  }

  // --- going ---

  private seek(to: number): void {
    this.pause();
    this.goTo(to);
  }

  private goTo(to: number): void {
    const at = this.run.within(to);
    this.other = undefined;
    const op = this.opOf(this.run.at(at));
    if (at === this.traits.get("at")) {
      this.show();
      this.settle(0);
    }
    update(this.traits, op === undefined ? { at } : { at, selected: op.name });
  }

  private seekStop(by: 1 | -1): void {
    const { at, stops } = this;
    const found = by > 0 ? stops.find((n) => n > at) : stops.filter((n) => n < at).at(-1);
    if (found !== undefined) this.seek(found);
    else this.view.say("No breakpoint there");
  }

  /** Something was selected: here, or in another view of the graph. */
  private followSelected(): void {
    const node = this.view.nodeOf(this.traits.get("selected"));
    const op = node === undefined ? undefined : this.view.model.opOf(node);
    if (op === undefined || op.index === this.step?.op) {
      if (this.other !== undefined) {
        this.other = undefined;
        this.show();
      }
      return;
    }
    const step = this.run.nearest(op.index, this.at);
    this.pause();
    this.other = step === undefined ? op : undefined;
    if (step === undefined) this.show();
    else update(this.traits, { at: step });
  }

  /** The box of the step, its scopes open; once the reader has stopped there. */
  private settle(wait: number): void {
    clearTimeout(this.settling);
    this.settling = window.setTimeout(() => {
      const op = this.other ?? this.opOf(this.step);
      if (op !== undefined) this.bringIntoView(op);
    }, wait);
  }

  private bringIntoView(op: Op): void {
    const { model, scene, canvas } = this.view;
    const open = scene.nodes.filter((node) => node.open).map((node) => node.id);
    const next = new Set(open);
    let scope = model.root;
    let box = scope;
    for (;;) {
      const inside = grouped(model, scope, this.traits.get("group_above")).find((node) =>
        node.members.includes(op.index),
      );
      if (inside === undefined) break;
      box = inside;
      // A variable, or an op with its constants, is one thing to a reader.
      if (box.kind === "op" || ["variable", "op"].includes(glyphOf(model, box))) break;
      next.add(box.id);
      scope = box;
    }
    const show = (): void =>
      canvas.glide(() => {
        const { x, y, k } = canvas.view;
        // All of a large graph is too small to be read: then the op stands in the middle.
        canvas.reveal(box.id, k < READABLE);
        // Once the picture follows the op, it does not go back to its beginning when it grows.
        if (canvas.view.x !== x || canvas.view.y !== y) this.view.moved();
      });
    // A large picture takes a while; before it is there, the op has no place.
    if (next.size > open.length) this.view.setExpanded(next, show);
    else show();
  }

  private togglePlay(): void {
    if (this.timer !== 0) {
      this.pause();
      return;
    }
    if (this.at === this.run.last) this.goTo(this.run.first);
    const count = Math.max(1, this.run.steps.length);
    const wait = Math.max(STEP_MS[0], Math.min(STEP_MS[1], WHOLE_PLAY_MS / count));
    const stride = Math.max(1, Math.round((count * wait) / WHOLE_PLAY_MS)); // a long run goes by in leaps
    this.timer = window.setInterval(() => {
      const { at } = this;
      this.goTo(this.stops.find((stop) => stop > at && stop <= at + stride) ?? at + stride);
      if (this.at === this.run.last || this.stops.includes(this.at)) this.pause();
    }, wait);
    this.showPlay();
  }

  private pause(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.showPlay();
  }

  private showPlay(): void {
    this.play.textContent = this.timer !== 0 ? "❚❚ Pause" : "▶ Play";
    this.play.setAttribute(
      "aria-label",
      this.timer !== 0 ? "Pause" : "Play the steps up to the next breakpoint (Space)",
    );
  }

  // --- keys ---

  private keydown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as Element;
    if (target.closest(".tft-canvas, .tft-search-box, .tft-outline, .tft-details") !== null) return; // keys of their own
    const isButton = target.closest("button, input") !== null;
    const scrolls = target === this.panel && /^(Arrow(Up|Down)|Page|Home|End)/.test(event.key);
    if (scrolls || (isButton && (event.key === " " || event.key === "Enter"))) return;
    const moves: Record<string, () => void> = {
      ArrowRight: () => this.seek(event.shiftKey ? (this.run.turn(this.at, 1) ?? this.at) : this.at + 1),
      ArrowLeft: () => this.seek(event.shiftKey ? (this.run.turn(this.at, -1) ?? this.at) : this.at - 1),
      ArrowUp: () => this.seek(this.at + 1),
      ArrowDown: () => this.seek(this.at - 1),
      PageUp: () => this.seek(this.at + 10),
      PageDown: () => this.seek(this.at - 10),
      Home: () => this.seek(this.run.first),
      End: () => this.seek(this.run.last),
      " ": () => this.togglePlay(),
    };
    const move = moves[event.key];
    if (move === undefined && !this.key(event.key)) return;
    // Not left to the page: a notebook keeps these keys for itself.
    event.preventDefault();
    event.stopPropagation();
    move?.();
  }

  /** Letters, also while the graph has the focus. */
  private key(key: string): boolean {
    const keys: Record<string, () => void> = {
      n: () => this.seekStop(1),
      p: () => this.seekStop(-1),
      b: () => this.toggleStop(),
      o: () => this.moves.over.click(),
      ".": () => this.seek(this.at + 1),
      ",": () => this.seek(this.at - 1),
    };
    keys[key]?.();
    return key in keys;
  }

  private toggleStop(): void {
    const op = this.other ?? this.opOf(this.step);
    if (op === undefined) return;
    const known = this.traits.get("break_on");
    update(this.traits, {
      break_on: known.includes(op.name) ? known.filter((name) => name !== op.name) : [...known, op.name],
    });
  }

  // --- showing ---

  private show(): void {
    const { run, at, step } = this;
    const nan = this.traits.get("break_nan");
    const nameOf = (op: number): string => this.nameOf(op)[0];
    const others = [...this.traits.get("_when"), ...(nan ? this.traits.get("_spoilers") : [])];
    const stops = run.stops(this.traits.get("break_on"), nameOf, others);
    if (stops.join() !== this.stops.join()) {
      this.stops = stops;
      this.strip.setStops(stops);
    }
    this.nan.checked = nan;
    this.known = run.known(at, (value) => this.keys[value]!);
    this.handed = new Set(
      [...this.known.made.keys()]
        .map((key) => Number(key.split(":")[0]))
        .filter((index) => FLOW.test(this.view.model.ops[index]?.type ?? "")),
    );
    const words = `${step?.failed === true ? "failed: " : ""}${step === undefined ? "nothing ran" : nameOf(step.op)}`;
    this.strip.show(at, `step ${at} of ${run.last}: ${words}`);
    this.said.replaceChildren("step ", h("b", {}, at.toLocaleString("en")), ` of ${run.last.toLocaleString("en")}`);
    this.moves.first.disabled = this.moves.back.disabled = at <= run.first;
    this.moves.forward.disabled = this.moves.last.disabled = at >= run.last;
    this.moves.before.disabled = !stops.some((n) => n < at);
    this.moves.after.disabled = !stops.some((n) => n > at);
    this.play.disabled = run.last === run.first;
    this.showTurns();
    this.showPanel();
    this.view.remark();
    const made = step?.outputs.map((value) => run.values[value]!.short).join(", ") ?? "";
    this.view.say(`Step ${at}: ${words}${made === "" ? "" : `, gives ${made}`}`);
  }

  private showTurns(): void {
    const { step, run } = this;
    if (run.loops.length === 0) return;
    this.moves.over.disabled = run.over(this.at, 1) === undefined;
    const focus = focusNear(this.turns);
    const move = focus !== null && this.turns.contains(focus) ? focus.getAttribute("data-move") : null;
    const chips = turnChips(run, step, (to) => this.seek(to));
    const empty = h("span", { class: "tft-muted" }, "outside of loops");
    this.turns.replaceChildren(
      this.moves.over,
      h("span", { class: "tft-rule" }),
      ...(chips.length > 0 ? chips : [empty]),
    );
    if (move !== null)
      (this.turns.querySelector<HTMLElement>(`[data-move="${move}"]:enabled`) ?? this.moves.over).focus();
  }

  private showPanel(): void {
    const { step, run } = this;
    this.panel.scrollTop = 0;
    if (this.other !== undefined) {
      this.panel.replaceChildren(...this.withoutStep(this.other));
      return;
    }
    if (step === undefined) {
      this.panel.replaceChildren(h("p", {}, NO_STEPS));
      return;
    }
    const op = this.opOf(step);
    const [name, type] = this.nameOf(step.op);
    const facts = [
      type,
      step.device,
      ...(step.failed ? [] : [timeText(step.elapsedUs)]),
      `${bytesText(step.live)} alive`,
    ];
    const stopped = this.traits.get("break_on").some((pattern) => globbed(pattern).test(name));
    const stop = button("◆ Breakpoint", "Stop whenever this op runs (b)", () => this.toggleStop());
    stop.setAttribute("aria-pressed", `${stopped}`);
    const parts: (HTMLElement | null)[] = [
      h("div", { class: "tft-step-head" }, title(name), stop),
      h("div", { class: "tft-step-facts" }, ...facts.filter((fact) => fact !== "").map((fact) => h("span", {}, fact))),
      step.failed
        ? h(
            "p",
            { class: "tft-failed-words" },
            h("b", {}, `✕ ${run.words.error}. `),
            "Here the run ended; above stands why.",
          )
        : null,
      sourceOf(op),
      op === undefined
        ? h(
            "p",
            { class: "tft-muted" },
            "Added by the runtime, to copy a value between devices; it is not in the graph.",
          )
        : null,
      this.blame(step),
      step.inputs.length > 0
        ? section(
            "Takes",
            step.inputs.map((value) => valueBlock(run.values[value]!, this.originOf(value, step))),
          )
        : null,
      step.outputs.length > 0
        ? section(
            "Gives",
            step.outputs.map((value) => valueBlock(run.values[value]!, null)),
          )
        : null,
    ];
    this.panel.replaceChildren(...parts.filter((part) => part !== null));
  }

  /** Where a NaN came from, if there is one. */
  private blame(step: Step): HTMLElement | null {
    const { run } = this;
    const wrong = [...step.inputs, ...step.outputs].some((value) => isWrong(run.values[value]));
    if (!wrong) return null;
    const { step: origin, came } = run.origin(step.number);
    const line = h("p", { class: "tft-blame" });
    if (came !== undefined) line.append(`✕ ${came.name} came in with it: no op of this run made it.`);
    else if (origin === step.number) line.append(h("b", {}, "✕ It begins here:"), " only numbers come in.");
    else {
      const [name] = this.nameOf(run.at(origin)!.op);
      line.append(
        "✕ It began at ",
        button(name, `Back to step ${origin}, ${name}, where it began`, () => this.seek(origin), "tft-link"),
      );
    }
    return line;
  }

  /** The step that made an input, as a link; else where it was from. */
  private originOf(value: number, step: Step): HTMLElement | string {
    const maker = this.run.makerOf(value, step.number);
    if (maker !== undefined)
      return button(`from step ${maker}`, `To step ${maker}, which made it`, () => this.seek(maker), "tft-link");
    const op = this.view.model.ops[Number(this.keys[this.run.values[value]!.first]!.split(":")[0])];
    return op === undefined ? "" : sourceWords(op, this.traits.get("feeds"));
  }

  private withoutStep(op: Op): HTMLElement[] {
    const back = button("Back to the step", "Back to the step in view", () => this.seek(this.at));
    const source = sourceOf(op);
    return [
      h("div", { class: "tft-step-head" }, title(op.name)),
      h("div", { class: "tft-step-facts" }, h("span", {}, op.type)),
      h("p", {}, `It has no step of its own: ${noStepWords(op, this.traits.get("feeds"))}.`),
      ...(source === null ? [] : [source]),
      back,
    ];
  }

  // --- the graph ---

  private decorate(node: SceneNode, said: NodeMarks): NodeMarks {
    if (this.view === undefined) return said; // the first drawing
    const { ran } = this.known;
    const { values } = this.run;
    const { badges, ...rest } = withoutLikeness(said);
    const classes = rest.classes.filter((name) => name !== "tft-needed");
    const members = node.node.members.filter((index) => ran.has(index) || this.handed.has(index));
    const now = this.step !== undefined && node.node.members.includes(this.step.op);
    let { label, note } = said;
    if (members.length > 0) classes.push("tft-done");
    else if (node.node.members.some((index) => this.run.ofOp.has(index))) classes.push("tft-to-come");
    const bad = members
      .flatMap((index) => ran.get(index)?.step.outputs ?? [])
      .map((value) => values[value]!)
      .filter(isWrong);
    const wrong = bad.length > 0;
    if (wrong && !node.open) {
      classes.push("tft-bad");
      badges.push({ text: bad.some(({ nans }) => nans > 0) ? "NaN" : "∞", kind: "wrong" });
    }
    const own = this.view.model.opOf(node.node);
    const stopped = own !== undefined && this.traits.get("break_on").some((pattern) => globbed(pattern).test(own.name));
    if (stopped && !node.open) badges.push({ text: "◆", kind: "breakpoint" });
    const times = own === undefined ? 0 : (ran.get(own.index)?.times ?? 0);
    if (!node.open && times > 1) badges.push({ text: `×${times}`, kind: "count" });
    else if (!node.open && members.length > 0 && !now) badges.push({ text: "✓", kind: "done" });
    if (node.node.kind !== "op" && note !== undefined) note = `${members.length} of ${node.node.members.length} so far`;
    if (now && !node.open) {
      classes.push("tft-now");
      if (this.step!.failed) classes.push("tft-failed");
      badges.push(this.step!.failed ? { text: "✕ failed", kind: "wrong" } : { text: "now", kind: "now" });
    }
    const state = now ? "this step" : members.length > 0 ? "has run" : "has not run yet";
    label = `${label}, ${state}${wrong ? ", holds NaN or infinity" : ""}${stopped ? ", breakpoint" : ""}`;
    return { classes, badges, label, note };
  }

  /** The values that flowed along a line, each tensor's last. */
  private flowed(edge: SceneEdge): Value[] {
    const found = new Map<string, Value>();
    const { made, ran } = this.known;
    for (const { from, port, to } of edge.base) {
      if (port < 0) continue;
      const reader = ran.get(to)?.step;
      const inputs = this.view.model.ops[to]!.inputs;
      const place = inputs.findIndex((input) => input.op === from && input.port === port);
      const taken = reader?.inputs.length === inputs.length ? reader.inputs[place] : undefined;
      const source = made.get(`${from}:${port}`);
      const value =
        source !== undefined && (taken === undefined || source.step > reader!.number) ? source.value : taken;
      if (value !== undefined) found.set(`${from}:${port}`, this.run.values[value]!);
    }
    return [...found.values()];
  }

  private edge(edge: SceneEdge, classes: string[]): string[] {
    const values = this.view === undefined ? [] : this.flowed(edge);
    const kept = classes.filter((name) => name !== "tft-needed");
    if (values.length > 0) kept.push("tft-flowed");
    if (values.some(isWrong)) kept.push("tft-bad");
    return kept;
  }

  private speaks(edge: SceneEdge): boolean {
    const { scene } = this.view;
    if (this.speaking.scene !== scene) this.speaking = { scene, edges: speakers(scene) };
    return this.speaking.edges.has(edge.id);
  }

  private note(edge: SceneEdge): string | undefined {
    const values = this.view === undefined ? [] : this.flowed(edge);
    if (values.length === 0) return undefined;
    if (!edge.starts || !this.speaks(edge)) return ""; // said where the line begins, or on another one
    if (values.length === 1) return values[0]!.short;
    const wrong = values.filter(isWrong).length;
    return `${values.length} values${wrong > 0 ? `, ${wrong} with NaN` : ""}`;
  }
}

export default hosted((traits: Traits<StepTraits>, el) => new StepView(traits, el));
