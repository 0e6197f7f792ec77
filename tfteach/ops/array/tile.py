"""Repeated arrays.  Source: core/ops/array_ops.cc, Tile."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_vector
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    Gradient,
    TensorLike,
)
from tfteach.ops.array.broadcast_to import broadcast_to
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import boolean_mask
from tfteach.ops.array.one_hot import sequence_mask
from tfteach.ops.array.segment_ops import UnsortedSegmentSum
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.identity_reshape import INDICES, expand_dims, reshape
from tfteach.ops.core.shape_ops import all_axes, cast, shape, size
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import Maximum
from tfteach.ops.math.cast import Cast
from tfteach.ops.math.modulo import FloorMod
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_ops import Max, Sum


class Tile(Op):
    """An array repeated along every axis.  Source: array_ops.cc, Tile."""

    signature = "input: T, multiples: Tmultiples -> output: T"
    Tmultiples = INDICES
    Tmultiples_default = int32
    by_shape: ClassVar[tuple[str, ...]] = ("multiples",)
    host_inputs: ClassVar[tuple[str, ...]] = ("multiples",)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, input: Shape, multiples: Shape) -> Shape:
        if multiples is None:
            return None if input is None else (None,) * len(input)
        if input is not None and len(input) != len(multiples):
            raise ValueError(
                f"Shape must be rank {len(input)} but is rank {len(multiples)}"
            )
        known = shapes.with_rank(input, len(multiples))
        return tuple(
            None if n is None or m is None else n * m
            for n, m in zip(known, multiples, strict=True)
        )

    def check_shapes(self, multiples: tuple[int, ...]) -> None:
        require_vector(multiples, "Expected multiples to be 1-D, but got shape %s")

    def compute(self, xp: ArrayModule, input: Array, multiples: Array) -> Any:
        times = multiples.tolist()
        if len(times) != input.ndim:
            raise invalid_argument(
                f"Expected multiples argument to be a vector of length {input.ndim} "
                f"but got length {len(times)}"
            )
        for i, n in enumerate(times):
            if n < 0:
                raise invalid_argument(f"Expected multiples[{i}] >= 0, but got {n}")
        pairs = list(zip(input.shape, times, strict=True))
        if all(n == 1 or m == 1 for n, m in pairs):  # a third of the time of `tile`
            result = xp.empty([n * m for n, m in pairs], input.dtype)
            result[...] = input
            return result
        # tile(x, ()) would return an array that shares x's memory
        return xp.tile(input, times) if times else input.copy()

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        input, multiples = op.inputs
        input_shape = shape(input, out_type=multiples.dtype.base_dtype)
        pairs = transpose(stack([multiples, input_shape]))
        split = reshape(pairs, [-1])
        axes = range_of(0, size(split), 2)
        if isinstance(grad, IndexedSlices):
            rows = cast(input_shape[0], grad.indices.dtype.base_dtype)
            numbers = FloorMod()(grad.indices, rows)
            grad = UnsortedSegmentSum()(grad.values, numbers, rows)
            split = concat([[1], split[1:]], axis=0)
        summed: Tensor = Sum()(reshape(grad, split), axes)
        summed.set_shape(input.static_shape)
        return [summed, None]


# ---- public functions


@export("tile", "manip.tile")
def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """A tensor repeated along every axis.

    Args:
      input: a Tensor.
      multiples: int Tensor [rank], the number of repetitions along each axis.
      name: the op's name.

    Returns:
      A Tensor of shape input.shape * multiples.

    Source: Tile in core/ops/array_ops.cc.
    """
    return Tile()(input, multiples, name=name)


@export("repeat")
def repeat(
    input: TensorLike,
    repeats: TensorLike,
    axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The elements of a tensor, each repeated several times.

    Args:
      input: a Tensor of known rank.
      repeats: int Tensor, scalar or [input.shape[axis]].
      axis: the axis along which to repeat; the flattened input if None.
      name: the name of the scope.

    Returns:
      A Tensor of `input`'s rank (a vector if `axis` is None).

    Raises:
      ValueError: `axis` is out of range, or the rank is not known.

    Source: python/ops/array_ops.py.
    """
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert(input, None, "data")
        repeats = convert(repeats, None, "repeats", int32)
        if not repeats.dtype.is_integer:
            raise TypeError(f"repeats must be an integer tensor; dtype={repeats.dtype}")
        repeats = Cast(DstT=int32)(repeats)
        rank = data.shape.rank
        if rank is None or repeats.shape.rank not in (0, 1):
            raise ValueError("repeat requires known ranks, and repeats of rank 0 or 1.")
        if not rank:
            data, rank = stack([data]), 1
        whole = shape(data)
        if not -rank <= axis < rank:
            raise ValueError(
                f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}"
            )
        axis %= rank
        if repeats.shape.rank == 0:
            tiled = _tiled(data, axis, repeats)
            return reshape(tiled, concat([whole[:axis], [-1], whole[axis + 1 :]], 0))
        return _repeat_each(data, repeats, axis, whole)


def _tiled(data: Tensor, axis: int, times: Any) -> Tensor:
    expanded = expand_dims(data, axis + 1)
    multiples: list[Any] = [1] * len(expanded.static_shape or ())
    multiples[axis + 1] = times
    return tile(expanded, multiples)


def _repeat_each(data: Tensor, repeats: Tensor, axis: int, whole: Tensor) -> Tensor:
    if axis:
        outer = concat([whole[:axis], shape(repeats)], axis=0)
        repeats = broadcast_to(repeats, outer)
        repeats.set_shape([None] * (axis + 1))
    most = Maximum()(0, Max()(repeats, all_axes(repeats)))
    mask = sequence_mask(repeats, most)
    result = boolean_mask(_tiled(data, axis, most), mask)
    if axis:
        result = reshape(result, concat([whole[:axis], [-1], whole[axis + 1 :]], 0))
    known = data.shape
    result.set_shape(known[:axis].concatenate([None]).concatenate(known[axis + 1 :]))
    return result
