"""Broadcasting: arrays, shapes and grids.  Source: core/ops/array_ops.cc."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int32
from tfteach.framework.errors import InvalidArgumentError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape, TensorShape, as_shape
from tfteach.framework.shape_checks import require_vector
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    Gradient,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.core.broadcast_gradients import BroadcastGradientArgs
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import INDICES, reshape
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.core.stack_unstack import brackets, stack
from tfteach.ops.math.reduce_ops import Sum

BOOL = as_dtype("bool")


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
