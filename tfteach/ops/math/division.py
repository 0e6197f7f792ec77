"""Quotients and remainders, and what TF builds from them.

Source: core/ops/math_ops.cc, core/kernels/cwise_ops.h, python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.broadcast_gradients import after, dynamic_sums
from tfteach.ops.math.binary import (
    NO_NAN,
    QUOTIENTS,
    Binary,
    beside,
    is_whole,
    zero_where,
)
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import not_equal
from tfteach.ops.math.complex import conj
from tfteach.ops.math.unary import negative, square

REMAINDERS = dtypes_of("int32 int64 bfloat16 half float double")


def refuse_zero(xp: Any, x: Any, divisor: Any) -> None:
    """TF's error for integer division; floats give inf or nan instead.

    Kernels on a card cannot raise, there as in TF the quotient is undefined.
    """
    if xp is np and x.size and not np.all(divisor):
        raise invalid_argument("Integer division by zero")


class RealDiv(Binary):
    """x / y of real or complex numbers.  Source: math_ops.cc, RealDiv."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return xp.true_divide(x, y)

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        return beside(1, inputs, output, values, either=False)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return _quotient_gradient(op, grad, RealDiv())

    def expression(self, x: str, y: str) -> str:
        return f"{x} / {y}"


@export("realdiv")
def realdiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Element-wise quotient of real or complex numbers.

    z = x / y

    Args:
      x: float or complex Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.realdiv([1.0, 3.0], 2.0))
      array([0.5, 1.5], dtype=float32)

    Source: RealDiv in core/ops/math_ops.cc.
    """
    return RealDiv()(x, y, name=name)


def _quotient_gradient(op: Operation, grad: Any, divide: Any) -> list[Any]:
    to_x, to_y = dynamic_sums(*op.inputs)
    x, y = conj(op.inputs[0]), conj(op.inputs[1])
    return [to_x(divide(grad, y)), to_y(grad * divide(divide(-x, y), y))]


class Div(Binary):
    """x / y; integers are cut towards zero.  Source: math_ops.cc, Div."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return truncated(xp, x, y) if is_whole(x) else xp.true_divide(x, y)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        from tfteach.ops.math import operator_overloads

        return _quotient_gradient(op, grad, operator_overloads.divide)


def truncated(xp: Any, x: Any, y: Any) -> Any:
    """Integer division as in C: towards zero."""
    refuse_zero(xp, x, y)
    down = xp.floor_divide(x, y)
    inexact = xp.remainder(x, y) != 0
    return down + (inexact & ((x < 0) != (y < 0))).astype(down.dtype)


class TruncateDiv(Binary):
    """x / y, cut towards zero.  Source: math_ops.cc, TruncateDiv."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        if is_whole(x):
            return truncated(xp, x, y)
        return xp.true_divide(x, y)  # TF's kernel cuts no floats

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None, None]


@export("truncatediv")
def truncatediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Quotient of integers, cut towards zero.

    z = trunc(x / y)

    Args:
      x: int Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.truncatediv([7, -7], 2))
      array([ 3, -3], dtype=int32)

    Source: TruncateDiv in core/ops/math_ops.cc.
    """
    return TruncateDiv()(x, y, name=name)


class FloorDiv(Binary):
    """The greatest whole number not above x / y.  Source: math_ops.cc, FloorDiv."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SIZES

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        if is_whole(x):
            refuse_zero(xp, x, y)
            return xp.floor_divide(x, y)
        return xp.floor(xp.true_divide(x, y))

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None, None]


@export("floor_div")
def floor_div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Quotient rounded down.

    z = floor(x / y)

    Args:
      x: int or float Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.floor_div([7, -7], 2))
      array([ 3, -4], dtype=int32)

    Source: FloorDiv in core/ops/math_ops.cc.
    """
    return FloorDiv()(x, y, name=name)


class FloorMod(Binary):
    """x - y * floor(x / y): has the sign of y.  Source: math_ops.cc, FloorMod."""

    signature = "x: T, y: T -> z: T"
    T = REMAINDERS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        if is_whole(x):
            refuse_zero(xp, x, y)
        return xp.remainder(x, y)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        x, y = conj(op.inputs[0]), conj(op.inputs[1])
        to_x, to_y = dynamic_sums(x, y)
        floor_xy = FloorDiv()(x, y)
        return [to_x(grad), to_y(grad * negative(floor_xy))]


@export("math.floormod", "floormod", "math.mod", "mod")
def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Remainder with the sign of the divisor, as Python's `%`.

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

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        if is_whole(x):
            refuse_zero(xp, x, y)
        return xp.fmod(x, y)


@export("truncatemod")
def truncatemod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Remainder with the sign of the dividend, as C's `%`.

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


class DivNoNan(Binary):
    """x / y, and 0 where y is 0.  Source: math_ops.cc, DivNoNan."""

    signature = "x: T, y: T -> z: T"
    T = NO_NAN

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return zero_where(xp, y == 0, xp.true_divide(x, y))

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        from tfteach.ops.math.operator_overloads import div_no_nan

        return _quotient_gradient(op, grad, div_no_nan)


class Xdivy(Binary):
    """x / y, and 0 where x is 0.  Source: math_ops.cc, Xdivy."""

    signature = "x: T, y: T -> z: T"
    T = NO_NAN

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return zero_where(xp, x == 0, xp.true_divide(x, y))

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        x, y = op.inputs
        to_x, to_y = dynamic_sums(x, y)
        with after(grad):
            partial_x = Xdivy()(_is_not_zero(x), y)
            partial_y = Xdivy()(negative(x), y**2)
            return [to_x(partial_x * grad), to_y(partial_y * grad)]


def _is_not_zero(x: Tensor) -> Any:
    """1 where x is not 0, as TF's rules for xlogy and xdivy build it."""
    return cast(not_equal(x, cast(0.0, x.dtype)), x.dtype)


@export("math.xdivy")
def xdivy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Quotient that is 0 wherever x is 0.

    z = 0 if x = 0, else x / y

    Args:
      x: float or complex Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.math.xdivy([0.0, 3.0], [0.0, 2.0]))
      array([0. , 1.5], dtype=float32)

    Source: Xdivy in core/ops/math_ops.cc.
    """
    return Xdivy()(x, y, name=name)


class Xlogy(Binary):
    """x * log(y), and 0 where x is 0.  Source: math_ops.cc, Xlogy."""

    signature = "x: T, y: T -> z: T"
    T = NO_NAN

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return zero_where(xp, x == 0, xp.multiply(x, xp.log(y)))

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        x, y = op.inputs
        to_x, to_y = dynamic_sums(x, y)
        with after(grad):
            partial_x = Xlogy()(_is_not_zero(x), y)
            partial_y = Xdivy()(x, y)
            return [to_x(partial_x * grad), to_y(partial_y * grad)]


@export("math.xlogy")
def xlogy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Product with a logarithm that is 0 wherever x is 0.

    z = 0 if x = 0, else x * log(y)

    Args:
      x: float or complex Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.math.xlogy([0.0, 3.0], [0.0, 1.0]))
      array([0., 0.], dtype=float32)

    Source: Xlogy in core/ops/math_ops.cc.
    """
    return Xlogy()(x, y, name=name)


class Atan2(Binary):
    """The angle of the point (x, y).  Source: math_ops.cc, Atan2."""

    signature = "y: T, x: T -> z: T"
    T = dtypes_of("bfloat16 half float double")

    def compute(self, xp: Any, y: Any, x: Any) -> Any:
        return xp.arctan2(y, x)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        # As in TF, the gradient does not undo broadcasting.
        y, x = op.inputs
        with after(grad):
            grad_inv = grad / (square(x) + square(y))
            return [x * grad_inv, -y * grad_inv]


@export("math.atan2", "atan2")
def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle between the x axis and the point (x, y), in radians.

    z = atan(y / x), in the quadrant of the point

    Args:
      y: float Tensor of any shape.
      x: Tensor of the type of `y`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.atan2([1.0, -1.0], [1.0, -1.0]))
      array([ 0.7853981, -2.3561945], dtype=float32)

    Source: Atan2 in core/ops/math_ops.cc.
    """
    return Atan2()(y, x, name=name)
