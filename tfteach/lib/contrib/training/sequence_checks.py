"""Checks of ranks and sizes, while building where possible, else in a run.

Source: contrib/training/python/training/sequence_queueing_state_saver.py (names of
nodes, messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tfteach.control.case import Assert
from tfteach.framework.constant_values import constant_value
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.shape import TensorShape
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import rank, shape, size
from tfteach.ops.math.compare import equal, logical_and, not_equal
from tfteach.ops.math.modulo import floormod
from tfteach.ops.math.reduce_functions import reduce_all
from tfteach.ops.text.string_conversion import as_string
from tfteach.ops.text.string_ops import string_join

Size: TypeAlias = "Tensor | int"


def _after(checks: Sequence[object], value: Tensor, name: str) -> Tensor:
    with control_dependencies(checks):
        return identity(value, name=name)


def check_rank(value: Tensor, expected: Size, static: int | None = None) -> Tensor:
    """`value`, if its rank is `expected`, which is `static` if it is a tensor.

    Raises:
      ValueError: the static rank is another one.
    """
    is_expected = equal(expected, rank(value))
    parts = f"Rank of tensor {value.name} should be: ", as_string(expected)
    message = string_join([*parts, ", shape received:"])
    checked = _after(
        [Assert(is_expected, [message, shape(value)])], value, "rank_checked"
    )
    known = expected if isinstance(expected, int) else static
    if known is not None:
        try:
            checked.set_shape(value.shape.with_rank(known))
        except ValueError as error:
            text = f"Rank check failed for {value.name}: {error}"
            raise ValueError(text) from None
    return checked


def check_shape_of(value: Tensor, like: Tensor) -> Tensor:
    """`value`, if it has the rank and the shape of `like`.

    Raises:
      ValueError: the static shapes are not compatible.
    """
    wanted = shape(like)
    known = constant_value(wanted)
    expected = wanted if known is None else known.tolist()
    value = check_rank(
        value, size(wanted) if known is None else len(known), like.shape.ndims
    )
    is_expected = reduce_all(equal(expected, shape(value)))
    parts = f"Shape of tensor {value.name} should be: ", as_string(expected)
    message = string_join([*parts, ", shape received: ", as_string(shape(value))])
    checked = _after([Assert(is_expected, [message])], value, "shape_checked")
    try:
        checked.set_shape(value.shape.merge_with(like.shape))
    except ValueError:
        raise ValueError(
            f"Shape check failed for {value.name}: Shapes {value.shape} and "
            f"{like.shape} are not compatible"
        ) from None
    return checked


def check_dimensions(
    value: Tensor, dimensions: Sequence[int], expected: Sequence[Size], label: str
) -> Tensor:
    """`value`, if a run finds that its dimensions have the expected sizes."""
    checks = []
    for dimension, wanted in zip(dimensions, expected, strict=True):
        is_expected = equal(wanted, shape(value)[dimension])
        parts = (
            f"Dimension {dimension} of tensor labeled {label} should be: ",
            as_string(wanted),
        )
        message = string_join([*parts, ", shape received: ", as_string(shape(value))])
        checks.append(Assert(is_expected, [message]))
    return _after(checks, value, f"dims_checked_{label}")


def check_multiple_of(value: Tensor, factor: int) -> Tensor:
    """`value`, if a run finds that it is a positive multiple of `factor`."""
    is_multiple = logical_and(equal(floormod(value, factor), 0), not_equal(value, 0))
    parts = (
        f"Tensor {value.name} should be a multiple of: ",
        as_string(factor),
        ", but saw value: ",
        as_string(value),
    )
    message = string_join([*parts, ". Consider setting pad=True."])
    return _after([Assert(is_multiple, [message])], value, "multiple_of_checked")


def known_shape(value: Tensor, what: str, start: int = 0) -> TensorShape:
    """The static shape from dimension `start` on.

    Raises:
      ValueError: it is not fully known.
    """
    found = value.shape
    if found.ndims is None or not found[start:].is_fully_defined():
        ignoring = " (ignoring first dimension)" if start else " "
        raise ValueError(
            f"Shape for {what} is not fully defined{ignoring}: {value.shape}"
        )
    rest: TensorShape = found[start:]
    return rest
