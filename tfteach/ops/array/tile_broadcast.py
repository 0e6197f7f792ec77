"""Repetition: tile, broadcast, one-hot rows, grids, masks by length.

Source: core/ops/array_ops.cc, python/ops/array_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, dtypes_of, int32, int64
from tfteach.framework.errors import InvalidArgumentError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape, TensorShape, as_shape
from tfteach.framework.shape_checks import require, require_scalar, require_vector
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import boolean_mask
from tfteach.ops.array.segment_ops import UnsortedSegmentSum
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.broadcast_gradients import BroadcastGradientArgs
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import INDICES, expand_dims, reshape
from tfteach.ops.core.shape_ops import all_axes, cast, shape, size
from tfteach.ops.core.stack_unstack import brackets, stack
from tfteach.ops.math.binary import Maximum
from tfteach.ops.math.cast import Cast
from tfteach.ops.math.modulo import FloorMod
from tfteach.ops.math.range import Range
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_ops import Max, Sum

BOOL = as_dtype("bool")


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


class BroadcastTo(Op):
    """An array broadcast to a shape.  Source: array_ops.cc, BroadcastTo."""

    signature = "input: T, shape: Tidx -> output: T"
    Tidx = INDICES
    Tidx_default = int32
    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape",)
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, input: Shape, shape: Shape) -> Shape:
        if shape is None or input is None:
            return shape
        if len(input) > len(shape):
            raise ValueError(
                f"Shape must be at most rank {len(shape)} but is rank {len(input)}"
            )
        wide = (1,) * (len(shape) - len(input)) + input
        result: list[int | None] = []
        for n, m in zip(wide, shape, strict=True):
            if n not in (None, 1) and m not in (None, n):
                raise ValueError(f"Dimensions must be equal, but are {n} and {m}")
            result.append(n if m is None and n != 1 else m)
        return tuple(result)

    def check_shapes(self, shape: tuple[int, ...]) -> None:
        require_vector(shape, "shape must be a vector of {int32,int64}, got shape %s")

    def compute(self, xp: ArrayModule, input: Array, shape: Any) -> Any:
        wanted = tuple(shape.tolist())
        try:
            return xp.array(xp.broadcast_to(input, wanted))
        except ValueError:
            raise self._refusal_of(input, wanted) from None

    def _refusal_of(self, input: Any, wanted: tuple[int, ...]) -> InvalidArgumentError:
        for n in wanted:
            if n < 0:
                return invalid_argument(f"Dimension {n} must be >= 0")
        if input.ndim > len(wanted):
            return invalid_argument(
                f"Rank of input ({input.ndim}) must be no greater than rank of output "
                f"shape ({len(wanted)})."
            )
        return invalid_argument(
            f"Incompatible shapes: {brackets(input)} vs. {shapes.text(wanted)}"
        )

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        input, wanted = op.inputs
        input_shape = shape(input)
        _, axes = BroadcastGradientArgs()(wanted, input_shape)
        summed = Sum(keep_dims=True)(grad, axes)
        return [reshape(summed, input_shape), None]


class BroadcastArgs(Op):
    """The shape that two shapes broadcast to.  Source: BroadcastArgs."""

    signature = "s0: T, s1: T -> r0: T"
    T = INDICES
    T_default = int32
    host_inputs: ClassVar[tuple[str, ...]] = ("s0", "s1")
    is_expensive: ClassVar[bool] = False
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self, s0: Shape, s1: Shape) -> Shape:
        (m,), (n,) = shapes.with_rank(s0, 1), shapes.with_rank(s1, 1)
        return (None if m is None or n is None else max(m, n),)

    def check_shapes(self, s0: tuple[int, ...], s1: tuple[int, ...]) -> None:
        require_vector(s0, "In[0] must be a vector.%s")
        require_vector(s1, "In[1] must be a vector.%s")

    def compute(self, xp: ArrayModule, s0: Array, s1: Array) -> Any:
        try:
            both = shapes.broadcast(tuple(s0.tolist()), tuple(s1.tolist()))
        except ValueError:
            a, b = (",".join(map(str, s.tolist())) for s in (s0, s1))
            raise invalid_argument(f"Incompatible shapes: [{a}] vs. [{b}]") from None
        return np.array(both, s0.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class OneHot(Op):
    """A row per index, with `on_value` at that index.  Source: array_ops.cc, OneHot."""

    signature = "indices: TI, depth: int32, on_value: T, off_value: T -> output: T"
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"depth": 0}
    TI = dtypes_of("uint8 int32 int64")
    TI_default = int64
    axis: int = -1
    by_value: ClassVar[tuple[str, ...]] = ("depth",)
    host_inputs: ClassVar[tuple[str, ...]] = ("depth",)
    checks_only_ranks: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(
        self, indices: Shape, depth: Any, on_value: Shape, off_value: Shape
    ) -> Shape:
        if self.axis < -1:
            raise ValueError("axis must be >= -1")
        if depth is not None and depth < 0:
            raise ValueError(
                "Dimension size, given by scalar input 1, must be non-negative but is "
                f"{depth}"
            )
        if indices is None:
            return None
        at = len(indices) if self.axis == -1 else self.axis
        at = min(at, len(indices))  # a larger one fails at run time
        count = None if depth is None else int(depth)
        return (*indices[:at], count, *indices[at:])

    def check_shapes(
        self,
        indices: tuple[int, ...],
        depth: tuple[int, ...],
        on_value: tuple[int, ...],
        off_value: tuple[int, ...],
    ) -> None:
        rank, axis = len(indices) + 1, self.axis
        bounds = f"-1 or between [0, {rank})"
        message = f"Expected axis to be {bounds}.  But received: {axis}"
        require(axis == -1 or 0 <= axis < rank, message)
        require_scalar(depth, "depth must be a scalar, but got: %s")
        require_scalar(on_value, "on_value must be a scalar, but got: %s")
        require_scalar(off_value, "off_value must be a scalar, but got: %s")

    def compute(
        self,
        xp: ArrayModule,
        indices: Array,
        depth: Array,
        on_value: Array,
        off_value: Array,
    ) -> Any:
        count = int(depth)
        if count < 0:
            raise invalid_argument(f"depth must be non-negative, got: {count}")
        at = indices.ndim if self.axis == -1 else self.axis
        flat = indices.reshape(-1)
        rows = xp.full((flat.size, count), off_value, on_value.dtype)
        known = (flat >= 0) & (flat < count)
        rows[xp.flatnonzero(known), flat[known]] = on_value
        result = rows.reshape((*indices.shape, count))
        if at == indices.ndim:
            return result
        return xp.ascontiguousarray(xp.moveaxis(result, -1, at))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None, None]


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


@export("broadcast_to")
def broadcast_to(
    input: TensorLike, shape: TensorLike, name: str | None = None
) -> Tensor:
    """A tensor broadcast to a shape, by NumPy's rules.

    Args:
      input: a Tensor.
      shape: int Tensor [rank].
      name: the op's name.

    Returns:
      A Tensor of shape `shape`.

    Raises:
      ValueError: the static shapes do not broadcast.

    Source: BroadcastTo in core/ops/array_ops.cc.
    """
    return BroadcastTo()(input, shape, name=name)


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape that two run-time shapes broadcast to.

    Args:
      shape_x, shape_y: int Tensors [rank].

    Returns:
      An int Tensor [larger rank].

    Raises:
      InvalidArgumentError: they do not broadcast.

    Source: BroadcastArgs in core/ops/array_ops.cc.
    """
    return BroadcastArgs()(shape_x, shape_y)


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """The shape that two static shapes broadcast to, as far as it is known.

    Args:
      shape_x, shape_y: TensorShapes.

    Returns:
      A TensorShape.

    Raises:
      ValueError: they do not broadcast.

    Source: python/framework/common_shapes.py.
    """
    for given in (shape_x, shape_y):
        if not isinstance(given, TensorShape):
            raise AttributeError(
                f"'{type(given).__name__}' object has no attribute 'ndims': expected a "
                f"TensorShape, got {given!r}"
            )
    x, y = as_shape(shape_x), as_shape(shape_y)
    try:
        return TensorShape(shapes.broadcast(x, y))
    except ValueError:
        raise ValueError(
            "Incompatible shapes for broadcasting: "
            f"{TensorShape(x)} and {TensorShape(y)}"
        ) from None


@export("one_hot")
def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A row per index, with `on_value` at that index.

    Args:
      indices: int Tensor of any shape; an index outside [0, depth) yields no
          `on_value`.
      depth: scalar int32 Tensor, the length of the rows.
      on_value, off_value: scalars, 1 and 0 if None.
      axis: the position of the new axis; the last if None.
      dtype: the element type; if None, the values' type, else float32.
      name: the op's name.

    Returns:
      A Tensor with one more axis than `indices`.

    Raises:
      TypeError: the values' types do not match `dtype` or each other.

    Example:
      >>> tf.one_hot([0, 2], 3)  # [[1., 0., 0.], [0., 0., 1.]]

    Source: OneHot in core/ops/array_ops.cc.
    """
    values = [indices, depth, on_value, off_value, axis, dtype]
    with name_scope(name, "one_hot", values) as scope:
        given: dict[str, Any] = {}
        for which, value in (("on_value", on_value), ("off_value", off_value)):
            if value is not None:
                given[which] = convert(value).dtype.base_dtype
        if dtype is not None:
            dtype = as_dtype(dtype)
            for which, kind in given.items():
                if kind != dtype:
                    raise TypeError(
                        f"dtype {kind} of {which} does not match dtype parameter "
                        f"{dtype}"
                    )
        else:
            dtype = next(iter(given.values()), dtypes.float32)
        on = given.setdefault("on_value", dtype)
        off = given.setdefault("off_value", dtype)
        if on_value is None:
            on_value = convert(1, dtype, "on_value")
        if off_value is None:
            off_value = convert(0, dtype, "off_value")
        if on != off:
            raise TypeError(
                f"dtype {on} of on_value does not match dtype {off} of off_value"
            )
        op = OneHot(-1 if axis is None else axis)
        return op(indices, depth, on_value, off_value, name=scope)


@export("sequence_mask")
def sequence_mask(
    lengths: TensorLike,
    maxlen: TensorLike | None = None,
    dtype: DTypeLike = BOOL,
    name: str | None = None,
) -> Tensor:
    """For each length n, a row whose first n elements are true.

    Args:
      lengths: int Tensor of any shape.
      maxlen: scalar int Tensor, the rows' length; the largest length if None.
      dtype: the element type.
      name: the name of the scope.

    Returns:
      A Tensor of shape lengths.shape + [maxlen].

    Raises:
      ValueError: `maxlen` is not a scalar.

    Example:
      >>> tf.sequence_mask([1, 3], 4)  # [[T, F, F, F], [T, T, T, F]]

    Source: python/ops/array_ops.py.
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert(lengths)
        if maxlen is None:
            maxlen = Max()(lengths, all_axes(lengths))
            maxlen = Maximum()(constant(0, maxlen.dtype), maxlen)
        else:
            maxlen = convert(maxlen)
        if maxlen.shape.rank not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        kind = maxlen.dtype.base_dtype
        row = Range()(constant(0, kind), maxlen, constant(1, kind))
        column = Cast(DstT=kind)(expand_dims(lengths, -1))
        result = row < column
        return result if dtype is None else cast(result, as_dtype(dtype).base_dtype)


@export("meshgrid")
def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinate arrays for the grid spanned by vectors.

    Args:
      *args: vectors, one per axis.
      indexing: "xy" (the first two axes swapped, as in plots) or "ij".
      name: the name of the scope.

    Returns:
      A list of Tensors, one per vector, each of the grid's shape.

    Raises:
      TypeError: an unknown keyword argument is given.
      ValueError: `indexing` is neither "xy" nor "ij".

    Source: python/ops/array_ops.py.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(
            f"'{next(iter(kwargs))}' is an invalid keyword argument for this function"
        )
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        flat = (1,) * count
        output = [
            reshape(stack(x), (*flat[:i], -1, *flat[i + 1 :]))
            for i, x in enumerate(args)
        ]
        lengths = [size(x) for x in args]
        dtype = convert(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            rest = (1,) * (count - 2)
            output[0] = reshape(output[0], (1, -1, *rest))
            output[1] = reshape(output[1], (-1, 1, *rest))
            lengths[0], lengths[1] = lengths[1], lengths[0]
        factor = ones(lengths, dtype)
        return [x * factor for x in output]


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
