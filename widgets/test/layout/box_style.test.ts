import { expect, test } from "vitest";
import { boxStyleOf, estimateWidth, glyphOf, shorten } from "../../src/layout/box_style";
import { golden } from "../helpers";

test("kinds of boxes", () => {
  const m = golden("linear_regression");
  const kind = (id: string): string => glyphOf(m, m.root.children!.find((n) => n.id === id)!);
  expect([kind("X"), kind("weights/"), kind("Const"), kind("mul"), kind("gradients/")]).toEqual([
    "placeholder",
    "variable",
    "const",
    "op",
    "scope",
  ]);
  const loop = golden("while_loop");
  expect(glyphOf(loop, loop.scopes.get("while/")!.children![0]!)).toBe("flow");
});

test("an op with its own constants is one op that shows them", () => {
  const m = golden("while_loop");
  expect(boxStyleOf(m, m.scopes.get("while/Less/")!, estimateWidth)).toMatchObject({
    glyph: "op",
    title: "Less",
    subtitle: "y = 10",
  });
});

test("a long name keeps both ends", () => {
  expect(shorten(`${"a".repeat(40)}_12`, 20)).toMatch(/^a+….*_12$/);
  expect(shorten("short")).toBe("short");
});
