"""`assert_stmt`: an `assert` statement.

Source: python/autograph/operators/exceptions.py (API and messages).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfteach.control.case import Assert
from tfteach.lib.autograph.operators.tensors import is_tensor


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> Any:
    """Check a condition: by `tf.Assert`, if it is a Tensor.

    Args:
      expression1: the condition.
      expression2: returns the message: a string, or for a Tensor also a list of values
        to print.

    Returns:
      The Operation that checks a Tensor; None for other conditions.

    Raises:
      AssertionError: the condition is no Tensor and does not hold.
      ValueError: `expression2` is no function without parameters.
    """
    if not callable(expression2):
        raise ValueError(f"{expression2} must be a callable")
    if inspect.signature(expression2).parameters:
        raise ValueError(f"{expression2} may not have any arguments")
    if not is_tensor(expression1):
        assert expression1, expression2()
        return None
    data = expression2()
    return Assert(expression1, data if isinstance(data, list) else [data])
