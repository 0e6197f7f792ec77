"""Operations on the bits of integers.  Source: core/ops/bitwise_ops.cc."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.math.binary import Binary
from tfteach.ops.math.unary import Unary

INTEGERS = dtypes_of("int8 int16 int32 int64 uint8 uint16 uint32 uint64")


class _Bits(Binary, abstract=True):
    signature = "x: T, y: T -> z: T"
    T = INTEGERS
    ufunc: ClassVar[str]
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return getattr(xp, self.ufunc)(x, y)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class BitwiseAnd(_Bits):
    """The bits set in both.  Source: bitwise_ops.cc, BitwiseAnd."""

    ufunc: ClassVar[str] = "bitwise_and"


class BitwiseOr(_Bits):
    """The bits set in either.  Source: bitwise_ops.cc, BitwiseOr."""

    ufunc: ClassVar[str] = "bitwise_or"


class BitwiseXor(_Bits):
    """The bits set in exactly one.  Source: bitwise_ops.cc, BitwiseXor."""

    ufunc: ClassVar[str] = "bitwise_xor"


class _Shift(_Bits, abstract=True):
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        # As in TF, shift distances are clipped to the range 0 to bits - 1.
        largest = x.dtype.itemsize * 8 - 1
        by = xp.minimum(xp.maximum(y, 0), largest).astype(x.dtype)
        return getattr(xp, self.ufunc)(x, by)


class LeftShift(_Shift):
    """Left shift.  Source: bitwise_ops.cc, LeftShift."""

    ufunc: ClassVar[str] = "left_shift"


class RightShift(_Shift):
    """Arithmetic right shift.  Source: bitwise_ops.cc, RightShift."""

    ufunc: ClassVar[str] = "right_shift"


class Invert(Unary):
    """Every bit flipped.  Source: bitwise_ops.cc, Invert."""

    T = INTEGERS
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.invert(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class PopulationCount(Op):
    """The number of set bits.  Source: bitwise_ops.cc, PopulationCount."""

    signature = "x: T -> y: uint8"
    T = INTEGERS
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, x: Shape) -> Shape:
        return x

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        rest = x.astype(f"u{x.dtype.itemsize}")
        count = xp.zeros(x.shape, np.uint8)
        for bit in range(x.dtype.itemsize * 8):
            count += (rest >> rest.dtype.type(bit) & rest.dtype.type(1)).astype("u1")
        return count

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


@export("bitwise.bitwise_and")
def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits set in both, element-wise.

    Args:
      x: integer Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.bitwise.bitwise_and([6], [3]))
      array([2], dtype=int32)

    Source: BitwiseAnd in core/ops/bitwise_ops.cc.
    """
    return BitwiseAnd()(x, y, name=name)


@export("bitwise.bitwise_or")
def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits set in either, element-wise; see `tf.bitwise.bitwise_and`."""
    return BitwiseOr()(x, y, name=name)


@export("bitwise.bitwise_xor")
def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits set in exactly one, element-wise; see `tf.bitwise.bitwise_and`."""
    return BitwiseXor()(x, y, name=name)


@export("bitwise.invert")
def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """Every bit of an integer Tensor flipped, element-wise."""
    return Invert()(x, name=name)


@export("bitwise.left_shift")
def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Left shift, element-wise.

    z = x * 2**y, truncated to the type's bits

    Args:
      x: integer Tensor of any shape.
      y: Tensor of the type of `x`, broadcast against it: the distance, clipped to the
        range from 0 to the number of bits less one.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Source: LeftShift in core/ops/bitwise_ops.cc.
    """
    return LeftShift()(x, y, name=name)


@export("bitwise.right_shift")
def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Arithmetic right shift, element-wise; see `tf.bitwise.left_shift`."""
    return RightShift()(x, y, name=name)
