// The choice of colours in the toolbar, the key under it, and how boxes then look.

import type { ReadonlySignal } from "@preact/signals-core";
import { computed, effect } from "@preact/signals-core";
import type { Cleanup } from "../base/cleanup";
import { h } from "../base/elements";
import { digits } from "../base/format";
import type { Badge } from "../drawing/badges";
import type { Painting } from "../drawing/box_colours";
import { paint } from "../drawing/box_colours";
import type { NodeMarks } from "../drawing/canvas";
import { withoutLikeness } from "../drawing/node_marks";
import type { ColourBy, Figures, GraphTraits } from "../kernel/graph_messages";
import { COLOUR_BY } from "../kernel/graph_messages";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import { update } from "../kernel/traits";
import type { SceneNode } from "../layout/scene";
import type { PanelHost } from "./panel_host";

const WORDS: Record<ColourBy, string> = {
  structure: "structure",
  device: "device",
  family: "kind of op",
  run: "run or pruned",
  cell: "cell",
  time: "time",
  memory: "memory",
};
const MOST_KEYS = 24;

export class ColourPicker {
  readonly #traits: Traits<GraphTraits>;
  readonly select = h(
    "select",
    { class: "tft-select", "aria-label": "Colour by", title: "Colour the boxes by (c)" },
    ...COLOUR_BY.map((by) => h("option", { value: by }, by === "structure" ? "Colour: structure" : WORDS[by])),
  );
  readonly key = h("div", { class: "tft-key", role: "group" });
  readonly #by: ReadonlySignal<ColourBy>;
  readonly #figures: ReadonlySignal<Figures>;
  readonly #painting: ReadonlySignal<Painting>;

  constructor(host: PanelHost, traits: Traits<GraphTraits>, cleanup: Cleanup) {
    this.#traits = traits;

    this.#by = traitSignal(traits, "colour_by", cleanup);
    this.#figures = traitSignal(traits, "figures", cleanup);
    this.#painting = computed(() => {
      const { scene, highlight } = host.state;
      return paint(host.model, scene.value.nodes, this.#by.value, highlight.value, this.#figures.value);
    });
    this.select.addEventListener("change", () => this.#choose(this.select.value as ColourBy));
    this.select.addEventListener("keydown", (event) => event.stopPropagation());
    cleanup.add(effect(() => this.#show()));
  }

  #choose(by: ColourBy): void {
    update(this.#traits, { colour_by: by });
  }

  /** Goes to the next way of colouring that has something to show. */
  next(): void {
    const usable = COLOUR_BY.filter((by) => !this.#option(by).disabled);
    this.#choose(usable[(usable.indexOf(this.#by.value) + 1) % usable.length]!);
  }

  decorate(node: SceneNode, marks: NodeMarks): NodeMarks {
    if (this.#by.value === "structure") return marks;
    const found = this.#painting.value.of.get(node.id);
    const { classes, badges, ...rest } = withoutLikeness(marks);
    if (found === undefined) return { ...rest, classes, badges };
    // A fed box has its badge already.
    const known = found.badge === "" || badges.some(({ text }) => text === found.badge.replace("is fed", "feed"));
    const badge: Badge[] = known ? [] : [{ text: found.badge, kind: "colour" }];
    return {
      ...rest,
      classes: [...classes, ...found.tone.split(" ")],
      badges: [...badge, ...badges],
      label: badge.length > 0 ? `${marks.label}, ${found.badge}` : marks.label,
    };
  }

  #show(): void {
    const by = this.#by.value;
    this.select.value = by;
    for (const name of ["time", "memory"] as const) {
      this.#option(name).disabled = !Object.values(this.#figures.value).some(
        (f) => (name === "time" ? f.time_us : f.bytes) !== undefined,
      );
    }
    this.select.classList.toggle("tft-chosen", by !== "structure");
    this.key.hidden = by === "structure";
    if (by === "structure") return;
    const { key, missing } = this.#painting.value;
    this.key.setAttribute("aria-label", `Colours: ${WORDS[by]}`);
    const rows = key
      .slice(0, MOST_KEYS)
      .map(({ tone, text, ops }) =>
        h(
          "span",
          { class: "tft-key-row" },
          h("span", { class: `tft-swatch ${tone}`, "aria-hidden": "true" }),
          text,
          ops === null ? null : h("span", { class: "tft-muted" }, digits(ops)),
        ),
      );
    if (key.length > MOST_KEYS) rows.push(h("span", { class: "tft-muted" }, `and ${key.length - MOST_KEYS} more`));
    this.key.replaceChildren(
      ...(missing === "" ? [h("b", {}, WORDS[by]), ...rows] : [h("span", { class: "tft-muted" }, missing)]),
    );
  }

  #option(by: ColourBy): HTMLOptionElement {
    return [...this.select.options].find((o) => o.value === by)!;
  }
}
