import { expect, test } from "vitest";
import { partners, trace } from "../../src/model/trace";
import { golden, model } from "../helpers";

const chain = () =>
  model([
    { name: "a" },
    { name: "b", reads: ["a"] },
    { name: "c", reads: ["b"] },
    { name: "d", reads: ["^b"] },
    { name: "e", reads: ["a"] },
  ]);

test("traces follow data and control edges, one way", () => {
  expect([...trace(chain(), [1], "inputs")].sort()).toEqual([0, 1]);
  expect([...trace(chain(), [1], "outputs")].sort()).toEqual([1, 2, 3]);
});

test("a trace ends in a loop", () => {
  const m = golden("while_loop");
  const all = trace(m, [m.ops.length - 1], "inputs");
  expect(all.size).toBeGreaterThan(3);
  expect(all.size).toBeLessThanOrEqual(m.ops.length);
});

test("an op and its gradients are partners, both ways, also from deep inside and under a scope", () => {
  const m = model([
    { name: "layer/mul" },
    { name: "loss" },
    { name: "gradients/loss_grad/Shape" },
    { name: "gradients/layer/mul_grad/Sum" },
    { name: "train/gradients_1/layer/mul_grad/tuple/group" },
  ]);
  expect(partners(m, "layer/mul")).toEqual(["gradients/layer/mul_grad/", "train/gradients_1/layer/mul_grad/"]);
  expect(partners(m, "layer/")).toEqual(["gradients/layer/", "train/gradients_1/layer/"]);
  expect(partners(m, "gradients/loss_grad/")).toEqual(["loss"]);
  expect(partners(m, "train/gradients_1/layer/mul_grad/tuple/")).toEqual(["layer/mul"]);
  expect(partners(m, "gradients/layer/")).toEqual(["layer/"]);
  expect(partners(m, "gradients/")).toEqual([]);
});

test("in eager code an op and its gradients are partners within their iteration", () => {
  const m = model([
    { name: "for_line_2/iteration_1/layer/mul" },
    { name: "for_line_2/iteration_1/gradients/layer/mul_grad/Sum" },
    { name: "for_line_2/iteration_2/layer/mul" },
    { name: "for_line_2/iteration_2/gradients/layer/mul_grad/Sum" },
  ]);
  const second = "for_line_2/iteration_2";
  expect(partners(m, `${second}/layer/mul`)).toEqual([`${second}/gradients/layer/mul_grad/`]);
  expect(partners(m, `${second}/gradients/layer/mul_grad/`)).toEqual([`${second}/layer/mul`]);
});
