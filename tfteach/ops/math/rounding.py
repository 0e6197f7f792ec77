"""Rounding, and tests for NaN and infinity.

Source: core/ops/math_ops.cc, core/kernels/cwise_ops.h.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.math.unary import NUMBER, REAL, Unary


class _Step(Unary, abstract=True):
    """A piecewise constant function: no gradient flows."""

    T = REAL

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class Floor(_Step):
    """The greatest integer not above x.  Source: math_ops.cc, Floor."""

    card_formula: ClassVar[str | None] = "floor({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.floor(x)


@export("math.floor", "floor")
def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The greatest integer not above each element.

    y = ⌊x⌋

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.floor([1.5, -1.5]))
      array([ 1., -2.], dtype=float32)

    Source: Floor in core/ops/math_ops.cc.
    """
    return Floor()(x, name=name)


class Ceil(_Step):
    """The least integer not below x.  Source: math_ops.cc, Ceil."""

    card_formula: ClassVar[str | None] = "ceil({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.ceil(x)


@export("math.ceil", "ceil")
def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """The least integer not below each element.

    y = ⌈x⌉

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.ceil([1.5, -1.5]))
      array([ 2., -1.], dtype=float32)

    Source: Ceil in core/ops/math_ops.cc.
    """
    return Ceil()(x, name=name)


class Rint(_Step):
    """The nearest integer; ties go to the even one.  Source: math_ops.cc, Rint."""

    card_formula: ClassVar[str | None] = "rint({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.rint(x)


@export("math.rint", "rint")
def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer; ties go to the even one.

    y = round(x)

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.rint([0.5, 1.5, -1.7]))
      array([ 0.,  2., -2.], dtype=float32)

    Source: Rint in core/ops/math_ops.cc.
    """
    return Rint()(x, name=name)


class Round(_Step):
    """Rint that also accepts integers.  Source: math_ops.cc, Round."""

    T = NUMBER
    int32_on_gpu: ClassVar[Int32Kernel] = "device"
    card_formula: ClassVar[str | None] = "rint({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        if x.dtype.kind == "c":
            raise invalid_argument(
                "Operands to RoundToEven must be real-valued floating-point, but got "
                f"C{8 * x.dtype.itemsize}"
            )
        return xp.positive(x) if x.dtype.kind in "iu" else xp.rint(x)


@export("math.round", "round")
def round(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer; ties go to the even one (as in Python).

    y = round(x); integers are returned unchanged.

    Args:
      x: float or int Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.round([0.5, 1.5, 2.6]))
      array([0., 2., 3.], dtype=float32)

    Source: Round in core/ops/math_ops.cc.
    """
    x = convert(x, name="x")
    if x.dtype.is_integer:
        return x
    return Round()(x, name=name)


class _Test(Op, abstract=True):
    """A bool per element."""

    signature = "x: T -> y: bool"
    T = REAL

    def infer_shape(self, x: Shape) -> Shape:
        return x


class IsNan(_Test):
    """Whether x is NaN.  Source: math_ops.cc, IsNan."""

    card_formula: ClassVar[str | None] = "isnan({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.isnan(x)


@export("math.is_nan", "debugging.is_nan", "is_nan")
def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """True where an element is NaN.

    y = (x is nan); bool

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type bool.

    Example:
      >>> tf.Session().run(tf.is_nan([1.0, float("nan")]))
      array([False,  True])

    Source: IsNan in core/ops/math_ops.cc.
    """
    return IsNan()(x, name=name)


class IsInf(_Test):
    """Whether x is infinite.  Source: math_ops.cc, IsInf."""

    card_formula: ClassVar[str | None] = "isinf({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.isinf(x)


@export("math.is_inf", "debugging.is_inf", "is_inf")
def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """True where an element is infinite.

    y = (x is inf or -inf); bool

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type bool.

    Example:
      >>> tf.Session().run(tf.is_inf([1.0, float("inf")]))
      array([False,  True])

    Source: IsInf in core/ops/math_ops.cc.
    """
    return IsInf()(x, name=name)


class IsFinite(_Test):
    """Whether x is a finite number.  Source: math_ops.cc, IsFinite."""

    card_formula: ClassVar[str | None] = "isfinite({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.isfinite(x)


@export("math.is_finite", "debugging.is_finite", "is_finite")
def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """True where an element is finite.

    y = (x is neither inf nor nan); bool

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type bool.

    Example:
      >>> tf.Session().run(tf.is_finite([1.0, float("inf")]))
      array([ True, False])

    Source: IsFinite in core/ops/math_ops.cc.
    """
    return IsFinite()(x, name=name)
