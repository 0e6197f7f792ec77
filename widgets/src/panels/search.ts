// The search box: which ops a text finds, and the list under it.
import { h } from "../base/elements";
import { readable } from "../layout/box_style";
import type { GraphModel } from "../model/graph";

export interface Hit {
  index: number;
  name: string;
  type: string;
}

const MOST_HITS = 50;
const LONGEST_NAME = 2000; // characters; a pattern may take the square of it

export interface Found {
  hits: Hit[];
  all: Set<number>;
  /** Why nothing was searched: an invalid regular expression. */
  problem: string;
}

/** Ops whose name or type contains the text, exact types and name endings first; `/conv\d/` is a regular expression.
 * Both ignore case. */
export function find(model: GraphModel, text: string): Found {
  const want = text.trim().toLowerCase();
  const pattern = /^\/(.+)\/i?$/s.exec(text.trim())?.[1];
  const all = new Set<number>();
  if (want === "") return { hits: [], all, problem: "" };
  let rank: (name: string, type: string) => number;
  try {
    rank = pattern === undefined ? rankByText(want) : rankByPattern(new RegExp(pattern, "i"));
  } catch (error) {
    return { hits: [], all, problem: (error as Error).message };
  }
  const ranked: [number, Hit][] = [];
  for (const op of model.ops) {
    const place = rank(op.name, op.type);
    if (place < 0) continue;
    all.add(op.index);
    ranked.push([place, { index: op.index, name: op.name, type: op.type }]);
  }
  ranked.sort((a, b) => a[0] - b[0] || a[1].index - b[1].index);
  return { hits: ranked.slice(0, MOST_HITS).map(([, hit]) => hit), all, problem: "" };
}

const rankByText =
  (want: string) =>
  (fullName: string, fullType: string): number => {
    const name = fullName.toLowerCase();
    const type = fullType.toLowerCase();
    return name === want
      ? 0
      : type === want
        ? 1
        : name.endsWith(`/${want}`)
          ? 2
          : type.startsWith(want)
            ? 3
            : name.includes(want)
              ? 4
              : type.includes(want)
                ? 5
                : -1;
  };

const rankByPattern =
  (pattern: RegExp) =>
  (name: string, type: string): number =>
    pattern.test(name.slice(0, LONGEST_NAME)) ? 0 : pattern.test(type.slice(0, LONGEST_NAME)) ? 1 : -1;

export interface SearchActions {
  /** The matching ops have changed. */
  found: (ops: ReadonlySet<number>) => void;
  /** An op was chosen. */
  take: (index: number) => void;
  /** The search was left for the picture. */
  back: () => void;
}

export interface SearchFrame {
  search: HTMLInputElement;
  results: HTMLElement;
}

export class Search {
  readonly #frame: SearchFrame;
  readonly #model: GraphModel;
  readonly #actions: SearchActions;
  #matches = new Set<number>();
  #hits: Hit[] = [];
  #hit = 0;
  #problem = "";

  constructor(frame: SearchFrame, model: GraphModel, actions: SearchActions) {
    this.#frame = frame;
    this.#model = model;
    this.#actions = actions;

    const { search, results } = frame;
    search.addEventListener("input", () => this.#find());
    search.addEventListener("keydown", (event) => this.#onKey(event));
    search.addEventListener("blur", () => setTimeout(() => (results.hidden = true), 150));
    results.hidden = true;
  }

  focus(): void {
    this.#frame.search.focus();
  }

  #find(): void {
    const found = find(this.#model, this.#frame.search.value);
    [this.#hits, this.#matches, this.#hit, this.#problem] = [found.hits, found.all, 0, found.problem];
    this.#show();
    this.#actions.found(this.#matches);
  }

  #onKey(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      this.#hit = (this.#hit + by + this.#hits.length) % Math.max(1, this.#hits.length);
      this.#show();
    } else if (event.key === "Enter") this.#take(this.#hit);
    else if (event.key === "Escape") this.#close();
  }

  #show(): void {
    const { search, results } = this.#frame;
    const total = this.#matches.size;
    const items = this.#hits.map(({ name, type }, i) => {
      return h(
        "li",
        {
          role: "option",
          "aria-selected": i === this.#hit,
          onpointerdown: (event: PointerEvent) => {
            event.preventDefault();
            this.#take(i);
          },
        },
        h("span", {}, readable(name)),
        h("span", { class: "tft-muted" }, ` ${readable(type)}`),
      );
    });
    const summary =
      this.#problem !== ""
        ? `not a regular expression: ${this.#problem.replace(/^Invalid regular expression: /, "")}`
        : total === 0
          ? "nothing found"
          : total > items.length
            ? `${total} found, the first ${items.length} shown`
            : "";
    if (summary !== "") items.push(h("li", { class: "tft-muted", role: "presentation" }, summary));
    results.replaceChildren(...items);
    results.hidden = search.value.trim() === "";
    search.setAttribute("aria-invalid", `${this.#problem !== ""}`);
    search.setAttribute("aria-expanded", `${!results.hidden}`);
    results.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  #take(i: number): void {
    const hit = this.#hits[i];
    if (hit === undefined) return;
    this.#frame.results.hidden = true;
    this.#actions.take(hit.index);
  }

  #close(): void {
    this.#frame.search.value = "";
    this.#frame.results.hidden = true;
    [this.#hits, this.#matches, this.#problem] = [[], new Set(), ""];
    this.#frame.search.removeAttribute("aria-invalid");
    this.#actions.found(this.#matches);
    this.#actions.back();
  }
}
