import { expect, test } from "vitest";
import { isBetween, LabelPlaces, pointOn, wayBetween } from "../../src/drawing/machine_ways";

const box = (left: number, top: number): DOMRect =>
  ({ left, top, right: left + 100, bottom: top + 50, width: 100, height: 50, x: left, y: top }) as DOMRect;
const [server, first, second, third] = [box(150, 0), box(0, 200), box(150, 200), box(300, 200)];

test("ways up and down leave the sides that face each other, and do not meet", () => {
  const [down, up] = [wayBetween(server, first, true, false), wayBetween(first, server, true, false)];
  expect([down.from.y, down.to.y, down.side]).toEqual([50, 200, -1]);
  expect([up.from.y, up.to.y, up.side]).toEqual([200, 50, 1]);
  expect(down.from.x).toBeLessThan(up.to.x);
  expect(down.to.x).toBeLessThan(up.from.x);
  expect(wayBetween(server, first, false, false).from.x).toBe(200);
});

test("a way beside is straight, or goes around a machine between", () => {
  const straight = wayBetween(first, second, false, false);
  expect([straight.from, straight.to]).toEqual([
    { x: 100, y: 225 },
    { x: 150, y: 225 },
  ]);
  expect(isBetween(second, first, third)).toBe(true);
  expect(isBetween(second, third, first)).toBe(true);
  expect(isBetween(server, first, third)).toBe(false);
  const around = wayBetween(first, third, false, true);
  expect(pointOn(around, 0.5).y).toBeGreaterThan(second.bottom);
});

test("a message moves from one end of its way to the other", () => {
  const way = wayBetween(first, server, false, false);
  expect(pointOn(way, 0)).toEqual(way.from);
  expect(pointOn(way, 1)).toEqual(way.to);
});

test("labels of messages that travel side by side stand below each other, or not at all", () => {
  globalThis.DOMRect ??= class {
    left: number;
    top: number;
    right: number;
    bottom: number;
    constructor(
      x: number,
      y: number,
      readonly width: number,
      readonly height: number,
    ) {
      [this.left, this.top, this.right, this.bottom] = [x, y, x + width, y + height];
    }
  } as unknown as typeof DOMRect;
  const labels = new LabelPlaces(400, [server, first]);
  const tops = Array.from({ length: 7 }, () => labels.roomNear({ x: 200, y: 120 }, "w:0, 8 B", 0)?.top);
  const placed = tops.filter((top) => top !== undefined).sort((a, b) => a - b);
  expect(tops[0]).toBe(110);
  expect(placed.length).toBeLessThan(7);
  for (const [i, top] of placed.entries()) if (i > 0) expect(top - placed[i - 1]!).toBeGreaterThanOrEqual(20);
});
