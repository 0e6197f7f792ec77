"""Checks of values: `tf.assert_equal`, `tf.assert_positive` ...

Source: python/ops/check_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.control.case import Assert
from tfteach.control.checks.failures import comparison_failed, label
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.errors import InvalidArgumentError
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.math.compare import (
    Equal,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    NotEqual,
)
from tfteach.ops.math.reduce_functions import reduce_all

Data = Sequence[Any] | None


def _static_text(item: Any) -> str:
    value = python_constant_value(item) if isinstance(item, Tensor) else item
    return str(item if value is None else value)


def _binary(
    symbol: str,
    name: str,
    kind: type[Op],
    static: Any,
    x: Any,
    y: Any,
    data: Data,
    summarize: int | None,
    message: str | None,
    scope_name: str | None,
) -> Operation:
    """The check `x symbol y`: at once if both are known, otherwise an Assert."""
    with name_scope(scope_name, name, [x, y, data]):
        x, y = convert(x, name="x"), convert(y, name="y")
        if get_default_graph().is_eager:
            holds = kind()(x, y)
            if not reduce_all(holds):
                raise comparison_failed(symbol, x, y, holds, data, summarize, message)
            return no_op()
        if data is None:
            data = [
                f"Condition x {symbol} y did not hold element-wise:",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        if message is not None:
            data = [message, *data]
        condition = reduce_all(kind()(x, y))
        known = python_constant_value(x), python_constant_value(y)
        if (
            known[0] is not None
            and known[1] is not None
            and (not np.all(static(*known)))
        ):
            text = "\n".join(_static_text(item) for item in data)
            raise InvalidArgumentError(None, None, text)
        return Assert(condition, data, summarize=summarize)


def _element_wise(symbol: str) -> str:
    return f"""Check that `x {symbol} y` for all elements (with broadcasting).

    Args:
      x: a numeric Tensor.
      y: a numeric Tensor of the same type.
      data: the values to print on failure; the message and the first elements if None.
      summarize: the number of elements of each tensor to print (3; -1 for all).
      message: a prefix of the error message.
      name: the name scope of the new operations.

    Returns:
      An Operation that fails a run with InvalidArgumentError; it runs only as a
      control dependency.  None in an eager program.

    Raises:
      InvalidArgumentError: immediately, in an eager program or if both are constants,
        and the check fails.

    Source: python/ops/check_ops.py.
    """


def _about_zero(symbol: str) -> str:
    return f"""Check that `x {symbol} 0` for all elements.

    Args:
      x: a numeric Tensor.
      data: the values to print on failure; the message and the first elements if None.
      summarize: the number of elements of each tensor to print (3; -1 for all).
      message: a prefix of the error message.
      name: the name scope of the new operations.

    Returns:
      An Operation that fails a run with InvalidArgumentError; it runs only as a
      control dependency.  None in an eager program.

    Raises:
      InvalidArgumentError: immediately, in an eager program or if `x` is a constant,
        and the check fails.

    Source: python/ops/check_ops.py.
    """


@export("assert_equal", "debugging.assert_equal")
def assert_equal(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    # TF opens a separate scope for this test, in addition to the check's own.
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return no_op()
    return _binary(
        "==", "assert_equal", Equal, np.equal, x, y, data, summarize, message, name
    )


@export("assert_none_equal", "debugging.assert_none_equal")
def assert_none_equal(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _binary(
        "!=",
        "assert_none_equal",
        NotEqual,
        np.not_equal,
        x,
        y,
        data,
        summarize,
        message,
        name,
    )


@export("assert_less", "debugging.assert_less")
def assert_less(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _binary(
        "<", "assert_less", Less, np.less, x, y, data, summarize, message, name
    )


@export("assert_less_equal", "debugging.assert_less_equal")
def assert_less_equal(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _binary(
        "<=",
        "assert_less_equal",
        LessEqual,
        np.less_equal,
        x,
        y,
        data,
        summarize,
        message,
        name,
    )


@export("assert_greater", "debugging.assert_greater")
def assert_greater(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _binary(
        ">",
        "assert_greater",
        Greater,
        np.greater,
        x,
        y,
        data,
        summarize,
        message,
        name,
    )


@export("assert_greater_equal", "debugging.assert_greater_equal")
def assert_greater_equal(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _binary(
        ">=",
        "assert_greater_equal",
        GreaterEqual,
        np.greater_equal,
        x,
        y,
        data,
        summarize,
        message,
        name,
    )


Check = Callable[..., Operation]
for _function, _symbol in (
    (assert_equal, "=="), (assert_none_equal, "!="), (assert_less, "<"),
    (assert_less_equal, "<="), (assert_greater, ">"), (assert_greater_equal, ">="),
):  # fmt: skip
    _function.__doc__ = _element_wise(_symbol)


def _unary(
    symbol: str,
    name: str,
    zero_first: bool,
    check: Check,
    x: Any,
    data: Data,
    summarize: int | None,
    message: str | None,
    scope_name: str | None,
) -> Operation:
    message = message or ""
    with name_scope(scope_name, name, [x, data]):
        x = convert(x, name="x")
        if data is None:
            what = f"Condition x {symbol} 0 did not hold element-wise:"
            named = f"x ({label(x)}) = "
            # TF concatenates the two messages only in this check, and graphs are
            # compared.
            texts = [what + named] if symbol == "<=" else [what, named]
            data = [message, *texts, x]
        zero = convert(0, x.dtype.base_dtype)
        pair = (zero, x) if zero_first else (x, zero)
        return check(*pair, data=data, summarize=summarize)


@export("assert_negative", "debugging.assert_negative")
def assert_negative(
    x: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _unary(
        "<", "assert_negative", False, assert_less, x, data, summarize, message, name
    )


@export("assert_positive", "debugging.assert_positive")
def assert_positive(
    x: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _unary(
        ">", "assert_positive", True, assert_less, x, data, summarize, message, name
    )


@export("assert_non_negative", "debugging.assert_non_negative")
def assert_non_negative(
    x: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _unary(
        ">=",
        "assert_non_negative",
        True,
        assert_less_equal,
        x,
        data,
        summarize,
        message,
        name,
    )


@export("assert_non_positive", "debugging.assert_non_positive")
def assert_non_positive(
    x: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    return _unary(
        "<=",
        "assert_non_positive",
        False,
        assert_less_equal,
        x,
        data,
        summarize,
        message,
        name,
    )


for _about, _symbol in (
    (assert_negative, "<"), (assert_positive, ">"),
    (assert_non_negative, ">="), (assert_non_positive, "<="),
):  # fmt: skip
    _about.__doc__ = _about_zero(_symbol)


@export("assert_near", "debugging.assert_near")
def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check that `|x - y| < atol + rtol |y|` for all elements.

    Args:
      x: a float Tensor.
      y: a Tensor of the same type.
      rtol: the relative tolerance; ten times the type's epsilon if None.
      atol: the absolute tolerance; as `rtol`.
      data: see `tf.assert_equal`.
      summarize: see `tf.assert_equal`.
      message: a prefix of the error message.
      name: the name scope of the new operations.

    Returns:
      An Operation, for use as a control dependency; None in an eager program.

    Source: python/ops/check_ops.py, assert_near.
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert(x, name="x")
        dtype = x.dtype.base_dtype
        y = convert(y, dtype, "y")
        eps = np.finfo(dtype.numpy_dtype).eps
        rtol = convert(10 * eps if rtol is None else rtol, dtype, "rtol")
        atol = convert(10 * eps if atol is None else atol, dtype, "atol")
        if data is None:
            data = [
                message or "",
                f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
                f"x ({label(x)}) = ",
                x,
                f"y ({label(y)}) = ",
                y,
            ]
        tolerance = atol + rtol * abs(y)
        difference = abs(x - y)
        condition = reduce_all(Less()(difference, tolerance))
        return Assert(condition, data, summarize=summarize)
