// The optimizer's passes on a run: the graph before and after each one, what was folded, merged or removed, and why.
import { Cleanup } from "../base/cleanup";
import { consume, h } from "../base/elements";
import { earlier, legend, SideBySide } from "../graph_view/side_by_side";
import { hosted } from "../kernel/host";
import { LocalTraits } from "../kernel/local_traits";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { OptimizingTraits, Pass } from "../kernel/view_messages";
import { shorten } from "../layout/box_style";

const MOST_OPEN = 12; // scopes that differ; more of them open would be no picture
const MOST_REASONS = 200;

class OptimizingView {
  readonly #traits: Traits<OptimizingTraits>;
  readonly #title = h("h3");
  readonly #passes = h("div", { class: "tft-passes", role: "group", "aria-label": "Passes of the optimizer" });
  readonly #about = h("p", { class: "tft-pass-about", "aria-live": "polite" });
  readonly #folded = h("p", { class: "tft-pass-folded" });
  readonly #head = h("div", { class: "tft-diff-head" });
  readonly #body = h("div", { class: "tft-pass-graphs" });
  readonly #why = h("section", { class: "tft-pass-why", "aria-label": "What was done, and why" });
  readonly #root = h(
    "div",
    { class: "tfteach-diff tfteach-optimizing", role: "group", "aria-label": "The optimizer's passes" },
    h("div", { class: "tft-opt-top" }, this.#title, this.#passes),
    this.#folded,
    this.#about,
    this.#why,
    this.#head,
    this.#body,
  );
  #pair: SideBySide | null = null;
  readonly #cleanup = new Cleanup();

  constructor(traits: Traits<OptimizingTraits>, parent: HTMLElement) {
    this.#traits = traits;

    parent.append(this.#root);
    this.#cleanup.add(
      onChange(traits, ["_passes", "chosen", "problem"], () => this.#show()),
      () => this.#pair?.destroy(),
      () => this.#root.remove(),
    );
    this.#passes.addEventListener("keydown", (event) => this.#onKey(event));
    this.#show();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #choose(number: number): void {
    const last = this.#traits.get("_passes").length - 1;
    update(this.#traits, { chosen: Math.max(0, Math.min(last, number)) });
    this.#show();
    this.#passes.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
  }

  #onKey(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    consume(event);
    this.#choose(this.#traits.get("chosen") + by);
  }

  get #pass(): Pass | undefined {
    const passes = this.#traits.get("_passes");
    return passes[Math.min(this.#traits.get("chosen"), passes.length - 1)];
  }

  #show(): void {
    this.#pair?.destroy();
    this.#pair = null;
    const [problem, pass] = [this.#traits.get("problem"), this.#pass];
    this.#title.textContent = problem === "" ? this.#traits.get("_summary") : "Nothing to optimize";
    this.#about.textContent = pass === undefined ? problem : `${describe(pass)}: ${pass.about}.`;
    this.#folded.textContent = this.#traits.get("_folded");
    this.#folded.hidden = this.#folded.textContent === "";
    for (const part of [this.#passes, this.#head, this.#body, this.#why]) part.hidden = pass === undefined;
    if (pass === undefined) return;
    this.#showPasses();
    this.#showPair(pass);
    this.#showWhy(pass);
  }

  /** The passes as a pipeline; between them, how many ops are left to compute. */
  #showPasses(): void {
    const [whole, ...each] = this.#traits.get("_passes");
    const one = (pass: Pass, number: number): HTMLElement => {
      const changes = Object.keys(pass.reasons).length;
      return h(
        "button",
        {
          type: "button",
          class: `tft-pass${changes === 0 ? " tft-pass-idle" : ""}`,
          "aria-pressed": pass === this.#pass,
          title: describe(pass),
          onclick: () => this.#choose(number),
        },
        h("b", {}, titleOf(pass)),
        h("span", {}, changes === 0 ? "nothing to do" : `${changes} op${changes === 1 ? "" : "s"}`),
      );
    };
    const left = (ops: number): HTMLElement =>
      h(
        "span",
        { class: "tft-pass-left", title: `${ops} ops to compute` },
        `${ops}`,
        h("span", { class: "tft-sr" }, " ops to compute"),
      );
    if (each.length === 0) {
      this.#passes.replaceChildren(
        one(whole!, 0),
        h("span", {}, "A large run: print(view.optimizer_log) tells pass by pass."),
      );
      return;
    }
    this.#passes.replaceChildren(
      one(whole!, 0),
      h("span", { class: "tft-rule" }),
      left(each[0]!.from),
      ...each.flatMap((pass, i) => [one(pass, i + 1), left(pass.to)]),
    );
  }

  #showPair(pass: Pass): void {
    const stages = this.#traits.get("_stages");
    const [before, after] = [stages[pass.before]!, stages[pass.after]!];
    const kept = new Set(after.rows.map((row) => row[0]));
    const differs = [
      ...Object.keys(pass.changes),
      ...before.rows.map((row) => row[0]).filter((name) => !kept.has(name)),
    ];
    const open = new Set(differs.flatMap(scopesOf));
    const state = new LocalTraits(after, {
      _graph: this.#traits.get("_graph"),
      expanded: open.size <= MOST_OPEN ? [...open] : null,
      fetches: after.fetched,
    });
    this.#pair = new SideBySide({ before: earlier(state, before, before.fetched), after: state }, pass, this.#body, {
      isRun: true,
    });
    this.#head.replaceChildren(...legend(), this.#pair.next);
  }

  #showWhy({ reasons, changes }: Pass): void {
    const rows = Object.entries(reasons);
    this.#why.hidden = rows.length === 0;
    const list = rows.slice(0, MOST_REASONS).map(([name, lines]) => {
      const press = h(
        "button",
        { type: "button", class: "tft-pass-node", title: `Show ${name}`, onclick: () => this.#pair?.goTo(name) },
        shorten(name, 44),
      );
      const more = (Object.hasOwn(changes, name) ? changes[name]! : []).map((line) =>
        h("span", { class: "tft-muted" }, line),
      );
      return h(
        "li",
        {},
        press,
        h("span", { class: "tft-pass-reasons" }, ...lines.map((line) => h("span", {}, line)), ...more),
      );
    });
    const rest = rows.length - list.length;
    if (rest > 0) list.push(h("li", { class: "tft-muted" }, `and ${rest} more`));
    this.#why.replaceChildren(h("ul", { tabindex: "0", "aria-label": "Ops with reasons" }, ...list));
  }
}

function titleOf(pass: Pass): string {
  return pass.name === "all" ? "all passes" : pass.name.replaceAll("_", " ");
}

function describe(pass: Pass): string {
  return `${titleOf(pass)}, ${pass.from === pass.to ? `${pass.from}` : `${pass.from} → ${pass.to}`} to compute`;
}

/** "a/b/c" is in "a/" and "a/b/". */
function scopesOf(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, i) => `${parts.slice(0, i + 1).join("/")}/`);
}

export default hosted((traits: Traits<OptimizingTraits>, el) => new OptimizingView(traits, el));
