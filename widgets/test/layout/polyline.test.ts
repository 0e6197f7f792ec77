import { expect, test } from "vitest";
import { linePath } from "../../src/drawing/paths";
import { onSpline, resample } from "../../src/layout/polyline";

const POINTS: [number, number][] = [
  [0, 0],
  [30, 40],
  [10, 100],
];

test("lines pass through their ends; resampling keeps them", () => {
  expect(linePath(POINTS)).toMatch(/^M0,0C.*L10,100$/);
  const again = resample(POINTS, 7);
  expect(again.length).toBe(7);
  expect([again[0], again[6]]).toEqual([
    [0, 0],
    [10, 100],
  ]);
});

test("the computed points are on the line that is drawn", () => {
  const drawn = linePath(POINTS)
    .match(/\S+(?=C|L)/g)!
    .map((text) => text.slice(1).split(",").map(Number) as [number, number]);
  const points = onSpline(POINTS);
  const ends = linePath(POINTS)
    .split("C")
    .slice(1)
    .map((curve) => curve.split("L")[0]!.split(" ")[2]!.split(",").map(Number));
  expect(drawn.length).toBeGreaterThan(0);
  for (const [x, y] of ends) {
    expect(points.some((p) => Math.hypot(p[0] - x!, p[1] - y!) < 0.1)).toBe(true);
  }
  expect(points[0]).toEqual([0, 0]);
  expect(points.at(-1)).toEqual([10, 100]);
});
