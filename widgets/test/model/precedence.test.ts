import { expect, test } from "vitest";
import { Precedence } from "../../src/model/precedence";

// 0 -> 1 -> 3, 0 -> 2; 4 alone; 5 and 6 in a loop
const WAITS = [[], [0], [0], [1], [], [6], [5]];

test("what must come before and after an op, however far", () => {
  const order = new Precedence(WAITS);
  expect(order.before(3)).toEqual(new Set([1, 0]));
  expect(order.after(0)).toEqual(new Set([1, 2, 3]));
  expect(order.before(4).size + order.after(4).size).toBe(0);
  expect(order.before(5)).toEqual(new Set([6]));
});
