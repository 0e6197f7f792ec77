import { expect, test } from "vitest";
import { pathPieces } from "../../src/drawing/path_line";
import type { TimelinePath } from "../../src/kernel/view_messages";
import { decodeBar } from "../../src/kernel/view_messages";

const ops = [
  decodeBar(["a", "Exp", 0, 0, 4, 0]),
  decodeBar(["b", "Exp", 0, 4, 3, 0]),
  decodeBar(["c", "_Recv", 1, 9, 1, 0]),
];

const path = (parts: TimelinePath["parts"]): TimelinePath => ({
  sentence: "",
  idle: "",
  shared: false,
  bounds: [],
  parts,
  because: {},
});

test("neighbours on a lane that are due to the same are one piece; what takes no time is none", () => {
  const pieces = pathPieces(
    path([
      [0, 0, 4, 0, false],
      [1, 4, 3, 0, false],
      [1, 7, 0, 1, false],
      [2, 7, 2, 1, true],
      [2, 9, 1, 1, false],
    ]),
    ops,
  );
  expect(pieces).toEqual([
    { lane: 0, from: 0, to: 7, bound: 0, isWait: false },
    { lane: 1, from: 7, to: 9, bound: 1, isWait: true },
    { lane: 1, from: 9, to: 10, bound: 1, isWait: false },
  ]);
});

test("of a path that goes back in time nothing is merged over the gap", () => {
  const pieces = pathPieces(
    path([
      [1, 4, 3, 0, false],
      [0, 0, 4, 0, false],
    ]),
    ops,
  );
  expect(pieces.map(({ from, to }) => [from, to])).toEqual([
    [4, 7],
    [0, 4],
  ]);
});
