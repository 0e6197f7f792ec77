"""`tf.compat.v2.debugging`: assertions without `data`, in TensorFlow 2's order.

Source: python/ops/check_ops.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfteach.control.checks.ranks import (
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_scalar,
)
from tfteach.control.checks.shapes import assert_shapes
from tfteach.control.checks.types import assert_integer, assert_type
from tfteach.control.checks.values import (
    Data,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
)
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.debug.check_numerics import verify_tensor_all_finite


@export(v2="assert_equal debugging.assert_equal")
def assert_equal_v2(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_equal` without `data`."""
    return assert_equal(x, y, message=message, summarize=summarize, name=name)


@export(v2="assert_greater debugging.assert_greater")
def assert_greater_v2(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.assert_greater` without `data`."""
    return assert_greater(x, y, message=message, summarize=summarize, name=name)


@export(v2="assert_less debugging.assert_less")
def assert_less_v2(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.assert_less` without `data`."""
    return assert_less(x, y, message=message, summarize=summarize, name=name)


@export(v2="assert_rank debugging.assert_rank")
def assert_rank_v2(
    x: TensorLike,
    rank: TensorLike,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.assert_rank` without `data`, `summarize`."""
    return assert_rank(x, rank, message=message, name=name)


@export(v2="debugging.assert_all_finite")
def verify_tensor_all_finite_v2(
    x: TensorLike,
    message: str,
    name: str | None = None,
) -> Tensor:
    """`tf.debugging.assert_all_finite` without `t`, `msg`."""
    return verify_tensor_all_finite(x=x, message=message, name=name)


@export(v2="debugging.assert_greater_equal")
def assert_greater_equal_v2(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_greater_equal` without `data`."""
    return assert_greater_equal(x, y, message=message, summarize=summarize, name=name)


@export(v2="debugging.assert_integer")
def assert_integer_v2(
    x: TensorLike,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """`tf.debugging.assert_integer`, its arguments in TensorFlow 2's order."""
    assert_integer(x, message, name)


@export(v2="debugging.assert_less_equal")
def assert_less_equal_v2(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_less_equal` without `data`."""
    return assert_less_equal(x, y, message=message, summarize=summarize, name=name)


@export(v2="debugging.assert_near")
def assert_near_v2(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_near` without `data`."""
    return assert_near(
        x, y, rtol, atol, message=message, summarize=summarize, name=name
    )


@export(v2="debugging.assert_negative")
def assert_negative_v2(
    x: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_negative` without `data`."""
    return assert_negative(x, message=message, summarize=summarize, name=name)


@export(v2="debugging.assert_non_negative")
def assert_non_negative_v2(
    x: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_non_negative` without `data`."""
    return assert_non_negative(x, message=message, summarize=summarize, name=name)


@export(v2="debugging.assert_non_positive")
def assert_non_positive_v2(
    x: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_non_positive` without `data`."""
    return assert_non_positive(x, message=message, summarize=summarize, name=name)


@export(v2="debugging.assert_none_equal")
def assert_none_equal_v2(
    x: TensorLike,
    y: TensorLike,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_none_equal` without `data`."""
    return assert_none_equal(x, y, summarize=summarize, message=message, name=name)


@export(v2="debugging.assert_positive")
def assert_positive_v2(
    x: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_positive` without `data`."""
    return assert_positive(x, message=message, summarize=summarize, name=name)


@export(v2="debugging.assert_rank_at_least")
def assert_rank_at_least_v2(
    x: TensorLike,
    rank: TensorLike,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_rank_at_least` without `data`, `summarize`."""
    return assert_rank_at_least(x, rank, message=message, name=name)


@export(v2="debugging.assert_rank_in")
def assert_rank_in_v2(
    x: TensorLike,
    ranks: Iterable[Any],
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """`tf.debugging.assert_rank_in` without `data`, `summarize`."""
    return assert_rank_in(x, ranks, message=message, name=name)


@export(v2="debugging.assert_scalar")
def assert_scalar_v2(
    tensor: TensorLike,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """`tf.debugging.assert_scalar`, its arguments in TensorFlow 2's order."""
    assert_scalar(tensor, message=message, name=name)


@export(v2="debugging.assert_shapes")
def assert_shapes_v2(
    shapes: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """`tf.debugging.assert_shapes`, its arguments in TensorFlow 2's order."""
    assert_shapes(shapes, data, summarize, message, name)


@export(v2="debugging.assert_type")
def assert_type_v2(
    tensor: TensorLike,
    tf_type: DTypeLike,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """`tf.debugging.assert_type`, its arguments in TensorFlow 2's order."""
    assert_type(tensor, tf_type, message, name)
