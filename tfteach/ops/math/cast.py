"""Conversion between element types.

Source: core/ops/math_ops.cc (Cast), python/ops/math_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, overload

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.binary import Maximum, Minimum

_DIFFERENTIABLE = dtypes.dtypes_of("half float double bfloat16 complex64 complex128")


class Cast(Op):
    """Each element converted to another type.  Source: math_ops.cc, Cast."""

    signature = "x: SrcT -> y: DstT"
    DstT: DType
    Truncate: bool = False
    is_elementwise: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"
    folds_while_building: ClassVar[Folding] = Folding.PYTHON
    card_formula: ClassVar[str | None] = "{0}"
    converts: ClassVar[bool] = True

    def infer_shape(self, x: Shape) -> Shape:
        return x

    def shape_sources(self, op: Operation) -> Sequence[Tensor]:
        return op.inputs[:1]

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        target = self.DstT.numpy_dtype
        if x.dtype.hasobject or target.hasobject:
            source = dtypes.c_name(dtypes.as_dtype(x.dtype))
            raise NotImplementedError(
                f"Cast {source} to {dtypes.c_name(self.DstT)} is not supported"
            )
        if x.dtype.kind == "c" and target.kind == "b":
            return x != 0
        if x.dtype.kind == "c" and target.kind != "c":
            x = x.real  # the imaginary part is discarded, as in TF
        return x.astype(target)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        source = op.inputs[0].dtype.base_dtype
        if source in _DIFFERENTIABLE and grad.dtype.base_dtype in _DIFFERENTIABLE:
            return [cast(grad, source)]
        return [None]


@overload
def cast(x: SparseTensor, dtype: DTypeLike, name: str | None = ...) -> SparseTensor: ...
@overload
def cast(
    x: IndexedSlices, dtype: DTypeLike, name: str | None = ...
) -> IndexedSlices: ...
@overload
def cast(x: TensorLike, dtype: DTypeLike, name: str | None = ...) -> Tensor: ...
@export("cast", "dtypes.cast")
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Each element converted to another type.

    y = x as dtype; floats are truncated towards zero to integers.

    Args:
      x: a Tensor, SparseTensor or IndexedSlices of numbers or bool.
      dtype: the target type.
      name: the op's name.

    Returns:
      A Tensor of the same shape; `x` itself if it already has that type.

    Raises:
      TypeError: `x` cannot be converted to a tensor, or `dtype` is not a type.

    Example:
      >>> tf.Session().run(tf.cast([1.8, -1.8], tf.int32))
      array([ 1, -1], dtype=int32)

    Source: Cast in core/ops/math_ops.cc.
    """
    target = as_dtype(dtype).base_dtype
    if isinstance(x, Tensor) and x.dtype is target:
        return x
    if hasattr(x, "handle") and x.dtype is target:
        return x  # as in TF, a resource variable is read where it is used
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, SparseTensor):
            values = cast(x.values, target, name=scope)
            return SparseTensor(x.indices, values, x.dense_shape)
        if isinstance(x, IndexedSlices):
            values = cast(x.values, target, name=scope)
            return IndexedSlices(values, x.indices, x.dense_shape)
        x = convert(x, name="x")
        return x if x.dtype.base_dtype is target else Cast(target)(x, name=scope)


@export("dtypes.saturate_cast", "saturate_cast")
def saturate_cast(
    value: TensorLike, dtype: DTypeLike, name: str | None = None
) -> Tensor:
    """A cast that saturates at the limits of the new type instead of wrapping around.

    y = min(max(value, dtype.min), dtype.max) as dtype

    Args:
      value: float or int Tensor of any shape.
      dtype: the target type.
      name: the op's name.

    Returns:
      A Tensor of the same shape.

    Example:
      >>> tf.Session().run(tf.saturate_cast([300, -5], tf.uint8))
      array([255,   0], dtype=uint8)

    Source: python/ops/math_ops.py.
    """
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert(value, name="value")
        dtype, source = as_dtype(dtype).base_dtype, value.dtype.base_dtype
        if source.min < dtype.min:
            low = convert(_bound(dtype.min, source), source, name="min")
            value = Maximum()(value, low)
        if source.max > dtype.max:
            high = convert(_bound(dtype.max, source), source, name="max")
            value = Minimum()(value, high)
        return cast(value, dtype, name=scope)


def _bound(limit: Any, dtype: DType) -> Any:
    return np.asarray(limit).astype(dtype.numpy_dtype)


@export("to_float")
def to_float(x: TensorLike, name: str = "ToFloat") -> Any:
    """`tf.cast(x, tf.float32)` under its older name."""
    return cast(x, dtypes.float32, name=name)


@export("to_double")
def to_double(x: TensorLike, name: str = "ToDouble") -> Any:
    """`tf.cast(x, tf.float64)` under its older name."""
    return cast(x, dtypes.float64, name=name)


@export("to_int32")
def to_int32(x: TensorLike, name: str = "ToInt32") -> Any:
    """`tf.cast(x, tf.int32)` under its older name."""
    return cast(x, dtypes.int32, name=name)


@export("to_int64")
def to_int64(x: TensorLike, name: str = "ToInt64") -> Any:
    """`tf.cast(x, tf.int64)` under its older name."""
    return cast(x, dtypes.int64, name=name)


@export("to_bfloat16")
def to_bfloat16(x: TensorLike, name: str = "ToBFloat16") -> Any:
    """`tf.cast(x, tf.bfloat16)` under its older name."""
    return cast(x, dtypes.bfloat16, name=name)


@export("to_complex64")
def to_complex64(x: TensorLike, name: str = "ToComplex64") -> Any:
    """`tf.cast(x, tf.complex64)` under its older name."""
    return cast(x, dtypes.complex64, name=name)


@export("to_complex128")
def to_complex128(x: TensorLike, name: str = "ToComplex128") -> Any:
    """`tf.cast(x, tf.complex128)` under its older name."""
    return cast(x, dtypes.complex128, name=name)
