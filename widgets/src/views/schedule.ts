// In which order a run may execute its ops: ready sets as columns, races, and two legal orders of each side by side.

import { Cleanup } from "../base/cleanup";
import { consume, h } from "../base/elements";
import { s } from "../base/svg";
import { hosted } from "../kernel/host";
import { opOf, shareSelection } from "../kernel/shared_selection";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { Race, ScheduledOp, ScheduleTraits } from "../kernel/view_messages";
import { decodeScheduledOp } from "../kernel/view_messages";
import { shorten } from "../layout/box_style";
import { isVariable } from "../model/op_families";
import { Precedence } from "../model/precedence";
import { foldingNotice } from "../panels/folding_notice";

const [COLUMN, WIDE, ROW, HIGH, HEAD, PAD] = [196, 148, 46, 36, 34, 14];
const MOST_RACES = 50;
const [MOST_OPS, MOST_IN_SET] = [1200, 120]; // that are drawn

class ScheduleView {
  readonly #traits: Traits<ScheduleTraits>;
  readonly #title = h("h3");
  readonly #statusText = h("span", { class: "tft-order-said", "aria-live": "polite" });
  readonly #lines = s("svg", { "aria-hidden": "true", class: "tft-order-lines" });
  readonly #board = h("div", { class: "tft-order-board" });
  readonly #sets = h(
    "div",
    { class: "tft-order-sets", role: "group", "aria-label": "Ready sets. Arrow keys go from op to op." },
    this.#board,
  );
  readonly #races = h("div", { class: "tft-races" });
  readonly #root = h(
    "div",
    {
      class: "tfteach-graph tfteach-schedule",
      role: "group",
      "aria-label": "Schedule of a run",
      "data-lm-suppress-shortcuts": "true",
    },
    h("div", { class: "tft-order-bar" }, this.#title, this.#statusText),
    this.#sets,
    this.#races,
  );
  #ops: ScheduledOp[] = [];
  #chips: (HTMLButtonElement | undefined)[] = [];
  #places: ({ x: number; y: number; column: number; row: number } | undefined)[] = [];
  #precedence = new Precedence([]);
  readonly #cleanup = new Cleanup();

  constructor(traits: Traits<ScheduleTraits>, parent: HTMLElement) {
    this.#traits = traits;

    parent.append(this.#root);
    this.#root.firstElementChild!.after(foldingNotice(traits, this.#cleanup));
    this.#cleanup.add(
      onChange(traits, ["_ops", "_sets", "_races", "_fates", "problem"], () => this.#show()),
      onChange(traits, ["selected"], () => this.#mark()),
      shareSelection(traits, () => this.#chips[this.#chosen]?.scrollIntoView({ block: "nearest", inline: "nearest" })),
      () => this.#root.remove(),
    );
    this.#sets.addEventListener("keydown", (event) => this.#onKey(event));
    this.#show();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  get #chosen(): number {
    const name = opOf(this.#traits.get("selected"));
    return name === "" ? -1 : this.#ops.findIndex((op) => op.name === name);
  }

  #choose(op: number): void {
    update(this.#traits, { selected: this.#ops[op]?.name ?? "" });
    this.#mark();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#places[this.#chips.indexOf(event.target as HTMLButtonElement)];
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Escape") this.#choose(-1);
    else if (at !== undefined && by !== undefined) {
      const column = this.#traits.get("_sets")[at.column + by[0]!];
      const op = column?.[Math.max(0, Math.min(column.length - 1, at.row + by[1]!))];
      if (op === undefined) return;
      this.#choose(op);
      this.#chips[op]?.focus();
    } else return;
    consume(event);
  }

  // --- the columns ---

  #show(): void {
    this.#ops = this.#traits.get("_ops").map(decodeScheduledOp);
    const [ops, sets, problem] = [this.#ops, this.#traits.get("_sets"), this.#traits.get("problem")];
    if (sets.flat().length !== ops.length) return; // the other half of an update is on its way
    this.#title.textContent = problem === "" ? this.#traits.get("_summary") : problem;
    this.#sets.hidden = ops.length === 0;
    this.#precedence = new Precedence(ops.map((op) => [...op.inputs, ...op.controls]));
    this.#places = [];
    const columns = fitting(sets);
    const heads = columns.map((set, column) => {
      for (const [row, op] of set.slice(0, MOST_IN_SET).entries())
        this.#places[op] = { column, row, x: PAD + column * COLUMN, y: HEAD + row * ROW };
      return h(
        "div",
        { class: "tft-order-head", style: `left: ${PAD + column * COLUMN}px; width: ${WIDE}px` },
        h("b", {}, `${column + 1}`),
        set.length === 1
          ? "one op"
          : set.length > MOST_IN_SET
            ? `${MOST_IN_SET} of ${set.length} ops`
            : `${set.length} ops`,
      );
    });
    this.#chips = [];
    const drawn = columns.flatMap((set) => set.slice(0, MOST_IN_SET));
    for (const op of drawn) this.#chips[op] = this.#chip(ops[op]!, op);
    if (columns.length < sets.length)
      heads.push(
        h(
          "p",
          { class: "tft-order-head", style: `left: ${PAD + columns.length * COLUMN}px` },
          `and ${sets.length - columns.length} more sets`,
        ),
      );
    const width = PAD * 2 + Math.max(0, heads.length - 1) * COLUMN + WIDE;
    const height = HEAD + Math.max(0, ...columns.map((set) => Math.min(MOST_IN_SET, set.length))) * ROW + 4;
    for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
      this.#lines.setAttribute(key, `${value}`);
    this.#board.style.cssText = `width: ${width}px; height: ${height}px`;
    this.#board.replaceChildren(this.#lines, ...heads, ...drawn.map((op) => this.#chips[op]!));
    this.#showRaces();
    this.#mark();
  }

  #chip({ name, type }: ScheduledOp, op: number): HTMLButtonElement {
    const { x, y } = this.#places[op]!;
    const races = this.#traits
      .get("_races")
      .flatMap((race, i) => (race.first === op || race.second === op ? [i + 1] : []));
    const at = name.lastIndexOf("/") + 1;
    const own = shorten(name.slice(at), at > 0 ? 14 : 18);
    const room = 17 - own.length; // the more, the shorter the op's own name
    const scope = at === 0 ? null : h("i", {}, room < 4 ? "…/" : shorten(name.slice(0, at), room));
    const fates = this.#traits.get("_fates");
    const fate = Object.hasOwn(fates, name) ? fates[name] : undefined;
    const kind = races.length > 0 ? " tft-racing" : isVariable(type) ? " tft-order-variable" : "";
    return h(
      "button",
      {
        type: "button",
        class: `tft-order-op${kind}${fate === undefined ? "" : " tft-order-left-out"}`,
        title: `${name} (${type})${fate === undefined ? "" : `\n${fate[0]}: ${fate[1]}`}`,
        style: `left: ${x}px; top: ${y}px; width: ${WIDE}px; height: ${HIGH}px`,
        onclick: () => this.#choose(this.#chosen === op ? -1 : op),
      },
      h("span", { class: "tft-order-name" }, scope, own),
      h("span", { class: "tft-order-type" }, shorten(type, races.length > 0 || fate !== undefined ? 11 : 21)),
      fate === undefined || races.length > 0 ? null : h("span", { class: "tft-order-fate" }, fate[0]),
      races.length > 0
        ? h("span", { class: "tft-race-badge" }, `race ${races.slice(0, 2).join(", ")}${races.length > 2 ? "…" : ""}`)
        : null,
    );
  }

  #mark(): void {
    const [ops, chosen] = [this.#ops, this.#chosen];
    const before = chosen < 0 ? new Set<number>() : this.#precedence.before(chosen);
    const after = chosen < 0 ? new Set<number>() : this.#precedence.after(chosen);
    for (const [op, chip] of this.#chips.entries()) {
      if (chip === undefined) continue; // of a large run not all is drawn
      const free = chosen >= 0 && op !== chosen && !before.has(op) && !after.has(op);
      chip.classList.toggle("tft-order-before", before.has(op));
      chip.classList.toggle("tft-order-after", after.has(op));
      chip.classList.toggle("tft-order-free", free);
      chip.setAttribute("aria-pressed", `${op === chosen}`);
      chip.tabIndex = op === Math.max(0, chosen) ? 0 : -1;
    }
    const free = ops.length - 1 - before.size - after.size;
    this.#statusText.replaceChildren(
      ...(chosen < 0
        ? [ops.length > 0 ? "Choose an op to see what must come before it." : ""]
        : [
            h("code", {}, shorten(ops[chosen]!.name, 40)),
            h("span", { class: "tft-order-before" }, `${before.size} must run before it`),
            h("span", { class: "tft-order-after" }, `${after.size} after it`),
            h("span", { class: "tft-order-free" }, `${free} in any order`),
          ]),
    );
    this.#drawLines(chosen, before, after);
  }

  #drawLines(chosen: number, before: Set<number>, after: Set<number>): void {
    const parts: SVGElement[] = [];
    const line = (from: number, to: number, kind: string): void => {
      const [a, b] = [this.#places[from], this.#places[to]];
      if (a === undefined || b === undefined) return;
      const [x1, y1, x2, y2] = [a.x + WIDE, a.y + HIGH / 2, b.x, b.y + HIGH / 2];
      const bend = Math.min(60, Math.max(18, (x2 - x1) / 2));
      const onWay = (op: number, of: Set<number>): boolean => op === chosen || of.has(op);
      const lit =
        chosen >= 0 && ((onWay(from, before) && onWay(to, before)) || (onWay(from, after) && onWay(to, after)));
      parts.push(
        s("path", {
          class: `tft-order-line${kind}${lit ? " tft-lit" : chosen >= 0 ? " tft-dim" : ""}`,
          d: `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2 - 4},${y2}`,
        }),
        s("path", {
          class: `tft-order-tip${lit ? " tft-lit" : chosen >= 0 ? " tft-dim" : ""}`,
          d: `M${x2},${y2}l-6,-3.5v7z`,
        }),
      );
    };
    for (const [to, { inputs, controls }] of this.#ops.entries()) {
      for (const from of inputs) line(from, to, "");
      for (const from of controls) line(from, to, " tft-order-control");
    }
    this.#lines.replaceChildren(...parts);
  }

  // --- races ---

  #showRaces(): void {
    const ops = this.#ops;
    const [races, ordered] = [this.#traits.get("_races"), this.#traits.get("_ordered")];
    const name = (op: number): HTMLElement => {
      return h(
        "button",
        {
          type: "button",
          class: "tft-name-link",
          title: `Choose ${ops[op]!.name}`,
          onclick: () => {
            this.#choose(op);
            this.#chips[op]?.scrollIntoView({ block: "nearest", inline: "nearest" });
          },
        },
        shorten(ops[op]!.name, 32),
      );
    };
    const cards = races
      .slice(0, MOST_RACES)
      .map((race, i) =>
        h(
          "section",
          { class: "tft-race" },
          h(
            "h4",
            {},
            h("span", { class: "tft-race-badge" }, `race ${i + 1}`),
            name(race.first),
            race.reads ? " reads " : " writes ",
            h("code", {}, race.variable),
            ", ",
            name(race.second),
            " writes it, and nothing says which comes first.",
          ),
          race.orders[0].length === 0
            ? null
            : h(
                "div",
                { class: "tft-orders" },
                this.#order("One legal order", race, race.orders[0], "sees the old value"),
                this.#order("Another", race, race.orders[1], "sees the new value"),
              ),
        ),
      );
    if (races.length > cards.length)
      cards.push(h("section", { class: "tft-race tft-muted" }, `and ${races.length - cards.length} more races`));
    const advice =
      races.length === 0
        ? []
        : [
            h(
              "p",
              { class: "tft-race tft-muted" },
              "tf.control_dependencies([…]) around one of them decides. tfteach reads before it writes where both " +
                "are legal; TensorFlow takes what is ready first, and may differ from run to run.",
            ),
          ];
    const removed =
      ordered.length === 0
        ? []
        : [
            h(
              "section",
              { class: "tft-race tft-no-race" },
              h("h4", {}, h("span", { class: "tft-ordered-badge" }, "no race"), "Control dependencies decide:"),
              h(
                "ul",
                {},
                ...ordered
                  .slice(0, MOST_RACES)
                  .map(([variable, first, second]) =>
                    h("li", {}, h("code", {}, variable), ": ", name(first), " always comes before ", name(second)),
                  ),
                ...(ordered.length > MOST_RACES
                  ? [h("li", { class: "tft-muted" }, `and ${ordered.length - MOST_RACES} more`)]
                  : []),
              ),
            ),
          ];
    this.#races.replaceChildren(...cards, ...advice, ...removed);
    this.#races.hidden = this.#races.children.length === 0;
  }

  /** One legal order, in the part in which it differs from the other. */
  #order(title: string, race: Race, order: readonly number[], sees: string): HTMLElement {
    const ops = this.#ops;
    const pair = new Set([race.first, race.second]);
    const rows = order.map((op) => {
      if (op < 0) return h("li", { class: "tft-muted" }, "…");
      const does = !pair.has(op) ? "" : op === race.second || !race.reads ? "writes" : sees;
      return h(
        "li",
        { class: pair.has(op) ? "tft-racing" : "" },
        h("code", {}, shorten(ops[op]!.name, 30)),
        does === "" ? null : h("span", {}, does),
      );
    });
    const alike = (count: number, where: string): HTMLElement[] =>
      count === 0 ? [] : [h("li", { class: "tft-muted" }, `${count} op${count === 1 ? "" : "s"} ${where}`)];
    return h(
      "div",
      {},
      h("h5", {}, title),
      h(
        "ol",
        {},
        ...alike(race.alike[0], "before, alike in both"),
        ...rows,
        ...alike(race.alike[1], "after, alike in both"),
      ),
    );
  }
}

/** The columns that are drawn: as many as have room. */
function fitting(sets: number[][]): number[][] {
  let ops = 0;
  return sets.filter((set, i) => {
    ops += Math.min(set.length, MOST_IN_SET);
    return ops <= MOST_OPS || i === 0;
  });
}

export default hosted((traits: Traits<ScheduleTraits>, el) => new ScheduleView(traits, el));
