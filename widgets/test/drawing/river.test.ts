import { expect, test } from "vitest";
import { ROW, riverWidth, stretch } from "../../src/drawing/river";
import type { PipelineStage } from "../../src/kernel/pipeline_messages";

const stage = (lane: number, inputs: number[]): PipelineStage => ({
  op: "op",
  kind: "map",
  title: "map",
  detail: "",
  lane,
  inputs,
  at: "",
  text: "",
});

/** A branch in the second column that joins the last stage. */
const stages = [stage(0, []), stage(1, []), stage(0, [0, 1])];

test("a river is as wide as its columns", () => {
  expect(riverWidth(stages.slice(0, 1))).toBe(2 * 8 + 92);
  expect(riverWidth(stages)).toBe(2 * 8 + 2 * 92);
});

test("a stretch is as wide as the stage, and its way narrows to the next one", () => {
  const half = (index: number): number => [10, 20, 5][index]!;
  const first = stretch(stages, 0, half);
  expect(first.own).toBe(`M44,9H64V${ROW - 9}H44Z`);
  expect(first.joins).toEqual([]);
  const [way] = first.ways;
  expect(way).toContain(`M44,${ROW - 9}V${2 * ROW - 9}`); // straight past the row between
  expect(way).toContain(`49,${2 * ROW + 9}H59`);
});

test("a branch joins as a stroke of the narrower width", () => {
  const { ways, joins } = stretch(stages, 1, (index) => [10, 20, 5][index]!);
  expect(ways).toEqual([]);
  expect(joins).toHaveLength(1);
  expect(joins[0]!.width).toBe(10);
  expect(joins[0]!.d).toMatch(/^M146,.* 54,150$/);
});
