"""Python's operators on tensors, and the functions that share their names.

`x + y` gives a node "add" where `tf.add(x, y)` gives "Add": both as in TF.
Source: python/ops/math_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, dtypes_of, float32, float64, string
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.ops.math import compare
from tfteach.ops.math.binary import Add, AddV2, Mul, MulNoNan, Sub, pow
from tfteach.ops.math.cast import cast
from tfteach.ops.math.complex import abs as tf_abs
from tfteach.ops.math.division import DivNoNan, FloorDiv, FloorMod, RealDiv
from tfteach.ops.math.unary import negative

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
def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Quotient as Python 3 computes it: integers are cast to floats first.

    z = x / y

    Args:
      x: number Tensor; (u)int8 and (u)int16 become float32, int32 and int64 float64.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A float or complex Tensor of the broadcast shape.

    Raises:
      TypeError: the types differ, or are no numbers.

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
def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Quotient as Python 2 computes it: integers are rounded down.

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
def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """Quotient by Python's operator: `x / y`.

    z = x / y

    Args:
      x: number Tensor, or what Python can divide.
      y: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A float or complex Tensor of the broadcast shape.

    Example:
      >>> tf.Session().run(tf.divide(tf.constant([7.0]), 2.0))
      array([3.5], dtype=float32)

    Source: python/ops/math_ops.py.
    """
    return x / y if name is None else truediv(x, y, name)


@export("math.floordiv", "floordiv")
def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Quotient rounded down, as Python's `//`.

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
def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
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
    return _without_nan(DivNoNan(), "div_no_nan", x, y, name)


def _without_nan(op: Any, default: str, x: Any, y: Any, name: str | None) -> Tensor:
    with name_scope(name, default, [x, y]) as scope:
        x = convert(x, name="x")
        y = convert(y, x.dtype.base_dtype, name="y")
        return op(x, y, name=scope)


@export("math.multiply_no_nan")
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Product that is 0 wherever y is 0, even against inf and nan.

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
    return _without_nan(MulNoNan(), "multiply_no_nan", x, y, name)


@export("math.scalar_mul", "scalar_mul")
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor.

    y = scalar * x

    Args:
      scalar: a number or a 0-d Tensor.
      x: number Tensor of any shape, or IndexedSlices.
      name: the op's name.

    Returns:
      The same kind of thing as `x`, with its shape and type.

    Raises:
      ValueError: `scalar` has another shape.

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


# ---- the operators


def _add(x: Tensor, y: Tensor, name: str | None = None) -> Any:
    op = Add() if x.dtype.base_dtype is string else AddV2()
    return op(x, y, name=name)


def _binary(
    symbol: str, function: Callable[..., Any], name: str, is_one: bool = True
) -> None:
    """Overload a binary operator and its reflection.

    Args:
      symbol: the operator's name in Python, as in `__add__`.
      function: `f(x, y, name=...)` of tensors.
      name: the default name of its node.
      is_one: whether `function` builds a single node, or several in a scope of its own.
    """
    reflected = f"__r{symbol}__"

    def left(x: Tensor, y: Any) -> Any:
        if is_one and type(y) is Tensor:
            # No scope is needed: the node takes the name that the scope would take.
            return function(x, y, name=name)
        with name_scope(None, name, [x, y]) as scope:
            try:
                y = convert(y, name="y", preferred_dtype=x.dtype.base_dtype)
            except TypeError:
                if hasattr(type(y), reflected):
                    return NotImplemented
                raise
            return function(x, y, name=scope)

    def right(y: Tensor, x: Any) -> Any:
        with name_scope(None, name, [x, y]) as scope:
            x = convert(x, y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    Tensor.overload(f"__{symbol}__", left)
    Tensor.overload(reflected, right)


def _matmul(x: Any, y: Any, name: str | None = None) -> Any:
    from tfteach.ops.linalg.matmul import matmul

    return matmul(x, y, name=name)


def _of(kind: type[Op]) -> Callable[..., Any]:
    return lambda x, y, name=None: kind()(x, y, name=name)


_binary("add", _add, "add")
_binary("sub", _of(Sub), "sub")
_binary("mul", _of(Mul), "mul")
_binary("div", div, "div")
_binary("truediv", truediv, "truediv")
_binary("floordiv", floordiv, "floordiv")
_binary("mod", _of(FloorMod), "mod")
_binary("pow", pow, "pow")
_binary("and", compare.logical_and, "and")
_binary("or", compare.logical_or, "or")
_binary("xor", compare.logical_xor, "xor", is_one=False)
_binary("matmul", _matmul, "matmul")

Tensor.overload("__lt__", compare.less)
Tensor.overload("__le__", compare.less_equal)
Tensor.overload("__gt__", compare.greater)
Tensor.overload("__ge__", compare.greater_equal)
Tensor.overload("__neg__", negative)
Tensor.overload("__abs__", tf_abs)
Tensor.overload("__invert__", compare.logical_not)
