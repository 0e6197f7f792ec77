"""Shape, rank and size of tensors.

Source: core/ops/array_ops.cc, python/ops/array_ops.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, TypeGuard

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.core.constant import constant
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorValue


class Shape_(Op):  # `Shape` is the type of static shapes
    """The sizes of the input.  Source: array_ops.cc, Shape."""

    op_type: ClassVar[str] = "Shape"
    signature = "input: T -> output: out_type"
    out_type: DType = int32
    out_type_allowed = dtypes_of("int32 int64")
    reads_only_shapes: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    outputs_shape: ClassVar[bool] = True
    only_metadata: ClassVar[bool] = True
    beside_input: ClassVar[bool] = True
    host_on_gpu: ClassVar[bool] = True
    folds_while_building: ClassVar[Folding] = Folding.PYTHON

    def infer_shape(self, input: Shape) -> Shape:
        return (None,) if input is None else (len(input),)

    def value_for_shape(self, shape: Shape) -> Any:
        return shape if shapes.is_full(shape) else None

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return np.array(input.shape, self.out_type.numpy_dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class ShapeN(MultiOutputOp):
    """The sizes of several inputs.  Source: array_ops.cc, ShapeN."""

    signature = "input: N*T -> output: N*out_type"
    out_type: DType = int32
    out_type_allowed = dtypes_of("int32 int64")
    reads_only_shapes: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    outputs_shape: ClassVar[bool] = True
    only_metadata: ClassVar[bool] = True
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return [(None,) if x is None else (len(x),) for x in input]

    def value_for_shape(self, shape: Shape) -> Any:
        return shape if shapes.is_full(shape) else None

    def compute(self, xp: ArrayModule, *input: Any) -> Any:
        return tuple(np.array(x.shape, self.out_type.numpy_dtype) for x in input)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class Size(Op):
    """The number of elements.  Source: array_ops.cc, Size."""

    signature = "input: T -> output: out_type"
    out_type: DType = int32
    out_type_allowed = dtypes_of("int32 int64")
    reads_only_shapes: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    only_metadata: ClassVar[bool] = True
    beside_input: ClassVar[bool] = True
    host_on_gpu: ClassVar[bool] = True
    folds_while_building: ClassVar[Folding] = Folding.PYTHON

    def infer_shape(self, input: Shape) -> Shape:
        return ()

    def value_for_shape(self, shape: Shape) -> Any:
        return shapes.size_of(shape)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return np.array(input.size, self.out_type.numpy_dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class Rank(Op):
    """The number of dimensions.  Source: array_ops.cc, Rank."""

    signature = "input: T -> output: int32"
    reads_only_shapes: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    only_metadata: ClassVar[bool] = True
    beside_input: ClassVar[bool] = True
    host_on_gpu: ClassVar[bool] = True
    folds_while_building: ClassVar[Folding] = Folding.PYTHON

    def infer_shape(self, input: Shape) -> Shape:
        return ()

    def value_for_shape(self, shape: Shape) -> Any:
        return None if shape is None else len(shape)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return np.array(input.ndim, np.int32)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class EnsureShape(Op):
    """The input, checked against a shape.  Source: array_ops.cc, EnsureShape."""

    signature = "input: T -> output: T"
    shape: Shape
    aliases: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, input: Shape) -> Shape:
        return shapes.merge(self.shape, input)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        if not shapes.compatible(self.shape, input.shape):
            raise invalid_argument(
                f"Shape of tensor {shapes.text(input.shape)} is not compatible with "
                f"expected shape {shapes.text(self.shape)}."
            )
        return input

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad]


def all_axes(tensor: Tensor) -> Tensor:
    """0, 1, ..., rank - 1: the axes of a full reduction."""
    from tfteach.ops.math.range import Range

    known = tensor.static_shape
    if known is None:
        return Range()(0, rank(tensor), 1)
    return constant(np.arange(len(known), dtype=np.int32))


# ---- public functions


def _is_sparse(value: Any) -> TypeGuard[SparseTensor]:
    return isinstance(value, SparseTensor | SparseTensorValue)


@export("shape")
def shape(
    input: TensorLike | SparseTensor,
    name: str | None = None,
    out_type: DTypeLike = int32,
) -> Tensor:
    """The sizes of a tensor, as a tensor.

    Args:
      input: a Tensor or SparseTensor.
      name: the op's name.
      out_type: int32 or int64.

    Returns:
      A Tensor [rank]; a constant where the static shape is fully known.

    Example:
      >>> tf.shape(tf.zeros([2, 3]))  # [2, 3]

    Source: Shape in core/ops/array_ops.cc.
    """
    return shape_internal(input, name, True, out_type)


def shape_internal(
    input: Any,
    name: str | None = None,
    optimize: bool = True,
    out_type: DTypeLike = int32,
) -> Tensor:
    """`shape`; `optimize=False` always leaves it to the run."""
    out_type = as_dtype(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        if _is_sparse(input):
            return cast(input.dense_shape, out_type)
        # Like TensorFlow's, the op converts a list for itself: two Packs.
        known = convert(input).static_shape
        if optimize and shapes.is_full(known):
            return constant(list(known), out_type, name=scope)
        return Shape_(out_type)(input, name=scope)


def cast(value: Any, dtype: DType) -> Tensor:
    """`value` converted to a type; unchanged if it already has that type."""
    from tfteach.ops.math.cast import Cast

    if isinstance(value, Tensor) and value.dtype.base_dtype is dtype:
        return value
    return Cast(DstT=dtype)(value)


@export("shape_n")
def shape_n(
    input: Sequence[TensorLike], out_type: DTypeLike = int32, name: str | None = None
) -> list[Tensor]:
    """The sizes of several tensors of one type.

    Args:
      input: a list of Tensors.
      out_type: int32 or int64.
      name: the op's name.

    Returns:
      A list of Tensors [rank].

    Source: ShapeN in core/ops/array_ops.cc.
    """
    op = ShapeN(out_type)  # type: ignore[arg-type]  # converted by the op
    return op(input, name=name)


@export("size")
def size(
    input: TensorLike | SparseTensor,
    name: str | None = None,
    out_type: DTypeLike = int32,
) -> Tensor:
    """The number of elements of a tensor, as a tensor.

    Args:
      input: a Tensor or SparseTensor.
      name: the op's name.
      out_type: int32 or int64.

    Returns:
      A scalar Tensor; a constant where the static shape is known.

    Source: Size in core/ops/array_ops.cc.
    """
    from tfteach.ops.math.reduce_ops import Prod

    out_type = as_dtype(out_type)
    with name_scope(name, "Size", [input]) as scope:
        if _is_sparse(input):
            return Prod()(cast(input.dense_shape, out_type), 0, name=scope)
        known = convert(input).static_shape
        if shapes.is_full(known):
            return constant(math.prod(known), out_type, name=scope)
        if known is not None and 0 in known:
            return constant(0, out_type, name=scope)
        return Size(out_type)(input, name=scope)


@export("rank")
def rank(input: TensorLike | SparseTensor, name: str | None = None) -> Tensor:
    """The number of dimensions of a tensor, as a tensor.

    Args:
      input: a Tensor or SparseTensor.
      name: the op's name.

    Returns:
      A scalar int32 Tensor; a constant where the static rank is known.

    Source: Rank in core/ops/array_ops.cc.
    """
    with name_scope(name, "Rank", [input]) as scope:
        if _is_sparse(input):
            return Size()(input.dense_shape, name=scope)
        known = convert(input).static_shape
        if known is not None:
            return constant(len(known), int32, name=scope)
        return Rank()(input, name=scope)


@export("ensure_shape")
def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """`x`, with an error unless its shape is compatible with the given one.

    Args:
      x: a Tensor.
      shape: a TensorShape or a list, with None for any size.
      name: the op's name.

    Returns:
      A Tensor of the same elements; its static shape merges both shapes.

    Raises:
      ValueError: the static shapes contradict each other.
      tf.errors.InvalidArgumentError: (when run) the run-time shape does.

    Example:
      >>> x = tf.placeholder(tf.float32)
      >>> y = tf.ensure_shape(x, [None, 3])  # now of static shape (?, 3)

    Source: EnsureShape in core/ops/array_ops.cc.
    """
    return EnsureShape(shapes.as_shape(shape))(x, name=name)
