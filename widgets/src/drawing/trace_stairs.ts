// A plot of traces made against calls: a function that is traced once draws a flat line, retracing draws a staircase.
import { svg } from "../base/svg";

const [WIDTH, HEIGHT, PAD] = [220, 64, 4];

/** `made` has the number of the call that made each trace. */
export function stairs(made: readonly number[], calls: number, isWaste: boolean): SVGElement {
  const el = svg("svg", null, {
    class: isWaste ? "tft-stairs tft-wasteful" : "tft-stairs",
    width: `${WIDTH}`,
    height: `${HEIGHT}`,
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": `${made.length} traces in ${calls} calls`,
  });
  const x = (call: number): number => PAD + ((WIDTH - 2 * PAD) * call) / Math.max(1, calls);
  const y = (traces: number): number => HEIGHT - PAD - ((HEIGHT - 2 * PAD) * traces) / Math.max(3, made.length);
  const corners = [`${x(0)},${y(0)}`];
  for (const [i, call] of made.entries()) {
    const at = x(Math.max(0, call - 1)).toFixed(1);
    corners.push(`${at},${y(i).toFixed(1)}`, `${at},${y(i + 1).toFixed(1)}`);
  }
  corners.push(`${x(calls).toFixed(1)},${y(made.length).toFixed(1)}`);
  svg("path", el, { class: "tft-stairs-axis", d: `M${PAD},${PAD}V${HEIGHT - PAD}H${WIDTH - PAD}` });
  svg("polyline", el, { points: corners.join(" ") });
  return el;
}
