// Rows in columns, with curves between the rows of neighbouring columns; what belongs to a row lights up.

import type { Cleanup } from "../base/cleanup";
import { type Child, consume, h } from "../base/elements";
import { drawer, s } from "../base/svg";

const ROW = 30;
const MOST_ROWS = 500; // of a column, that are drawn

export interface FlowRow {
  id: string;
  depth: number;
  /** Classes that set its colours. */
  kind: string;
  content: Child[];
  title: string;
  /** Whether a group is open; null for a row without others inside. */
  open: boolean | null;
}

export interface FlowLink {
  from: string;
  to: string;
  kind: string;
}

export interface FlowActions {
  choose(id: string): void;
  toggle(id: string): void;
  /** The rows on the way through a row, itself included. */
  related(id: string): Set<string>;
}

export class FlowColumns {
  readonly root: HTMLElement;
  readonly #board = h("div", { class: "tft-flow-board" });
  readonly #svg = s("svg", { "aria-hidden": "true", class: "tft-flow-lines" });
  readonly #actions: FlowActions;
  readonly #draw: () => void;
  #rows = new Map<string, { el: HTMLButtonElement; column: number; number: number }>();
  #columns: FlowRow[][] = [];
  #elements: HTMLElement[] = [];
  #links: FlowLink[] = [];
  #chosen = "";
  #hovered = "";

  constructor(label: string, actions: FlowActions, cleanup: Cleanup) {
    this.#actions = actions;
    this.root = h("div", {
      class: "tft-flow",
      role: "group",
      "aria-label": `${label}. Arrow keys go from row to row.`,
    });
    this.root.append(this.#board);
    this.#draw = drawer(this.root, () => this.#drawLinks(), cleanup);
    this.root.addEventListener("keydown", (event) => this.#onKey(event));
    const hover = (event: Event): void => {
      const row = (event.target as Element).closest<HTMLElement>(".tft-flow-row")?.dataset.id ?? "";
      if (row === this.#hovered) return;
      this.#hovered = row;
      this.#light();
    };
    this.#board.addEventListener("pointerover", hover);
    this.#board.addEventListener("pointerleave", hover);
  }

  show(heads: string[], columns: FlowRow[][], links: FlowLink[], chosen: string): void {
    const focused = [...this.#rows].find(([, { el }]) => el.matches(":focus"))?.[0];
    this.#rows = new Map();
    this.#columns = columns;
    this.#links = links;
    this.#elements = columns.map((rows, column) => {
      const drawn = rows.slice(0, MOST_ROWS).map((row, number) => {
        const el = this.#row(row, column);
        this.#rows.set(row.id, { el, column, number });
        return el;
      });
      const more = rows.length - drawn.length;
      return h(
        "div",
        { class: "tft-flow-column", role: "group", "aria-label": heads[column]! },
        h("div", { class: "tft-flow-head" }, heads[column]!),
        ...drawn,
        more > 0 ? h("p", { class: "tft-muted" }, `and ${more} more rows`) : null,
      );
    });
    this.#board.dataset.columns = `${columns.length}`;
    this.#board.replaceChildren(this.#svg, ...this.#elements);
    this.mark(chosen);
    if (focused !== undefined) this.#rows.get(focused)?.el.focus({ preventScroll: true });
  }

  /** Marks the chosen row, and what belongs to it. */
  mark(chosen: string): void {
    this.#chosen = chosen;
    const entry = this.#rows.has(chosen) ? chosen : (this.#columns[0]?.[0]?.id ?? "");
    for (const [id, { el }] of this.#rows) {
      el.setAttribute("aria-pressed", `${id === chosen}`);
      el.tabIndex = id === entry ? 0 : -1;
    }
    this.#light();
  }

  reveal(id: string): void {
    const el = this.#rows.get(id)?.el;
    if (el === undefined) return;
    const [box, own] = [this.root.getBoundingClientRect(), el.getBoundingClientRect()];
    if (own.top < box.top) this.root.scrollTop += own.top - box.top - ROW;
    else if (own.bottom > box.bottom) this.root.scrollTop += own.bottom - box.bottom + ROW;
  }

  #row(row: FlowRow, column: number): HTMLButtonElement {
    const press = (): void => {
      if (row.open !== null) this.#actions.toggle(row.id);
      else this.#actions.choose(row.id);
    };
    const el = h(
      "button",
      {
        type: "button",
        class: `tft-flow-row ${row.kind}`,
        title: row.title,
        style: `margin-left: ${row.depth * 14}px`,
        "aria-expanded": row.open === null ? null : `${row.open}`,
        onclick: press,
      },
      row.open === null ? null : h("span", { class: "tft-flow-arrow", "aria-hidden": "true" }, row.open ? "▾" : "▸"),
      ...row.content,
    );
    el.dataset.id = row.id;
    el.dataset.column = `${column}`;
    return el;
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const id = (event.target as HTMLElement).dataset.id ?? "";
    const at = this.#rows.get(id);
    if (at === undefined) return;
    if (event.key === "Escape") this.#actions.choose("");
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const by = event.key === "ArrowUp" ? -1 : 1;
      this.#focus(this.#columns[at.column]?.[at.number + by]?.id);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const left = event.key === "ArrowLeft";
      const link = this.#links.find((each) => (left ? each.to : each.from) === id);
      const next = this.#columns[at.column + (left ? -1 : 1)];
      this.#focus(link === undefined ? next?.[Math.min(at.number, next.length - 1)]?.id : left ? link.from : link.to);
    } else return;
    consume(event);
  }

  #focus(id: string | undefined): void {
    const el = this.#rows.get(id ?? "")?.el;
    if (el === undefined) return;
    for (const row of this.#rows.values()) row.el.tabIndex = row.el === el ? 0 : -1;
    el.focus();
  }

  #light(): void {
    const of = this.#hovered !== "" ? this.#hovered : this.#chosen;
    const lit = this.#rows.has(of) ? this.#actions.related(of) : null;
    for (const [id, { el }] of this.#rows) {
      el.classList.toggle("tft-dim", lit !== null && !lit.has(id));
      el.classList.toggle("tft-lit", lit?.has(id) ?? false);
    }
    this.#draw();
  }

  #drawLinks(): void {
    const board = this.#board.getBoundingClientRect();
    this.#svg.setAttribute("width", `${board.width}`);
    this.#svg.setAttribute("height", `${board.height}`);
    const places = new Map([...this.#rows].map(([id, { el }]) => [id, el.getBoundingClientRect()]));
    const of = this.#hovered !== "" ? this.#hovered : this.#chosen;
    const lit = this.#rows.has(of) ? this.#actions.related(of) : null;
    const paths = this.#links.flatMap(({ from, to, kind }) => {
      const [a, b] = [places.get(from), places.get(to)];
      if (a === undefined || b === undefined) return [];
      const [x1, y1] = [a.right - board.left, (a.top + a.bottom) / 2 - board.top];
      const [x2, y2] = [b.left - board.left, (b.top + b.bottom) / 2 - board.top];
      const bend = (x2 - x1) / 2;
      const state = lit === null ? "" : lit.has(from) && lit.has(to) ? " tft-lit" : " tft-dim";
      const d = `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
      return [s("path", { class: `tft-flow-link ${kind}${state}`, d })];
    });
    this.#svg.replaceChildren(...paths);
  }
}
