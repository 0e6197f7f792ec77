// The view of a checkpoint: its variables as a tree of scopes, what changed, and what a graph misses in it.
import { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import { bytesText, count } from "../base/format";
import { svg } from "../base/svg";
import type { CheckpointTraits, SavedVariable } from "../kernel/checkpoint_messages";
import { decodeVariable } from "../kernel/checkpoint_messages";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";

const INDENT_PX = 14;
const MOST_ROWS = 200; // of a scope, until the others are asked for
const MOST_OPEN = 60; // variables; with more of them, scopes begin closed
/** Scopes in the order of their numbers: "block_2" before "block_10". */
const { compare } = new Intl.Collator("en", { numeric: true });
const [BARS_WIDTH, BARS_HEIGHT] = [96, 18];

interface Scope {
  scopes: Map<string, Scope>;
  variables: SavedVariable[];
}

class CheckpointView {
  readonly #root = h("div", { class: "tfteach-checkpoint tfteach-graph" });
  readonly #tree: VariableTree;
  readonly #cleanup = new Cleanup();

  constructor(traits: Traits<CheckpointTraits>, parent: HTMLElement) {
    parent.append(this.#root);
    this.#tree = new VariableTree(traits.get("_variables").map(decodeVariable));
    const [path, before] = traits.get("_paths");
    const filter = h("input", { type: "search", class: "tft-saved-filter", placeholder: "Filter names" });
    filter.setAttribute("aria-label", "Show only variables whose names contain this");
    const head = h("div", { class: "tft-saved-head" }, h("b", {}, path), h("span", {}, traits.get("_summary")), filter);
    if (before !== "") filter.before(h("span", { class: "tft-muted" }, `compared with ${before}`));
    this.#root.append(head, ...problems(traits), this.#tree.el);
    this.#cleanup.on(filter, "input", () => this.#tree.show(filter.value.toLowerCase()));
  }

  destroy(): void {
    this.#cleanup.end();
    this.#root.remove();
  }
}

/** What the graph and the checkpoint do not have of each other; long lists scroll. */
function problems(traits: Traits<CheckpointTraits>): HTMLElement[] {
  const [missing, extra] = [traits.get("_missing"), traits.get("_extra")];
  const found: HTMLElement[] = [];
  if (missing.length > 0) {
    const rows = missing.map(([name, why]) => h("li", {}, h("code", {}, name), ` ${why}`));
    const title = `${count(missing.length, "variable")} of the graph cannot be restored`;
    found.push(problem("tft-saved-missing", title, rows, true));
  }
  if (extra.length > 0) {
    const rows = extra.map((name) => h("li", {}, h("code", {}, name)));
    const title = `${count(extra.length, "variable")} of the checkpoint not in the graph`;
    found.push(problem("tft-saved-extra", title, rows, false));
  }
  return found;
}

function problem(className: string, title: string, rows: HTMLElement[], open: boolean): HTMLElement {
  const el = h("details", { class: className }, h("summary", {}, title), h("ul", { tabindex: 0 }, ...rows));
  el.open = open;
  return el;
}

/** The variables by scope. The rows of a closed scope are made when it is first opened. */
class VariableTree {
  readonly el = h("div", { class: "tft-saved-tree" });
  readonly #variables: SavedVariable[];
  /** Without a filter: its scopes stay open or closed while a filter is typed and removed. */
  #whole: HTMLElement | null = null;

  constructor(variables: SavedVariable[]) {
    this.#variables = variables;
    this.show("");
  }

  /** Shows the variables whose names contain this; it is in lower case. */
  show(filter: string): void {
    if (filter === "") {
      this.#whole ??= this.#of(this.#variables);
      this.el.replaceChildren(this.#whole);
      return;
    }
    const shown = this.#variables.filter(({ name }) => name.toLowerCase().includes(filter));
    const none = h("p", { class: "tft-muted" }, "No variable has such a name.");
    this.el.replaceChildren(shown.length === 0 ? none : this.#of(shown));
  }

  #of(variables: SavedVariable[]): HTMLElement {
    const root: Scope = { scopes: new Map(), variables: [] };
    for (const variable of variables) {
      let at = root;
      for (const part of variable.name.split("/").slice(0, -1)) {
        const inner = at.scopes.get(part) ?? { scopes: new Map(), variables: [] };
        at.scopes.set(part, inner);
        at = inner;
      }
      at.variables.push(variable);
    }
    return h("div", {}, ...this.#rowsOf(root, variables.length <= MOST_OPEN, []));
  }

  /** The rows of a scope; only names are indented, so that columns remain columns. */
  #rowsOf(scope: Scope, open: boolean, path: string[]): HTMLElement[] {
    const rows: (() => HTMLElement)[] = [];
    const scopes = new Map([...scope.scopes].sort(([a], [b]) => compare(a, b)));
    const addRow = (variable: SavedVariable): void => void rows.push(() => rowOf(variable, path));
    for (const variable of scope.variables) {
      addRow(variable);
      const own = variable.name.split("/").at(-1)!;
      const slots = scopes.get(own);
      if (slots === undefined || slots.scopes.size > 0) continue;
      slots.variables.forEach(addRow); // an optimizer's: "kernel/Adam" below "kernel"
      scopes.delete(own);
    }
    for (const [name, inner] of scopes) rows.push(() => this.#scope([...path, name], inner, open));
    const found = rows.slice(0, MOST_ROWS).map((make) => make());
    const rest = rows.slice(MOST_ROWS);
    if (rest.length === 0) return found;
    const title = `Show all in this scope: ${rest.length} more`;
    const more = button(`${rest.length} more`, title, () => more.replaceWith(...rest.map((make) => make())));
    return [...found, more];
  }

  #scope(path: string[], inner: Scope, open: boolean): HTMLElement {
    const all = within(inner);
    const bytes = all.reduce((sum, variable) => sum + variable.bytes, 0);
    const changed = all.filter(({ kind }) => kind !== "" && kind !== "same").length;
    const words = [count(all.length, "variable"), bytesText(bytes)];
    if (all[0]!.kind !== "") words.push(`${changed} changed`);
    const title = h(
      "summary",
      { style: `padding-left: ${(path.length - 1) * INDENT_PX}px` },
      h("b", {}, `${path.at(-1)}/`),
      h("span", { class: "tft-muted" }, ` ${words.join(" · ")}`),
    );
    const el = h("details", {}, title);
    const fill = (): void => el.append(...this.#rowsOf(inner, open, path));
    if (open) fill();
    else el.addEventListener("toggle", fill, { once: true });
    el.open = open;
    return el;
  }
}

const within = (scope: Scope): SavedVariable[] => [
  ...scope.variables,
  ...[...scope.scopes.values()].flatMap((inner) => within(inner)),
];

/** A variable in the scope of this path; its name is what follows the path. */
function rowOf(variable: SavedVariable, path: string[]): HTMLElement {
  const { name, type, size, share, norm, wrong, change, kind } = variable;
  return h(
    "div",
    { class: "tft-saved-row", title: name },
    h("code", { style: `padding-left: ${path.length * INDENT_PX}px` }, name.split("/").slice(path.length).join("/")),
    h("span", { class: "tft-muted" }, type),
    h(
      "span",
      { class: "tft-saved-size" },
      size,
      h("span", { class: "tft-saved-meter", style: `width: ${(100 * share).toFixed(1)}%` }),
    ),
    h("span", {}, norm === "" ? "" : `norm ${norm}`),
    histogram(variable),
    h("span", { class: `tft-saved-change tft-${kind.replace(" ", "-")}` }, change),
    wrong > 0 ? h("b", { class: "tft-saved-wrong" }, `${wrong} not finite`) : null,
  );
}

function histogram({ bins, ends: [low, high] }: SavedVariable): HTMLElement {
  const label = low === high ? low : `${low} to ${high}`;
  const el = h("span", { class: "tft-saved-values" });
  if (bins.length > 0) {
    const attributes = { width: BARS_WIDTH, height: BARS_HEIGHT, "aria-hidden": "true" };
    const picture = svg("svg", el, attributes);
    const [step, highest] = [BARS_WIDTH / bins.length, Math.max(...bins)];
    bins.forEach((amount, i) => {
      const height = (BARS_HEIGHT * amount) / highest;
      svg("rect", picture, { x: i * step, y: BARS_HEIGHT - height, width: step - 0.6, height });
    });
  }
  if (low !== "") el.append(h("span", { class: "tft-muted" }, label));
  return el;
}

export default hosted((traits: Traits<CheckpointTraits>, el) => new CheckpointView(traits, el));
