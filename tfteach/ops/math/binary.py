"""Element-wise arithmetic of two tensors, with broadcasting.

Source: core/ops/math_ops.cc, core/kernels/cwise_ops.h, python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core import fill
from tfteach.ops.core.broadcast_gradients import (
    BroadcastGradientArgs,
    after,
    all_shapes_known_and_equal,
    static_sums,
)
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.identity_reshape import Reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.exponential import log

QUOTIENTS = dtypes_of(
    "bfloat16 half float double uint8 int8 uint16 int16 int32 int64 complex64 "
    "complex128"
)
ORDERED = dtypes_of("bfloat16 half float double int32 int64")
NO_NAN = dtypes_of("half float double complex64 complex128")


def is_whole(array: Any) -> bool:
    """Whether an array holds integers."""
    return array.dtype.kind in "iu"


def beside(
    number: int, inputs: list[Any], output: Any, values: list[Any], either: bool = True
) -> int | None:
    """The index of the input whose partner is a constant filled with `number`.

    Args:
      number: the neutral element.
      inputs, output, values: as for `Op.forwards`.
      either: False if only the second input can be neutral.
    """
    for i in (1, 0) if either else (1,):
        value = values[i]
        if value is None or value.dtype.hasobject or inputs[1 - i] is None:
            continue
        if inputs[1 - i] == output and None not in output and np.all(value == number):
            return 1 - i
    return None


class Binary(Op, abstract=True):
    """An element-wise op of two tensors, with broadcasting."""

    is_elementwise: ClassVar[bool] = True

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        return shapes.broadcast(*inputs)


class Add(Binary):
    """x + y; strings are concatenated.  Source: math_ops.cc, Add."""

    signature = "x: T, y: T -> z: T"
    T = dtypes_of(
        "bfloat16 half float double uint8 int8 int16 int32 int64 complex64 complex128 "
        "string"
    )
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        total = xp.add(x, y)
        return np.array(total, object) if isinstance(total, bytes) else total

    def forwards_but_signed_zeros(
        self, inputs: list[Any], output: Any, values: list[Any]
    ) -> int | None:
        return beside(0, inputs, output, values)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _add_gradient(op, grad)

    def expression(self, x: str, y: str) -> str:
        return f"{x} + {y}"


class AddV2(Binary):
    """x + y of numbers, the op of the operator `+`.  Source: math_ops.cc, AddV2."""

    signature = "x: T, y: T -> z: T"
    T = dtypes_of(
        "bfloat16 half float double uint8 int8 int16 int32 int64 complex64 complex128"
    )
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.add(x, y)

    def forwards_but_signed_zeros(
        self, inputs: list[Any], output: Any, values: list[Any]
    ) -> int | None:
        return beside(0, inputs, output, values)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _add_gradient(op, grad)

    def expression(self, x: str, y: str) -> str:
        return f"{x} + {y}"


def _add_gradient(op: Operation, grad: Tensor) -> list[Gradient]:
    x, y = op.inputs
    if all_shapes_known_and_equal(x, y, grad):
        return [grad, grad]
    to_x, to_y = static_sums(x, y, grad)
    return [to_x(grad), to_y(grad)]


_ADD = Add()  # made once: looking it up takes a tenth of an eager call


@export("math.add", "add")
def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise sum, with broadcasting.

    z = x + y

    Args:
      x: number or string Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.add([1.0, 2.0], 10.0))
      array([11., 12.], dtype=float32)

    Source: Add in core/ops/math_ops.cc.
    """
    return _ADD(x, y, name=name)


class Sub(Binary):
    """x - y.  Source: math_ops.cc, Sub."""

    signature = "x: T, y: T -> z: T"
    T = QUOTIENTS
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.subtract(x, y)

    def forwards_but_signed_zeros(
        self, inputs: list[Any], output: Any, values: list[Any]
    ) -> int | None:
        return beside(0, inputs, output, values, either=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y = op.inputs
        if all_shapes_known_and_equal(x, y, grad):
            return [grad, -grad]
        to_x, to_y = static_sums(x, y, grad)
        return [to_x(grad), to_y(-grad)]

    def expression(self, x: str, y: str) -> str:
        return f"{x} - {y}"


_SUB = Sub()


@export("math.subtract", "subtract")
def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise difference, with broadcasting.

    z = x - y

    Args:
      x: number Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.subtract([1.0, 2.0], 10.0))
      array([-9., -8.], dtype=float32)

    Source: Sub in core/ops/math_ops.cc.
    """
    return _SUB(x, y, name=name)


def zero_where(xp: ArrayModule, where: Any, values: Any) -> Any:
    """`values`, set to 0 where the condition (with broadcasting) holds."""
    return xp.where(where, xp.zeros((), values.dtype), values)


class Pow(Binary):
    """x to the power y.  Source: math_ops.cc, Pow."""

    signature = "x: T, y: T -> z: T"
    T = dtypes_of("bfloat16 float half double int32 int64 complex64 complex128")
    card_formula: ClassVar[str | None] = "pow({0}, {1})"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        if is_whole(y) and np.any(np.less(y, 0)):
            raise invalid_argument(
                "Integers to negative integer powers are not allowed"
            )
        if not y.ndim and y == 2:
            return x * x
        return xp.power(x, y)

    def compute_on_card(self, xp: ArrayModule, x: Any, y: Any) -> Any:
        return xp.power(x, y)  # the host does not know y

    def scalar_expression(self, x: str, y: str) -> str | None:
        return f"{x} * {x}" if y == "2" else None

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        exponent = values[1]
        is_one = exponent is not None and inputs[0] == output and np.all(exponent == 1)
        return 0 if is_one else None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.array.where_select import Select
        from tfteach.ops.math.compare import not_equal
        from tfteach.ops.math.complex import conj

        x, y = op.inputs
        where = Select()
        to_x, to_y = static_sums(x, y, grad)
        x, y = conj(x), conj(y)
        gx = to_x(grad * y * pow(x, y - 1))
        z = conj(op.outputs[0])
        mask = not_equal(x, 0) if x.dtype.is_complex else x > 0
        safe_x = where(mask, x, ones_like(x))
        log_x = where(mask, log(safe_x), zeros_like(x))
        return [gx, to_y(grad * z * log_x)]


@export("math.pow", "pow")
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise power, with broadcasting.

    z = x ** y

    Args:
      x: float, int or complex Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.pow([2.0, 3.0], 3.0))
      array([ 8., 27.], dtype=float32)

    Source: Pow in core/ops/math_ops.cc.
    """
    return Pow()(x, y, name=name)


def _has_nan(y: Any) -> bool:
    """Whether y has NaN: TF returns x there on CPUs, NumPy returns NaN."""
    if y.dtype.kind in "iu":
        return False
    largest = y.max() if y.size else 0.0  # NaN if there is one; faster than isnan
    return bool(largest != largest)


class Maximum(Binary):
    """The larger of x and y.  Source: math_ops.cc, Maximum."""

    signature = "x: T, y: T -> z: T"
    T = ORDERED
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        found = xp.maximum(x, y)
        return xp.where(x < y, y, x) if _has_nan(y) else found

    def compute_on_card(self, xp: ArrayModule, x: Any, y: Any) -> Any:
        return xp.maximum(x, y)

    def scalar_expression(self, x: str, y: str) -> str:
        return f"({y} if {x} < {y} else {x})"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.math.compare import greater_equal

        return _selected_gradient(op, grad, greater_equal)


@export("math.maximum", "maximum")
def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The larger of each pair of elements.

    z = max(x, y)

    Args:
      x: float or int Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.maximum([1.0, -2.0], 0.0))
      array([1., 0.], dtype=float32)

    Source: Maximum in core/ops/math_ops.cc.
    """
    return Maximum()(x, y, name=name)


class Minimum(Binary):
    """The smaller of x and y.  Source: math_ops.cc, Minimum."""

    signature = "x: T, y: T -> z: T"
    T = ORDERED
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        found = xp.minimum(x, y)
        return xp.where(y < x, y, x) if _has_nan(y) else found

    def compute_on_card(self, xp: ArrayModule, x: Any, y: Any) -> Any:
        return xp.minimum(x, y)

    def scalar_expression(self, x: str, y: str) -> str:
        return f"({y} if {x} > {y} else {x})"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.math.compare import less_equal

        return _selected_gradient(op, grad, less_equal)


@export("math.minimum", "minimum")
def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The smaller of each pair of elements.

    z = min(x, y)

    Args:
      x: float or int Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.minimum([1.0, -2.0], 0.0))
      array([ 0., -2.], dtype=float32)

    Source: Minimum in core/ops/math_ops.cc.
    """
    return Minimum()(x, y, name=name)


def _selected_gradient(op: Operation, grad: Tensor, selects_x: Any) -> list[Gradient]:
    from tfteach.ops.array.where_select import Select
    from tfteach.ops.math.reduce_ops import Sum

    x, y = op.inputs
    where = Select()
    sx, sy, full = shape(x), shape(y), shape(grad)
    zeros = fill.zeros(full, grad.dtype)
    mask = selects_x(x, y)
    rx, ry = BroadcastGradientArgs()(sx, sy)
    reshape, total = Reshape(), Sum()
    gx = reshape(total(where(mask, grad, zeros), rx), sx)
    gy = reshape(total(where(mask, zeros, grad), ry), sy)
    return [gx, gy]


class SquaredDifference(Binary):
    """(x - y) times its conjugate.  Source: math_ops.cc, SquaredDifference."""

    signature = "x: T, y: T -> z: T"
    T = dtypes_of("bfloat16 half float double int32 int64 complex64 complex128")
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    card_formula: ClassVar[str | None] = "({0} - {1}) * ({0} - {1})"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        d = xp.subtract(x, y)
        return d * xp.conj(d) if d.dtype.kind == "c" else d * d

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.math.multiply import scalar_mul

        x, y = op.inputs
        with after(grad):
            x_grad = scalar_mul(2.0, grad) * (x - y)
        if all_shapes_known_and_equal(x, y, grad):
            return [x_grad, -x_grad]
        to_x, to_y = static_sums(x, y, grad)
        return [to_x(x_grad), -to_y(x_grad)]


@export("math.squared_difference", "squared_difference")
def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise squared difference, with broadcasting.

    z = (x - y)²

    Args:
      x: float, int or complex Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.squared_difference([1.0, 4.0], 2.0))
      array([1., 4.], dtype=float32)

    Source: SquaredDifference in core/ops/math_ops.cc.
    """
    return SquaredDifference()(x, y, name=name)
