// The run view: the session runs of a cell, what each needs, how it is found, and a guess of it that is scored.
import type { ReadonlySignal } from "@preact/signals-core";
import { batch, effect } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import { count } from "../base/format";
import { Player } from "../base/player";
import type { Badge } from "../drawing/badges";
import type { NodeMarks } from "../drawing/canvas";
import { GraphView } from "../graph_view/graph_view";
import { hosted } from "../kernel/host";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { CellRun, RunTraits } from "../kernel/view_messages";
import type { SceneNode } from "../layout/scene";
import type { Node as GraphNode } from "../model/graph";
import { foldingNotice, verbOf } from "../panels/folding_notice";

const PACE = { shortest: 520, longest: 520, whole: Infinity }; // milliseconds

class RunView {
  readonly #traits: Traits<RunTraits>;
  readonly #cleanup = new Cleanup();
  readonly #view: GraphView;
  readonly #runs: ReadonlySignal<CellRun[]>;
  readonly #chosen: ReadonlySignal<number>;
  readonly #predict: ReadonlySignal<boolean>;
  readonly #guessed: ReadonlySignal<string[]>;
  readonly #revealed: ReadonlySignal<boolean>;
  readonly #score: ReadonlySignal<RunTraits["score"]>;
  readonly #fates: ReadonlySignal<RunTraits["_fates"]>;
  readonly #verbOfRun: () => "run" | "needed";
  readonly #player: Player;
  readonly #list = h("ol", { class: "tft-runs-list", "aria-label": "Session runs" });
  readonly #slider = h("input", {
    type: "range",
    min: "0",
    value: "0",
    "aria-label": "Steps back from the fetches",
  });
  readonly #statusText = h("span", { class: "tft-run-said", "aria-live": "polite" });
  readonly #guess = button("Reveal", "Score the guess: which of the marked ops run?", () => this.#reveal());
  /** What the optimizer leaves out. */
  readonly #notice: HTMLElement;
  readonly #root = h("div", { class: "tfteach-run" });

  constructor(traits: Traits<RunTraits>, parent: HTMLElement) {
    this.#traits = traits;

    const [cleanup, root] = [this.#cleanup, this.#root];
    parent.append(root);
    this.#runs = traitSignal(traits, "_run_list", cleanup);
    this.#chosen = traitSignal(traits, "chosen", cleanup);
    this.#predict = traitSignal(traits, "predict", cleanup);
    this.#guessed = traitSignal(traits, "guessed", cleanup);
    this.#revealed = traitSignal(traits, "revealed", cleanup);
    this.#score = traitSignal(traits, "score", cleanup);
    this.#fates = traitSignal(traits, "_fates", cleanup);
    this.#verbOfRun = verbOf(traits, cleanup);
    this.#view = new GraphView(traits, root, {
      decorate: (node, marks) => this.#decorate(node, this.#withFailure(node, this.#withFates(node, marks))),
      verb: () => this.#verb,
      details: (panel, node) => this.#tellFate(panel, node),
      click: (id) => this.#mark(id),
    });
    this.#player = this.#makePlayer();
    const bar = h("div", { class: "tft-run-bar", role: "toolbar", "aria-label": "The run" });
    bar.append(this.#player.button, this.#slider, this.#guess, this.#statusText);
    this.#notice = foldingNotice(traits, cleanup);
    this.#view.frame.bar.after(this.#notice, bar);
    this.#view.frame.body.prepend(this.#list);
    this.#slider.addEventListener("input", () => this.#player.seek(Number(this.#slider.value)));
    this.#slider.addEventListener("keydown", (event) => this.#player.key(event));
    const mark = (event: KeyboardEvent): void => {
      // The keyboard marks the box that has the focus.
      const id = (event.target as Element).closest?.("[data-id]")?.getAttribute("data-id");
      if (event.key === " " && id != null && this.#mark(id)) event.preventDefault();
    };
    cleanup.on(root, "keydown", mark, { capture: true });
    cleanup.add(
      () => root.remove(),
      () => this.#view.destroy(),
      onChange(traits, ["fetches", "feeds"], () => this.#forget()),
      effect(() => this.#showRuns()),
      effect(() => this.#showBar()),
    );
    this.#view.start();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  // --- which run ---

  #showRuns(): void {
    const runs = this.#runs.value;
    this.#list.hidden = runs.length === 0;
    this.#list.replaceChildren(
      ...runs.map((run, i) => {
        const failed = run.error !== "";
        const item = button(
          "",
          run.label,
          () => this.#choose(i),
          failed ? "tft-run-item tft-run-failed" : "tft-run-item",
        );
        item.setAttribute("aria-pressed", `${i === this.#chosen.value}`);
        const outcome = run.refused ? "✕ refused" : failed ? "✕ failed" : `${run.needed} of ${run.ops} ops`;
        item.replaceChildren(
          h("span", { class: "tft-run-label" }, run.label, run.count > 1 ? h("b", {}, ` ×${run.count}`) : null),
          h("span", { class: "tft-run-count" }, outcome),
        );
        item.append(failed ? h("span", { class: "tft-run-error", title: run.error }, run.error) : meter(run));
        if (run.where !== "") item.append(h("span", { class: "tft-muted" }, run.where));
        if (run.text !== "") item.append(h("code", {}, run.text));
        return h("li", {}, item);
      }),
    );
  }

  #choose(index: number): void {
    const { fetches, feeds } = this.#runs.value[index]!;
    batch(() => {
      update(this.#traits, { chosen: index, fetches, feeds });
      this.#forget();
    });
  }

  /** Another run: back to all of it, and to no guess. */
  #forget(): void {
    this.#player.pause();
    this.#view.state.wave.value = null;
    if (this.#revealed.value) update(this.#traits, { revealed: false, guessed: [], score: null });
  }

  // --- tracing back ---

  #makePlayer(): Player {
    const { wave, depthOfRun, highlight } = this.#view.state;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)");
    return new Player(
      {
        first: () => 0,
        last: () => depthOfRun.value,
        position: () => wave.value ?? depthOfRun.value,
        seek: (to) => {
          wave.value = to >= depthOfRun.value ? null : to;
        },
        moves: () => highlight.value.active && !still.matches, // without, slider and arrow keys do the steps
      },
      PACE,
      { play: "▶ Trace", title: "Trace back from the fetches what the run needs" },
      this.#cleanup,
    );
  }

  // --- guessing ---

  get #guessing(): boolean {
    return this.#predict.value && !this.#revealed.value;
  }

  #mark(id: string): boolean {
    const node = this.#view.nodeOf(id);
    const op = node === undefined ? undefined : this.#view.model.opOf(node);
    if (!this.#guessing || op === undefined) return false;
    const marked = this.#guessed.value;
    const others = marked.filter((name) => name !== op.name);
    update(this.#traits, { guessed: others.length < marked.length ? others : [...marked, op.name] });
    return true;
  }

  #reveal(): void {
    if (!this.#guessing) {
      batch(() => update(this.#traits, { revealed: false, guessed: [], score: null }));
      return;
    }
    const guessed = new Set(this.#guessed.value);
    const score = { right: 0, wrong: 0, missed: 0 };
    for (const op of this.#view.model.ops) {
      const runs = this.#view.light.needed.has(op.index);
      if (guessed.has(op.name)) score[runs ? "right" : "wrong"] += 1;
      else if (runs) score.missed += 1;
    }
    batch(() => update(this.#traits, { score, revealed: true }));
  }

  /** The chosen run, while its fetches and feeds are those of the graph. */
  get #chosenRun(): CellRun | undefined {
    const run = this.#runs.value[this.#chosen.value];
    const { fetches, feeds } = this.#view.state;
    const same = (some: string[], others: readonly string[]): boolean => some.join() === others.join();
    if (run === undefined || !same(run.fetches, fetches.value) || !same(run.feeds, feeds.value)) return undefined;
    return run;
  }

  #withFailure(node: SceneNode, marks: NodeMarks): NodeMarks {
    const name = this.#guessing ? "" : (this.#chosenRun?.failed_at ?? "");
    if (name === "" || node.open) return marks;
    if (!node.node.members.some((i) => this.#view.model.ops[i]?.name === name)) return marks;
    return {
      ...marks,
      classes: [...marks.classes, "tft-failed"],
      badges: [...marks.badges, { text: "✕ failed", kind: "wrong" }],
      label: `${marks.label}, failed`,
    };
  }

  /** Of a run that failed, nobody says which ops ran. */
  get #verb(): "run" | "needed" {
    if (this.#guessing) return "run";
    return this.#hasFailed ? "needed" : this.#verbOfRun();
  }

  get #hasFailed(): boolean {
    const run = this.#chosenRun;
    return run !== undefined && run.error !== "";
  }

  /** In the details of an op that the run needs but leaves out: what became of it. */
  #tellFate(panel: HTMLElement, node: GraphNode): void {
    const name = this.#view.model.opOf(node)?.name ?? "";
    const fates = this.#verb === "run" ? {} : this.#fates.value;
    if (!Object.hasOwn(fates, name)) return;
    const [fate, reason] = fates[name]!;
    panel.querySelector(".tft-why")?.append(` It was ${fate}: ${reason}.`);
  }

  #withFates(node: SceneNode, marks: NodeMarks): NodeMarks {
    const fates = this.#fates.value;
    if (this.#verb === "run") return marks;
    const { ops } = this.#view.model;
    const met = node.node.members.flatMap((i) => {
      const { name } = ops[i]!;
      return Object.hasOwn(fates, name) ? [fates[name]!] : [];
    });
    const note = marks.note?.replace(/ run$/, " needed");
    if (met.length === 0 || node.open) return { ...marks, note };
    const isOp = node.node.members.length === 1;
    const text = isOp ? met[0]![0] : `${met.length} left out`;
    const classes = met.length === node.node.members.length ? [...marks.classes, "tft-left-out"] : marks.classes;
    const badges: Badge[] = node.style.glyph === "const" ? [] : [{ text, kind: "folded" }];
    const label = `${marks.label.replace(/, runs\b/, "")}, ${isOp ? `${text}: ${met[0]![1]}` : text}`;
    return { ...marks, note, classes, badges: [...marks.badges, ...badges], label };
  }

  #decorate(node: SceneNode, marks: NodeMarks): NodeMarks {
    if (!this.#predict.value) return marks;
    const op = this.#view.model.opOf(node.node);
    const guessed = op !== undefined && this.#guessed.value.includes(op.name);
    if (this.#guessing) {
      // The answer stays hidden: no boxes drawn faint, no counts.
      const classes = marks.classes.filter((c) => c !== "tft-dim" && c !== "tft-needed");
      const badges = marks.badges.filter(({ kind }) => kind === "fetch" || kind === "feed");
      if (!guessed) return { classes, badges, label: op?.name ?? marks.label };
      return {
        classes: [...classes, "tft-guessed"],
        badges: [...badges, { text: "I say: runs", kind: "guess" }],
        label: `${op.name}, marked as running`,
      };
    }
    if (op === undefined) return marks;
    const runs = this.#view.light.needed.has(op.index);
    const verdict = guessed ? (runs ? "✓ right" : "✗ wrong") : runs ? "missed" : null;
    if (verdict === null) return marks;
    const kind = guessed ? (runs ? "right" : "wrong") : "missed";
    return {
      ...marks,
      classes: [...marks.classes, `tft-${kind}`],
      badges: [...marks.badges, { text: verdict, kind: "guess" }],
      label: `${marks.label}, ${verdict}`,
    };
  }

  // --- the bar ---

  #showBar(): void {
    const [guessing, player, slider, guess] = [this.#guessing, this.#player, this.#slider, this.#guess];
    const { active } = this.#view.light;
    const end = this.#view.state.depthOfRun.value;
    this.#view.frame.root.classList.toggle("tft-guessing", guessing);
    this.#notice.classList.toggle("tft-hidden", guessing); // the answer
    slider.max = `${end}`;
    slider.value = `${this.#view.state.wave.value ?? end}`;
    slider.disabled = player.button.disabled = !active || guessing;
    player.button.hidden = slider.hidden = guessing;
    guess.textContent = guessing ? "Reveal" : "Guess again";
    guess.disabled = !active;
    guess.hidden = !this.#predict.value;
    this.#statusText.textContent = this.#words();
  }

  #words(): string {
    const { light, model } = this.#view;
    const { wave, depthOfRun } = this.#view.state;
    const score = this.#score.value;
    const run = this.#chosenRun;
    if (run?.refused) return `The session refused this run, so no op was executed. ${run.error}`;
    if (!light.active) return "Fetch something: f, or Shift-click a box.";
    if (this.#guessing) {
      return `Which ops run? Click them; + opens a scope to reach its ops. ${this.#guessed.value.length} marked.`;
    }
    if (this.#predict.value && score !== null) {
      return `${score.right} right, ${score.wrong} wrong, ${score.missed} missed.`;
    }
    if (wave.value !== null) return `Step ${wave.value} back from the fetches: ${light.needed.size} ops found.`;
    const found = `found in ${count(depthOfRun.value, "step")} back from the fetches`;
    const verb = this.#verb === "needed" ? "are needed" : "run";
    const end = this.#hasFailed ? ` It failed: ${run?.error}` : "";
    return `All ${light.needed.size} of ${count(model.ops.length, "op")} that ${verb}; ${found}.${end}`;
  }
}

function meter({ needed, ops }: CellRun): HTMLElement {
  const share = `${((100 * needed) / Math.max(1, ops)).toFixed(1)}%`;
  return h("span", { class: "tft-meter", "aria-hidden": "true" }, h("span", { style: `width: ${share}` }));
}

export default hosted((traits: Traits<RunTraits>, el) => new RunView(traits, el));

export { decode } from "../kernel/graph_messages";
// For tests that hold the page's reasons against Python's.
export { GraphModel } from "../model/graph";
export { highlight } from "../model/highlight";
export { why } from "../model/pruning_reasons";
