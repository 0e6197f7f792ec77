"""Products of two tensors.  Source: core/ops/math_ops.cc, python/ops/math_ops.py."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int32
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import (
    all_shapes_known_and_equal,
    dynamic_sums,
    static_sums,
)
from tfteach.ops.math.binary import NO_NAN, QUOTIENTS, Binary, beside, zero_where


class Mul(Binary):
    """x * y.  Source: math_ops.cc, Mul."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.multiply(x, y)

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        return beside(1, inputs, output, values)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.math.complex import conj

        x, y = op.inputs
        short = grad.dtype in (int32, float32)  # TF's choice of types
        if short and all_shapes_known_and_equal(x, y, grad):
            factors = (grad, y), (grad, x)
            sums: Any = (_same, _same)
        else:
            sums = static_sums(x, y, grad)
            x, y = conj(x), conj(y)
            factors = (grad, y), (x, grad)
        return [
            None if i in op.unneeded_gradients else sums[i](Mul()(*factors[i]))
            for i in (0, 1)
        ]

    def expression(self, x: str, y: str) -> str:
        return f"{x} * {y}"


def _same(grad: Tensor) -> Tensor:
    return grad


_MUL = Mul()


@export("math.multiply", "multiply")
def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise product, with broadcasting.

    z = x * y

    Args:
      x: number Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.multiply([1.0, 2.0], 10.0))
      array([10., 20.], dtype=float32)

    Source: Mul in core/ops/math_ops.cc.
    """
    return _MUL(x, y, name=name)


class MulNoNan(Binary):
    """x * y, and 0 where y is 0, even if x is inf or nan.  Source: MulNoNan."""

    signature = "x: T, y: T -> z: T"
    T = NO_NAN

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return zero_where(xp, y == 0, xp.multiply(x, y))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y = op.inputs
        if all_shapes_known_and_equal(x, y, grad):
            return [MulNoNan()(grad, y), MulNoNan()(x, grad)]
        to_x, to_y = dynamic_sums(x, y)
        return [to_x(MulNoNan()(grad, y)), to_y(MulNoNan()(x, grad))]


def without_nan(op: Any, default: str, x: Any, y: Any, name: str | None) -> Tensor:
    """A node of DivNoNan or MulNoNan, with `y` converted to the type of `x`."""
    with name_scope(name, default, [x, y]) as scope:
        x = convert(x, name="x")
        y = convert(y, x.dtype.base_dtype, name="y")
        result: Tensor = op(x, y, name=scope)
        return result


@export("math.multiply_no_nan")
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Product that is 0 wherever y is 0, even if x is inf or nan.

    z = 0 if y = 0, else x * y

    Args:
      x: float or complex Tensor.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and the same type.

    Example:
      >>> tf.Session().run(tf.math.multiply_no_nan([float("inf"), 3.0], [0.0, 2.0]))
      array([0., 6.], dtype=float32)

    Source: MulNoNan in core/ops/math_ops.cc.
    """
    return without_nan(MulNoNan(), "multiply_no_nan", x, y, name)


@export("math.scalar_mul", "scalar_mul")
def scalar_mul(
    scalar: TensorLike, x: Tensor | IndexedSlices, name: str | None = None
) -> Any:
    """A scalar times a tensor.

    y = scalar * x

    Args:
      scalar: a number or a 0-d Tensor.
      x: number Tensor of any shape, or IndexedSlices.
      name: the op's name.

    Returns:
      A Tensor (or IndexedSlices, if `x` is) of its shape and type.

    Raises:
      ValueError: `scalar` is not a scalar.

    Example:
      >>> tf.Session().run(tf.scalar_mul(3.0, tf.constant([1.0, 2.0])))
      array([3., 6.], dtype=float32)

    Source: python/ops/math_ops.py.
    """
    scalar = convert(scalar, x.dtype.base_dtype, name="scalar")
    if scalar._shape != ():
        raise ValueError(
            f"Only scalar multiply works, got shape {TensorShape(scalar._shape)}"
        )
    if isinstance(x, IndexedSlices):
        values = Mul()(scalar, x.values, name=name)
        return IndexedSlices(values, x.indices, x.dense_shape)
    return Mul()(scalar, x, name=name)
