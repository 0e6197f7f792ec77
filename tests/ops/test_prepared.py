"""Kernels that know an op's constant inputs: the results and refusals of the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.ops.case import Case, all_cases, import_families
from tfteach.engine.plan.step import checking_shapes
from tfteach.framework.op import Op
from tfteach.ops.array.padding import Pad
from tfteach.ops.array.slicing import Slice
from tfteach.ops.array.strided_slice import StridedSlice
from tfteach.ops.core.identity_reshape import Reshape

import_families()
CASES = [
    c
    for c in all_cases()
    if type(c.op).prepared is not Op.prepared and c.op.host_inputs
]


def kernel_of(op: Op, inputs: tuple[Any, ...]) -> Callable[..., Any] | None:
    constant = [arg.name in op.host_inputs for arg in type(op).inputs]
    values = [a if c else None for a, c in zip(inputs, constant, strict=True)]
    return op.prepared(np, values)


@pytest.mark.parametrize("case", CASES, ids=map(str, CASES))
def test_results_are_the_same(case: Case) -> None:
    kernel = kernel_of(case.op, case.flat)
    assert kernel is not None
    wanted: Any = case.op.compute(np, *case.flat)
    for _ in range(2):
        found = kernel(*case.flat)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_which_ops_have_them() -> None:
    names = {case.op.op_type for case in CASES}
    assert names == {"Pad", "Reshape", "Slice", "StridedSlice"}
    for op, count in (Reshape(), 2), (Slice(), 3), (Pad(), 2), (StridedSlice(), 4):
        assert op.prepared(np, [None] * count) is None


@pytest.mark.parametrize(
    ("op", "constants", "fine", "bad"),
    [
        (Reshape(), ([-1, 2],), [(4,), (3, 2), (0, 2)], [(3,)]),
        (Slice(), ([1, 0], [2, -1]), [(3, 2), (4, 5), (3, 2)], [(2, 2), (4,)]),
        (Pad(), ([[1, 0], [0, 0]],), [(3, 2), (4, 5), (0, 2)], [(2,), (1, 2, 3)]),
        (StridedSlice(), ([0, 1], [9, 3], [2, 1]), [(3, 4), (1, 2)], [(3,)]),
    ],
    ids=lambda value: getattr(value, "op_type", ""),
)
def test_other_shapes(op: Op, constants: Any, fine: Any, bad: Any) -> None:
    fixed = [np.array(c, np.int32) for c in constants]
    kernel = op.prepared(np, [None, *fixed])
    assert kernel is not None
    unknown = [None] * len(type(op).inputs)
    kernel = checking_shapes(op, kernel, unknown)
    plain = checking_shapes(op, partial(op.compute, np), unknown)
    for shape in (*fine, *bad, *fine):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        if shape in bad:
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)) as found:
                kernel(x, *fixed)
            with pytest.raises(found.type) as wanted:
                plain(x, *fixed)
            assert str(found.value) == str(wanted.value)
        else:
            wanted_array: Any = plain(x, *fixed)
            np.testing.assert_array_equal(kernel(x, *fixed), wanted_array)


def test_sizes_that_reshape_refuses_are_not_prepared() -> None:
    for wanted in ([-2, 2], 4):
        assert Reshape().prepared(np, [None, np.array(wanted)]) is None
    assert Reshape().prepared(np, [None, np.array([], np.int32)]) is not None


def test_runs_of_changing_shapes_and_the_name_of_who_fails() -> None:
    x = tf.placeholder(tf.float32, [None, None])
    rows = tf.pad(tf.slice(x, [1, 0], [-1, 2], name="part"), [[0, 1], [0, 0]])
    flat = tf.reshape(rows, [-1, 4], name="flat")
    with tf.Session() as session:
        for turn in range(40):  # some by the loop, then by generated functions
            n = (2, 4, 4)[turn % 3]
            fed = np.arange(n * 3.0).reshape(n, 3)
            wanted = np.vstack((fed[1:, :2], np.zeros((1, 2)))).reshape(-1, 4)
            np.testing.assert_array_equal(session.run(flat, {x: fed}), wanted)
        for bad, name in (((0, 2), "part"), ((3, 3), "flat")):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(flat, {x: np.zeros(bad)})
            assert caught.value.op.name == name
