"""Tapes in eager programs and `tf.gradients` in graphs agree on every op."""

from __future__ import annotations

from typing import Any

import numpy as np

import tfteach as tf
from tests.eagerly import eager_program
from tests.engine.test_every_op import every_case
from tests.ops.case import Case
from tfteach.framework.dtypes import as_dtype, string


def tensors(case: Case) -> tuple[list[Any], list[Any]]:
    """The case's inputs as constants: all of them, and as its op takes them."""
    flat = [
        tf.constant(a, string if a.dtype == object else as_dtype(a.dtype))
        for a in case.flat
    ]
    left = iter(flat)
    values = [
        [next(left) for _ in value] if arg.is_sequence else next(left)
        for arg, value in zip(type(case.op).inputs, case.inputs, strict=True)
    ]
    return flat, values


def floats(values: list[Any]) -> list[Any]:
    return [t for t in values if t.dtype.base_dtype in (tf.float32, tf.float64)]


def outputs_of(case: Case, values: list[Any]) -> list[Any]:
    found = case.op(*values)
    return floats(found if isinstance(found, list) else [found])


def dense(grads: list[Any]) -> list[Any]:
    return [g if g is None else tf.convert_to_tensor(g) for g in grads]


def graph_gradients(case: Case) -> Any:
    """The gradients, None where there are none; an error's class."""
    with tf.Graph().as_default(), tf.Session() as session:
        flat, values = tensors(case)
        sources, targets = floats(flat), outputs_of(case, values)
        if not sources or not targets:
            return []
        try:
            grads = dense(tf.gradients(targets, sources))
            return [g if g is None else session.run(g) for g in grads]
        except Exception as error:
            return type(error)


def tape_gradients(case: Case) -> Any:
    with eager_program():
        flat, values = tensors(case)
        sources = floats(flat)
        with tf.GradientTape() as tape:
            tape.watch(sources)
            targets = outputs_of(case, values)
        if not sources or not targets:
            return []
        try:
            found = dense(tape.gradient(targets, sources))
            return [g if g is None else g.numpy() for g in found]
        except Exception as error:
            return type(error)


@every_case
def test_tapes_and_graphs_give_the_same_gradients(case: Case) -> None:
    expected, found = graph_gradients(case), tape_gradients(case)
    if expected is ValueError and found is tf.errors.InvalidArgumentError:
        return  # of an op that a rule calls: in a graph its shapes are checked first
    if expected is ValueError and isinstance(found, list):
        return  # `tf.gradients` checks shapes that rules return, tapes do not
    if expected is TypeError and case.op.op_type == "Prod":
        # The rule adds int32 to the int64 axes: TF 1.15 raises these two, too.
        assert found is tf.errors.InvalidArgumentError
        return
    if isinstance(expected, type):
        assert found is expected
        return
    for mine, other in zip(found, expected, strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine, other, 1e-5, 1e-6)
