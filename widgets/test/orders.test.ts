import { expect, test } from "vitest";
import { Precedence, differing, shortened } from "../src/shared/orders";

// 0 -> 1 -> 3, 0 -> 2; 4 alone; 5 and 6 in a loop
const WAITS = [[], [0], [0], [1], [], [6], [5]];

test("what must come before and after an op, however far", () => {
  const order = new Precedence(WAITS);
  expect(order.before(3)).toEqual(new Set([1, 0]));
  expect(order.after(0)).toEqual(new Set([1, 2, 3]));
  expect(order.before(4).size + order.after(4).size).toBe(0);
  expect(order.before(5)).toEqual(new Set([6]));
});

test("where two orders differ", () => {
  expect(differing([0, 1, 2, 3, 4], [0, 2, 1, 3, 4])).toEqual({ from: 1, to: 3 });
  expect(differing([0, 1], [0, 1])).toEqual({ from: 2, to: 2 });
});

test("a long order keeps its ends and what matters", () => {
  const long = Array.from({ length: 20 }, (_, i) => i);
  expect(shortened(long, new Set([10]), 8)).toEqual([0, null, 9, 10, 11, null, 19]);
  expect(shortened([1, 2], new Set(), 8)).toEqual([1, 2]);
});
