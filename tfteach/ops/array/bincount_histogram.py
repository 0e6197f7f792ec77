"""Counts of values, and histograms.

Source: core/ops/math_ops.cc (Bincount, HistogramFixedWidth), python/ops/math_ops.py,
python/ops/histogram_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, DTypeLike, TensorLike
from tfteach.ops.array.segment_ops import UnsortedSegmentSum
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import INDICES, reshape
from tfteach.ops.core.shape_ops import cast, shape
from tfteach.ops.math.binary import Maximum, Minimum
from tfteach.ops.math.clip_by_value import clip_by_value
from tfteach.ops.math.division import truediv
from tfteach.ops.math.reduce_functions import reduce_max, reduce_prod
from tfteach.ops.math.rounding import floor

_COUNTED = dtypes_of("int32 int64 float double")


class Bincount(Op):
    """The count, or sum of weights, of each number.  Source: Bincount."""

    signature = "arr: int32, size: int32, weights: T -> bins: T"
    T = _COUNTED
    by_value: ClassVar[tuple[str, ...]] = ("size",)
    host_inputs: ClassVar[tuple[str, ...]] = ("size",)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, arr: Shape, size: Any, weights: Shape) -> Shape:
        if size is None:
            return (None,)
        if np.ndim(size):
            raise ValueError(f"Shape must be rank 0 but is rank {np.ndim(size)}")
        if size < 0:
            raise ValueError(f"size ({int(size)}) must be non-negative")
        return (int(size),)

    def check_shapes(self, size: tuple[int, ...]) -> None:
        single = all(n == 1 for n in size)
        require(single, "size must have exactly one element, got shape %s", size)

    def compute(self, xp: ArrayModule, arr: Array, size: Any, weights: Array) -> Any:
        count = size.item()
        if count < 0:
            raise invalid_argument(f"size ({count}) must be non-negative")
        if arr.size and int(arr.min()) < 0:
            raise invalid_argument("Input arr must be non-negative!")
        if weights.size and weights.shape != arr.shape:
            raise invalid_argument(
                "Input arr and weights must have the same shape, or weights none: "
                f"{shapes.text(arr.shape)} vs. {shapes.text(weights.shape)}"
            )
        kept = arr < count  # larger numbers are not counted
        heavy = weights[kept] if weights.size else None
        found = xp.bincount(arr[kept], heavy, minlength=count)
        return found.astype(weights.dtype)


@export("math.bincount", "bincount")
def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: DTypeLike = int32,
) -> Tensor:
    """Occurrences of each number 0, 1, 2, ...

    bins[i] = Σ weights where arr = i

    Args:
      arr: int32 Tensor of numbers >= 0, of any shape.
      weights: Tensor like `arr`: the amount each element adds instead of 1.
      minlength: int, the minimum size of the result.
      maxlength: int, the maximum size; larger numbers are not counted.
      dtype: the type of the counts without weights.

    Returns:
      A Tensor [largest number + 1], within the bounds.

    Raises:
      InvalidArgumentError: (in a run) a number is negative, or exceeds `maxlength` when
        weights are given.

    Example:
      >>> tf.Session().run(tf.bincount([1, 1, 3]))
      array([0, 2, 0, 1], dtype=int32)

    Source: python/ops/math_ops.py; Bincount, UnsortedSegmentSum.
    """
    with name_scope("bincount"):
        arr = convert(arr, int32, "arr")
        is_filled = reduce_prod(shape(arr)) > 0
        size = cast(is_filled, int32) * (reduce_max(arr) + 1)
        if minlength is not None:
            size = Maximum()(convert(minlength, int32, "minlength"), size)
        if maxlength is not None:
            size = Minimum()(convert(maxlength, int32, "maxlength"), size)
        if weights is not None:
            weights = convert(weights, name="weights")
            return UnsortedSegmentSum()(weights, arr, size)
        return Bincount()(arr, size, constant([], dtype))


class HistogramFixedWidth(Op):
    """Counts of values in ranges of equal width.  Source: HistogramFixedWidth."""

    signature = "values: T, value_range: T, nbins: int32 -> out: dtype"
    T = _COUNTED
    dtype: DType = int32
    dtype_allowed = INDICES
    by_value: ClassVar[tuple[str, ...]] = ("nbins",)
    host_inputs: ClassVar[tuple[str, ...]] = ("value_range", "nbins")

    def infer_shape(self, values: Shape, value_range: Shape, nbins: Any) -> Shape:
        sizes = shapes.with_rank(value_range, 1)
        if sizes[0] not in (None, 2):
            raise ValueError(f"Dimension must be 2 but is {sizes[0]}")
        if nbins is None:
            return (None,)
        if nbins <= 0:
            raise ValueError(f"Requires nbins > 0: {int(nbins)}")
        return (int(nbins),)

    def check_shapes(
        self, value_range: tuple[int, ...], nbins: tuple[int, ...]
    ) -> None:
        require_vector(value_range, "value_range should be a vector.")
        require(value_range == (2,), "value_range should be a vector of 2 elements.")
        require_scalar(nbins, "nbins should be a scalar.")

    def compute(
        self, xp: ArrayModule, values: Array, value_range: Array, nbins: Array
    ) -> Any:
        low, high = value_range.tolist()
        if not low < high:
            raise invalid_argument(
                "value_range should satisfy value_range[0] < value_range[1], but got "
                f"'[{low:g}, {high:g}]'"
            )
        count = int(nbins)
        if count <= 0:
            raise invalid_argument(
                f"nbins should be a positive number, but got '{count}'"
            )
        width = (value_range[1] - value_range[0]).astype(np.float64) / count
        places = (values.reshape(-1) - value_range.dtype.type(low)) / width
        places = xp.clip(xp.nan_to_num(places, posinf=count), 0, count - 1)
        found = xp.bincount(places.astype(np.int64), minlength=count)
        return found.astype(self.dtype.numpy_dtype)


@export("histogram_fixed_width")
def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Counts of values in each of `nbins` ranges of equal width.

    Args:
      values: int or float Tensor of any shape.
      value_range: Tensor [2] of that type: smaller values count in the first range,
        larger ones in the last.
      nbins: int32 Tensor [], the number of ranges.
      dtype: int32 or int64, the counts' type.
      name: the op's name.

    Returns:
      A Tensor [nbins].

    Raises:
      InvalidArgumentError: (in a run) value_range[0] >= value_range[1].

    Example:
      >>> tf.Session().run(tf.histogram_fixed_width([0.1, 0.9, 2.0], [0.0, 1.0], 2))
      array([1, 2], dtype=int32)

    Source: HistogramFixedWidth in core/ops/math_ops.cc.
    """
    with name_scope(
        name, "histogram_fixed_width", [values, value_range, nbins]
    ) as scope:
        op = HistogramFixedWidth(dtype)  # type: ignore[arg-type]  # converted by the op
        return op(values, value_range, nbins, name=scope)


@export("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: Any,
    nbins: Any = 100,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Each value's range as an index; see `tf.histogram_fixed_width`.

    Returns:
      An int32 Tensor of the shape of `values`; as in TF, regardless of `dtype`.

    Source: python/ops/histogram_ops.py.
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert(values, name="values")
        sizes = shape(values)
        values = reshape(values, [-1])
        value_range = convert(value_range, name="value_range")
        nbins = convert(nbins, int32, "nbins")
        count = cast(nbins, values.dtype)
        scaled = truediv(
            values - value_range[0],
            value_range[1] - value_range[0],
            name="scaled_values",
        )
        places = floor(count * scaled, name="indices")
        places = cast(clip_by_value(places, 0, count - 1), int32)
        return reshape(places, sizes)
