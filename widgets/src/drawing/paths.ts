// Lines and outlines as SVG path data.
import type { Glyph } from "../layout/box_style";
import { splineNet } from "../layout/polyline";
import type { Point } from "../layout/scope_layout";

const f = (n: number): string => (Math.round(n * 10) / 10).toString();

/** A smooth line (see splineNet) as Bézier curves. */
export function linePath(points: readonly Point[]): string {
  const first = points[0]!;
  const last = points.at(-1)!;
  let d = `M${f(first[0])},${f(first[1])}`;
  const sixth = (a: Point, b: Point, c: Point, i: 0 | 1): number => (a[i] + 4 * b[i] + c[i]) / 6;
  const q = splineNet(points);
  for (let i = 1; i + 2 < q.length; i++) {
    const [b, c, e] = [q[i]!, q[i + 1]!, q[i + 2]!];
    d +=
      `C${f((2 * b[0] + c[0]) / 3)},${f((2 * b[1] + c[1]) / 3)} ` +
      `${f((b[0] + 2 * c[0]) / 3)},${f((b[1] + 2 * c[1]) / 3)} ` +
      `${f(sixth(b, c, e, 0))},${f(sixth(b, c, e, 1))}`;
  }
  return `${d}L${f(last[0])},${f(last[1])}`;
}

/** Straight runs with rounded corners. */
export function cornerPath(points: readonly Point[], radius = 10): string {
  let d = `M${f(points[0]![0])},${f(points[0]![1])}`;
  for (let i = 1; i < points.length - 1; i++) {
    const [a, b, c] = [points[i - 1]!, points[i]!, points[i + 1]!];
    const before = towards(b, a, radius);
    const after = towards(b, c, radius);
    d += `L${f(before[0])},${f(before[1])}Q${f(b[0])},${f(b[1])} ${f(after[0])},${f(after[1])}`;
  }
  const last = points.at(-1)!;
  return `${d}L${f(last[0])},${f(last[1])}`;
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const t = Math.min(distance, length / 2) / length;
  return [from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t];
}

/** An arrow head with its tip on `tip`. */
export function headPath(tip: Point, before: Point, size = 7): string {
  const length = Math.hypot(tip[0] - before[0], tip[1] - before[1]) || 1;
  const [ux, uy] = [(tip[0] - before[0]) / length, (tip[1] - before[1]) / length];
  const [bx, by] = [tip[0] - ux * size, tip[1] - uy * size];
  const half = size * 0.52;
  const [left, right] = [`${f(bx - uy * half)},${f(by + ux * half)}`, `${f(bx + uy * half)},${f(by - ux * half)}`];
  return `M${left}L${f(tip[0])},${f(tip[1])}L${right}`;
}

function roundRect(x: number, y: number, w: number, h: number, r: number): string {
  const q = Math.min(r, w / 2, h / 2);
  return (
    `M${f(x + q)},${f(y)}h${f(w - 2 * q)}a${f(q)},${f(q)} 0 0 1 ${f(q)},${f(q)}v${f(h - 2 * q)}` +
    `a${f(q)},${f(q)} 0 0 1 ${f(-q)},${f(q)}h${f(-(w - 2 * q))}a${f(q)},${f(q)} 0 0 1 ${f(-q)},${f(-q)}` +
    `v${f(-(h - 2 * q))}a${f(q)},${f(q)} 0 0 1 ${f(q)},${f(-q)}z`
  );
}

export const CONST_PILL_H = 18;

/** The outline of a box around 0,0, and the strokes that mark its kind. */
export function glyphPaths(
  glyph: Glyph,
  w: number,
  h: number,
  open: boolean,
  textW: number,
): { shape: string; mark: string } {
  const [l, t] = [-w / 2, -h / 2];
  if (open) return { shape: roundRect(l, t, w, h, 10), mark: "" };
  switch (glyph) {
    case "const": {
      const pw = Math.max(22, textW + 14);
      return { shape: roundRect(-pw / 2, h / 2 - CONST_PILL_H, pw, CONST_PILL_H, 9), mark: "" };
    }
    case "placeholder": {
      const s = 11;
      return { shape: `M${f(l + s)},${f(t)}H${f(-l)}L${f(-l - s)},${f(-t)}H${f(l)}Z`, mark: "" };
    }
    case "variable": {
      const e = 7; // a drum
      return {
        shape:
          `M${f(l)},${f(t + e)}A${f(w / 2)},${e} 0 0 1 ${f(-l)},${f(t + e)}` +
          `V${f(-t - e)}A${f(w / 2)},${e} 0 0 1 ${f(l)},${f(-t - e)}Z`,
        mark: `M${f(l)},${f(t + e)}A${f(w / 2)},${e} 0 0 0 ${f(-l)},${f(t + e)}`,
      };
    }
    case "flow": {
      const s = 12;
      return {
        shape: `M${f(l + s)},${f(t)}H${f(-l - s)}L${f(-l)},0L${f(-l - s)},${f(-t)}H${f(l + s)}L${f(l)},0Z`,
        mark: "",
      };
    }
    case "scope":
      return { shape: roundRect(l, t, w, h, 9), mark: "" };
    case "series":
      return {
        shape: roundRect(l, t, w, h, 9),
        mark:
          `M${f(l + 7)},${f(t - 4)}h${f(w - 10)}q7,0 7,7v${f(h - 10)}` +
          `M${f(l + 11)},${f(t - 8)}h${f(w - 10)}q7,0 7,7v${f(h - 10)}`,
      };
    default:
      return { shape: roundRect(l, t, w, h, h / 2), mark: "" };
  }
}
