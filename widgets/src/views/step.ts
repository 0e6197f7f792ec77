// The step view: a recorded run, op by op, forward and back, with the values on the lines of its graph.
import { effect, signal, untracked } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { button, consume, h } from "../base/elements";
import { digits } from "../base/format";
import { Player } from "../base/player";
import { RunScrubber } from "../drawing/run_scrubber";
import { StepMarks } from "../drawing/step_marks";
import { StepState } from "../drawing/step_state";
import { GraphView } from "../graph_view/graph_view";
import { hosted } from "../kernel/host";
import type { CodeBlock } from "../kernel/lines_messages";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { StepTraits, WireLoop, WireStep, WireValue } from "../kernel/view_step_messages";
import { glyphOf } from "../layout/box_style";
import type { Op } from "../model/graph";
import { RecordedRun } from "../model/recorded_run";
import { grouped } from "../model/series";
import { renewed, verbOf } from "../panels/folding_notice";
import { LineLinks } from "../panels/line_links";
import { cutWords, LoopBar, StepPanel } from "../panels/step_panel";

const PACE = { shortest: 90, longest: 750, whole: 60_000 }; // milliseconds
const READABLE = 0.55; // scale
const SETTLE_MS = 160; // before the scope of the current step opens

class StepView {
  readonly #traits: Traits<StepTraits>;
  readonly #cleanup = new Cleanup();
  readonly #run: RecordedRun;
  readonly #view: GraphView;
  readonly #state: StepState;
  readonly #player: Player;
  readonly #scrubber: RunScrubber;
  readonly #loops: LoopBar;
  readonly #panel: StepPanel;
  #settling = 0;
  readonly #statusText = h("span", { class: "tft-step-said" });
  readonly #nan = h("input", { type: "checkbox" });
  readonly #root = h("div", { class: "tfteach-step" });
  readonly #moves = {
    first: button("|‹", "To the first step (Home)", () => this.#player.seek(this.#run.first)),
    back: button("‹ Back", "Back one op (left arrow)", () => this.#player.seek(this.#at - 1)),
    forward: button("Forward ›", "Forward one op (right arrow)", () => this.#player.seek(this.#at + 1)),
    last: button("›|", "To the last step (End)", () => this.#player.seek(this.#run.last)),
    before: button("‹ ◆", "Back to the breakpoint before (p)", () => this.#seekStop(-1)),
    after: button("◆ ›", "Forward to the next breakpoint (n)", () => this.#seekStop(1)),
  };

  constructor(traits: Traits<StepTraits>, parent: HTMLElement, notice: HTMLElement) {
    this.#traits = traits;

    const [root, cleanup] = [this.#root, this.#cleanup];
    parent.append(root);
    this.#run = new RecordedRun(
      JSON.parse(traits.get("_values")) as WireValue[],
      JSON.parse(traits.get("_steps")) as WireStep[],
      JSON.parse(traits.get("_loops")) as WireLoop[],
      traits.get("_words"),
    );
    const links = new LineLinks("Code", () => this.#view, traitSignal(traits, "_inner", cleanup));
    this.#view = new GraphView(traits, root, {
      decorate: (node, marks) => links.node(node, stepMarks.node(node, marks)),
      edge: (edge, classes) => links.edge(edge, stepMarks.edge(edge, classes)),
      note: (edge) => stepMarks.note(edge),
      longestNote: (base) => stepMarks.longestNote(base),
      key: (key) => this.#key(key),
      verb: verbOf(traits, cleanup),
    });
    this.#state = new StepState(this.#run, this.#view.state, traits, cleanup);
    const stepMarks = new StepMarks(this.#view.state, this.#state);
    const seek = (step: number): void => this.#player.seek(step);
    this.#player = this.#makePlayer();
    this.#scrubber = new RunScrubber(this.#run, seek, cleanup);
    this.#loops = new LoopBar(this.#state, seek);
    this.#panel = new StepPanel(this.#state, {
      seek,
      toggleBreakpoint: () => this.#toggleBreakpoint(),
      feeds: () => this.#view.state.feeds.value,
      fates: traits.get("_fates"),
    });
    this.#build(notice);
    const code = JSON.parse(traits.get("_code")) as CodeBlock[];
    if (code.length > 0) {
      this.#view.frame.body.before(links.add(signal(code), cleanup));
      links.connect(cleanup, () => this.#state.op?.name ?? "");
    }
    root.addEventListener("keydown", (event) => this.#keydown(event));
    this.#view.start();
    cleanup.add(
      () => root.remove(),
      () => this.#view.destroy(),
      () => clearTimeout(this.#settling),
      onChange(traits, ["at"], () => this.#settle(SETTLE_MS)),
      onChange(traits, ["selected"], () => this.#followSelected()),
      effect(() => this.#showMoves()),
      effect(() => this.#loops.show()),
      effect(() => this.#panel.show()),
      effect(() => this.#announce()),
    );
    this.#settle(0);
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #build(notice: HTMLElement): void {
    const { first, back, forward, last, before, after } = this.#moves;
    const { error, message } = this.#run.facts;
    this.#nan.addEventListener("change", () => update(this.#traits, { break_nan: this.#nan.checked }));
    const stopAtNan = { title: "A breakpoint wherever a NaN or an infinity is made from numbers" };
    const steps = h(
      "div",
      { class: "tft-step-moves", role: "toolbar", "aria-label": "Steps" },
      ...[first, back, forward, last, this.#player.button, h("span", { class: "tft-rule" }), before, after],
      h("label", stopAtNan, this.#nan, "Stop at NaN"),
    );
    const ended = h("b", {}, error === "" ? "" : `Ended by ${error}: `);
    const problem = h("p", { class: "tft-problem", role: "alert" }, ended, message);
    problem.hidden = error === "";
    const bar = h("div", { class: "tft-step-bar" }, steps, this.#statusText);
    this.#view.frame.bar.after(notice, bar, this.#scrubber.el, this.#loops.el, problem);
    this.#view.frame.stage.after(this.#panel.el);
    this.#view.frame.legend
      .querySelector("p")
      ?.replaceChildren(
        "Dashed boxes are still to come; ✓ has run, ×3 three times; ◆ is a breakpoint. ",
        "Arrow keys go an op forward and back, with Shift an iteration; ",
        "n and p go to breakpoints, b sets one, o goes over a loop, the space bar plays. ",
        "In the graph, where the arrow keys go from box to box, use . and , instead. ",
        "Drag to pan; Ctrl and wheel to zoom.",
      );
    if (cutWords(this.#state) !== "") this.#statusText.title = cutWords(this.#state);
  }

  #makePlayer(): Player {
    const track = {
      first: () => this.#run.first,
      last: () => this.#run.last,
      position: () => this.#at,
      seek: (to: number) => this.#goTo(to),
      stops: () => this.#state.stops.value,
    };
    const words = { play: "▶ Play", title: "Play the steps up to the next breakpoint (Space)" };
    return new Player(track, PACE, words, this.#cleanup);
  }

  get #at(): number {
    return this.#state.at.value;
  }

  // --- going ---

  #goTo(at: number): void {
    this.#state.other.value = undefined;
    const op = this.#state.opOf(this.#run.at(at));
    if (at === this.#traits.get("at")) this.#settle(0);
    update(this.#traits, op === undefined ? { at } : { at, selected: op.name });
  }

  #seekStop(by: 1 | -1): void {
    const [at, stops] = [this.#at, this.#state.stops.value];
    const found = by > 0 ? stops.find((n) => n > at) : stops.filter((n) => n < at).at(-1);
    if (found !== undefined) this.#player.seek(found);
    else this.#view.say("No breakpoint there");
  }

  /** Something was selected: here, or in another view of the graph. */
  #followSelected(): void {
    const node = this.#view.nodeOf(this.#traits.get("selected"));
    const op = node === undefined ? undefined : this.#view.model.opOf(node);
    if (op === undefined || op.index === this.#state.step.value?.op) {
      this.#state.other.value = undefined;
      return;
    }
    const step = this.#run.nearest(op.index, this.#at);
    this.#player.pause();
    this.#state.other.value = step === undefined ? op : undefined;
    if (step !== undefined) update(this.#traits, { at: step });
  }

  /** Opens the scopes around the step's op, once the reader has stopped there. */
  #settle(wait: number): void {
    clearTimeout(this.#settling);
    this.#settling = window.setTimeout(() => {
      const { op } = this.#state;
      if (op !== undefined) this.#bringIntoView(op);
    }, wait);
  }

  #bringIntoView(op: Op): void {
    const { model, scene, canvas } = this.#view;
    const open = scene.nodes.filter((node) => node.open).map((node) => node.id);
    const next = new Set(open);
    const above = this.#traits.get("group_above");
    let scope = model.root;
    let box = scope;
    for (;;) {
      const inside = grouped(model, scope, above).find((node) => node.members.includes(op.index));
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
        // At a scale that shows all of a large graph, nothing is readable: center the op instead.
        canvas.reveal(box.id, k < READABLE);
        // Once the view has followed the op, growth must not scroll it back to the start.
        if (canvas.view.x !== x || canvas.view.y !== y) this.#view.moved();
      });
    // Laying out a large graph takes a while, and the op has no position before.
    if (next.size > open.length) this.#view.setExpanded(next, show);
    else show();
  }

  // --- keys ---

  #keydown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as Element;
    // These handle keys themselves.
    if (target.closest(".tft-canvas, .tft-search-box, .tft-outline, .tft-details") !== null) return;
    const isButton = target.closest("button, input") !== null;
    const scrolls = target === this.#panel.el && /^(Arrow(Up|Down)|Page|Home|End)/.test(event.key);
    if (scrolls || (isButton && (event.key === " " || event.key === "Enter"))) return;
    const iteration = event.shiftKey ? { ArrowRight: 1 as const, ArrowLeft: -1 as const }[event.key] : undefined;
    if (iteration !== undefined) this.#player.seek(this.#run.iteration(this.#at, iteration) ?? this.#at);
    else if (event.key === " ") this.#player.toggle();
    else if (this.#player.key(event) || !this.#key(event.key)) return;
    // Not left to the page: a notebook keeps these keys for itself.
    consume(event);
  }

  /** Letters, also while the graph has the focus. */
  #key(key: string): boolean {
    const keys: Record<string, () => void> = {
      n: () => this.#seekStop(1),
      p: () => this.#seekStop(-1),
      b: () => this.#toggleBreakpoint(),
      o: () => this.#loops.over.click(),
      ".": () => this.#player.seek(this.#at + 1),
      ",": () => this.#player.seek(this.#at - 1),
    };
    keys[key]?.();
    return key in keys;
  }

  #toggleBreakpoint(): void {
    const { op } = this.#state;
    if (op === undefined) return;
    const known = this.#traits.get("break_on");
    const others = known.filter((name) => name !== op.name);
    update(this.#traits, { break_on: others.length < known.length ? others : [...known, op.name] });
  }

  // --- what is shown follows the state ---

  #showMoves(): void {
    const [run, moves, at] = [this.#run, this.#moves, this.#at];
    const stops = this.#state.stops.value;
    this.#nan.checked = this.#state.breakNan.value;
    this.#scrubber.setStops(stops);
    this.#scrubber.show(at, `step ${at} of ${run.last}: ${this.#words()}`);
    this.#statusText.replaceChildren("step ", h("b", {}, digits(at)), ` of ${digits(run.last)}`);
    moves.first.disabled = moves.back.disabled = at <= run.first;
    moves.forward.disabled = moves.last.disabled = at >= run.last;
    moves.before.disabled = !stops.some((n) => n < at);
    moves.after.disabled = !stops.some((n) => n > at);
    this.#player.button.disabled = run.last === run.first;
  }

  #words(): string {
    const step = this.#state.step.value;
    if (step === undefined) return "nothing ran";
    return `${step.failed ? "failed: " : ""}${this.#state.nameOf(step.op).name}`;
  }

  #announce(): void {
    const made = this.#state.step.value?.outputs.map((value) => this.#run.values[value]!.short).join(", ") ?? "";
    const text = `Step ${this.#at}: ${this.#words()}${made === "" ? "" : `, gives ${made}`}`;
    untracked(() => this.#view.say(text));
  }
}

export default hosted((traits: Traits<StepTraits>, el) =>
  renewed(traits, (notice) => new StepView(traits, el, notice)),
);
