"""Quotients of two tensors.

Source: core/ops/math_ops.cc, core/kernels/cwise_ops.h, python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, dtypes_of, float32, float64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import after, dynamic_sums
from tfteach.ops.core.constant import constant
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
from tfteach.ops.math.multiply import without_nan
from tfteach.ops.math.unary import negative

REMAINDERS = dtypes_of("int32 int64 bfloat16 half float double")


@with_card_kernel(lambda xp, x, divisor: None)
def refuse_zero(xp: ArrayModule, x: Any, divisor: Any) -> None:
    """Raise TF's error for integer division by 0; floats yield inf or nan instead.

    Kernels on a GPU cannot raise; there, as in TF, the quotient is undefined.
    """
    if x.size and not np.all(divisor):
        raise invalid_argument("Integer division by zero")


class RealDiv(Binary):
    """x / y of real or complex numbers.  Source: math_ops.cc, RealDiv."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.true_divide(x, y)

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        return beside(1, inputs, output, values, either=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _quotient_gradient(op, grad, RealDiv())

    def expression(self, x: str, y: str) -> str:
        return f"{x} / {y}"


@export("realdiv")
def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
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


def _quotient_gradient(op: Operation, grad: Tensor, over: Any) -> list[Gradient]:
    to_x, to_y = dynamic_sums(*op.inputs)
    x, y = conj(op.inputs[0]), conj(op.inputs[1])
    return [to_x(over(grad, y)), to_y(grad * over(over(-x, y), y))]


class Div(Binary):
    """x / y; integers are truncated towards zero.  Source: math_ops.cc, Div."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return truncated(xp, x, y) if is_whole(x) else xp.true_divide(x, y)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _quotient_gradient(op, grad, divide)


def truncated(xp: ArrayModule, x: Any, y: Any) -> Any:
    """Integer division as in C, truncated towards zero."""
    refuse_zero(xp, x, y)
    down = xp.floor_divide(x, y)
    inexact = xp.remainder(x, y) != 0
    return down + (inexact & ((x < 0) != (y < 0))).astype(down.dtype)


class TruncateDiv(Binary):
    """x / y, truncated towards zero.  Source: math_ops.cc, TruncateDiv."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        if is_whole(x):
            return truncated(xp, x, y)
        return xp.true_divide(x, y)  # TF's kernel does not truncate floats

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


@export("truncatediv")
def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient of integers, truncated towards zero.

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
    """The greatest integer not above x / y.  Source: math_ops.cc, FloorDiv."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SIZES

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        if is_whole(x):
            refuse_zero(xp, x, y)
            return xp.floor_divide(x, y)
        return xp.floor(xp.true_divide(x, y))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


@export("floor_div")
def floor_div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
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


class DivNoNan(Binary):
    """x / y, and 0 where y is 0.  Source: math_ops.cc, DivNoNan."""

    signature = "x: T, y: T -> z: T"
    T = NO_NAN
    card_formula: ClassVar[str | None] = "(0 if {1} == 0 else {0} / {1})"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return zero_where(xp, y == 0, xp.true_divide(x, y))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:

        return _quotient_gradient(op, grad, div_no_nan)


class Xdivy(Binary):
    """x / y, and 0 where x is 0.  Source: math_ops.cc, Xdivy."""

    signature = "x: T, y: T -> z: T"
    T = NO_NAN

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return zero_where(xp, x == 0, xp.true_divide(x, y))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
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
def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
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

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return zero_where(xp, x == 0, xp.multiply(x, xp.log(y)))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y = op.inputs
        to_x, to_y = dynamic_sums(x, y)
        with after(grad):
            partial_x = Xlogy()(_is_not_zero(x), y)
            partial_y = Xdivy()(x, y)
            return [to_x(partial_x * grad), to_y(partial_y * grad)]


@export("math.xlogy")
def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Product of x and log(y) that is 0 wherever x is 0.

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


# Integer type -> float type of its true division; None: unchanged.
_QUOTIENT_TYPES: dict[DType, DType | None] = {
    **dict.fromkeys(dtypes_of("uint8 int8 uint16 int16"), float32),
    **dict.fromkeys(dtypes_of("int32 int64"), float64),
    **dict.fromkeys(dtypes_of("bfloat16 half float double complex64 complex128")),
}


def _check_same(x: Tensor, y: Tensor) -> DType:
    a, b = x.dtype.base_dtype, y.dtype.base_dtype
    if a is not b:
        raise TypeError(f"x and y must have the same dtype, got {a!r} != {b!r}")
    return a


@export("math.truediv", "truediv")
def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient as in Python 3: integers are cast to floats first.

    z = x / y

    Args:
      x: number Tensor; (u)int8 and (u)int16 become float32, int32 and int64 float64.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A float or complex Tensor of the broadcast shape.

    Raises:
      TypeError: the types differ, or are not numeric.

    Example:
      >>> tf.Session().run(tf.truediv([7, 8], 2))
      array([3.5, 4. ])

    Source: python/ops/math_ops.py; RealDiv in core/ops/math_ops.cc.
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x, y = convert(x, name="x"), convert(y, name="y")
        dtype = _check_same(x, y)
        if dtype not in _QUOTIENT_TYPES:
            raise TypeError(f"Invalid dtype {dtype!r} in __truediv__")
        wider = _QUOTIENT_TYPES[dtype]
        if wider is not None:
            x, y = cast(x, wider), cast(y, wider)
        return RealDiv()(x, y, name=scope)


@export("div")
def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient as in Python 2: integers are rounded down.

    z = x / y for floats, floor(x / y) for integers

    Args:
      x: number Tensor.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and the same type.

    Example:
      >>> tf.Session().run(tf.div([7, -7], 2))
      array([ 3, -4], dtype=int32)

    Source: python/ops/math_ops.py; RealDiv, FloorDiv in core/ops/math_ops.cc.
    """
    with name_scope(name, "div", [x, y]) as scope:
        x = convert(x, name="x")
        y = convert(y, x.dtype.base_dtype, name="y")
        dtype = _check_same(x, y)
        real = dtype.is_floating or dtype.is_complex
        return (RealDiv() if real else FloorDiv())(x, y, name=scope)


@export("math.divide", "divide")
def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """Quotient by Python's operator `/`.

    z = x / y

    Args:
      x: number Tensor, or a value that Python can divide.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A float or complex Tensor of the broadcast shape.

    Example:
      >>> tf.Session().run(tf.divide(tf.constant([7.0]), 2.0))
      array([3.5], dtype=float32)

    Source: python/ops/math_ops.py.
    """
    if name is None:
        return x / y  # type: ignore[operator]  # as Python divides them
    return truediv(x, y, name)


@export("math.floordiv", "floordiv")
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient rounded down, as in Python's `//`.

    z = floor(x / y)

    Args:
      x: int or float Tensor.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and the same type.

    Raises:
      InvalidArgumentError: (in a run) an integer is divided by zero.

    Example:
      >>> tf.Session().run(tf.floordiv([7, -7], 2))
      array([ 3, -4], dtype=int32)

    Source: FloorDiv in core/ops/math_ops.cc.
    """
    with name_scope(name, "floordiv", [x, y]) as scope:
        return FloorDiv()(x, y, name=scope)


@export("math.divide_no_nan", "div_no_nan")
def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient that is 0 wherever y is 0.

    z = 0 if y = 0, else x / y

    Args:
      x: float or complex Tensor.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and the same type.

    Example:
      >>> tf.Session().run(tf.div_no_nan([1.0, 1.0], [0.0, 2.0]))
      array([0. , 0.5], dtype=float32)

    Source: DivNoNan in core/ops/math_ops.cc.
    """
    return without_nan(DivNoNan(), "div_no_nan", x, y, name)


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0, element-wise.

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Source: python/ops/math_ops.py; DivNoNan.
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert(x, name="x")
        one = constant(1, dtype=x.dtype.base_dtype, name="one")
        return div_no_nan(one, x, name=scope)
