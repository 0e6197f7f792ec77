"""Constant arrays: fill, zeros, ones.

Source: core/ops/array_ops.cc, python/ops/array_ops.py.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import as_dtype, dtypes_of, int32
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.shape_checks import require_scalar, require_vector
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import INDICES, reshape
from tfteach.ops.core.shape_ops import shape_internal


class Fill(Op):
    """An array filled with one value.  Source: array_ops.cc, Fill."""

    signature = "dims: index_type, value: T -> output: T"
    index_type = INDICES
    index_type_default = int32
    by_value: ClassVar[tuple[str, ...]] = ("dims",)
    by_shape: ClassVar[tuple[str, ...]] = ("dims",)
    host_inputs: ClassVar[tuple[str, ...]] = ("dims",)
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.PYTHON

    def infer_shape(self, dims: Shape | Array, value: Shape) -> Shape:
        shapes.with_rank(value, 0)
        if isinstance(dims, np.ndarray):
            if (dims < 0).any():
                raise ValueError("Fill dimensions must be >= 0")
            return tuple(dims.reshape(-1).tolist())
        return dims

    def check_shapes(self, dims: tuple[int, ...], value: tuple[int, ...]) -> None:
        require_vector(dims, "dims must be a vector, got shape %s")
        require_scalar(value, "value must be a scalar, got shape %s")

    def compute(self, xp: ArrayModule, dims: Array, value: Any) -> Any:
        wanted = tuple(dims.tolist())
        for n in wanted:
            if n < 0:
                raise invalid_argument(f"Dimension {n} must be >= 0")
        return xp.full(wanted, value, dtype=value.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.math.reduce_functions import reduce_sum

        return [None, reduce_sum(grad)]


class ZerosLike(Op):
    """Zeros in the input's shape.  Source: array_ops.cc, ZerosLike."""

    signature = "x: T -> y: T"
    reads_only_shapes: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    passes_list: ClassVar[bool] = True

    def infer_shape(self, x: Shape) -> Shape:
        return x

    def compute(self, xp: ArrayModule, x: Any) -> Any:
        if not isinstance(x, np.generic) and hasattr(x, "zeros"):  # a variant
            return x.zeros(xp)
        if x.dtype.hasobject:
            return np.full(x.shape, b"", object)
        return xp.zeros(x.shape, x.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class OnesLike(Op):
    """Ones in the input's shape.  Source: array_ops.cc, OnesLike."""

    signature = "x: T -> y: T"
    T = dtypes_of(
        "bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 int64 "
        "complex64 complex128 bool"
    )
    reads_only_shapes: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, x: Shape) -> Shape:
        return x

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.ones(x.shape, x.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


# ---- public functions


@export("fill")
def fill(dims: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """An array filled with one value.

    Args:
      dims: int Tensor [rank], the sizes.
      value: a scalar Tensor.
      name: the op's name.

    Returns:
      A Tensor of `value`'s type and of shape `dims`.

    Example:
      >>> tf.fill([2, 3], 9)

    Source: Fill in core/ops/array_ops.cc.
    """
    return Fill()(dims, value, name=name)


def _is_small(shape: Any) -> bool:
    """Whether an array of this shape becomes a constant instead of a Fill."""
    if isinstance(shape, list | tuple) and any(isinstance(n, Tensor) for n in shape):
        if get_default_graph().is_eager:
            return False
        # TF multiplies the sizes even if they are tensors, and then cannot decide; the
        # nodes of that attempt remain in its graphs, hence in ours.
        return bool(functools.reduce(operator.mul, shape) < 1000)
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if not hasattr(shape, "__len__"):
        return False  # a single size, which TF turns into a vector before Fill
    if all(type(n) is int for n in shape):  # Fill rejects negative sizes
        return math.prod(shape) < 1000 and min(shape, default=0) >= 0
    sizes = np.asarray(shape)
    # Fill rejects negative sizes.
    if sizes.dtype.kind == "i" and (sizes < 0).any():
        return False
    return bool(np.prod(sizes) < 1000)


@functools.lru_cache(maxsize=256)
def _shared(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """A small array of equal numbers, for any number of eager tensors."""
    array = np.full(shape, value, dtype)
    array.flags.writeable = False
    return array if shape else array[()]


def _filled(
    value: Any, shape: Any, dtype: DTypeLike, name: str | None, kind: str
) -> Tensor:
    dtype = as_dtype(dtype).base_dtype
    if dtype.is_bool:
        value = bool(value)
    elif dtype is dtypes.string and not value:
        value = ""
    graph = get_default_graph()
    is_list = type(shape) is list or type(shape) is tuple
    if is_list and graph.is_eager and not dtype.numpy_dtype.hasobject:
        sizes = tuple(shape)
        if all(type(n) is int for n in sizes) and _is_small(sizes):
            return graph.hold(_shared(value, sizes, dtype.numpy_dtype), dtype)
    with name_scope(name, kind, [shape]) as scope:
        if isinstance(shape, list | tuple):
            shape = [int(n) if isinstance(n, EagerTensor) else n for n in shape]
        if not isinstance(shape, Tensor):
            try:
                if _is_small(shape):
                    return constant(value, dtype, shape, name=scope)
            except (TypeError, ValueError):
                pass
            try:
                shape = convert(TensorShape(shape))
            except (TypeError, ValueError):
                shape = convert(shape, int32)
        if not shape.static_shape:
            shape = reshape(shape, [-1])
        return fill(shape, constant(value, dtype), name=scope)


@export("zeros")
def zeros(
    shape: TensorLike, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """An array of zeros.

    Args:
      shape: the sizes: a list, a TensorShape or an int Tensor [rank].
      dtype: the element type.
      name: the op's name.

    Returns:
      A Tensor: a constant if it is small and its shape is known, else a Fill.

    Source: python/ops/array_ops.py.
    """
    return _filled(0, shape, dtype, name, "zeros")


@export("ones")
def ones(
    shape: TensorLike, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """An array of ones.

    Args:
      shape: the sizes: a list, a TensorShape or an int Tensor [rank].
      dtype: the element type.
      name: the op's name.

    Returns:
      A Tensor: a constant if it is small and its shape is known, else a Fill.

    Source: python/ops/array_ops.py.
    """
    return _filled(1, shape, dtype, name, "ones")


@export("zeros_like")
def zeros_like(
    tensor: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    optimize: bool = True,
) -> Tensor:
    """Zeros in the shape of a tensor.

    Args:
      tensor: a Tensor.
      dtype: the element type; `tensor`'s if None.
      name: the op's name.
      optimize: create a constant where the static shape is known.

    Returns:
      A Tensor of `tensor`'s shape.

    Source: ZerosLike in core/ops/array_ops.cc.
    """
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert(tensor, None, "tensor")
        dtype = None if dtype is None else as_dtype(dtype)
        same = dtype is None or dtype == tensor.dtype
        if tensor.dtype == dtypes.variant or dtype == dtypes.variant:
            return ZerosLike()(tensor, name=scope)
        if optimize and shapes.is_full(tensor.static_shape):
            return zeros(tensor.shape, dtype or tensor.dtype, name=scope)
        if same:
            return ZerosLike()(tensor, name=scope)
        assert dtype is not None
        return zeros(shape_internal(tensor, optimize=optimize), dtype, name=scope)


@export("ones_like")
def ones_like(
    tensor: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    optimize: bool = True,
) -> Tensor:
    """Ones in the shape of a tensor.

    Args:
      tensor: a Tensor.
      dtype: the element type; `tensor`'s if None.
      name: the op's name.
      optimize: use the static shape, where it is known.

    Returns:
      A Tensor of `tensor`'s shape.

    Source: python/ops/array_ops.py.
    """
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert(tensor, None, "tensor")
        sizes = shape_internal(tensor, optimize=optimize)
        result = ones(sizes, dtype or tensor.dtype, name=scope)
        result.set_shape(tensor.static_shape)
        return result
