"""Comparisons and logical operations.

Source: core/ops/math_ops.cc, core/kernels/cwise_ops.h.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.math.binary import Binary

REAL_NUMBERS = dtypes_of(
    "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
)
COMPARABLE = dtypes_of(
    "bfloat16 half float double uint8 int8 int16 int32 int64 complex64 quint8 qint8 "
    "qint32 string bool complex128"
)
NUMBER_TYPES = dtypes_of(
    "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 "
    "uint16 complex128 half uint32 uint64"
)


class _Compare(Binary, abstract=True):
    signature = "x: T, y: T -> z: bool"
    T = REAL_NUMBERS

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class Less(_Compare):
    """x < y.  Source: math_ops.cc, Less."""

    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.less(x, y)

    def expression(self, x: str, y: str) -> str:
        return f"{x} < {y}"


@export("math.less", "less")
def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x < y` element-wise, with broadcasting.

    z = x < y; bool

    Args:
      x: float or int Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type bool.

    Example:
      >>> tf.Session().run(tf.less([1.0, 2.0], 2.0))
      array([ True, False])

    Source: Less in core/ops/math_ops.cc.
    """
    return Less()(x, y, name=name)


class LessEqual(_Compare):
    """x <= y.  Source: math_ops.cc, LessEqual."""

    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.less_equal(x, y)

    def expression(self, x: str, y: str) -> str:
        return f"{x} <= {y}"


@export("math.less_equal", "less_equal")
def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x <= y` element-wise, with broadcasting.

    z = x <= y; bool

    Args:
      x: float or int Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type bool.

    Example:
      >>> tf.Session().run(tf.less_equal([1.0, 2.0], 1.0))
      array([ True, False])

    Source: LessEqual in core/ops/math_ops.cc.
    """
    return LessEqual()(x, y, name=name)


class Greater(_Compare):
    """x > y.  Source: math_ops.cc, Greater."""

    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.greater(x, y)

    def expression(self, x: str, y: str) -> str:
        return f"{x} > {y}"


@export("math.greater", "greater")
def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x > y` element-wise, with broadcasting.

    z = x > y; bool

    Args:
      x: float or int Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type bool.

    Example:
      >>> tf.Session().run(tf.greater([1.0, 2.0], 1.0))
      array([False,  True])

    Source: Greater in core/ops/math_ops.cc.
    """
    return Greater()(x, y, name=name)


class GreaterEqual(_Compare):
    """x >= y.  Source: math_ops.cc, GreaterEqual."""

    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.greater_equal(x, y)

    def expression(self, x: str, y: str) -> str:
        return f"{x} >= {y}"


@export("math.greater_equal", "greater_equal")
def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x >= y` element-wise, with broadcasting.

    z = x >= y; bool

    Args:
      x: float or int Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type bool.

    Example:
      >>> tf.Session().run(tf.greater_equal([1.0, 2.0], 2.0))
      array([False,  True])

    Source: GreaterEqual in core/ops/math_ops.cc.
    """
    return GreaterEqual()(x, y, name=name)


class Equal(_Compare):
    """x = y.  Source: math_ops.cc, Equal."""

    T = COMPARABLE
    incompatible_shape_error: bool = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.PYTHON
    card_formula: ClassVar[str | None] = "{0} == {1}"

    def infer_shape(self, x: Shape, y: Shape) -> Shape:
        return _equality_shape(self.incompatible_shape_error, x, y)

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        if not self.incompatible_shape_error and not _broadcasts(x, y):
            return xp.zeros((), bool)
        # For objects, comparison yields a plain bool in 0-d; the dtype makes it an
        # array.
        return xp.equal(x, y, dtype=None if x.dtype != object else bool)


def _equality_shape(raises: bool, x: Shape, y: Shape) -> Shape:
    if raises:
        return shapes.broadcast(x, y)
    try:
        both = shapes.broadcast(x, y)
    except ValueError:
        return ()
    return both if shapes.is_full(x) and shapes.is_full(y) else None


def _broadcasts(x: Any, y: Any) -> bool:
    pairs = zip(x.shape[::-1], y.shape[::-1], strict=False)
    return all(m == n or 1 in (m, n) for m, n in pairs)


@export("math.equal", "equal")
def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x == y` element-wise, with broadcasting.

    z = (x = y); bool

    Args:
      x: number, bool or string Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type bool.

    Example:
      >>> tf.Session().run(tf.equal([1.0, 2.0], 2.0))
      array([False,  True])

    Source: Equal in core/ops/math_ops.cc.
    """
    return Equal()(x, y, name=name)


class NotEqual(_Compare):
    """x ≠ y.  Source: math_ops.cc, NotEqual."""

    T = COMPARABLE
    incompatible_shape_error: bool = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.PYTHON
    card_formula: ClassVar[str | None] = "{0} != {1}"

    def infer_shape(self, x: Shape, y: Shape) -> Shape:
        return _equality_shape(self.incompatible_shape_error, x, y)

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        if not self.incompatible_shape_error and not _broadcasts(x, y):
            return xp.ones((), bool)
        return xp.not_equal(x, y, dtype=None if x.dtype != object else bool)


@export("math.not_equal", "not_equal")
def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x != y` element-wise, with broadcasting.

    z = (x ≠ y); bool

    Args:
      x: number, bool or string Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type bool.

    Example:
      >>> tf.Session().run(tf.not_equal([1.0, 2.0], 2.0))
      array([ True, False])

    Source: NotEqual in core/ops/math_ops.cc.
    """
    return NotEqual()(x, y, name=name)


class ApproximateEqual(_Compare):
    """|x - y| < tolerance; no broadcasting.  Source: ApproximateEqual."""

    T = NUMBER_TYPES
    tolerance: float = 9.999999747378752e-06  # 1e-5 as a float32, as in the OpDef

    def infer_shape(self, x: Shape, y: Shape) -> Shape:
        shapes.merge(x, y)
        return x

    def check_shapes(self, x: tuple[int, ...], y: tuple[int, ...]) -> None:
        message = "x and y must be of the same shape. x shape: %s. y shape: %s"
        require(x == y, message, x, y)

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.abs(x - y) <= self.tolerance


class _Logical(Op, abstract=True):
    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None] * len(op.inputs)


class LogicalAnd(_Logical):
    """x and y.  Source: math_ops.cc, LogicalAnd."""

    signature = "x: bool, y: bool -> z: bool"

    def infer_shape(self, x: Shape, y: Shape) -> Shape:
        return shapes.broadcast(x, y)

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.logical_and(x, y)

    def expression(self, x: str, y: str) -> str:
        return f"{x} & {y}"


@export("math.logical_and", "logical_and")
def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x and y` element-wise, with broadcasting.

    z = x and y; bool

    Args:
      x: bool Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type bool.

    Example:
      >>> tf.Session().run(tf.logical_and([True, False], True))
      array([ True, False])

    Source: LogicalAnd in core/ops/math_ops.cc.
    """
    return LogicalAnd()(x, y, name=name)


class LogicalOr(_Logical):
    """x or y.  Source: math_ops.cc, LogicalOr."""

    signature = "x: bool, y: bool -> z: bool"

    def infer_shape(self, x: Shape, y: Shape) -> Shape:
        return shapes.broadcast(x, y)

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return xp.logical_or(x, y)

    def expression(self, x: str, y: str) -> str:
        return f"{x} | {y}"


@export("math.logical_or", "logical_or")
def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x or y` element-wise, with broadcasting.

    z = x or y; bool

    Args:
      x: bool Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type bool.

    Example:
      >>> tf.Session().run(tf.logical_or([True, False], False))
      array([ True, False])

    Source: LogicalOr in core/ops/math_ops.cc.
    """
    return LogicalOr()(x, y, name=name)


class LogicalNot(_Logical):
    """not x.  Source: math_ops.cc, LogicalNot."""

    signature = "x: bool -> y: bool"
    card_formula: ClassVar[str | None] = "not {0}"

    def infer_shape(self, x: Shape) -> Shape:
        return x

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.logical_not(x)


@export("math.logical_not", "logical_not")
def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """`not x` element-wise.

    y = not x; bool

    Args:
      x: bool Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type bool.

    Example:
      >>> tf.Session().run(tf.logical_not([True, False]))
      array([False,  True])

    Source: LogicalNot in core/ops/math_ops.cc.
    """
    return LogicalNot()(x, name=name)


@export("math.logical_xor", "logical_xor")
def logical_xor(x: TensorLike, y: TensorLike, name: str = "LogicalXor") -> Tensor:
    """`x xor y` element-wise, with broadcasting.

    z = (x or y) and not (x and y)

    Args:
      x, y: bool Tensors that broadcast.
      name: the name of the last op.

    Returns:
      A bool Tensor of the broadcast shape.

    Example:
      >>> tf.Session().run(tf.logical_xor([True, False], True))
      array([False,  True])

    Source: python/ops/math_ops.py.
    """
    either = logical_or(x, y)
    return logical_and(either, logical_not(logical_and(x, y)), name=name)
