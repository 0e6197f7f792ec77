"""Remainders of a division.  Source: core/ops/math_ops.cc."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import dynamic_sums
from tfteach.ops.math.binary import Binary, is_whole
from tfteach.ops.math.complex import conj
from tfteach.ops.math.division import REMAINDERS, FloorDiv, refuse_zero
from tfteach.ops.math.unary import negative


class FloorMod(Binary):
    """x - y * floor(x / y): has the sign of y.  Source: math_ops.cc, FloorMod."""

    signature = "x: T, y: T -> z: T"
    T = REMAINDERS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        if is_whole(x):
            refuse_zero(xp, x, y)
        return xp.remainder(x, y)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y = conj(op.inputs[0]), conj(op.inputs[1])
        to_x, to_y = dynamic_sums(x, y)
        floor_xy = FloorDiv()(x, y)
        return [to_x(grad), to_y(grad * negative(floor_xy))]


@export("math.floormod", "floormod", "math.mod", "mod")
def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Remainder with the sign of the divisor, as in Python's `%`.

    z = x - y * floor(x / y)

    Args:
      x: int or float Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.mod([7, -7], 3))
      array([1, 2], dtype=int32)

    Source: FloorMod in core/ops/math_ops.cc.
    """
    return FloorMod()(x, y, name=name)


class TruncateMod(Binary):
    """x - y * trunc(x / y): has the sign of x.  Source: math_ops.cc, TruncateMod."""

    signature = "x: T, y: T -> z: T"
    T = REMAINDERS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        if is_whole(x):
            refuse_zero(xp, x, y)
        return xp.fmod(x, y)


@export("truncatemod")
def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Remainder with the sign of the dividend, as in C's `%`.

    z = x - y * trunc(x / y)

    Args:
      x: int or float Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.truncatemod([7, -7], 3))
      array([ 1, -1], dtype=int32)

    Source: TruncateMod in core/ops/math_ops.cc.
    """
    return TruncateMod()(x, y, name=name)


class Mod(TruncateMod):
    """The older name of TruncateMod.  Source: math_ops.cc, Mod."""

    T = dtypes_of("int32 int64 half half bfloat16 float double")
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
