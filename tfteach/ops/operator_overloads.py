"""Python's operators on tensors.

`x + y` creates a node "add" where `tf.add(x, y)` creates "Add", both as in TF.
Source: python/ops/math_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import string
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.array.tensor_indexing import slice_helper
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math import compare
from tfteach.ops.math.binary import Add, AddV2, Sub, pow
from tfteach.ops.math.complex import abs as tf_abs
from tfteach.ops.math.division import (
    div,
    floordiv,
    truediv,
)
from tfteach.ops.math.modulo import FloorMod
from tfteach.ops.math.multiply import Mul
from tfteach.ops.math.unary import negative

_JOIN, _ADD = Add(), AddV2()


def _add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    op = _JOIN if x.dtype.base_dtype is string else _ADD
    return op(x, y, name=name)


def _binary(
    symbol: str,
    function: Callable[..., Any],
    name: str,
    is_one: bool = True,
    with_sparse: bool = False,
) -> None:
    """Overload a binary operator and its reflection.

    Args:
      symbol: the operator's name in Python, as in `__add__`.
      function: `f(x, y, name=...)` of tensors.
      name: the default name of its node.
      is_one: whether `function` builds a single node, or several in their own scope.
      with_sparse: whether the right operand may be a SparseTensor, whose operator is
        commutative.
    """
    reflected = f"__r{symbol}__"
    scope_name = f"{name}/"

    def left(x: Tensor, y: Any) -> Any:
        if is_one and type(y) is Tensor:
            # No scope is needed: the node takes the scope's name.
            return function(x, y, name=name)
        if is_one and type(y) is EagerTensor and type(x) is EagerTensor:
            return function(x, y, name=scope_name)  # for messages
        if with_sparse and isinstance(y, SparseTensor):
            return getattr(y, f"__{symbol}__")(x)
        with name_scope(None, name, [x, y]) as scope:
            try:
                y = convert(y, name="y", preferred_dtype=x.dtype.base_dtype)
            except TypeError:
                if hasattr(type(y), reflected):
                    return NotImplemented
                raise
            return function(x, y, name=scope)

    def right(y: Tensor, x: Any) -> Any:
        if is_one and type(y) is EagerTensor and get_default_graph().is_eager:
            return function(convert(x, y.dtype, name="x"), y, name=scope_name)
        with name_scope(None, name, [x, y]) as scope:
            x = convert(x, y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    Tensor.overload(f"__{symbol}__", left)
    Tensor.overload(reflected, right)


def _of(kind: type[Op]) -> Callable[..., Any]:
    op = kind()
    return lambda x, y, name=None: op(x, y, name=name)


_binary("add", _add, "add")
_binary("sub", _of(Sub), "sub")
_binary("mul", _of(Mul), "mul", with_sparse=True)
_binary("div", div, "div")
_binary("truediv", truediv, "truediv")
_binary("floordiv", floordiv, "floordiv")
_binary("mod", _of(FloorMod), "mod")
_binary("pow", pow, "pow")
_binary("and", compare.logical_and, "and")
_binary("or", compare.logical_or, "or")
_binary("xor", compare.logical_xor, "xor", is_one=False)
_binary("matmul", matmul, "matmul")

Tensor.overload("__lt__", compare.less)
Tensor.overload("__le__", compare.less_equal)
Tensor.overload("__gt__", compare.greater)
Tensor.overload("__ge__", compare.greater_equal)
Tensor.overload("__neg__", negative)
Tensor.overload("__abs__", tf_abs)
Tensor.overload("__invert__", compare.logical_not)
Tensor.overload("__getitem__", slice_helper)
