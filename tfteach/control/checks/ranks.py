"""Checks of ranks: `tf.assert_rank`, `tf.assert_scalar` ...

Source: python/ops/check_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tfteach.control.case import Assert
from tfteach.control.checks.failures import label
from tfteach.control.checks.types import assert_type
from tfteach.control.checks.values import Data
from tfteach.framework import dtypes
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.core.control_flow_ops import no_op, with_dependencies
from tfteach.ops.math.compare import Equal, GreaterEqual, LogicalOr


def _rank_check(
    kind: str,
    required: str,
    static: Callable[[int, Any], bool],
    op: type[Op],
    x: Any,
    rank: Any,
    data: Data,
    summarize: int | None,
    message: str | None,
    name: str | None,
) -> Operation:
    with name_scope(name, kind, [x, rank, *(data or ())]):
        x, rank = convert(x, name="x"), convert(rank, name="rank")
        if data is None:
            data = [
                message or "",
                f"Tensor {label(x, '')} must have {required}",
                rank,
                "Received shape: ",
                shape_ops.shape(x),
            ]
        assert_type(rank, dtypes.int32)
        known = python_constant_value(rank)
        if known is not None and np.ndim(known):
            raise ValueError("Rank must be a scalar.")
        if known is not None and x._shape is not None:
            if static(len(x._shape), int(known)):
                return no_op("static_checks_determined_all_ok")
            raise ValueError(
                f"{message or ''}.  Tensor {label(x, '')} must have {required} "
                f"{int(known)}.  Received rank {len(x._shape)}, shape {x.shape}"
            )
        condition = op()(shape_ops.rank(x), rank)
        if known is None:
            text = ["Rank must be a scalar. Received rank: ", rank]
            condition = with_dependencies([assert_rank(rank, 0, data=text)], condition)
        return Assert(condition, data, summarize=summarize)


@export("assert_rank", "debugging.assert_rank")
def assert_rank(
    x: TensorLike,
    rank: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check that `x` has the given rank.

    Args:
      x: a Tensor.
      rank: an int32 scalar.
      data: see `tf.assert_equal`.
      summarize: see `tf.assert_equal`.
      message: a prefix of the error message.
      name: the name scope of the new operations.

    Returns:
      An Operation, for use as a control dependency.

    Raises:
      ValueError: while building, if the static rank differs, or `rank` is not a scalar.

    Source: python/ops/check_ops.py, assert_rank.
    """
    return _rank_check(
        "assert_rank",
        "rank",
        lambda a, b: a == b,
        Equal,
        x,
        rank,
        data,
        summarize,
        message,
        name,
    )


@export("assert_rank_at_least", "debugging.assert_rank_at_least")
def assert_rank_at_least(
    x: TensorLike,
    rank: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check that `x` has at least the given rank; see `tf.assert_rank`."""
    return _rank_check(
        "assert_rank_at_least",
        "rank at least",
        lambda a, b: a >= b,
        GreaterEqual,
        x,
        rank,
        data,
        summarize,
        message,
        name,
    )


@export("assert_rank_in", "debugging.assert_rank_in")
def assert_rank_in(
    x: TensorLike,
    ranks: Iterable[Any],
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check that `x` has one of the given ranks; see `tf.assert_rank`."""
    ranks = list(ranks)
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or ())]):
        x = convert(x, name="x")
        ranks = [convert(rank, name="rank") for rank in ranks]
        if data is None:
            data = [
                message or "",
                f"Tensor {label(x, '')} must have rank in",
                *ranks,
                "Received shape: ",
                shape_ops.shape(x),
            ]
        for rank in ranks:
            assert_type(rank, dtypes.int32)
        known = [python_constant_value(rank) for rank in ranks]
        if any(k is not None and np.ndim(k) for k in known):
            raise ValueError("Rank must be a scalar.")
        if x._shape is not None and all(k is not None for k in known):
            allowed = [int(k) for k in known]
            if len(x._shape) in allowed:
                return no_op("static_checks_determined_all_ok")
            raise ValueError(
                f"{message or ''}.  Tensor {label(x, '')} must have rank in "
                f"{tuple(allowed)}.  Received rank {len(x._shape)}, shape {x.shape}"
            )
        actual = shape_ops.rank(x)
        condition = Equal()(ranks[0], actual) if ranks else convert(False)
        for rank in ranks[1:]:
            condition = LogicalOr()(condition, Equal()(rank, actual))
        for rank, value in zip(ranks, known, strict=True):
            if value is None:
                text = ["Rank must be a scalar. Received rank: ", rank]
                check = assert_rank(rank, 0, data=text)
                condition = with_dependencies([check], condition)
        return Assert(condition, data, summarize=summarize)


@export("assert_scalar", "debugging.assert_scalar")
def assert_scalar(
    tensor: TensorLike, name: str | None = None, message: str | None = None
) -> Tensor:
    """`tensor` if its static shape is a scalar's; raises ValueError otherwise."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert(tensor, name=scope)
        if tensor._shape != ():
            raise ValueError(
                f"{message or ''}Expected scalar shape{_of(tensor)}, saw shape: "
                f"{tensor.shape}."
            )
        return tensor


def _of(tensor: Tensor) -> str:
    name = label(tensor, "")
    return f" for {name}" if name else ""
