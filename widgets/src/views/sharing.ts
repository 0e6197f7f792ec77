// The scopes and calls of a program beside the variables that they create and share, and what names an op.

import { Cleanup } from "../base/cleanup";
import { h } from "../base/elements";
import { count } from "../base/format";
import { hosted } from "../kernel/host";
import { opOf, shareSelection } from "../kernel/shared_selection";
import type { CodeScope, NamePart, SharingTraits, VariableCall } from "../kernel/sharing_messages";
import { decodeScope, decodeVariableCall } from "../kernel/sharing_messages";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import { shorten } from "../layout/box_style";
import { codeLine, placeOf } from "../panels/code_line";
import { FlowColumns, type FlowLink, type FlowRow } from "../panels/flow_columns";

const OPEN_ROWS = 44; // both columns are opened level by level while each has at most as many rows
const MOST_CARDS = 20;
const KINDS: Record<string, string> = {
  variable_scope: "tf.variable_scope",
  name_scope: "tf.name_scope",
  function: "a library function",
  own: "its own name",
};

/** A scope of the code, or a prefix of variables. */
interface Group {
  id: string;
  outer: Group | null;
  depth: number;
  /** Calls or variables directly inside, by the id of their row. */
  leaves: Map<string, number[]>;
  inside: Group[];
}

class SharingView {
  readonly #traits: Traits<SharingTraits>;
  readonly #title = h("h3");
  readonly #panel = h("div", { class: "tft-flow-panel", "aria-live": "polite" });
  readonly #columns: FlowColumns;
  readonly #root: HTMLElement;
  readonly #cleanup = new Cleanup();
  #scopes: CodeScope[] = [];
  #calls: VariableCall[] = [];
  #code = new Map<string, Group>();
  #names = new Map<string, Group>();
  #open = new Set<string>();
  #callGroups: Group[] = [];
  #variableGroups: Group[] = [];
  #around = new Map<string, Set<string>>();
  readonly #groupOf = new Map<string, string>();

  constructor(traits: Traits<SharingTraits>, parent: HTMLElement) {
    this.#traits = traits;
    const actions = {
      choose: (id: string) => this.#choose(id),
      toggle: (id: string) => this.#toggle(id),
      related: (id: string) => this.#related(id),
    };
    this.#columns = new FlowColumns("Calls and variables", actions, this.#cleanup);
    const key = h(
      "span",
      { class: "tft-flow-key" },
      h("span", {}, h("i"), "creates"),
      h("span", {}, h("i", { class: "tft-shares" }), "shares"),
    );
    this.#root = h(
      "div",
      {
        class: "tfteach-graph tfteach-sharing",
        role: "group",
        "aria-label": "Shared variables",
        "data-lm-suppress-shortcuts": "true",
      },
      h("div", { class: "tft-flow-bar" }, this.#title, key),
      this.#columns.root,
      this.#panel,
    );
    parent.append(this.#root);
    this.#cleanup.add(
      onChange(traits, ["_names"], () => queueMicrotask(() => this.#read())),
      onChange(traits, ["selected"], () => this.#select()),
      shareSelection(traits, () => this.#select()),
      () => this.#root.remove(),
    );
    this.#read();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  // --- the two trees ---

  #read(): void {
    this.#title.textContent = this.#traits.get("_summary");
    this.#scopes = this.#traits.get("_scopes").map(decodeScope);
    this.#calls = this.#traits.get("_calls").map(decodeVariableCall);
    const code = new Map([["", group("", null)]]);
    this.#code = code;
    for (const [i, scope] of this.#scopes.entries())
      code.set(`s${i}`, group(`s${i}`, code.get(scope.outer < 0 ? "" : `s${scope.outer}`)!));
    this.#callGroups = this.#calls.map((call, i) => {
      const place = code.get(call.scope < 0 ? "" : `s${call.scope}`)!;
      const id = `c${call.scope},${call.line},${call.call}`;
      place.leaves.set(id, [...(place.leaves.get(id) ?? []), i]);
      return place;
    });
    const names = new Map([["", group("", null)]]);
    this.#names = names;
    this.#variableGroups = this.#traits.get("_variables").map(([name], i) => {
      let place = names.get("")!;
      const parts = name.split("/").slice(0, -1);
      for (let end = 1; end <= parts.length; end++) {
        const id = `g${parts.slice(0, end).join("/")}`;
        if (!names.has(id)) names.set(id, group(id, place));
        place = names.get(id)!;
      }
      place.leaves.set(`v${i}`, [i]);
      return place;
    });
    this.#open = new Set();
    this.#groupOf.clear();
    this.#openLevels([...code.values()], [...names.values()]);
    this.#show();
    this.#select();
  }

  /** Both columns to the same depth: a closed scope beside its open prefix would send a line to each row in there. */
  #openLevels(...columns: Group[][]): void {
    const rows = columns.map(() => 0);
    for (let depth = 0; ; depth++) {
      const levels = columns.map((groups) => groups.filter((each) => each.depth === depth));
      for (const [i, level] of levels.entries())
        rows[i]! += level.reduce((sum, each) => sum + each.leaves.size + each.inside.length, 0);
      const isFull = depth > 0 && rows.some((count) => count > OPEN_ROWS);
      if (isFull || levels.every((level) => level.length === 0)) return;
      for (const each of levels.flat()) this.#open.add(each.id);
    }
  }

  /** The row that stands for a leaf: itself, or the outermost closed group around it. */
  #shown(leaf: string, place: Group): string {
    let row = leaf;
    for (let at: Group | null = place; at !== null; at = at.outer) if (!this.#open.has(at.id)) row = at.id;
    return row;
  }

  #show(): void {
    const chosen = this.#chosenRow();
    const left: FlowRow[] = [];
    this.#list(this.#code.get("")!, left, (id, place) => this.#callRow(id, place));
    const right: FlowRow[] = [];
    this.#list(this.#names.get("")!, right, (id, place) => this.#variableRow(id, place));
    const links = new Map<string, FlowLink>();
    this.#around = new Map();
    const join = (a: string, b: string): void => {
      for (const [one, other] of [
        [a, b],
        [b, a],
      ] as const)
        this.#around.set(one, (this.#around.get(one) ?? new Set<string>()).add(other));
    };
    for (const [i, call] of this.#calls.entries()) {
      const from = this.#shown(`c${call.scope},${call.line},${call.call}`, this.#callGroups[i]!);
      const to = this.#shown(`v${call.variable}`, this.#variableGroups[call.variable]!);
      const id = `${from}|${to}`;
      if (call.made || !links.has(id)) links.set(id, { from, to, kind: call.made ? "" : "tft-shares" });
      join(from, to);
    }
    const heads = ["Scopes and calls of the code", "Variables, under their own prefixes"];
    this.#columns.show(heads, [left, right], [...links.values()], chosen);
  }

  /** A row, those at the other ends of its lines, and the groups around all of them. */
  #related(id: string): Set<string> {
    const found = new Set([id, ...(this.#around.get(id) ?? [])]);
    for (const row of found) {
      const around = this.#groupOf.get(row);
      if (around !== undefined) found.add(around);
    }
    return found;
  }

  #list(at: Group, rows: FlowRow[], leaf: (id: string, at: Group) => FlowRow): void {
    const depth = at.depth;
    for (const id of [...at.leaves.keys(), ...at.inside.map((each) => each.id)])
      if (at.id !== "") this.#groupOf.set(id, at.id);
    // In the order of the program: leaves and groups by their first leaf.
    const first = (each: Group): number =>
      Math.min(Infinity, ...[...each.leaves.values()].map((ids) => ids[0]!), ...each.inside.map(first));
    const parts: [number, () => void][] = [
      ...[...at.leaves].map(([id, ids]): [number, () => void] => [ids[0]!, () => rows.push(leaf(id, at))]),
      ...at.inside.map((each): [number, () => void] => [
        first(each),
        () => {
          rows.push(this.#groupRow(each, depth));
          if (this.#open.has(each.id)) this.#list(each, rows, leaf);
        },
      ]),
    ];
    for (const [, add] of parts.sort(([a], [b]) => a - b)) add();
  }

  #groupRow(at: Group, depth: number): FlowRow {
    const open = this.#open.has(at.id);
    const size = leaves(at);
    if (at.id.startsWith("g")) {
      const name = at.id.slice(1);
      const text = name.slice(name.lastIndexOf("/") + 1);
      const content = [h("b", {}, `${shorten(text, 30)}/`), small(open ? "" : count(size, "variable"))];
      return { id: at.id, depth, kind: "tft-is-group", content, title: `${name}/`, open };
    }
    const scope = this.#scopes[Number(at.id.slice(1))]!;
    const place = placeOf(this.#traits.get("_lines"), scope.line);
    const taken = scope.text !== scope.asked ? `"${scope.asked}" was taken` : "";
    const content = [
      h("b", {}, `${shorten(scope.text, 30)}/`),
      small(KINDS[scope.kind]!),
      taken === "" ? null : small(taken),
      small(open ? place : count(size, "call"), "tft-end"),
    ];
    return { id: at.id, depth, kind: `tft-in-${scope.kind}`, content, title: `${scope.text}/, ${place}`, open };
  }

  #callRow(id: string, place: Group): FlowRow {
    const ids = place.leaves.get(id)!;
    const call = this.#calls[ids[0]!]!;
    const line = this.#traits.get("_lines")[call.line];
    const text = line === undefined || line[2] === "" ? call.call : line[2];
    const content = [
      h("code", {}, shorten(text, 80)),
      small(ids.length > 1 ? `× ${ids.length}` : "", "tft-end"),
      small(line === undefined ? "" : `${line[0]}:${line[1]}`, ids.length > 1 ? "" : "tft-end"),
    ];
    return { id, depth: place.depth, kind: "tft-is-call", content, title: text, open: null };
  }

  #variableRow(id: string, place: Group): FlowRow {
    const index = Number(id.slice(1));
    const [name, value] = this.#traits.get("_variables")[index]!;
    const wrong = this.#traits.get("_duplicates").some(([first, second]) => first === index || second === index);
    const content = [
      h("b", { class: "tft-grow" }, shorten(name.slice(name.lastIndexOf("/") + 1), 30)),
      small(value),
      wrong ? small("two of a kind", "tft-end") : null,
    ];
    const kind = wrong ? "tft-is-variable tft-wrong" : "tft-is-variable";
    return { id, depth: place.depth, kind, content, title: `${name}: ${value}`, open: null };
  }

  // --- what is chosen ---

  get #variable(): number {
    const name = opOf(this.#traits.get("selected"));
    return name === "" ? -1 : this.#traits.get("_variables").findIndex(([each]) => each === name);
  }

  #chosenRow(): string {
    const variable = this.#variable;
    return variable < 0 ? "" : this.#shown(`v${variable}`, this.#variableGroups[variable]!);
  }

  #toggle(id: string): void {
    if (!this.#open.delete(id)) this.#open.add(id);
    this.#show();
  }

  #choose(id: string): void {
    const ids = this.#code.size > 0 && id.startsWith("c") ? this.#callsOf(id) : [];
    const variable = id.startsWith("v") ? Number(id.slice(1)) : this.#calls[ids[0] ?? -1]?.variable;
    const name = variable === undefined ? "" : this.#traits.get("_variables")[variable]![0];
    this.#selectName(name === opOf(this.#traits.get("selected")) ? "" : name);
  }

  #callsOf(id: string): number[] {
    for (const each of this.#code.values()) if (each.leaves.has(id)) return each.leaves.get(id)!;
    return [];
  }

  #selectName(name: string): void {
    update(this.#traits, { selected: name });
    this.#select();
  }

  #select(): void {
    const variable = this.#variable;
    let changed = false;
    for (let at = this.#variableGroups[variable] ?? null; at !== null; at = at.outer)
      if (!this.#open.has(at.id)) {
        this.#open.add(at.id);
        changed = true;
      }
    if (changed) this.#show();
    const row = this.#chosenRow();
    this.#columns.mark(row);
    if (row !== "") this.#columns.reveal(row);
    const name = opOf(this.#traits.get("selected"));
    if (variable >= 0) this.#panel.replaceChildren(...this.#aboutVariable(variable));
    else if (name in this.#traits.get("_names")) this.#panel.replaceChildren(...this.#aboutOp(name));
    else this.#panel.replaceChildren(...this.#overview());
  }

  #overview(): HTMLElement[] {
    const duplicates = this.#traits.get("_duplicates");
    const variables = this.#traits.get("_variables");
    if (duplicates.length === 0)
      return [
        h("p", { class: "tft-muted" }, "Choose a variable to see how its name came about, and which ops use it."),
      ];
    const cards = duplicates
      .slice(0, MOST_CARDS)
      .map(([first, second, same, advice]) =>
        h(
          "section",
          { class: "tft-flow-problem" },
          h(
            "h4",
            {},
            "Two where one was meant? ",
            this.#link(variables[second]![0]),
            " beside ",
            this.#link(variables[first]![0]),
          ),
          same ? h("p", { class: "tft-muted" }, "Made by the same line.") : null,
          h("p", { class: "tft-cure" }, advice),
        ),
      );
    if (duplicates.length > cards.length)
      cards.push(h("section", { class: "tft-muted" }, `and ${duplicates.length - cards.length} more`));
    return cards;
  }

  #aboutVariable(index: number): HTMLElement[] {
    const [name, value, byName] = this.#traits.get("_variables")[index]!;
    const calls = this.#calls.filter((call) => call.variable === index);
    const lines = this.#traits.get("_lines");
    const twin = this.#traits.get("_duplicates").find(([first, second]) => first === index || second === index);
    const rule = byName
      ? "A variable of tf.get_variable: only variable scopes are part of its name."
      : "A variable of tf.Variable is named like an op: by all scopes.";
    const rows = calls.map((call) =>
      h(
        "li",
        {},
        h("b", {}, call.made ? "created by " : "shared by "),
        codeLine(lines, call.line),
        call.nameScope === "" ? "" : h("span", { class: "tft-muted" }, ` where ops begin with `),
        call.nameScope === "" ? "" : h("code", {}, `${call.nameScope}/`),
        call.reuse === "" ? "" : h("span", { class: "tft-muted" }, `, reuse=${call.reuse}`),
        ...(call.ops.length === 0 ? [] : [h("span", { class: "tft-muted" }, "; used by ")]),
        ...call.ops.flatMap((op, i) => [i > 0 ? ", " : "", this.#link(op)]),
      ),
    );
    return [
      h("section", {}, h("h4", {}, name, " ", small(value)), this.#parts(name), h("p", { class: "tft-muted" }, rule)),
      twin === undefined ? h("div", { hidden: true }) : h("p", { class: "tft-flow-problem tft-cure" }, twin[3]),
      h("ul", {}, ...rows),
    ];
  }

  #aboutOp(name: string): HTMLElement[] {
    const used = [...new Set(this.#calls.filter((call) => call.ops.includes(name)).map((call) => call.variable))];
    const variables = used.map((index) => this.#traits.get("_variables")[index]![0]);
    return [
      h("section", {}, h("h4", {}, name), this.#parts(name)),
      h("p", { class: "tft-muted" }, "An op: name scopes and variable scopes are part of its name."),
      ...variables.map((each) =>
        h("section", {}, h("p", {}, "It uses the variable ", this.#link(each)), this.#parts(each)),
      ),
    ];
  }

  #parts(name: string): HTMLElement {
    const lines = this.#traits.get("_lines");
    const isVariable = this.#traits.get("_variables").some(([each]) => each === name);
    const parts = (this.#traits.get("_names")[name] ?? []).map(([text, kind, asked, line]: NamePart) =>
      h(
        "span",
        { class: `tft-name-part tft-in-${kind}${kind === "own" && !isVariable ? " tft-of-op" : ""}` },
        h("code", {}, kind === "own" ? text : `${text}/`),
        h("span", {}, KINDS[kind]!, text === asked ? "" : `: "${asked}" was taken`),
        h("span", { class: "tft-muted" }, placeOf(lines, line)),
      ),
    );
    return h("div", { class: "tft-name-parts" }, ...parts);
  }

  #link(name: string): HTMLElement {
    return h(
      "button",
      { type: "button", class: "tft-name-link", onclick: () => this.#selectName(name) },
      shorten(name, 60),
    );
  }
}

function group(id: string, outer: Group | null): Group {
  const depth = outer === null ? 0 : outer.depth + 1;
  const made: Group = { id, outer, depth, leaves: new Map(), inside: [] };
  outer?.inside.push(made);
  return made;
}

const leaves = (at: Group): number =>
  [...at.leaves.values()].reduce((sum, ids) => sum + ids.length, 0) +
  at.inside.reduce((sum, each) => sum + leaves(each), 0);

const small = (text: string, more = ""): HTMLElement => h("span", { class: `tft-small ${more}` }, text);

export default hosted((traits: Traits<SharingTraits>, el) => new SharingView(traits, el));
