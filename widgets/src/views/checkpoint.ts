// The view of a checkpoint: its variables as a tree of scopes, what changed, and what a graph misses in it.
import { Cleanup } from "../base/cleanup";
import { h } from "../base/elements";
import { bytesText, count } from "../base/format";
import { svg } from "../base/svg";
import type { CheckpointTraits, SavedVariable } from "../kernel/checkpoint_messages";
import { decodeVariable } from "../kernel/checkpoint_messages";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";

const INDENT_PX = 14;
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
  readonly #tree = h("div", { class: "tft-saved-tree" });
  readonly #variables: SavedVariable[];
  readonly #cleanup = new Cleanup();

  constructor(traits: Traits<CheckpointTraits>, parent: HTMLElement) {
    parent.append(this.#root);
    this.#variables = traits.get("_variables").map(decodeVariable);
    const [path, before] = traits.get("_paths");
    const filter = h("input", { type: "search", class: "tft-saved-filter", placeholder: "Filter names" });
    filter.setAttribute("aria-label", "Show only variables whose names contain this");
    const head = h("div", { class: "tft-saved-head" }, h("b", {}, path), h("span", {}, traits.get("_summary")), filter);
    if (before !== "") filter.before(h("span", { class: "tft-muted" }, `compared with ${before}`));
    this.#root.append(head, ...this.#problems(traits), this.#tree);
    this.#cleanup.on(filter, "input", () => this.#show(filter.value.toLowerCase()));
    this.#show("");
  }

  destroy(): void {
    this.#cleanup.end();
    this.#root.remove();
  }

  #problems(traits: Traits<CheckpointTraits>): HTMLElement[] {
    const [missing, extra] = [traits.get("_missing"), traits.get("_extra")];
    const found: HTMLElement[] = [];
    if (missing.length > 0) {
      const rows = missing.map(([name, why]) => h("li", {}, h("code", {}, name), ` ${why}`));
      const title = `${count(missing.length, "variable")} of the graph cannot be restored`;
      found.push(h("section", { class: "tft-saved-missing" }, h("h3", {}, title), h("ul", {}, ...rows)));
    }
    if (extra.length > 0) {
      const rows = extra.map((name) => h("li", {}, h("code", {}, name)));
      const title = h("summary", {}, `${count(extra.length, "variable")} of the checkpoint not in the graph`);
      found.push(h("details", { class: "tft-saved-extra" }, title, h("ul", {}, ...rows)));
    }
    return found;
  }

  #show(filter: string): void {
    const shown = this.#variables.filter(({ name }) => name.toLowerCase().includes(filter));
    const root: Scope = { scopes: new Map(), variables: [] };
    for (const variable of shown) {
      let at = root;
      for (const part of variable.name.split("/").slice(0, -1)) {
        const inner = at.scopes.get(part) ?? { scopes: new Map(), variables: [] };
        at.scopes.set(part, inner);
        at = inner;
      }
      at.variables.push(variable);
    }
    const none = h("p", { class: "tft-muted" }, "No variable has such a name.");
    this.#tree.replaceChildren(...(shown.length === 0 ? [none] : rowsOf(root, shown.length <= MOST_OPEN)));
  }
}

/** The rows of a scope; only names are indented, so that columns remain columns. */
function rowsOf(scope: Scope, open: boolean, depth = 0): HTMLElement[] {
  const found = scope.variables.map((variable) => rowOf(variable, depth));
  const indented = { style: `padding-left: ${depth * INDENT_PX}px` };
  for (const [name, inner] of [...scope.scopes].sort(([a], [b]) => compare(a, b))) {
    const all = within(inner);
    const bytes = all.reduce((sum, variable) => sum + variable.bytes, 0);
    const changed = all.filter(({ kind }) => kind !== "" && kind !== "same").length;
    const words = [count(all.length, "variable"), bytesText(bytes)];
    if (all[0]!.kind !== "") words.push(`${changed} changed`);
    const title = h(
      "summary",
      indented,
      h("b", {}, `${name}/`),
      h("span", { class: "tft-muted" }, ` ${words.join(" · ")}`),
    );
    const el = h("details", {}, title, ...rowsOf(inner, open, depth + 1));
    el.open = open;
    found.push(el);
  }
  return found;
}

const within = (scope: Scope): SavedVariable[] => [
  ...scope.variables,
  ...[...scope.scopes.values()].flatMap((inner) => within(inner)),
];

function rowOf(variable: SavedVariable, depth: number): HTMLElement {
  const { name, type, size, share, norm, wrong, change, kind } = variable;
  return h(
    "div",
    { class: "tft-saved-row", title: name },
    h("code", { style: `padding-left: ${depth * INDENT_PX}px` }, name.slice(name.lastIndexOf("/") + 1)),
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
