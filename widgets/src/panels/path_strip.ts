// What the critical path of a run is due to: a strip of shares, each a button that marks its part of the path.

import { h } from "../base/elements";
import { timeText } from "../base/format";
import type { TimelinePath } from "../kernel/view_messages";

const LEAST_SHARE = 0.004;
const LABELLED = 0.05;
const WIDTH = 800; // of the strip, about
const [LETTER, AROUND] = [7, 54]; // the percentage and the padding around a name

/** @param mark shows only the part of the path that is due to a bound, by its index; null for all */
export function pathStrip(path: TimelinePath, mark: (bound: number | null) => void): HTMLElement {
  const pressed: HTMLButtonElement[] = [];
  const press = (one: HTMLButtonElement, of: number): void => {
    const marks = one.getAttribute("aria-pressed") !== "true";
    for (const other of pressed) other.setAttribute("aria-pressed", `${marks && other === one}`);
    mark(marks ? of : null);
  };
  for (const { name, label, kind, elapsed, share, of } of path.bounds) {
    if (share < LEAST_SHARE) continue;
    const percent = `${Math.round(100 * share)}%`;
    const one = h(
      "button",
      {
        type: "button",
        class: `tft-due tft-due-${kind}`,
        style: `flex-grow: ${share.toFixed(4)}`,
        title: `${name}: ${timeText(elapsed)}, ${percent} of the critical path`,
        "aria-label": `${name} ${percent} of the critical path`,
        "aria-pressed": "false",
        onclick: () => press(one, of),
      },
      ...(share < LABELLED ? [] : [h("span", {}, fitting(share, name, label)), " ", h("b", {}, percent)]),
    );
    pressed.push(one);
  }
  return h(
    "section",
    { class: "tft-path", "aria-label": "What bounds the step", hidden: path.bounds.length === 0 ? "" : null },
    h("div", { class: "tft-path-strip", role: "group", "aria-label": "Shares of the critical path" }, ...pressed),
    h("p", {}, path.sentence.replace(/(\d) us\b/g, "$1 µs")),
    path.idle === "" ? null : h("p", { class: "tft-muted" }, path.idle),
  );
}

/** The first of these names for which a part of the strip has room, or none. */
function fitting(share: number, ...names: string[]): string {
  return names.find((name) => LETTER * name.length + AROUND <= WIDTH * share) ?? "";
}
