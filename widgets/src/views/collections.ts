// Who puts what into a graph's collections, and who takes it out: three columns, and what is lost between them.

import { Cleanup } from "../base/cleanup";
import { h } from "../base/elements";
import { count } from "../base/format";
import { hosted } from "../kernel/host";
import { opOf, shareSelection } from "../kernel/shared_selection";
import type { CollectionsTraits, Problem } from "../kernel/sharing_messages";
import { decodeProblem } from "../kernel/sharing_messages";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import { shorten } from "../layout/box_style";
import { codeLine } from "../panels/code_line";
import { FlowColumns, type FlowLink, type FlowRow } from "../panels/flow_columns";

const LONGEST_CALL = 20; // letters that fit beside the place in a notebook's column
const MOST_ITEMS = 60; // of a collection, that are listed

class CollectionsView {
  readonly #traits: Traits<CollectionsTraits>;
  readonly #title = h("h3");
  readonly #panel = h("div", { class: "tft-flow-panel", "aria-live": "polite" });
  readonly #columns: FlowColumns;
  readonly #root: HTMLElement;
  readonly #cleanup = new Cleanup();
  #problems: Problem[] = [];
  #chosen = "";

  constructor(traits: Traits<CollectionsTraits>, parent: HTMLElement) {
    this.#traits = traits;
    const actions = {
      choose: (id: string) => this.#choose(id === this.#chosen ? "" : id),
      toggle: () => undefined,
      related: (id: string) => this.#related(id),
    };
    this.#columns = new FlowColumns("Collections", actions, this.#cleanup);
    this.#root = h(
      "div",
      {
        class: "tfteach-graph tfteach-collections",
        role: "group",
        "aria-label": "Collections of a graph",
        "data-lm-suppress-shortcuts": "true",
      },
      h("div", { class: "tft-flow-bar" }, this.#title),
      this.#columns.root,
      this.#panel,
    );
    parent.append(this.#root);
    this.#cleanup.add(
      onChange(traits, ["_collections", "_takers", "_problems"], () => queueMicrotask(() => this.#show())),
      onChange(traits, ["selected"], () => this.#follow()),
      shareSelection(traits, () => this.#follow()),
      () => this.#root.remove(),
    );
    this.#show();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #show(): void {
    const { _makers, _collections, _takers } = {
      _makers: this.#traits.get("_makers"),
      _collections: this.#traits.get("_collections"),
      _takers: this.#traits.get("_takers"),
    };
    this.#problems = this.#traits.get("_problems").map(decodeProblem);
    this.#title.textContent = this.#traits.get("_summary");
    const lost = new Set(this.#problems.map((problem) => problem.collection));
    const links: FlowLink[] = [];
    for (const [i, [, , , makers]] of _collections.entries())
      for (const [maker] of makers) links.push({ from: `m${maker}`, to: `c${i}`, kind: "" });
    for (const [i, [, , takes]] of _takers.entries())
      for (const [collection, taken] of takes) {
        const kind = taken === 0 ? "tft-shares tft-wrong" : "";
        links.push({ from: `c${collection}`, to: `t${i}`, kind });
      }
    const taken = new Set(_takers.flatMap(([, , takes]) => takes.map(([collection]) => collection)));
    const middle = _collections.map(([name, key, , makers], i): FlowRow => {
      const size = makers.reduce((sum, [, n]) => sum + n, 0);
      const content = [
        h("b", { class: "tft-grow" }, shorten(name, 34)),
        small(`${count(size, "item")}${taken.has(i) || taken.size === 0 ? "" : ", unread"}`, "tft-end"),
      ];
      const kind = lost.has(i) ? "tft-is-collection tft-wrong" : "tft-is-collection";
      return { id: `c${i}`, depth: 0, kind, content, title: `"${key}": ${count(size, "item")}`, open: null };
    });
    const columns = [
      _makers.map(([call, line], i) => this.#callRow(`m${i}`, call, line)),
      middle,
      _takers.map(([call, line], i) => this.#callRow(`t${i}`, call, line)),
    ];
    const heads = [
      "Put in by",
      "Collections of tf.GraphKeys",
      _takers.length > 0 ? "Looked up by" : "Not looked up yet",
    ];
    this.#columns.show(heads, columns, links, this.#chosen);
    this.#tell();
  }

  #callRow(id: string, call: string, line: number): FlowRow {
    const [place, number, text] = this.#traits.get("_lines")[line] ?? ["", 0, ""];
    const content = [
      h("b", {}, call === "" ? "a line" : withoutNamespaces(call)),
      small(place === "" ? "" : `${place}:${number}`, "tft-end"),
    ];
    return { id, depth: 0, kind: "tft-is-call", content, title: `${call}\n${text}`, open: null };
  }

  /** The makers and takers on the way through a row. */
  #related(id: string): Set<string> {
    const found = new Set([id]);
    const index = Number(id.slice(1));
    const collections = this.#traits.get("_collections");
    const takers = this.#traits.get("_takers");
    if (id.startsWith("m")) {
      for (const [i, [, , , makers]] of collections.entries())
        if (makers.some(([maker]) => maker === index)) found.add(`c${i}`);
      for (const [i, [, , takes]] of takers.entries())
        if (takes.some(([collection, , , makers]) => found.has(`c${collection}`) && makers.includes(index)))
          found.add(`t${i}`);
    } else if (id.startsWith("c")) {
      for (const [maker] of collections[index]?.[3] ?? []) found.add(`m${maker}`);
      for (const [i, [, , takes]] of takers.entries())
        if (takes.some(([collection]) => collection === index)) found.add(`t${i}`);
    } else
      for (const [collection, , , makers] of takers[index]?.[2] ?? []) {
        found.add(`c${collection}`);
        for (const maker of makers) found.add(`m${maker}`);
      }
    return found;
  }

  #choose(id: string): void {
    this.#chosen = id;
    this.#columns.mark(id);
    this.#tell();
  }

  /** An op was selected in another view: the first collection with it. */
  #follow(): void {
    const name = opOf(this.#traits.get("selected"));
    const found = this.#traits.get("_collections").findIndex(([, , items]) => items.some(([each]) => each === name));
    if (found >= 0) this.#choose(`c${found}`);
  }

  // --- the panel ---

  #tell(): void {
    const index = Number(this.#chosen.slice(1));
    const problems = this.#problems.filter((problem) => !this.#chosen.startsWith("c") || problem.collection === index);
    const parts = problems.map((problem) => this.#problem(problem));
    const chosen = this.#chosen === "" ? [] : [this.#about(this.#chosen[0]!, index)];
    if (parts.length + chosen.length === 0)
      parts.push(
        h("p", { class: "tft-muted" }, "Point at a row to follow its items, choose a collection to list them."),
      );
    this.#panel.replaceChildren(...chosen, ...parts);
    this.#panel.scrollTop = 0;
  }

  #problem({ names, text, cure, made, taken }: Problem): HTMLElement {
    const lines = this.#traits.get("_lines");
    return h(
      "section",
      { class: "tft-flow-problem" },
      h("h4", {}, shorten(names, 120)),
      h("p", {}, text),
      h("p", { class: "tft-cure" }, cure),
      made < 0 ? null : h("p", { class: "tft-muted" }, "made by ", codeLine(lines, made)),
      taken < 0 ? null : h("p", { class: "tft-muted" }, "looked up by ", codeLine(lines, taken)),
    );
  }

  #about(kind: string, index: number): HTMLElement {
    const lines = this.#traits.get("_lines");
    if (kind === "c") {
      const [name, key, items] = this.#traits.get("_collections")[index]!;
      const shown = items.slice(0, MOST_ITEMS).map(([item, type]) => this.#link(item, type));
      return h(
        "section",
        {},
        h("h4", {}, name, " ", small(`"${key}"`)),
        h("p", {}, ...shown.flatMap((each, i) => [i > 0 ? ", " : "", each]), items.length > MOST_ITEMS ? ", …" : ""),
      );
    }
    const collections = this.#traits.get("_collections");
    if (kind === "m") {
      const [call, line] = this.#traits.get("_makers")[index]!;
      const rows = collections.flatMap(([name, , items]) => {
        const own = items.filter(([, , maker]) => maker === index);
        if (own.length === 0) return [];
        const links = own.slice(0, 12).flatMap(([item, type], i) => [i > 0 ? ", " : "", this.#link(item, type)]);
        return [h("li", {}, h("b", {}, `${name}: `), ...links, own.length > 12 ? ` and ${own.length - 12} more` : "")];
      });
      return h("section", {}, h("h4", {}, call, " ", codeLine(lines, line)), h("ul", {}, ...rows));
    }
    const [call, line, takes] = this.#traits.get("_takers")[index]!;
    const rows = takes.map(([collection, taken, scope]) => {
      const size = collections[collection]![3].reduce((sum, [, n]) => sum + n, 0);
      const within = scope === "" ? "" : `, in scope "${scope}"`;
      return h("li", {}, h("b", {}, `${collections[collection]![0]}: `), `${taken} of ${count(size, "item")}${within}`);
    });
    return h("section", {}, h("h4", {}, call, " ", codeLine(lines, line)), h("ul", {}, ...rows));
  }

  #link(item: string, type: string): HTMLElement {
    return h(
      "button",
      {
        type: "button",
        class: "tft-name-link",
        title: type,
        onclick: () => update(this.#traits, { selected: item }),
      },
      shorten(item, 60),
    );
  }
}

/** "tf.train.Optimizer.minimize" as "Optimizer.minimize": the row's title and its panel have the whole name. */
function withoutNamespaces(call: string): string {
  const parts = call.split(".");
  const isMethod = /^[A-Z]/.test(parts.at(-2) ?? "");
  const short = parts.slice(isMethod ? -2 : -1).join(".");
  return call.length <= LONGEST_CALL ? call : short;
}

const small = (text: string, more = ""): HTMLElement => h("span", { class: `tft-small ${more}` }, text);

export default hosted((traits: Traits<CollectionsTraits>, el) => new CollectionsView(traits, el));
