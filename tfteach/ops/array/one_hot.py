"""One-hot rows, and masks of lengths.  Source: core/ops/array_ops.cc, OneHot."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, dtypes_of, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.array.broadcast_to import BOOL
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import all_axes, cast
from tfteach.ops.math.binary import Maximum
from tfteach.ops.math.cast import Cast
from tfteach.ops.math.range import Range
from tfteach.ops.math.reduce_ops import Max


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
        count = _checked_depth(depth)
        at = indices.ndim if self.axis == -1 else self.axis
        flat = indices.reshape(-1)
        rows = xp.full((flat.size, count), off_value, on_value.dtype)
        known = (flat >= 0) & (flat < count)
        rows[xp.flatnonzero(known), flat[known]] = on_value
        result = rows.reshape((*indices.shape, count))
        if at == indices.ndim:
            return result
        return xp.ascontiguousarray(xp.moveaxis(result, -1, at))

    def compute_on_card(
        self,
        xp: ArrayModule,
        indices: Array,
        depth: Array,
        on_value: Array,
        off_value: Array,
    ) -> Any:
        count = _checked_depth(depth)
        at = indices.ndim if self.axis == -1 else self.axis
        levels = xp.arange(count).reshape((count,) + (1,) * (indices.ndim - at))
        return xp.where(xp.expand_dims(indices, at) == levels, on_value, off_value)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None, None]


def _checked_depth(depth: Array) -> int:
    count = int(depth)
    if count < 0:
        raise invalid_argument(f"depth must be non-negative, got: {count}")
    return count


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
