"""Complex numbers and their parts.

Source: core/ops/math_ops.cc, python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import (
    DType,
    complex64,
    complex128,
    dtypes_of,
    float32,
    float64,
    variant,
)
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import after, dynamic_sums
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.sparse_tensor import also_sparse
from tfteach.ops.math.binary import Binary
from tfteach.ops.math.unary import Abs, reciprocal

COMPLEX = dtypes_of("complex64 complex128")


class _Part(Op, abstract=True):
    """A real number derived from each complex one."""

    signature = "input: T -> output: Tout"
    T = COMPLEX
    T_default = complex64
    Tout: DType = float32
    Tout_allowed = dtypes_of("float32 float64")

    def infer_shape(self, input: Shape) -> Shape:
        return input


class Real(_Part):
    """The real part.  Source: math_ops.cc, Real."""

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return input.real.copy()

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        zero = constant(0, dtype=grad.dtype)
        return [complex(grad, zero)]


@export("math.real", "real")
def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real part of each element.

    output = Re(input)

    Args:
      input: complex Tensor of any shape; a real one is returned unchanged.
      name: the op's name.

    Returns:
      A float Tensor of the same shape.

    Example:
      >>> tf.Session().run(tf.real([1 + 2j]))
      array([1.], dtype=float32)

    Source: Real in core/ops/math_ops.cc.
    """
    return _part(Real, input, name)


def _part(cls: Any, input: Any, name: str | None) -> Tensor:
    with name_scope(name, cls.op_type, [input]) as scope:
        input = convert(input, name="input")
        if input.dtype.is_complex:
            result: Tensor = cls(input.dtype.real_dtype.base_dtype)(input, name=scope)
            return result
        return input if cls is Real else zeros_like(input)


class Imag(_Part):
    """The imaginary part.  Source: math_ops.cc, Imag."""

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return input.imag.copy()

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        zero = constant(0, dtype=grad.dtype)
        return [complex(zero, grad)]


@export("math.imag", "imag")
def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part of each element.

    output = Im(input)

    Args:
      input: complex Tensor of any shape; for a real one the result is zeros.
      name: the op's name.

    Returns:
      A float Tensor of the same shape.

    Example:
      >>> tf.Session().run(tf.imag([1 + 2j]))
      array([2.], dtype=float32)

    Source: Imag in core/ops/math_ops.cc.
    """
    return _part(Imag, input, name)


class Angle(_Part):
    """The argument of a complex number.  Source: math_ops.cc, Angle."""

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return xp.angle(input)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x = op.inputs[0]
        with after(grad):
            re, im = real(x), imag(x)
            z = reciprocal(complex(im, re))
            zero = constant(0, dtype=grad.dtype)
            complex_grad = complex(grad, zero)
            return [-complex_grad * z]


@export("math.angle", "angle")
def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The argument of each element, in radians.

    output = atan2(Im(input), Re(input))

    Args:
      input: complex Tensor of any shape; for a real one zeros, as in TF 1.15.
      name: the op's name.

    Returns:
      A float Tensor of the same shape.

    Example:
      >>> tf.Session().run(tf.angle([1j]))
      array([1.5707964], dtype=float32)

    Source: Angle in core/ops/math_ops.cc.
    """
    return _part(Angle, input, name)


class ComplexAbs(Op):
    """The absolute value of complex numbers.  Source: math_ops.cc, ComplexAbs."""

    signature = "x: T -> y: Tout"
    T = COMPLEX
    T_default = complex64
    Tout: DType = float32
    Tout_allowed = dtypes_of("float32 float64")

    def infer_shape(self, x: Shape) -> Shape:
        return x

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.abs(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.math.division import div_no_nan

        scaled = complex(grad, zeros_like(grad)) * op.inputs[0]
        size = complex(op.outputs[0], zeros_like(op.outputs[0]))
        return [div_no_nan(scaled, size)]


@export("math.abs", "abs")
@also_sparse
def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value of each element.

    y = |x|

    Args:
      x: float, int or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type; float for complex `x`.

    Example:
      >>> tf.Session().run(tf.abs([1.0, -2.0]))
      array([1., 2.], dtype=float32)

    Source: Abs and ComplexAbs in core/ops/math_ops.cc.
    """
    with name_scope(name, "Abs", [x]) as scope:
        x = convert(x, name="x")
        if x.dtype.is_complex:
            return ComplexAbs(x.dtype.real_dtype.base_dtype)(x, name=scope)
        return Abs()(x, name=scope)


class Conj(Op):
    """The complex conjugate.  Source: math_ops.cc, Conj."""

    signature = "input: T -> output: T"
    T = (*COMPLEX, variant)
    T_default = complex64

    def infer_shape(self, input: Shape) -> Shape:
        return input

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return xp.conj(input)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [conj(grad)]


@export("math.conj", "conj")
def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate of each element.

    y = Re(x) - i Im(x)

    Args:
      x: complex Tensor of any shape; a real one is returned unchanged.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      TypeError: `x` is not numeric.

    Example:
      >>> tf.Session().run(tf.conj([1 + 2j]))
      array([1.-2.j], dtype=complex64)

    Source: Conj in core/ops/math_ops.cc.
    """
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert(x, name="x")
        if x.dtype.is_complex or x.dtype.base_dtype is variant:
            return Conj()(x, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


class Complex(Binary):
    """real + i imag.  Source: math_ops.cc, Complex."""

    signature = "real: T, imag: T -> out: Tout"
    T = dtypes_of("float double")
    T_default = float32
    Tout: DType = complex64
    Tout_allowed = dtypes_of("complex64 complex128")

    def compute(self, xp: ArrayModule, real: Array, imag: Array) -> Any:
        # Not real + 1j * imag: one infinite part would make the other part nan.
        # Not `broadcast_arrays`, which fails for arrays that may not be written.
        wide = np.broadcast_shapes(real.shape, imag.shape)
        real, imag = xp.broadcast_to(real, wide), xp.broadcast_to(imag, wide)
        whole = xp.empty(real.shape, self.Tout.numpy_dtype)
        whole.real, whole.imag = real, imag
        return whole

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        to_real, to_imag = dynamic_sums(*op.inputs)
        return [to_real(real(grad)), to_imag(imag(grad))]


@export("dtypes.complex", "complex")
def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Complex numbers from their parts.

    out = real + i imag

    Args:
      real, imag: float32 or float64 Tensors that broadcast.
      name: the op's name.

    Returns:
      A complex64 or complex128 Tensor of the broadcast shape.

    Raises:
      TypeError: the parts are not both float32 or both float64.

    Example:
      >>> tf.Session().run(tf.complex([1.0], [2.0]))
      array([1.+2.j], dtype=complex64)

    Source: Complex in core/ops/math_ops.cc.
    """
    real = convert(real, name="real")
    imag = convert(imag, name="imag")
    types = {(float32, float32): complex64, (float64, float64): complex128}
    with name_scope(name, "Complex", [real, imag]) as scope:
        kind = types.get((real.dtype.base_dtype, imag.dtype.base_dtype))
        if kind is None:
            raise TypeError(
                f"real and imag have incorrect types: {real.dtype.name} "
                f"{imag.dtype.name}"
            )
        return Complex(kind)(real, imag, name=scope)
