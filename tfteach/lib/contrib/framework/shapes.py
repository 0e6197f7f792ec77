"""Tensors with a check of their shape, static or at run time.

Source: contrib/framework/python/framework/tensor_util.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.case import Assert
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import rank, shape, size
from tfteach.ops.math.compare import equal, logical_and, logical_or
from tfteach.ops.math.reduce_functions import reduce_all


@export("contrib.framework.with_same_shape")
def with_same_shape(expected_tensor: Tensor, tensor: Tensor) -> Tensor:
    """`tensor`, with a check that its shape equals another tensor's.

    Args:
      expected_tensor: a Tensor of the required shape.
      tensor: the Tensor to check.

    Returns:
      `tensor` itself if the static shapes are known and equal; otherwise an Identity
      that runs after the check.

    Raises:
      ValueError: the static shapes differ.

    Example:
      >>> tf.contrib.framework.with_same_shape(tf.zeros([2, 3]), tf.ones([2, 3]))
      <tf.Tensor 'ones:0' shape=(2, 3) dtype=float32>

    Source: contrib/framework/python/framework/tensor_util.py.
    """
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        known = expected_tensor.shape
        expected: Any
        if known.is_fully_defined():
            expected = known.as_list()
        else:
            expected = shape(expected_tensor, name="expected_shape")
        return with_shape(expected, tensor)


@export("contrib.framework.with_shape")
def with_shape(expected_shape: TensorLike, tensor: Tensor) -> Tensor:
    """`tensor`, with a check of its shape.

    Args:
      expected_shape: a list of ints, an int32 array or an int32 Tensor [rank], where -1
        means any size; or a TensorShape whose sizes are known.
      tensor: the Tensor to check.

    Returns:
      `tensor` itself if the static shapes are known and equal; otherwise an Identity
      that runs after the check.

    Raises:
      ValueError: the static shapes differ; or `expected_shape` is not an int32 vector.

    Example:
      >>> tf.contrib.framework.with_shape([2, 3], tf.ones([2, 3]))
      <tf.Tensor 'ones:0' shape=(2, 3) dtype=float32>

    Source: contrib/framework/python/framework/tensor_util.py.
    """
    expected = _as_vector(expected_shape, tensor)
    is_dynamic = isinstance(expected, Tensor)
    is_scalar = not is_dynamic and len(expected) == 0
    known = tensor.shape
    if is_dynamic or not known.is_fully_defined():
        with name_scope(f"{tensor.op.name}/", values=[tensor]):
            if is_scalar:
                return reshape(tensor, [])
            with control_dependencies([_assert_shape(expected, tensor)]):
                checked = identity(tensor)
            if not is_dynamic:
                checked.set_shape(_static(expected))
            return checked
    if not known.is_compatible_with(_static(expected)):
        if is_scalar and known.is_compatible_with([1]):
            with name_scope(f"{tensor.op.name}/", values=[tensor]):
                return reshape(tensor, [])
        raise ValueError(
            f"Invalid shape for tensor {tensor.name}, expected {expected}, got {known}."
        )
    return tensor


def _static(expected: Any) -> TensorShape:
    if isinstance(expected, TensorShape):
        return expected
    return TensorShape([None if n < 0 else n for n in expected.tolist()])


def _as_vector(expected: Any, tensor: Tensor) -> Any:
    if isinstance(expected, list | tuple):
        array = np.asarray(expected)
        is_plain = array.size == 0 or array.dtype == np.int64
        expected = array.astype(np.int32) if is_plain else array
    if isinstance(expected, TensorShape):
        return expected
    if isinstance(expected, np.ndarray) and expected.ndim > 1:
        raise ValueError(
            f"Invalid rank {expected.ndim} for shape {expected} expected of tensor "
            f"{tensor.name}."
        )
    kind = expected.dtype
    if (kind.base_dtype if isinstance(expected, Tensor) else kind) != int32:
        raise ValueError(
            f"Invalid dtype {kind} for shape {expected} expected of tensor "
            f"{tensor.name}."
        )
    return expected


def _assert_shape(expected: Any, tensor: Tensor) -> Operation:
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = shape(tensor, name="actual")
        with name_scope("is_shape", values=[tensor]) as inner:
            has_rank = _has_rank(size(expected), tensor)
            has_shape = logical_and(has_rank, _compatible(expected, actual), name=inner)
        message = f"Wrong shape for {tensor.name} [expected] [actual]."
        return Assert(has_shape, [message, expected, actual], name=scope)


def _has_rank(expected: Tensor, tensor: Tensor) -> Tensor:
    with name_scope("is_rank", values=[tensor]) as scope:
        wanted = convert(expected, name="expected")
        return equal(wanted, rank(tensor, name="actual"), name=scope)


def _compatible(expected: Any, actual: Tensor) -> Tensor:
    with name_scope("shape_tensor_equal", values=[expected, actual]) as scope:
        fits = logical_or(
            equal(expected, -1),
            equal(expected, actual, "equal"),
            name="exclude_partial_shape",
        )
        return reduce_all(fits, name=scope)
