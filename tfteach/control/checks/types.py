"""Checks of types and of order: `tf.assert_type`, `tf.is_non_decreasing` ...

Source: python/ops/check_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.control.checks.failures import label
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.strided_slice import strided_slice
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.math.compare import Less, LessEqual
from tfteach.ops.math.reduce_functions import reduce_all

_NUMERIC = frozenset(
    dtypes_of(
        "float32 float64 int8 int16 int32 int64 uint8 qint8 qint32 quint8 complex64"
    )
)


@export("assert_type", "debugging.assert_type")
def assert_type(
    tensor: TensorLike,
    tf_type: Any,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """A NoOp if `tensor` has the type `tf_type`; raises TypeError otherwise."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert(tensor, name="tensor")
        if tensor.dtype != as_dtype(tf_type):
            name = label(tensor, "tensor")
            space = " " if name == "tensor" else "  "
            raise TypeError(
                f"{message or ''}{space}{name} must be of type {as_dtype(tf_type)}"
            )
        return no_op("statically_determined_correct_type")


@export("assert_integer", "debugging.assert_integer")
def assert_integer(
    x: TensorLike, message: str | None = None, name: str | None = None
) -> Operation:
    """A NoOp if `x` has an integer type; raises TypeError otherwise."""
    message = message or ""
    with name_scope(name, "assert_integer", [x]):
        x = convert(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{message}  Expected "x" to be integer type.  Found: '
                f"{label(x, 'tensor')} of dtype {x.dtype}"
            )
        return no_op("statically_determined_was_integer")


@export("assert_same_float_dtype", "debugging.assert_same_float_dtype")
def assert_same_float_dtype(
    tensors: Sequence[Any] | None = None, dtype: DType | None = None
) -> DType:
    """The float type shared by all `tensors` (and `dtype`, if given).

    Args:
      tensors: tensors and None.
      dtype: the required type.

    Returns:
      The type; float32 if no argument determines it.

    Raises:
      ValueError: the types differ, or are not floats.

    Source: python/ops/check_ops.py, assert_same_float_dtype.
    """
    first = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        if dtype is None:
            dtype, first = tensor.dtype.base_dtype, tensor
        elif tensor.dtype.base_dtype != dtype:
            like = f" as {_shown(first)}" if first is not None else ""
            raise ValueError(
                f"{_shown(tensor)}, type={tensor.dtype.base_dtype}, must be of the "
                f"same type ({dtype}){like}."
            )
    if dtype is None:
        return dtypes.float32
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def _shown(tensor: Any) -> str:
    return str(getattr(tensor, "name", tensor))


@export("assert_proper_iterable", "debugging.assert_proper_iterable")
def assert_proper_iterable(values: TensorLike) -> None:
    """Raise TypeError for iterables that are no collections: str, arrays, tensors."""
    accidental = isinstance(values, Tensor | np.ndarray | str | bytes) or (
        type(values).__name__ == "SparseTensor"
    )
    if accidental:
        raise TypeError(
            'Expected argument "values" to be a "proper" iterable.  Found: '
            f"{type(values)}"
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(
            f'Expected argument "values" to be iterable.  Found: {type(values)}'
        )


@export("is_numeric_tensor", "debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Whether `tensor` is a Tensor of a numeric type."""
    return isinstance(tensor, Tensor) and tensor.dtype.base_dtype in _NUMERIC


_part = strided_slice


def _differences(x: TensorLike) -> Any:
    x = reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x!s}")
    short = Less()(size(x), 2)
    count = shape(x) - 1
    return cond(
        short,
        lambda: convert([], x.dtype),
        lambda: _part(x, [1], [1] + count) - _part(x, [0], count),  # noqa: RUF005
    )


@export("is_non_decreasing", "debugging.is_non_decreasing", "math.is_non_decreasing")
def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether the elements of `x`, in row-major order, never decrease.

    Args:
      x: a numeric Tensor.
      name: the name scope of the new operations.

    Returns:
      A bool scalar Tensor.

    Raises:
      TypeError: `x` is not numeric.

    Source: python/ops/check_ops.py, is_non_decreasing.
    """
    with name_scope(name, "is_non_decreasing", [x]):
        difference = _differences(x)
        zero = convert(0, difference.dtype)
        return reduce_all(LessEqual()(zero, difference))


@export(
    "is_strictly_increasing",
    "debugging.is_strictly_increasing",
    "math.is_strictly_increasing",
)
def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether the elements of `x`, in row-major order, strictly increase.

    Args:
      x: a numeric Tensor.
      name: the name scope of the new operations.

    Returns:
      A bool scalar Tensor.

    Raises:
      TypeError: `x` is not numeric.

    Source: python/ops/check_ops.py, is_strictly_increasing.
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        difference = _differences(x)
        zero = convert(0, difference.dtype)
        return reduce_all(Less()(zero, difference))
