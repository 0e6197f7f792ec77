// A line of code, as views refer to it: its place, and the code.

import { h } from "../base/elements";
import type { CodeLine } from "../kernel/sharing_messages";
import { shorten } from "../layout/box_style";

/** "In [3] line 2"; "" if the line is unknown. */
export function placeOf(lines: readonly CodeLine[], index: number): string {
  const line = lines[index];
  return line === undefined ? "" : `${line[0]} line ${line[1]}`;
}

/** The place and the code of a line. */
export function codeLine(lines: readonly CodeLine[], index: number, longest = 90): HTMLElement {
  const text = lines[index]?.[2] ?? "";
  return h(
    "span",
    { class: "tft-code-line" },
    h("span", { class: "tft-muted" }, placeOf(lines, index) || "an unknown line"),
    text === "" ? null : h("code", { title: text }, shorten(text, longest)),
  );
}
