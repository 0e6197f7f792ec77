// The user's code beside a picture: a line under the pointer or with the focus is joined to what it did.
import { consume, h } from "../base/elements";
import type { CodeBlock, LineNote } from "../kernel/lines_messages";
import { highlighted } from "./highlighted_code";

/** "In [3]:4", the key of a line. */
export const keyOf = (file: string, line: number): string => `${file}:${line}`;

export interface ListingActions {
  /** The line under the pointer, or with the focus; null for none. */
  point: (key: string | null) => void;
  choose: (key: string) => void;
}

export class CodeListing {
  readonly #actions: ListingActions;
  readonly el: HTMLElement;
  /** The rows of each line; rewritten code may have several for one. */
  readonly #rows = new Map<string, HTMLElement[]>();
  #shown = "";
  #lit: ReadonlySet<string> = new Set();
  #marked: ReadonlySet<string> = new Set();

  constructor(label: string, actions: ListingActions) {
    this.#actions = actions;
    this.el = h("section", { class: "tft-listing", "aria-label": label });
    this.el.addEventListener("keydown", (event) => this.#key(event));
    this.el.addEventListener("mouseleave", () => actions.point(null));
  }

  /** Shows code; what is there already stays, with the focus in it. */
  show(blocks: readonly CodeBlock[]): void {
    const now = JSON.stringify(blocks);
    if (now === this.#shown) return;
    this.#shown = now;
    const focus = [...this.#rows].find(([, rows]) => rows.some((row) => row.matches(":focus")))?.[0];
    this.#rows.clear();
    this.el.hidden = blocks.length === 0; // code without a file has no lines to show
    this.el.replaceChildren(...blocks.map((block) => this.#block(block)));
    const first = this.#buttons[0];
    if (first !== undefined) first.tabIndex = 0;
    this.light(this.#lit);
    this.mark(this.#marked, false);
    if (focus !== undefined) this.#rows.get(focus)?.[0]?.focus();
  }

  /** Lines that belong to what is under the pointer elsewhere. */
  light(keys: ReadonlySet<string>): void {
    this.#lit = keys;
    for (const [key, rows] of this.#rows) for (const row of rows) row.classList.toggle("tft-lit-line", keys.has(key));
  }

  /** Lines that belong to what is selected. */
  mark(keys: ReadonlySet<string>, scroll = true): void {
    this.#marked = keys;
    for (const [key, rows] of this.#rows)
      for (const row of rows) {
        row.classList.toggle("tft-marked-line", keys.has(key));
        if (row.matches("button")) row.setAttribute("aria-pressed", `${keys.has(key)}`);
      }
    const [first] = keys;
    const row = first === undefined ? undefined : this.#rows.get(first)?.[0];
    if (row !== undefined && scroll) this.#bringIntoView(row);
  }

  /** Scrolls the listing only, not the page. */
  #bringIntoView(row: HTMLElement): void {
    const [top, height] = [row.offsetTop - this.el.offsetTop, this.el.clientHeight];
    const isSeen = top >= this.el.scrollTop && top + row.offsetHeight <= this.el.scrollTop + height;
    if (!isSeen) this.el.scrollTop = Math.max(0, top - height / 2);
  }

  get #buttons(): HTMLElement[] {
    return [...this.el.querySelectorAll<HTMLElement>("button.tft-code-row")];
  }

  #block({ file, first, lines, origins }: CodeBlock): HTMLElement {
    const indent = Math.min(...lines.filter(([text]) => text.trim() !== "").map(([text]) => text.search(/\S/)));
    const rows = lines.map(([text, notes], i) => {
      const from = origins?.[i] ?? first + i;
      return this.#row(keyOf(file, from), first + i, text.slice(indent), notes, origins !== undefined && from > 0);
    });
    const width = `${`${first + lines.length}`.length}ch`;
    return h(
      "div",
      { class: "tft-code-block", style: `--tft-number: ${width}` },
      h("div", { class: "tft-code-file" }, origins === undefined ? file : "The code that AutoGraph wrote"),
      ...rows,
    );
  }

  #row(key: string, line: number, text: string, notes: readonly LineNote[], hasOrigin: boolean): HTMLElement {
    const parts = [
      h("span", { class: "tft-line-number" }, h("span", { class: "tft-sr" }, "line "), `${line}`),
      h("code", {}, ...highlighted(text)),
    ];
    if (notes.length > 0) {
      const chips = notes.map(([kind, words, about]) =>
        h(
          "span",
          { class: `tft-note tft-note-${kind}`, title: about },
          words,
          h("span", { class: "tft-sr" }, ` (${about}) `),
        ),
      );
      parts.push(h("span", { class: "tft-notes" }, ...chips));
    }
    const row = this.#element(notes.length > 0 || hasOrigin, key, parts);
    const known = this.#rows.get(key);
    if (known === undefined) this.#rows.set(key, [row]);
    else known.push(row);
    return row;
  }

  /** A line that did something is a button. */
  #element(did: boolean, key: string, parts: HTMLElement[]): HTMLElement {
    const leave = (): void => this.#actions.point(null);
    if (!did) return h("div", { class: "tft-code-row", onmouseenter: leave }, ...parts);
    const point = (): void => this.#actions.point(key);
    return h(
      "button",
      {
        type: "button",
        class: "tft-code-row",
        tabindex: "-1",
        "aria-pressed": "false",
        onmouseenter: point,
        onfocus: point,
        onblur: leave,
        onclick: () => this.#actions.choose(key),
      },
      ...parts,
    );
  }

  /** One stop of the Tab key; arrows go from line to line. */
  #key(event: KeyboardEvent): void {
    const rows = this.#buttons;
    const at = rows.findIndex((row) => row.matches(":focus"));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    const next = to === undefined || at < 0 ? undefined : rows[to];
    if (next === undefined) return;
    consume(event);
    for (const row of rows) row.tabIndex = row === next ? 0 : -1;
    next.focus();
  }
}
