"""Element-wise functions of one tensor: signs, squares, roots, reciprocals.

Source: core/ops/math_ops.cc, core/kernels/cwise_ops.h, python/ops/math_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tfteach.framework import large_array_pool
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.threads import LARGE, cores, share
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import after
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import also_sparse

REAL = dtypes_of("bfloat16 half float double")
FIELD = dtypes_of("bfloat16 half float double complex64 complex128")
NUMBER = dtypes_of("bfloat16 half float double int32 int64 complex64 complex128")
# Elements for which a thread takes the GIL once.
_PART = 1 << 18


class Unary(Op, abstract=True):
    """An element-wise op of one tensor; the result has its type."""

    is_elementwise: ClassVar[bool] = True

    signature = "x: T -> y: T"

    def infer_shape(self, x: Shape) -> Shape:
        return x


class Adjoint(Op, abstract=True):
    """An op of a function's output `y` and the gradient `dy` with respect to it.

    For complex numbers some of TF's kernels conjugate `y`, and others leave that to the
    gradient rule; the ops here do the same.
    """

    signature = "y: T, dy: T -> z: T"
    T = FIELD
    is_elementwise: ClassVar[bool] = True

    def infer_shape(self, y: Shape, dy: Shape) -> Shape:
        return y


def number(array: Any, value: float) -> Any:
    """A Python number in the array's type (a float would widen bfloat16)."""
    return array.dtype.type(value)


@with_card_kernel(lambda xp, name, x: getattr(xp, name)(x))
def by_all_threads(xp: ArrayModule, name: str, x: Any) -> Any:
    """NumPy's function of that name, of a large array in parts."""
    function = getattr(xp, name)
    if getattr(x, "size", 0) < LARGE or cores() == 1 or not x.flags.c_contiguous:
        return function(x)
    result = large_array_pool.empty(x.shape, x.dtype)
    source, target = x.reshape(-1), result.reshape(-1)

    def run(starts: Sequence[int]) -> None:
        for start in starts:
            part = slice(start, start + _PART)
            function(source[part], out=target[part])

    share(range(0, x.size, _PART), run)
    return result


def conj(x: Tensor) -> Tensor:
    """The conjugate in a gradient rule; adds no node for real tensors."""
    from tfteach.ops.math.complex import conj as conjugate

    return conjugate(x)


class Neg(Unary):
    """-x.  Source: math_ops.cc, Neg."""

    T = NUMBER
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.negative(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [-grad]

    def expression(self, x: str) -> str:
        return f"-{x}"


@export("math.negative", "negative")
@also_sparse
def negative(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise negation.

    y = -x

    Args:
      x: float, int or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.negative([1.0, -2.0]))
      array([-1.,  2.], dtype=float32)

    Source: Neg in core/ops/math_ops.cc.
    """
    return Neg()(x, name=name)


class Abs(Unary):
    """|x| of real numbers.  Source: math_ops.cc, Abs."""

    T = dtypes_of("bfloat16 half float double int8 int16 int32 int64")
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    card_formula: ClassVar[str | None] = "abs({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.abs(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad * sign(op.inputs[0])]


class Sign(Unary):
    """-1, 0 or 1; x / |x| for complex numbers.  Source: math_ops.cc, Sign."""

    T = NUMBER
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    card_formula: ClassVar[str | None] = "(1 if {0} > 0 else 0) - (1 if {0} < 0 else 0)"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        if x.dtype.kind == "c":
            size = xp.abs(x)
            return xp.where(size == 0, x, x / xp.where(size == 0, 1, size)).astype(
                x.dtype
            )
        sign = xp.sign(x)
        if sign.dtype.kind not in "iu":  # 0 for NaN, as in TF
            sign = xp.where(xp.isnan(x), x.dtype.type(0), sign)
        return sign

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x = op.inputs[0]
        return [zeros(shape(x), x.dtype)]


@export("math.sign", "sign")
@also_sparse
def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """The sign of each element.

    y = -1 if x < 0, 0 if x = 0, 1 if x > 0; x / |x| for complex x

    Args:
      x: float, int or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.sign([3.0, 0.0, -2.0]))
      array([ 1.,  0., -1.], dtype=float32)

    Source: Sign in core/ops/math_ops.cc.
    """
    return Sign()(x, name=name)


class Square(Unary):
    """x * x.  Source: math_ops.cc, Square."""

    T = NUMBER
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.multiply(x, x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.math.multiply import multiply

        with after(grad):
            x = conj(op.inputs[0])
            y = constant(2.0, dtype=x.dtype)
            return [multiply(grad, multiply(x, y))]

    def expression(self, x: str) -> str:
        return f"{x} * {x}"


@export("math.square", "square")
@also_sparse
def square(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise square.

    y = x²

    Args:
      x: float, int or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.square([2.0, -3.0]))
      array([4., 9.], dtype=float32)

    Source: Square in core/ops/math_ops.cc.
    """
    return Square()(x, name=name)


class Sqrt(Unary):
    """The square root.  Source: math_ops.cc, Sqrt."""

    T = FIELD
    card_formula: ClassVar[str | None] = "sqrt({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.sqrt(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [SqrtGrad()(op.outputs[0], grad)]


@export("math.sqrt", "sqrt")
@also_sparse
def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise square root.

    y = √x, nan for negative real x

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.sqrt([4.0, 9.0]))
      array([2., 3.], dtype=float32)

    Source: Sqrt in core/ops/math_ops.cc.
    """
    return Sqrt()(x, name=name)


class SqrtGrad(Adjoint):
    """dy / 2y.  Source: math_ops.cc, SqrtGrad."""

    card_formula: ClassVar[str | None] = "0.5 * {1} / {0}"

    def compute(self, xp: ArrayModule, y: Array, dy: Array) -> Any:
        return number(y, 0.5) * dy / xp.conj(y)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        a, y = op.inputs[0], op.outputs[0]
        with after(grad):
            ga = grad / a
            return [-conj(ga) * y, 0.5 * ga]


class Rsqrt(Unary):
    """1 / √x.  Source: math_ops.cc, Rsqrt."""

    T = FIELD
    card_formula: ClassVar[str | None] = "1 / sqrt({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return number(x, 1) / xp.sqrt(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [RsqrtGrad()(op.outputs[0], grad)]


@export("math.rsqrt", "rsqrt")
def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise reciprocal of the square root.

    y = 1 / √x

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.rsqrt([4.0, 0.25]))
      array([0.5, 2. ], dtype=float32)

    Source: Rsqrt in core/ops/math_ops.cc.
    """
    return Rsqrt()(x, name=name)


class RsqrtGrad(Adjoint):
    """-dy * y³ / 2.  Source: math_ops.cc, RsqrtGrad."""

    card_formula: ClassVar[str | None] = "-0.5 * {1} * {0} * ({0} * {0})"

    def compute(self, xp: ArrayModule, y: Array, dy: Array) -> Any:
        y = xp.conj(y)
        return number(y, -0.5) * dy * y * (y * y)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        a, b = op.inputs
        with after(grad):
            ca, cg = conj(a), conj(grad)
            grad_a = -1.5 * cg * b * square(ca)
            return [grad_a, RsqrtGrad()(ca, grad)]


class Reciprocal(Unary):
    """1 / x.  Source: math_ops.cc, Reciprocal."""

    T = NUMBER
    card_formula: ClassVar[str | None] = "1 / {0}"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.reciprocal(x) if x.dtype.kind in "iu" else number(x, 1) / x

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [ReciprocalGrad()(op.outputs[0], grad)]


@export("math.reciprocal", "reciprocal")
def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise reciprocal.

    y = 1 / x

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.reciprocal([2.0, -4.0]))
      array([ 0.5 , -0.25], dtype=float32)

    Source: Reciprocal in core/ops/math_ops.cc.
    """
    return Reciprocal()(x, name=name)


class Inv(Reciprocal):
    """The older name of Reciprocal.  Source: math_ops.cc, Inv."""


class ReciprocalGrad(Adjoint):
    """-dy * y².  Source: math_ops.cc, ReciprocalGrad."""

    card_formula: ClassVar[str | None] = "-{0} * {1} * {0}"

    def compute(self, xp: ArrayModule, y: Array, dy: Array) -> Any:
        y = xp.conj(y)
        return -y * dy * y

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        b = op.inputs[1]
        with after(grad):
            ca, cg = conj(op.inputs[0]), conj(grad)
            return [cg * -2.0 * b * ca, ReciprocalGrad()(ca, grad)]


class InvGrad(ReciprocalGrad):
    """The older name of ReciprocalGrad.  Source: math_ops.cc, InvGrad."""
