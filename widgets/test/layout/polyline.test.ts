import { expect, test } from "vitest";
import { linePath } from "../../src/drawing/paths";
import { labelPoint, resample } from "../../src/layout/polyline";

test("lines pass through their ends; resampling keeps them", () => {
  const points: [number, number][] = [
    [0, 0],
    [30, 40],
    [10, 100],
  ];
  expect(linePath(points)).toMatch(/^M0,0C.*L10,100$/);
  const again = resample(points, 7);
  expect(again.length).toBe(7);
  expect([again[0], again[6]]).toEqual([
    [0, 0],
    [10, 100],
  ]);
  expect(labelPoint(points, [30, 40])[1]).toBe(40);
});
