// The run view: the session runs of a cell, what each needs, how it is found, and a guess of it that is scored.
import { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import { count } from "../base/format";
import type { NodeMarks } from "../drawing/canvas";
import { GraphView } from "../graph_view/graph_view";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { RunTraits } from "../kernel/view_messages";
import type { SceneNode } from "../layout/scene";

const WAVE_MS = 520;

class RunView {
  private readonly view: GraphView;
  private readonly list = h("ol", { class: "tft-runs-list", "aria-label": "Session runs" });
  private readonly bar = h("div", { class: "tft-run-bar", role: "toolbar", "aria-label": "The run" });
  private readonly slider = h("input", {
    type: "range",
    min: "0",
    value: "0",
    "aria-label": "Steps back from the fetches",
  });
  private readonly said = h("span", { class: "tft-run-said", "aria-live": "polite" });
  private readonly play = button("▶ Trace", "Trace back from the fetches what the run needs", () => this.togglePlay());
  private readonly guess = button("Reveal", "Score the guess: which of the marked ops run?", () => this.reveal());
  private timer = 0;
  private wave: number | null = null;
  private readonly root = h("div", { class: "tfteach-run" });
  private readonly cleanup = new Cleanup();

  constructor(
    private readonly traits: Traits<RunTraits>,
    parent: HTMLElement,
  ) {
    const root = this.root;
    parent.append(root);
    this.view = new GraphView(traits, root, {
      decorate: (node, said) => this.decorate(node, said),
      click: (id) => this.mark(id),
      marked: () => this.afterMarks(),
    });
    this.bar.append(this.play, this.slider, this.guess, this.said);
    this.view.frame.root.querySelector(".tft-bar")!.after(this.bar);
    this.view.frame.root.querySelector(".tft-body")!.prepend(this.list);
    this.slider.addEventListener("input", () => {
      const wave = Number(this.slider.value);
      this.stop();
      this.showWave(wave);
    });
    this.slider.addEventListener("keydown", (event) => this.turn(event));
    this.cleanup.add(
      onChange(traits, ["_run_list", "chosen"], () => this.showRuns()),
      onChange(traits, ["predict", "guessed", "revealed"], () => this.view.remark()),
      onChange(traits, ["fetches", "feeds"], () => this.forget()),
      () => this.view.destroy(),
      () => root.remove(),
    );
    root.addEventListener(
      "keydown",
      (event) => {
        // What is marked from the keyboard is the box with the focus.
        const id = (event.target as Element).closest?.("[data-id]")?.getAttribute("data-id");
        if (event.key === " " && id != null && this.mark(id)) event.preventDefault();
      },
      true,
    );
    this.showRuns();
    this.view.remark();
  }

  destroy(): void {
    this.stop();
    this.cleanup.end();
  }

  // --- which run ---

  private showRuns(): void {
    const runs = this.traits.get("_run_list");
    this.list.hidden = runs.length === 0;
    this.list.replaceChildren(
      ...runs.map((run, i) => {
        const item = button("", run.label, () => this.choose(i), "tft-run-item");
        item.setAttribute("aria-pressed", `${i === this.traits.get("chosen")}`);
        item.replaceChildren(
          h("span", { class: "tft-run-label" }, run.label, run.count > 1 ? h("b", {}, ` ×${run.count}`) : null),
          h("span", { class: "tft-run-count" }, `${run.needed} of ${run.ops} ops`),
          h("span", { class: "tft-meter", "aria-hidden": "true" }, meter(run.needed / Math.max(1, run.ops))),
        );
        if (run.where !== "") item.append(h("span", { class: "tft-muted" }, run.where));
        if (run.text !== "") item.append(h("code", {}, run.text));
        return h("li", {}, item);
      }),
    );
  }

  private choose(index: number): void {
    const run = this.traits.get("_run_list")[index]!;
    update(this.traits, { chosen: index, fetches: run.fetches, feeds: run.feeds });
    this.forget();
    this.view.remark();
    this.showRuns();
  }

  /** Another run: back to all of it, and to no guess. */
  private forget(): void {
    this.stop();
    this.wave = null;
    this.view.showWave(null);
    if (this.traits.get("revealed")) update(this.traits, { revealed: false, guessed: [], score: null });
  }

  // --- tracing back ---

  private showWave(wave: number | null): void {
    const end = this.view.depthOfRun();
    this.wave = wave === null || wave >= end ? null : wave;
    this.view.showWave(this.wave);
  }

  /** The arrows are the notebook's as well, which would take them away. */
  private turn(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const wave = Math.max(0, Number(this.slider.value) + by);
    this.stop();
    this.showWave(wave);
  }

  private togglePlay(): void {
    if (this.timer !== 0) {
      this.stop();
      return;
    }
    if (!this.view.light.active) return;
    this.showWave(0);
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still) return; // the slider and the arrow keys do the steps
    this.timer = window.setInterval(() => {
      this.showWave((this.wave ?? 0) + 1);
      if (this.wave === null) this.stop();
    }, WAVE_MS);
    this.afterMarks();
  }

  private stop(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.afterMarks();
  }

  // --- guessing ---

  private get guessing(): boolean {
    return this.traits.get("predict") && !this.traits.get("revealed");
  }

  private mark(id: string): boolean {
    const node = this.view.nodeOf(id);
    const op = node === undefined ? undefined : this.view.model.opOf(node);
    if (!this.guessing || op === undefined) return false;
    const marked = this.traits.get("guessed");
    update(this.traits, {
      guessed: marked.includes(op.name) ? marked.filter((name) => name !== op.name) : [...marked, op.name],
    });
    this.view.remark();
    return true;
  }

  private reveal(): void {
    if (!this.guessing) {
      update(this.traits, { revealed: false, guessed: [], score: null });
      this.view.remark();
      return;
    }
    const guessed = new Set(this.traits.get("guessed"));
    const score = { right: 0, wrong: 0, missed: 0 };
    for (const op of this.view.model.ops) {
      const runs = this.view.light.needed.has(op.index);
      if (guessed.has(op.name)) score[runs ? "right" : "wrong"] += 1;
      else if (runs) score.missed += 1;
    }
    update(this.traits, { revealed: true, score });
    this.view.remark();
  }

  private decorate(node: SceneNode, said: NodeMarks): NodeMarks {
    if (this.view === undefined || !this.traits.get("predict")) return said; // while it is made
    const names = this.traits.get("guessed");
    const op = this.view.model.opOf(node.node);
    const guessed = op !== undefined && names.includes(op.name);
    if (this.guessing) {
      // The answer stays hidden: no boxes drawn faint, no counts.
      const classes = said.classes.filter((c) => c !== "tft-dim" && c !== "tft-needed");
      if (guessed) classes.push("tft-guessed");
      const badges = said.badges.filter(({ kind }) => kind === "fetch" || kind === "feed");
      if (guessed) badges.push({ text: "I say: runs", kind: "guess" });
      return {
        ...said,
        classes,
        badges,
        note: undefined,
        label: guessed ? `${op.name}, marked as running` : (op?.name ?? said.label),
      };
    }
    if (op === undefined) return said;
    const runs = this.view.light.needed.has(op.index);
    const verdict = guessed ? (runs ? "✓ right" : "✗ wrong") : runs ? "missed" : null;
    if (verdict === null) return said;
    const kind = guessed ? (runs ? "right" : "wrong") : "missed";
    return {
      ...said,
      classes: [...said.classes, `tft-${kind}`],
      badges: [...said.badges, { text: verdict, kind: "guess" }],
      label: `${said.label}, ${verdict}`,
    };
  }

  // --- words ---

  private afterMarks(): void {
    if (this.view?.light === undefined) return;
    const { light, model } = this.view;
    const predicting = this.traits.get("predict");
    const guessing = this.guessing;
    this.view.frame.root.classList.toggle("tft-guessing", guessing);
    const end = this.view.depthOfRun();
    this.slider.max = `${end}`;
    this.slider.value = `${this.wave ?? end}`;
    this.slider.disabled = this.play.disabled = !light.active || guessing;
    this.play.textContent = this.timer !== 0 ? "❚❚ Pause" : "▶ Trace";
    this.guess.textContent = guessing ? "Reveal" : "Guess again";
    this.guess.disabled = !light.active;
    const score = this.traits.get("score");
    if (!light.active) this.said.textContent = "Fetch something: f, or Shift-click a box.";
    else if (guessing)
      this.said.textContent = `Which ops run? Click them; + opens a scope to reach its ops. ${this.traits.get("guessed").length} marked.`;
    else if (predicting && score !== null)
      this.said.textContent = `${score.right} right, ${score.wrong} wrong, ${score.missed} missed.`;
    else if (this.wave !== null)
      this.said.textContent = `Step ${this.wave} back from the fetches: ${light.needed.size} ops found.`;
    else
      this.said.textContent = `All ${light.needed.size} of ${count(model.ops.length, "op")} that run; found in ${count(end, "step")} back from the fetches.`;
    this.play.hidden = this.slider.hidden = guessing;
    this.guess.hidden = !predicting;
  }
}

function meter(share: number): HTMLElement {
  return h("span", { style: `width: ${(100 * share).toFixed(1)}%` });
}

export default hosted((traits: Traits<RunTraits>, el) => new RunView(traits, el));

export { decode } from "../kernel/graph_messages";
// For tests that hold the page's reasons against Python's.
export { GraphModel } from "../model/graph";
export { highlight } from "../model/highlight";
export { why } from "../model/pruning_reasons";
