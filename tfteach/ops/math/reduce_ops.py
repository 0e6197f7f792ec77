"""Reductions along axes: sums, means, extremes and their indices.

Source: core/ops/math_ops.cc, python/ops/math_ops.py, python/ops/math_grad.py.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.constant_values import constant_value
from tfteach.framework.dtypes import DType, dtypes_of, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_scalar
from tfteach.framework.threads import LARGE, by_rows, cores, share
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient
from tfteach.ops.core import shape_ops
from tfteach.ops.core.constant import constant, constant_sizes, sizes_argument
from tfteach.ops.core.fill import fill
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import size
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import NUMBER_TYPES, equal
from tfteach.ops.math.complex import conj
from tfteach.ops.math.cumsum import cumprod
from tfteach.ops.math.division import divide, truediv
from tfteach.ops.math.range import range as range_of

INDICES = dtypes_of("int32 int64")
_BLOCK = 1 << 18  # elements processed by a thread at a time


def axes_of(indices: Any, rank: int) -> tuple[int, ...]:
    """Reduction indices (a number or a vector, negative from the end) as axes.

    Raises:
      ValueError: an index is out of range.
    """
    axes = []
    for index in np.ravel(indices).tolist():
        if not -rank <= index < rank:
            raise ValueError(
                f"Invalid reduction dimension {index} for input with {rank} dimensions."
            )
        axes.append(index % rank)
    return tuple(axes)


class Reduction(Op, abstract=True):
    """An op that combines the elements along some axes."""

    signature = "input: T, reduction_indices: Tidx -> output: T"
    T = NUMBER_TYPES
    Tidx = INDICES
    Tidx_default = int32
    keep_dims: bool = False

    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"reduction_indices": (0, 1)}
    by_value: ClassVar[tuple[str, ...]] = ("reduction_indices",)
    host_inputs: ClassVar[tuple[str, ...]] = ("reduction_indices",)

    def infer_shape(self, input: Shape, reduction_indices: Any) -> Shape:
        if input is None:
            return None
        if reduction_indices is None:
            return (None,) * len(input) if self.keep_dims else None
        axes = axes_of(reduction_indices, len(input))
        if self.keep_dims:
            return tuple(1 if i in axes else n for i, n in enumerate(input))
        return tuple(n for i, n in enumerate(input) if i not in axes)

    def compute(self, xp: ArrayModule, input: Array, reduction_indices: Array) -> Any:
        listed = reduction_indices.tolist()
        try:
            axes = tuple(listed) if type(listed) is list else (listed,)
            if input.size >= LARGE and not _takes_first(input, axes):
                return by_rows(lambda rows: self.reduce(np, rows, axes), input, _BLOCK)
            return self.reduce(xp, input, axes)
        except (ValueError, TypeError):  # a repeated or invalid axis, or a matrix
            return self.reduce(xp, input, self._checked(listed, input.ndim))

    def compute_on_card(
        self, xp: ArrayModule, input: Any, reduction_indices: Any
    ) -> Any:
        axes = self._checked(reduction_indices.tolist(), input.ndim)
        return self.reduce_on_card(xp, input, axes)

    def reduce_on_card(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        """`reduce` for an array on a card, where it differs."""
        return self.reduce(xp, input, axes)

    def _checked(self, listed: Any, rank: int) -> tuple[int, ...]:
        axes = set()
        for index in np.ravel(listed).tolist():
            if not -rank <= index < rank:
                raise invalid_argument(
                    f"Invalid reduction dimension ({index} for input with {rank} "
                    "dimension(s)"
                )
            axes.add(index % rank)
        return tuple(axes)

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        """The reduction itself, with validated axes."""
        raise NotImplementedError


def summed(xp: ArrayModule, input: Any, axes: tuple[int, ...], keep: bool) -> Any:
    """The sum in the input's type; two-byte floats are accumulated in four bytes."""
    if input.dtype.itemsize == 2 and input.dtype.kind in "fV":
        wide = input.astype(np.float32).sum(axis=axes, keepdims=keep)
        return wide.astype(input.dtype)
    if input.size >= LARGE and _takes_first(input, axes):
        return _sum_of_parts(xp, input, axes, keep)
    return input.sum(axis=axes, dtype=input.dtype, keepdims=keep)


def _sum_on_card(xp: ArrayModule, input: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return input.sum(axis=axes, dtype=input.dtype, keepdims=keep)


@with_card_kernel(_sum_on_card)
def _sum_of_parts(
    xp: ArrayModule, input: Any, axes: tuple[int, ...], keep: bool
) -> Any:
    """The sum along the first axis (and others), computed by threads in parts."""
    parts = np.array_split(input, cores())
    sums: dict[int, Any] = {}

    def run(numbers: Sequence[int]) -> None:
        for i in numbers:
            sums[i] = parts[i].sum(axis=axes, dtype=input.dtype, keepdims=keep)

    share(range(len(parts)), run)
    return functools.reduce(np.add, (sums[i] for i in range(len(parts))))


def _takes_first(input: Any, axes: tuple[int, ...]) -> bool:
    return 0 in axes or -input.ndim in axes


class Sum(Reduction):
    """The sum along axes.  Source: math_ops.cc, Sum."""

    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        return 0 if values[1] is not None and values[1].size == 0 else None

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        return summed(xp, input, axes, self.keep_dims)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [spread(op, grad), None]


class Mean(Reduction):
    """The mean along axes; for integers truncated towards zero.  Source: Mean."""

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        total = summed(xp, input, axes, self.keep_dims)
        count = input.size // max(total.size, 1) if input.size else 0
        if input.dtype.kind in "iu":
            # A truncated quotient of integers; NumPy's // rounds down.
            sign = xp.sign(total)
            return (sign * (xp.abs(total) // max(count, 1))).astype(input.dtype)
        return total / total.dtype.type(count)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        wide = spread(op, grad)
        source, result = op.inputs[0], op.outputs[0]
        before, after = source._shape, result._shape
        if shapes.is_full(before) and shapes.is_full(after):
            ratio = (shapes.size_of(before) or 0) // max(shapes.size_of(after) or 0, 1)
            factor: Any = constant(ratio, dtype=wide.dtype)
        else:
            from tfteach.ops.math.reduce_functions import reduce_prod

            counts = shape_ops.shape(source), shape_ops.shape(result)
            factor = _safe_quotient(reduce_prod(counts[0]), reduce_prod(counts[1]))
        return [truediv(wide, cast(factor, wide.dtype)), None]


class Prod(Reduction):
    """The product along axes.  Source: math_ops.cc, Prod."""

    int32_on_gpu: ClassVar[Int32Kernel] = "device"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        return input.prod(axis=axes, dtype=input.dtype, keepdims=self.keep_dims)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [_product_gradient(op, grad), None]


class _Extreme(Reduction, abstract=True):
    """Max or Min: the gradient is shared equally among ties."""

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.math.reduce_functions import reduce_sum

        source, indices = op.inputs
        kept = reduced_shape(shape_ops.shape(source), indices)
        y = reshape(op.outputs[0], kept)
        grad = reshape(grad, kept)
        chosen = cast(equal(y, source), grad.dtype)
        count = reshape(reduce_sum(chosen, indices), kept)
        return [divide(chosen, count) * grad, None]

    def _of_nothing(
        self, xp: ArrayModule, input: Any, axes: tuple[int, ...], limit: Any
    ) -> Any:
        """The result for an array without elements; CuPy's has no `initial`."""
        shape = xp.sum(input, axis=axes, keepdims=self.keep_dims).shape
        return xp.full(shape, limit, input.dtype)


def _limit(dtype: np.dtype[Any], sign: int) -> Any:
    """The end of the type's range, the result of an empty Max or Min."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.max if sign > 0 else info.min
    return dtype.type(sign * np.inf)


class Max(_Extreme):
    """The largest element along axes.  Source: math_ops.cc, Max."""

    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        # Like TF on CPUs, fmax ignores NaN.
        keep: Any = self.keep_dims
        lowest = _limit(input.dtype, -1)
        return np.fmax.reduce(input, axis=axes, keepdims=keep, initial=lowest)

    def reduce_on_card(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        if input.size:
            return xp.max(input, axis=axes, keepdims=self.keep_dims)
        return self._of_nothing(xp, input, axes, _limit(input.dtype, -1))


class Min(_Extreme):
    """The smallest element along axes.  Source: math_ops.cc, Min."""

    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        keep: Any = self.keep_dims
        highest = _limit(input.dtype, 1)
        return np.fmin.reduce(input, axis=axes, keepdims=keep, initial=highest)

    def reduce_on_card(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        if input.size:
            return xp.min(input, axis=axes, keepdims=self.keep_dims)
        return self._of_nothing(xp, input, axes, _limit(input.dtype, 1))


class _Truth(Reduction, abstract=True):
    signature = "input: bool, reduction_indices: Tidx -> output: bool"


class All(_Truth):
    """Whether all elements along axes are true.  Source: math_ops.cc, All."""

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        return xp.all(input, axis=axes, keepdims=self.keep_dims)


class Any_(_Truth):
    """Whether any element along axes is true.  Source: math_ops.cc, Any."""

    op_type: ClassVar[str] = "Any"

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        return xp.any(input, axis=axes, keepdims=self.keep_dims)


class EuclideanNorm(Reduction):
    """√Σ|x|² along axes.  Source: math_ops.cc, EuclideanNorm."""

    def reduce(self, xp: ArrayModule, input: Any, axes: tuple[int, ...]) -> Any:
        squares = summed(xp, input * xp.conj(input), axes, self.keep_dims)
        return xp.sqrt(squares).astype(input.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class _Position(Op, abstract=True):
    """The index of the extreme element along an axis; the first on ties."""

    signature = "input: T, dimension: Tidx -> output: output_type"
    T = NUMBER_TYPES
    Tidx = INDICES
    Tidx_default = int32
    output_type: DType = int64
    output_type_allowed = INDICES

    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"dimension": 0}
    by_value: ClassVar[tuple[str, ...]] = ("dimension",)
    host_inputs: ClassVar[tuple[str, ...]] = ("dimension",)

    def infer_shape(self, input: Shape, dimension: Any) -> Shape:
        if input is None:
            return None
        if len(input) <= 1:
            return ()
        if dimension is None:
            return (None,) * (len(input) - 1)
        rank, axis = len(input), int(dimension)
        if not -rank <= axis < rank:
            raise ValueError(
                f"Dimension ({axis}) must be in the range [{-rank}, {rank}), where "
                f"{rank} is the number of dimensions in the input."
            )
        axis %= rank
        return input[:axis] + input[axis + 1 :]

    def check_shapes(self, dimension: tuple[int, ...]) -> None:
        message = "dim must be a scalar, but received tensor of shape: %s"
        require_scalar(dimension, message)

    def compute(self, xp: ArrayModule, input: Array, dimension: Array) -> Any:
        axis = self._checked_axis(input, dimension)
        largest = isinstance(self, ArgMax)
        find = np.argmax if largest else np.argmin
        found = find(input, axis=axis)
        if input.dtype.kind not in "iub":
            # NumPy returns the first NaN, TF on CPUs ignores NaN.
            at = np.expand_dims(found, axis)
            if np.isnan(np.take_along_axis(input, at, axis)).any():
                last = _limit(input.dtype, -1 if largest else 1)
                found = find(np.where(np.isnan(input), last, input), axis=axis)
        return found.astype(self.output_type.numpy_dtype)

    def compute_on_card(self, xp: ArrayModule, input: Any, dimension: Any) -> Any:
        axis = self._checked_axis(input, dimension)
        find = xp.argmax if isinstance(self, ArgMax) else xp.argmin
        return find(input, axis=axis).astype(self.output_type.numpy_dtype)

    def _checked_axis(self, input: Any, dimension: Any) -> int:
        rank, axis = input.ndim, int(dimension)
        if not -rank <= axis < rank:
            raise invalid_argument(
                f"Expected dimension in the range [{-rank}, {rank}), but got {axis}"
            )
        if not input.shape[axis]:
            raise invalid_argument(
                f"Reduction axis {axis} is empty in shape {shapes.text(input.shape)}"
            )
        return axis

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class ArgMax(_Position):
    """The index of the largest element.  Source: math_ops.cc, ArgMax."""


class ArgMin(_Position):
    """The index of the smallest element.  Source: math_ops.cc, ArgMin."""


# ---- gradients: expansion to the input's shape


def reduced_shape(input_shape: Any, axes: Any) -> Tensor:
    """The shape of a reduction's result with kept dimensions, computed as in TF.

    Args:
      input_shape: int Tensor [rank] or a tuple of sizes.
      axes: int Tensor or tuple: the reduction indices.

    Returns:
      An int32 Tensor [rank]: the input's sizes, with 1 at `axes`.
    """
    from tfteach.ops.array.dynamic_partition import dynamic_stitch

    input_shape, axes = cast(input_shape, int32), cast(axes, int32)
    rank = size(input_shape)
    axes = (axes + rank) % rank
    axes_shape = shape_ops.shape(axes)
    return dynamic_stitch([range_of(rank), axes], [input_shape, fill(axes_shape, 1)])


def _safe_quotient(x: Any, y: Any) -> Any:
    """x // y, with 0 / 0 = 0."""
    return x // maximum(y, 1)


# Per graph: (input shape, axes) -> (shape with ones, multiples of the tiling).  TF adds
# nodes only for the first use in a graph, so the cache is visible in GraphDefs.
_spreads: WeakKeyDictionary[Graph, dict[Any, Any]] = WeakKeyDictionary()


def spread(op: Operation, grad: Tensor) -> Tensor:
    """The gradient of Sum: `grad` repeated along the reduced axes."""
    from tfteach.ops.array.tile import tile

    source, indices = op.inputs
    shape = source._shape
    axes = None if shape is None else constant_value(indices)
    if shape is not None and axes is not None:
        if axes.ndim == 1 and axes.tolist() == [*range(len(shape))]:
            grad = reshape(grad, sizes_argument([1] * len(shape)))
            full = shapes.is_full(shape)
            sizes = constant_sizes(shape) if full else shape_ops.shape(source)  # type: ignore[arg-type]
            return tile(grad, sizes)
        if shapes.is_full(shape):
            kept, times = _static_spread(shape, axes)
            return tile(reshape(grad, kept), times)
    input_shape = shape_ops.shape(source)
    with get_default_graph().colocate_with(input_shape):
        kept = reduced_shape(input_shape, indices)
        times = _safe_quotient(input_shape, kept)
    return tile(reshape(grad, kept), times)


def _static_spread(shape: Any, indices: Any) -> tuple[Any, Any]:
    known = _spreads.setdefault(get_default_graph(), {})
    listed = tuple(np.ravel(indices).tolist())
    found = known.get((shape, listed))
    if found is None:
        reduced_shape(shape, listed)
        axes = axes_of(listed, len(shape))
        kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
        _safe_quotient(shape, kept)
        times = tuple(n // max(m, 1) for n, m in zip(shape, kept, strict=True))
        found = known[shape, listed] = kept, times
    return found


def _product_gradient(op: Operation, grad: Tensor) -> Any:
    """The product of the other elements, from cumulative products from both ends.

    (Dividing the product of all by each element would fail at zeros.)
    """
    from tfteach.ops.array.concat_split import concat
    from tfteach.ops.array.gather import gather
    from tfteach.ops.array.tile import tile
    from tfteach.ops.array.transpose_reverse import invert_permutation, transpose
    from tfteach.ops.array.unique import setdiff1d
    from tfteach.ops.math.reduce_functions import reduce_prod

    source = op.inputs[0]
    input_shape = shape_ops.shape(source)
    indices = reshape(op.inputs[1], [-1])
    kept = reduced_shape(input_shape, op.inputs[1])
    times = _safe_quotient(input_shape, kept)
    grad = tile(reshape(grad, kept), times)
    with get_default_graph().device("/cpu:0"):
        rank = shape_ops.rank(source)
        indices = (indices + rank) % rank
        reduced = cast(indices, int32)
        every = range_of(0, rank)
        other, _ = setdiff1d(every, reduced)
        perm = concat([reduced, other], 0)
        reduced_count = reduce_prod(gather(input_shape, reduced))
        other_count = reduce_prod(gather(input_shape, other))
    permuted = transpose(source, perm)
    permuted_shape = shape_ops.shape(permuted)
    flat = reshape(permuted, (reduced_count, other_count))
    left = cumprod(flat, axis=0, exclusive=True)
    right = cumprod(flat, axis=0, exclusive=True, reverse=True)
    y = reshape(conj(left) * conj(right), permuted_shape)
    out = grad * transpose(y, invert_permutation(perm))
    return reshape(out, input_shape)
