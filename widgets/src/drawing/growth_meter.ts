// The lazy-loading meter: ops against runs. Building moves up, running moves right; a staircase is lazy loading.

import { count, digits } from "../base/format";
import { svg } from "../base/svg";
import type { Grown } from "../model/growth_frames";
import { corners, opsAtFirstRun, runsOf, wayTo } from "../model/growth_frames";

const [LEFT, RIGHT, TOP, BOTTOM] = [54, 84, 14, 34];

export interface MeterScale {
  runs: number;
  ops: number;
  /** The ops at the foot of the axis. */
  from: number;
}

const LEAST_SPAN = 10; // ops: one more op is no cliff

/** Where the axis begins: at none, or, where a large graph grows by little, not far below what there was at first. */
export function footOf(before: number, most: number): number {
  if (most <= before || before < most / 2) return 0;
  return Math.max(0, Math.floor(most - 1.2 * Math.max(LEAST_SPAN, most - before)));
}

/** Draws it anew into `el`, the part up to this run and these ops as done. */
export function drawMeter(
  el: SVGSVGElement,
  g: Grown,
  lazy: boolean,
  run: number,
  ops: number,
  scale: MeterScale,
  unit: string,
): void {
  const { width, height } = el.getBoundingClientRect();
  if (width === 0) return;
  const [right, bottom] = [width - RIGHT, height - BOTTOM];
  const x = (r: number): number => LEFT + (r / Math.max(1, scale.runs)) * (right - LEFT);
  const y = (n: number): number => bottom - ((n - scale.from) / Math.max(1, scale.ops - scale.from)) * (bottom - TOP);
  const points = (way: [number, number][]): string =>
    way.map(([r, n]) => `${x(r).toFixed(1)},${y(n).toFixed(1)}`).join(" ");
  const write = (at: [number, number], words: string, anchor: string, name = ""): void => {
    svg("text", el, { x: `${at[0]}`, y: `${at[1]}`, "text-anchor": anchor, class: name }).textContent = words;
  };
  el.setAttribute("viewBox", `0 0 ${width} ${height}`);
  el.classList.toggle("tft-meter-lazy", lazy);
  el.replaceChildren();
  const whole = corners(g);
  const so = wayTo(whole, Math.min(run, runsOf(g)), ops);
  const base = opsAtFirstRun(g);
  const late = so.filter(([, n]) => n >= base);
  if (late.length > 1 && ops > base) {
    svg("line", el, { class: "tft-meter-base", x1: `${LEFT}`, x2: `${right}`, y1: `${y(base)}`, y2: `${y(base)}` });
    svg("polygon", el, {
      class: "tft-meter-area",
      points: `${points(late)} ${x(so.at(-1)![0]).toFixed(1)},${y(base).toFixed(1)}`,
    });
  }
  svg("path", el, { class: "tft-meter-axes", d: `M${LEFT},${TOP}V${bottom}H${right}` });
  svg("path", el, {
    class: "tft-meter-axes",
    d: `M${LEFT - 3.5},${TOP + 5}L${LEFT},${TOP}l3.5,5M${right - 5},${bottom - 3.5}L${right},${bottom}l-5,3.5`,
  });
  write([LEFT - 7, TOP + 4], digits(scale.ops), "end");
  write([LEFT - 7, bottom + 4], digits(scale.from), "end");
  if (scale.from > 0) {
    // the axis is cut
    svg("path", el, { class: "tft-meter-gap", d: `M${LEFT},${bottom - 8}v-4` });
    svg("path", el, { class: "tft-meter-axes", d: `M${LEFT - 4},${bottom - 6}l8,-4m-8,0l8,-4` });
  }
  write([right, bottom + 15], digits(scale.runs), "middle");
  write([(LEFT + right) / 2, bottom + 27], unit, "middle", "tft-meter-name");
  const name = svg("text", el, {
    class: "tft-meter-name",
    "text-anchor": "middle",
    transform: `translate(16,${(TOP + bottom) / 2}) rotate(-90)`,
  });
  name.textContent = "ops built";
  svg("polyline", el, { class: "tft-meter-whole", points: points(whole) });
  svg("polyline", el, { class: "tft-meter-way", points: points(so) });
  const [r, n] = so.at(-1)!;
  svg("circle", el, { class: "tft-meter-now", cx: `${x(r)}`, cy: `${y(n)}`, r: "4" });
  write([x(r) + 10, y(n) + 4], count(n, "op"), "start", "tft-meter-value");
}

/** The run at a place of the meter. */
export function runAt(el: SVGSVGElement, clientX: number, runs: number): number {
  const { left, width } = el.getBoundingClientRect();
  const share = (clientX - left - LEFT) / Math.max(1, width - LEFT - RIGHT);
  return Math.round(Math.min(1, Math.max(0, share)) * runs);
}
