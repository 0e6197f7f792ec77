// The view of input pipelines: a river of stages, what each gives, how full its buffer is, and who waits for whom.
import { effect } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { h } from "../base/elements";
import { s } from "../base/svg";
import { RiverPicture, riverWidth } from "../drawing/river";
import { hosted } from "../kernel/host";
import type { PipelineStage, PipelineTraits, River, RiverFigures, StageFigures } from "../kernel/pipeline_messages";
import { decodeFigures } from "../kernel/pipeline_messages";
import { opOf, shareSelection } from "../kernel/shared_selection";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import { update } from "../kernel/traits";

const [CHART_WIDTH, CHART_HEIGHT] = [120, 20];
const SIGNS: Record<string, string> = { data: "▼", step: "●", both: "◆", stuck: "✕" };
const percent = (share: number): string => `${Math.round(100 * share)}%`;

class PipelineView {
  readonly #traits: Traits<PipelineTraits>;
  readonly #root: HTMLElement;
  readonly #cleanup = new Cleanup();
  #rivers: RiverPanel[] = [];

  constructor(traits: Traits<PipelineTraits>, parent: HTMLElement) {
    this.#traits = traits;
    this.#root = h("div", {
      class: "tfteach-pipeline tfteach-graph",
      role: "group",
      "aria-label": "Input pipelines",
      "data-lm-suppress-shortcuts": "true",
    });
    parent.append(this.#root);
    const rivers = traitSignal(traits, "_rivers", this.#cleanup);
    const figures = traitSignal(traits, "_figures", this.#cleanup);
    const selected = traitSignal(traits, "selected", this.#cleanup);
    this.#cleanup.add(
      effect(() => this.#build(rivers.value)),
      effect(() => {
        void rivers.value; // which are built before their figures are shown
        for (const [i, panel] of this.#rivers.entries()) {
          const found = figures.value[i];
          if (found !== undefined) panel.show(found);
        }
      }),
      effect(() => {
        void rivers.value;
        for (const panel of this.#rivers) panel.select(opOf(selected.value));
      }),
      shareSelection(traits),
      () => this.#root.remove(),
    );
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #build(rivers: River[]): void {
    this.#rivers = rivers.map((river) => new RiverPanel(river, (op) => this.#choose(op)));
    const none = h("p", { class: "tft-muted tft-none" }, "No pipeline has moved yet.");
    this.#root.replaceChildren(...(rivers.length === 0 ? [none] : this.#rivers.map(({ el }) => el)));
  }

  #choose(op: string): void {
    update(this.#traits, { selected: this.#traits.get("selected") === op ? "" : op });
  }
}

/** One pipeline. Its elements are made once; figures only change their contents, so that the focus stays. */
class RiverPanel {
  readonly el: HTMLElement;
  readonly #headline = h("b", { class: "tft-headline" });
  readonly #rate = h("span", { class: "tft-muted" });
  readonly #words = h("div", { class: "tft-words" });
  readonly #picture: RiverPicture;
  readonly #rows: StageRow[];
  #verdict = "";

  constructor(river: River, choose: (op: string) => void) {
    this.#picture = new RiverPicture(river.stages);
    this.#rows = river.stages.map((stage) => new StageRow(stage, stage.kind === "step" ? river.runs : [], choose));
    const head = h(
      "div",
      { class: "tft-head" },
      this.#headline,
      h("span", { class: "tft-name" }, river.name),
      this.#rate,
    );
    const rows = h("div", { class: "tft-river-stages", role: "list" }, ...this.#rows.map(({ el }) => el));
    const body = h("div", { class: "tft-river-body" }, this.#picture.el, rows);
    body.style.setProperty("--tft-river", `${riverWidth(river.stages)}px`);
    this.el = h("section", { "aria-label": `${river.name}: input pipeline` }, head, this.#words, body, legend());
  }

  show(figures: RiverFigures): void {
    const rows = figures.rows.map(decodeFigures);
    this.#rate.textContent = figures.head;
    this.#picture.show(rows, figures.flow, figures.narrowest);
    for (const [i, row] of rows.entries()) this.#rows[i]?.show(row, i === figures.narrowest);
    const verdict = JSON.stringify([figures.headline, figures.gain, figures.reasons, figures.advice]);
    if (verdict === this.#verdict) return; // nothing new for readers of the words
    this.#verdict = verdict;
    this.#headline.textContent = `${SIGNS[figures.kind] ?? "○"} ${figures.headline}`;
    this.el.className = `tft-verdict-${figures.kind}`;
    const items = figures.advice.map((line) => h("li", {}, ...codes(line)));
    this.#words.replaceChildren(
      ...(figures.gain === "" ? [] : [h("p", { class: gainClass(figures.factor) }, figures.gain)]),
      ...figures.reasons.map((line) => h("p", {}, ...codes(line))),
      ...(items.length === 0 ? [] : [h("p", { class: "tft-muted" }, "What would help:"), h("ul", {}, ...items)]),
    );
  }

  select(op: string): void {
    for (const row of this.#rows) row.select(op);
  }
}

const gainClass = (factor: number): string =>
  factor > 1.05 ? "tft-gain tft-faster" : factor < 0.95 ? "tft-gain tft-slower" : "tft-gain";

/** A sentence whose parts between backticks are code. */
const codes = (line: string): (string | HTMLElement)[] =>
  line.split("`").map((part, i) => (i % 2 === 1 ? h("code", {}, part) : part));

function legend(): HTMLElement {
  const part = (kind: string, words: string): HTMLElement =>
    h("span", {}, h("i", { class: `tft-part tft-${kind}` }), words);
  return h(
    "div",
    { class: "tft-river-key tft-muted" },
    part("busy", "busy"),
    part("waits", "waits for its input"),
    part("idle", "is not asked, or its buffer is full"),
    h("span", {}, "bed: what the stage could supply; water: what flows"),
  );
}

/** A stage: what it is, what it gives, its time, its buffer. */
class StageRow {
  readonly el: HTMLElement;
  readonly #op: string;
  readonly #name: HTMLButtonElement;
  readonly #detail: string;
  readonly #note = h("span");
  readonly #rate = h("b");
  readonly #count = h("span", { class: "tft-muted" });
  readonly #bar = h("span", { class: "tft-shares", "aria-hidden": "true" });
  readonly #parts = ["busy", "waits", "idle"].map((kind) => h("i", { class: `tft-part tft-${kind}` }));
  readonly #shares = h("span", { class: "tft-muted" });
  readonly #buffer = h("span", { class: "tft-buffer" });
  readonly #chart = s("svg", {
    class: "tft-levels",
    width: CHART_WIDTH,
    height: CHART_HEIGHT,
    viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`,
    "aria-hidden": "true",
  });

  constructor(stage: PipelineStage, runs: River["runs"], choose: (op: string) => void) {
    this.#op = stage.op;
    this.#detail = stage.detail;
    const [at, text] = runs.length === 0 ? [stage.at, stage.text] : runs;
    const press = (): void => choose(stage.op);
    this.#name = h(
      "button",
      {
        type: "button",
        class: "tft-river-name",
        title: `${stage.op}\n${text}`,
        "aria-pressed": "false",
        onclick: press,
      },
      stage.title,
    );
    this.#bar.append(...this.#parts);
    const line = at === "" ? null : h("span", { class: "tft-place", title: text }, at);
    const second = h("span", { class: "tft-second tft-muted" }, line, this.#note);
    this.el = h(
      "div",
      { class: "tft-river-stage", role: "listitem" },
      h("span", { class: "tft-what" }, this.#name, second),
      h("span", { class: "tft-rate" }, this.#rate, this.#count),
      h("span", { class: "tft-time" }, this.#bar, this.#shares),
      h("span", { class: "tft-contents" }, this.#buffer, this.#chart),
    );
  }

  show(figures: StageFigures, isNarrow: boolean): void {
    const [busy, waits] = figures.shares;
    const known = figures.shares.some((share) => share > 0);
    this.el.classList.toggle("tft-narrow", isNarrow);
    this.#note.textContent = [this.#detail, figures.note].filter((word) => word !== "").join(", ");
    this.#note.title = this.#note.textContent;
    this.#rate.textContent = figures.rate;
    this.#count.textContent = figures.count;
    this.#bar.hidden = !known;
    for (const [i, part] of this.#parts.entries()) part.style.width = `${100 * figures.shares[i]!}%`;
    this.#shares.textContent = known ? `busy ${percent(busy)}${waits >= 0.005 ? `, waits ${percent(waits)}` : ""}` : "";
    this.#buffer.textContent = figures.buffer;
    this.#showLevels(figures.levels);
  }

  #showLevels(levels: number[]): void {
    this.#chart.replaceChildren();
    if (levels.length < 2) return;
    const step = CHART_WIDTH / (levels.length - 1);
    const y = (level: number): number => 1 + (CHART_HEIGHT - 2) * (1 - level / 100);
    const points = levels.map((level, i) => `${(step * i).toFixed(1)},${y(level).toFixed(1)}`);
    const area = `M0,${CHART_HEIGHT}L${points.join("L")}V${CHART_HEIGHT}Z`;
    this.#chart.append(s("path", { class: "tft-area", d: area }), s("polyline", { points: points.join(" ") }));
  }

  select(op: string): void {
    const isSelected = op !== "" && op === this.#op;
    this.#name.setAttribute("aria-pressed", `${isSelected}`);
    this.el.classList.toggle("tft-selected", isSelected);
  }
}

export default hosted((traits: Traits<PipelineTraits>, el) => new PipelineView(traits, el));
