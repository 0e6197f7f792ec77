"""Trigonometric and hyperbolic functions, and their inverses.

Source: core/ops/math_ops.cc, python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import after
from tfteach.ops.core.constant import constant
from tfteach.ops.math.binary import Binary, add, subtract
from tfteach.ops.math.unary import FIELD, NUMBER, Unary, conj, reciprocal, sqrt, square


class Sin(Unary):
    """The sine.  Source: math_ops.cc, Sin."""

    T = FIELD
    card_formula: ClassVar[str | None] = "sin({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.sin(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad * cos(conj(op.inputs[0]))]


@export("math.sin", "sin")
def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise sine.

    y = sin x, x in radians

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.sin([0.0, 1.0]))
      array([0.      , 0.841471], dtype=float32)

    Source: Sin in core/ops/math_ops.cc.
    """
    return Sin()(x, name=name)


class Cos(Unary):
    """The cosine.  Source: math_ops.cc, Cos."""

    T = FIELD
    card_formula: ClassVar[str | None] = "cos({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.cos(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            x = conj(op.inputs[0])
            return [-grad * sin(x)]


@export("math.cos", "cos")
def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise cosine.

    y = cos x, x in radians

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.cos([0.0, 1.0]))
      array([1.       , 0.5403023], dtype=float32)

    Source: Cos in core/ops/math_ops.cc.
    """
    return Cos()(x, name=name)


class Tan(Unary):
    """The tangent.  Source: math_ops.cc, Tan."""

    T = NUMBER
    card_formula: ClassVar[str | None] = "tan({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        if x.dtype.kind in "iu":  # allowed by the OpDef, but no kernel exists
            raise invalid_argument(
                "Expected element type in shape to be floating or complex for cosine "
                f"operation; got {x.dtype.kind.upper().replace('I', 'S')}"
                f"{8 * x.dtype.itemsize}."
            )
        return xp.tan(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            secx = reciprocal(cos(conj(op.inputs[0])))
            return [square(secx) * grad]


@export("math.tan", "tan")
def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise tangent.

    y = tan x, x in radians

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.tan([0.0, 1.0]))
      array([0.       , 1.5574077], dtype=float32)

    Source: Tan in core/ops/math_ops.cc.
    """
    return Tan()(x, name=name)


class Asin(Unary):
    """The inverse sine.  Source: math_ops.cc, Asin."""

    T = NUMBER
    card_formula: ClassVar[str | None] = "asin({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.arcsin(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad * _inverse_root(op, grad)]


def _inverse_root(op: Operation, grad: Tensor) -> Tensor:
    """1 / √(1 - x²)"""
    x2 = square(conj(op.inputs[0]))
    one = constant(1, dtype=grad.dtype)
    return reciprocal(sqrt(subtract(one, x2)))


@export("math.asin", "asin")
def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise inverse sine.

    y = sin⁻¹ x, from -π/2 to π/2

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.asin([0.0, 1.0]))
      array([0.       , 1.5707964], dtype=float32)

    Source: Asin in core/ops/math_ops.cc.
    """
    return Asin()(x, name=name)


class Acos(Unary):
    """The inverse cosine.  Source: math_ops.cc, Acos."""

    T = NUMBER
    card_formula: ClassVar[str | None] = "acos({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.arccos(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            inverse = _inverse_root(op, grad)
            return [-grad * inverse]


@export("math.acos", "acos")
def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise inverse cosine.

    y = cos⁻¹ x, from 0 to π

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.acos([1.0, 0.0]))
      array([0.       , 1.5707964], dtype=float32)

    Source: Acos in core/ops/math_ops.cc.
    """
    return Acos()(x, name=name)


class Atan(Unary):
    """The inverse tangent.  Source: math_ops.cc, Atan."""

    T = NUMBER
    card_formula: ClassVar[str | None] = "atan({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.arctan(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            x2 = square(conj(op.inputs[0]))
            one = constant(1, dtype=grad.dtype)
            return [grad * reciprocal(add(one, x2))]


@export("math.atan", "atan")
def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise inverse tangent.

    y = tan⁻¹ x, from -π/2 to π/2

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.atan([0.0, 1.0]))
      array([0.       , 0.7853982], dtype=float32)

    Source: Atan in core/ops/math_ops.cc.
    """
    return Atan()(x, name=name)


class Sinh(Unary):
    """The hyperbolic sine.  Source: math_ops.cc, Sinh."""

    T = FIELD
    card_formula: ClassVar[str | None] = "sinh({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.sinh(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad * cosh(conj(op.inputs[0]))]


@export("math.sinh", "sinh")
def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise hyperbolic sine.

    y = (eˣ - e⁻ˣ) / 2

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.sinh([0.0, 1.0]))
      array([0.       , 1.1752012], dtype=float32)

    Source: Sinh in core/ops/math_ops.cc.
    """
    return Sinh()(x, name=name)


class Cosh(Unary):
    """The hyperbolic cosine.  Source: math_ops.cc, Cosh."""

    T = FIELD
    card_formula: ClassVar[str | None] = "cosh({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.cosh(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad * sinh(conj(op.inputs[0]))]


@export("math.cosh", "cosh")
def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise hyperbolic cosine.

    y = (eˣ + e⁻ˣ) / 2

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.cosh([0.0, 1.0]))
      array([1.       , 1.5430807], dtype=float32)

    Source: Cosh in core/ops/math_ops.cc.
    """
    return Cosh()(x, name=name)


class Asinh(Unary):
    """The inverse hyperbolic sine.  Source: math_ops.cc, Asinh."""

    T = FIELD
    card_formula: ClassVar[str | None] = "asinh({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.arcsinh(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad / cosh(conj(op.outputs[0]))]


@export("math.asinh", "asinh")
def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise inverse hyperbolic sine.

    y = sinh⁻¹ x

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.asinh([0.0, 1.0]))
      array([0.       , 0.8813736], dtype=float32)

    Source: Asinh in core/ops/math_ops.cc.
    """
    return Asinh()(x, name=name)


class Acosh(Unary):
    """The inverse hyperbolic cosine.  Source: math_ops.cc, Acosh."""

    T = FIELD
    card_formula: ClassVar[str | None] = "acosh({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.arccosh(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad / sinh(conj(op.outputs[0]))]


@export("math.acosh", "acosh")
def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise inverse hyperbolic cosine.

    y = cosh⁻¹ x

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.acosh([1.0, 2.0]))
      array([0.      , 1.316958], dtype=float32)

    Source: Acosh in core/ops/math_ops.cc.
    """
    return Acosh()(x, name=name)


class Atanh(Unary):
    """The inverse hyperbolic tangent.  Source: math_ops.cc, Atanh."""

    T = FIELD
    card_formula: ClassVar[str | None] = "atanh({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.arctanh(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            x2 = square(conj(op.inputs[0]))
            one = constant(1, dtype=grad.dtype)
            return [grad * reciprocal(subtract(one, x2))]


@export("math.atanh", "atanh")
def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise inverse hyperbolic tangent.

    y = tanh⁻¹ x

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.atanh([0.0, 0.5]))
      array([0.        , 0.54930615], dtype=float32)

    Source: Atanh in core/ops/math_ops.cc.
    """
    return Atanh()(x, name=name)


class Atan2(Binary):
    """The angle of the point (x, y).  Source: math_ops.cc, Atan2."""

    signature = "y: T, x: T -> z: T"
    T = dtypes_of("bfloat16 half float double")
    card_formula: ClassVar[str | None] = "atan2({0}, {1})"

    def compute(self, xp: ArrayModule, y: Array, x: Array) -> Any:
        return xp.arctan2(y, x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        # As in TF, the gradient is not summed over broadcast axes.
        y, x = op.inputs
        with after(grad):
            grad_inv = grad / (square(x) + square(y))
            return [x * grad_inv, -y * grad_inv]


@export("math.atan2", "atan2")
def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
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
