"""Values that stand for none: of variables that are not assigned yet, and results.

Source: python/autograph/operators/special_values.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Undefined:
    """The value of a variable that has none.

    Attributes:
      symbol_name: the variable.
    """

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name


class UndefinedReturnValue:
    """The result of a function that has not returned yet."""


def is_undefined(value: Any) -> bool:
    """Whether a value stands for that of a variable that has none."""
    return isinstance(value, Undefined)


def is_undefined_return(value: Any) -> bool:
    """Whether a value stands for the result of a function that has not returned."""
    return isinstance(value, UndefinedReturnValue)


def retval(value: Any) -> Any:
    """The result of a function, which is None if no `return` was reached."""
    return None if is_undefined_return(value) else value


def if_defined(variable: Callable[[], Any], symbol_name: str) -> Any:
    """The value of a variable that perhaps has one."""
    try:
        return variable()
    except NameError:
        return Undefined(symbol_name)
