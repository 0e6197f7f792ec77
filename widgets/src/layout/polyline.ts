// Polylines: label positions, midpoints, resampling.
import type { Point } from "./scope_layout";

/** The point of the smooth line nearest to the position computed for its label. */
export function labelPoint(points: readonly Point[], want: Point): Point {
  let best = -1;
  let least = Infinity;
  for (let i = 1; i < points.length - 1; i++) {
    const far = Math.hypot(points[i]![0] - want[0], points[i]![1] - want[1]);
    if (far < least) [least, best] = [far, i];
  }
  if (best < 0) return want;
  const [a, b, c] = [points[best - 1]!, points[best]!, points[best + 1]!];
  // A straight piece beside the label: the line is where its points are.
  if (c[0] === b[0]) return [b[0], (b[1] + c[1]) / 2];
  const weigh = (i: 0 | 1): number => (a[i] + 4 * b[i] + c[i]) / 6;
  // Beside a box's side the line has already turned towards it (see linePath).
  return points.length === 3 ? [weigh(0) * 0.6 + b[0] * 0.4, b[1]] : [weigh(0), weigh(1)];
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

/** The midpoint by length. */
export function middle(points: readonly Point[]): Point {
  const lengths = points.slice(1).map((p, i) => Math.hypot(p[0] - points[i]![0], p[1] - points[i]![1]));
  let left = lengths.reduce((sum, n) => sum + n, 0) / 2;
  for (const [i, length] of lengths.entries()) {
    const [a, b] = [points[i]!, points[i + 1]!];
    const t = length > 0 ? left / length : 0;
    if (t <= 1) return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t];
    left -= length;
  }
  return points[0]!;
}
