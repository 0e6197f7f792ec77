// Polylines: the smooth line through one, resampling.
import type { Point } from "./scope_layout";

const LEAD = 14; // a line leaves and meets a box at right angles for about so far

/** The control points of a smooth line (uniform B-spline) that leaves and arrives vertically. */
export function splineNet(points: readonly Point[]): Point[] {
  const first = points[0]!;
  const last = points.at(-1)!;
  const dir = last[1] >= first[1] ? 1 : -1;
  const lead = Math.min(LEAD, Math.abs(last[1] - first[1]) / 3) * dir;
  const p: Point[] = [first, [first[0], first[1] + lead], ...points.slice(1, -1), [last[0], last[1] - lead], last];
  // Ends are tripled, so that the curve passes through them.
  return [first, first, ...p, last, last];
}

/** Points on that smooth line. */
export function onSpline(points: readonly Point[]): Point[] {
  const net = splineNet(points);
  const made: Point[] = [];
  for (let i = 0; i + 3 < net.length; i++) {
    const [a, b, c, d] = [net[i]!, net[i + 1]!, net[i + 2]!, net[i + 3]!];
    for (const t of [0, 0.25, 0.5, 0.75]) {
      const weights = [(1 - t) ** 3, 3 * t ** 3 - 6 * t ** 2 + 4, -3 * t ** 3 + 3 * t ** 2 + 3 * t + 1, t ** 3];
      const at = (k: 0 | 1): number =>
        (weights[0]! * a[k] + weights[1]! * b[k] + weights[2]! * c[k] + weights[3]! * d[k]) / 6;
      made.push([at(0), at(1)]);
    }
  }
  made.push(points.at(-1)!);
  return made;
}

export function lengthOf(points: readonly Point[]): number {
  return points.slice(1).reduce((sum, p, i) => sum + Math.hypot(p[0] - points[i]![0], p[1] - points[i]![1]), 0);
}

/** The line with `n` points, evenly spaced: for animating one line into another. */
export function resample(points: readonly Point[], n: number): Point[] {
  const lengths = points.slice(1).map((p, i) => Math.hypot(p[0] - points[i]![0], p[1] - points[i]![1]));
  const total = lengths.reduce((a, b) => a + b, 0) || 1;
  const made: Point[] = [];
  let i = 0;
  let passed = 0;
  for (let k = 0; k < n; k++) {
    const want = (total * k) / (n - 1);
    while (i < lengths.length - 1 && passed + lengths[i]! < want) passed += lengths[i++]!;
    const t = Math.min(1, Math.max(0, (want - passed) / (lengths[i]! || 1)));
    const [a, b] = [points[i]!, points[i + 1]!];
    made.push([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t]);
  }
  return made;
}
