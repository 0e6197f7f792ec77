// The rows view: heat maps of which rows of a variable each run read, and which it moved, side by side.
import { Cleanup } from "../base/cleanup";
import { consume, h } from "../base/elements";
import { drawer, s } from "../base/svg";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";
import { onChange } from "../kernel/traits";
import type { HeatMap, RowCell, RowsTraits } from "../kernel/view_messages";

const LEFT = 62;
const BOTTOM = 20;
const WIDEST = 26;
const LEVELS = [0, 1, 2, 3, 4];

/** A step and a row, by number of the variable's row: the same in all pictures. */
interface Place {
  step: number;
  row: number;
}

class RowsView {
  readonly #traits: Traits<RowsTraits>;
  readonly #root: HTMLElement;
  readonly #body = h("div", { class: "tft-rows-body" });
  readonly #status = h("div", { class: "tft-rows-said", "aria-live": "polite" });
  readonly #cleanup = new Cleanup();
  #drawn = new Cleanup();
  #pictures: Picture[] = [];
  #place: Place | null = null;

  constructor(traits: Traits<RowsTraits>, parent: HTMLElement) {
    this.#traits = traits;
    this.#root = h(
      "div",
      {
        class: "tfteach-graph tfteach-rows",
        role: "group",
        "aria-label": "Rows that runs read and moved",
        "data-lm-suppress-shortcuts": "true",
      },
      h("div", { class: "tft-rows-bar" }, h("h3", {}, "Rows that each run read and moved"), legend()),
      this.#body,
      this.#status,
    );
    parent.append(this.#root);
    this.#cleanup.add(
      onChange(traits, ["_panels", "_note"], () => this.#fill()),
      () => this.#drawn.end(),
      () => this.#root.remove(),
    );
    this.#fill();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #fill(): void {
    this.#drawn.end();
    this.#drawn = new Cleanup();
    const panels = this.#traits.get("_panels");
    this.#pictures = panels.map(
      ({ title, heat_maps }) => new Picture(title, heat_maps, (place) => this.#go(place), this.#drawn),
    );
    const note = this.#traits.get("_note");
    this.#body.replaceChildren(
      ...this.#pictures.map((picture) => picture.element),
      ...(panels.length === 0 ? [h("p", { class: "tft-muted" }, "No run selected rows of a variable by index.")] : []),
      ...(note === "" ? [] : [h("p", { class: "tft-muted" }, note)]),
    );
    this.#go(null);
  }

  /** Marks the same row and step in all pictures, and says what happened there. */
  #go(place: Place | null): void {
    this.#place = place;
    for (const picture of this.#pictures) picture.mark(place);
    this.#status.replaceChildren(
      ...(this.#place === null
        ? [h("span", { class: "tft-muted" }, "Choose a row and a step: click, or use the arrow keys.")]
        : this.#pictures.map((picture) => picture.words(this.#place!))),
    );
  }
}

/** One variable, or one of its optimizer's slots. */
class Picture {
  readonly element: HTMLElement;
  readonly #title: string;
  readonly #maps: readonly HeatMap[];
  readonly #go: (place: Place | null) => void;
  readonly #stage: HTMLElement;
  readonly #about = h("p", { class: "tft-muted" });
  readonly #verdict = h("p", { class: "tft-rows-verdict" });
  readonly #buttons: HTMLButtonElement[] = [];
  readonly #drawLater: () => void;
  #map: HeatMap;
  #cells = new Map<string, RowCell>();
  #place: Place | null = null;

  constructor(title: string, maps: readonly HeatMap[], go: (place: Place | null) => void, cleanup: Cleanup) {
    this.#title = title;
    this.#maps = maps;
    this.#go = go;
    this.#map = maps[0]!;
    this.#stage = h("div", {
      class: "tft-rows-stage",
      tabindex: "0",
      role: "application",
      "aria-label": `${title}: rows by steps. Arrow keys: another row or step. Home, End: first, last step.`,
    });
    this.#buttons = maps.map((map, i) =>
      h(
        "button",
        { type: "button", class: "tft-button", title: about(map, i), onclick: () => this.#show(i) },
        i === 0 ? "variable" : map.variable.slice(maps[0]!.variable.length + 1),
      ),
    );
    const slots = h("div", { class: "tft-rows-slots", role: "group", "aria-label": `Variable and slots of ${title}` });
    if (maps.length > 1) slots.append(...this.#buttons);
    this.element = h(
      "section",
      { class: "tft-rows-panel", "aria-label": title },
      h("div", { class: "tft-rows-head" }, h("h4", {}, title), slots),
      this.#about,
      this.#stage,
      this.#verdict,
    );
    this.#stage.addEventListener("pointerdown", (event) => this.#go(this.#placeAt(event)));
    this.#stage.addEventListener("keydown", (event) => this.#onKey(event));
    this.#drawLater = drawer(this.#stage, () => this.#draw(), cleanup);
    this.#show(0);
  }

  #show(index: number): void {
    this.#map = this.#maps[index]!;
    this.#cells = new Map(this.#map.cells.map((cell) => [`${cell[0]} ${cell[1]}`, cell]));
    for (const [i, each] of this.#buttons.entries()) each.setAttribute("aria-pressed", `${i === index}`);
    this.#about.textContent = `${this.#map.variable}, ${this.#map.about.replaceAll(" x ", " × ")}`;
    this.#verdict.textContent = this.#map.verdict;
    this.#verdict.classList.toggle("tft-rows-unread", this.#map.verdict.includes("did not read"));
    if (this.#place !== null) this.#go(this.#place);
    this.#drawLater();
  }

  mark(place: Place | null): void {
    this.#place = place;
    this.#drawLater();
  }

  /** What the run did to the row. */
  words({ step, row }: Place): HTMLElement {
    const { rows, steps, first } = this.#map;
    const at = rows.indexOf(row);
    const what = h("span", {}, h("b", {}, this.#title), " ");
    if (at < 0 || step >= steps.length) {
      what.append(`row ${row}, step ${step + first}: not recorded`);
      return what;
    }
    const cell = this.#cells.get(`${step} ${at}`);
    const was = cell?.[3] === 1 ? "read" : "not read";
    const moved = cell === undefined || cell[4] === null ? "did not move" : `moved by ${cell[4]}`;
    what.append(`row ${row}, step ${step + first}: ${was}, ${moved}  `, h("code", {}, steps[step]!));
    return what;
  }

  get #size(): { wide: number; tall: number; count: number } {
    const { rows, steps, others } = this.#map;
    const room = Math.max(80, this.#stage.clientWidth - LEFT - 4);
    const wide = Math.min(WIDEST, room / Math.max(1, steps.length));
    return { wide, tall: rows.length <= 24 ? 20 : 11, count: rows.length + (others > 0 ? 1 : 0) };
  }

  #placeAt(event: PointerEvent): Place | null {
    const box = this.#stage.getBoundingClientRect();
    const { wide, tall } = this.#size;
    const step = Math.floor((event.clientX - box.left - LEFT) / wide);
    const row = this.#map.rows[Math.floor((event.clientY - box.top) / tall)];
    return row === undefined || step < 0 || step >= this.#map.steps.length ? null : { step, row };
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { rows, steps } = this.#map;
    if (rows.length === 0 || steps.length === 0) return;
    const at = this.#place === null ? -1 : rows.indexOf(this.#place.row);
    const now = { step: this.#place?.step ?? 0, row: Math.max(0, at) };
    const started = this.#place !== null && at >= 0;
    const to = {
      ArrowLeft: { ...now, step: now.step - 1 },
      ArrowRight: { ...now, step: now.step + 1 },
      ArrowUp: { ...now, row: now.row - 1 },
      ArrowDown: { ...now, row: now.row + 1 },
      Home: { ...now, step: 0 },
      End: { ...now, step: steps.length - 1 },
    }[event.key];
    if (event.key === "Escape") this.#go(null);
    else if (to === undefined) return;
    else {
      const next = started ? to : now;
      const row = rows[Math.max(0, Math.min(rows.length - 1, next.row))]!;
      this.#go({ step: Math.max(0, Math.min(steps.length - 1, next.step)), row });
    }
    consume(event);
  }

  #draw(): void {
    const { rows, steps, cells, others, others_moved, first } = this.#map;
    const { wide, tall, count } = this.#size;
    const [width, height] = [LEFT + wide * steps.length + 4, tall * count + BOTTOM];
    const boxes = new Map<string, string>();
    const dots = { on: "", off: "" };
    const add = (step: number, row: number, kind: string): void => {
      const at = `M${(LEFT + wide * step + 0.5).toFixed(1)},${tall * row + 0.5}`;
      const across = Math.max(1, wide - 1).toFixed(1);
      boxes.set(kind, `${boxes.get(kind) ?? ""}${at}h${across}v${tall - 1}h-${across}z`);
    };
    const radius = Math.min(2.6, wide / 4);
    for (const [step, row, level, read] of cells) {
      if (level >= 0) add(step, row, `${read === 1 ? "tft-moved" : "tft-unread"} tft-level-${level}`);
      if (read === 0) continue;
      const [x, y] = [LEFT + wide * (step + 0.5), tall * (row + 0.5)];
      const half = (to: number): string => `a${radius},${radius} 0 1 0 ${to},0`;
      const dot = `M${(x - radius).toFixed(1)},${y}${half(2 * radius)}${half(-2 * radius)}z`;
      dots[level > 2 ? "on" : "off"] += dot;
    }
    for (const [step, [moved, level]] of others_moved.entries())
      if (moved > 0) add(step, rows.length, `tft-unread tft-level-${level}`);
    const picture = s(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      s("rect", { class: "tft-rows-frame", x: LEFT, y: 0.5, width: wide * steps.length, height: tall * count }),
      ...[...boxes].map(([kind, d]) => s("path", { class: kind, d })),
      s("path", { class: "tft-dots", d: dots.off }),
      s("path", { class: "tft-dots tft-on-dark", d: dots.on }),
      ...rows.flatMap((row, i) =>
        tall > 14 || i % 2 === 0 ? [label(LEFT - 8, tall * (i + 0.5) + 4, `row ${row.toLocaleString("en")}`)] : [],
      ),
    );
    if (others > 0) picture.append(label(LEFT - 8, tall * (rows.length + 0.5) + 4, `+${compact(others)}`));
    picture.append(s("text", { x: LEFT, y: height - 5 }, `step ${first}`));
    if (steps.length > 3) picture.append(label(LEFT + wide * steps.length, height - 5, `${first + steps.length - 1}`));
    const at = this.#place === null ? -1 : rows.indexOf(this.#place.row);
    if (this.#place !== null && at >= 0 && this.#place.step < steps.length) {
      const place = { x: LEFT + wide * this.#place.step, y: tall * at, width: wide, height: tall };
      picture.append(s("rect", { class: "tft-rows-place", ...place }));
    }
    this.#stage.replaceChildren(picture);
  }
}

const about = ({ variable }: HeatMap, index: number): string =>
  index === 0 ? `The variable ${variable}` : `The optimizer's slot ${variable}`;

const label = (x: number, y: number, text: string): SVGElement =>
  s("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": "end" }, text);

const compact = (n: number): string => n.toLocaleString("en", { notation: "compact" });

function legend(): HTMLElement {
  const scale = (kind: string): HTMLElement =>
    h(
      "span",
      { class: "tft-scale", "aria-hidden": "true" },
      ...LEVELS.map((level) => h("i", { class: `${kind} tft-level-${level}` })),
    );
  return h(
    "div",
    { class: "tft-rows-legend" },
    h("span", {}, scale("tft-moved"), "read and moved"),
    h("span", {}, scale("tft-unread"), "moved, not read"),
    h("span", {}, h("i", { class: "tft-dot", "aria-hidden": "true" }), "read"),
    h("span", { class: "tft-muted" }, "stronger: farther"),
  );
}

export default hosted((traits: Traits<RowsTraits>, el) => new RowsView(traits, el));
