// What stands in the place of a graph where code runs eagerly: that there is none, and what ran instead.
import { h } from "../base/elements";
import { count } from "../base/format";
import type { WireEager } from "../kernel/growth_messages";

/** The empty place of a graph. */
export class EagerField {
  readonly el = h("div", { class: "tft-growth-none" });

  show({ ops, held }: WireEager): void {
    const [first = "", last = ""] = held;
    const same = first === last ? `${first} in use after each iteration` : `${first} in use at first, ${last} at last`;
    this.el.replaceChildren(
      h("p", { class: "tft-none-count" }, "0 nodes"),
      h("p", {}, `${count(ops, "op")} ran, each at once`),
      held.length > 0 ? h("p", { class: "tft-muted" }, same) : "",
    );
  }
}

/** The lines that ran ops. */
export const eagerLines = ({ lines }: WireEager): HTMLElement[] =>
  lines.map(({ at, text, ops }) =>
    h(
      "p",
      { class: "tft-culprit tft-ran-line" },
      h("span", { class: "tft-muted" }, at),
      h("code", {}, text),
      h("span", { class: "tft-muted" }, `${count(ops, "op")} ran`),
    ),
  );
