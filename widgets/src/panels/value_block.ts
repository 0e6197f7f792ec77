// Values of a recorded run as elements: the numbers of small arrays, the range and spread of large ones.
import { h } from "../base/elements";
import { s } from "../base/svg";
import type { Value } from "../model/recorded_run";
import { isWrong } from "../model/recorded_run";

const BAR = 9; // pixels

/** A value with its name; `from` names its origin. */
export function valueBlock(value: Value, from: HTMLElement | string | null): HTMLElement {
  const shape = value.shape.length === 0 ? (value.dtype === "" ? "" : "scalar") : value.shape.join("×");
  const head = h(
    "div",
    { class: "tft-value-head" },
    h("code", { title: value.name }, `\u200e${value.name}`),
    h("span", { class: "tft-muted" }, `${value.dtype} ${shape}`),
  );
  const block = h("div", { class: isWrong(value) ? "tft-value tft-wrong-value" : "tft-value" }, head, ...bodyOf(value));
  if (from !== null) block.append(h("div", { class: "tft-from" }, from));
  return block;
}

function bodyOf(value: Value): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (value.cells.length > 0) parts.push(cellsOf(value));
  else if (value.shape.length === 0 && value.dtype !== "")
    parts.push(h("div", { class: mark("tft-scalar", isWrong(value)) }, value.short));
  else parts.push(h("pre", {}, value.figures === null ? value.text : value.text.replace(/\](?= from ).*$/s, "]")));
  if (value.bins.length > 0) parts.push(histogram(value));
  if (value.figures !== null && value.shape.length > 0) {
    const { low, mean, high } = value.figures;
    parts.push(h("div", { class: "tft-figures" }, figure("min", low), figure("mean", mean), figure("max", high)));
  }
  if (isWrong(value) && value.shape.length > 0) parts.push(h("div", { class: "tft-wrong-words" }, wrongWords(value)));
  return parts;
}

export function wrongWords({ nans, infinities }: Value): string {
  return [nans > 0 ? `${nans} NaN` : "", infinities > 0 ? `${infinities} infinite` : ""]
    .filter((word) => word !== "")
    .join(", ");
}

const mark = (name: string, wrong: boolean): string => (wrong ? `${name} tft-bad-cell` : name);

const figure = (word: string, text: string): HTMLElement | null =>
  text === "" ? null : h("span", {}, h("span", { class: "tft-muted" }, word), ` ${text}`);

function cellsOf(value: Value): HTMLElement {
  const rows = value.cells.map((row) =>
    h("tr", {}, ...row.map((text) => h("td", { class: mark("", /NaN|∞/.test(text)) }, text))),
  );
  return h(
    "div",
    { class: value.shape.length === 1 ? "tft-cells tft-row-of-cells" : "tft-cells" },
    h("table", {}, h("tbody", {}, ...rows)),
  );
}

/** How many numbers lie in each part of the range. */
function histogram({ bins, nans, infinities }: Value): HTMLElement {
  const most = Math.max(...bins);
  const height = 26;
  const bars = bins.map((count, i) => {
    const tall = count === 0 ? 0 : Math.max(1.5, (count / most) * height);
    return s("rect", { x: i * (BAR + 1), y: (height - tall).toFixed(1), width: BAR, height: tall.toFixed(1) });
  });
  const width = bins.length * (BAR + 1);
  const picture = s(
    "svg",
    {
      class: "tft-histogram",
      width,
      height: height + 1,
      role: "img",
      "aria-label": "How its numbers spread from the least to the greatest",
    },
    ...bars,
    s("path", { d: `M0,${height + 0.5}H${width}` }),
  );
  if (nans + infinities > 0) picture.classList.add("tft-wrong-bins");
  return h("div", {}, picture);
}
