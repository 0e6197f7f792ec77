// Badges of a box, and its buttons to open and to fetch it.

import { svg } from "../base/svg";
import type { Measure } from "../layout/box_style";
import type { SceneNode } from "../layout/scene";

/** The subject of a badge, which determines its colours. */
export type BadgeKind =
  | "fetch"
  | "feed"
  | "alike"
  | "gradient"
  | "device"
  | "repeated"
  | "colour"
  | "difference"
  | "guess"
  | "count"
  | "done"
  | "folded"
  | "now"
  | "breakpoint"
  | "wrong";

export interface Badge {
  text: string;
  kind: BadgeKind;
}

const GAP = 3;
const widthOf = (text: string, measure: Measure): number => measure(text, 9.5, true) + 12;

/** The width of all badges of a box. */
export const badgeWidth = (badges: readonly Badge[], measure: Measure): number =>
  badges.reduce((sum, { text }) => sum + widthOf(text, measure) + GAP, 0);

/** Badges like "fetch", from the right; below a closed box, above an open one. */
export function drawBadges(extra: SVGGElement, item: SceneNode, badges: readonly Badge[], measure: Measure): void {
  let x = item.open ? item.w / 2 - 26 : item.w / 2 + 12;
  const below = item.style.glyph === "const" ? -1 : -2; // a constant's value fills its box
  for (const { text, kind } of badges) {
    const w = widthOf(text, measure);
    x -= w;
    const y = item.open ? -item.h / 2 - 8 : item.h / 2 + below;
    const g = svg("g", extra, { class: `tft-badge tft-badge-${kind}`, transform: `translate(${x},${y})` });
    svg("rect", g, { width: `${w}`, height: "15", rx: "7.5" });
    svg("text", g, { x: `${w / 2}`, y: "10.8" }).textContent = text;
    x -= GAP;
  }
}

export function drawFetcher(extra: SVGGElement, item: SceneNode): void {
  if (!item.fetchable) return;
  const side = item.node.kind === "op" ? 1 : -1; // a scope's right corner has the toggle
  const g = svg("g", extra, {
    class: "tft-fetcher",
    transform: `translate(${side * (item.w / 2 - 2)},${-item.h / 2 + 2})`,
  });
  svg("circle", g, { r: "8" });
  svg("path", g, { d: "M0,-4v7M-3,0.4l3,3.2l3,-3.2" });
  svg("title", g).textContent = "Fetch this in a run (f)";
}

export function drawToggle(extra: SVGGElement, item: SceneNode): void {
  const at =
    item.style.glyph === "variable" && !item.open
      ? `translate(${item.w / 2 - 11},${item.h / 2 - 14})`
      : item.style.glyph === "op" && !item.open
        ? `translate(${item.w / 2 - 15},0)`
        : `translate(${item.w / 2 - 14},${-item.h / 2 + 14})`;
  const g = svg("g", extra, { class: "tft-toggle", transform: at });
  svg("circle", g, { r: "6.5" });
  svg("path", g, { d: item.open ? "M-3,0h6" : "M-3,0h6M0,-3v6" });
}
