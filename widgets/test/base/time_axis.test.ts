import { describe, expect, it } from "vitest";
import { timeText } from "../../src/base/format";
import { panned, ticks, within, zoomed } from "../../src/base/time_axis";

describe("a window on time", () => {
  it("stays inside", () => {
    expect(within({ from: -5, to: 5 }, 100)).toEqual({ from: 0, to: 10 });
    expect(within({ from: 95, to: 120 }, 100)).toEqual({ from: 75, to: 100 });
    expect(panned({ from: 0, to: 10 }, 500, 100)).toEqual({ from: 90, to: 100 });
  });
  it("zooms around a point, to a limit", () => {
    expect(zoomed({ from: 0, to: 100 }, 0.5, 50, 100)).toEqual({ from: 25, to: 75 });
    expect(zoomed({ from: 0, to: 100 }, 9, 50, 100)).toEqual({ from: 0, to: 100 });
    const close = zoomed({ from: 0, to: 100 }, 1e-9, 50, 100);
    expect(close.to - close.from).toBeCloseTo(0.05);
  });
  it("has round ticks", () => {
    expect(ticks({ from: 0, to: 100 }, 5)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(ticks({ from: 13, to: 18 }, 5)).toEqual([13, 14, 15, 16, 17, 18]);
    expect(ticks({ from: 0, to: 0 }, 5)).toEqual([]);
  });
  it("says times", () => {
    expect([0, 3.25, 42.2, 1234, 2.5e6].map(timeText)).toEqual(["0 µs", "3.3 µs", "42 µs", "1.23 ms", "2.50 s"]);
  });
});
