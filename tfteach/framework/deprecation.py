"""Warnings for old names: once a function, through `tf.logging`, in TF's words.

Source: python/util/deprecation.py (format of the message).
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from tfteach.framework.logger import get_logger

_P = ParamSpec("_P")
_R = TypeVar("_R")

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_warned: set[str] = set()


def deprecated(
    date: str | None, instructions: str, module: str = "", name: str = ""
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorator: the first call warns that the function is old.

    Args:
      date: the day after which TensorFlow may remove it, or None.
      instructions: what to use instead.
      module: where TensorFlow has it, below `tensorflow.`.
      name: what TensorFlow calls it there, if not by its name here.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        shown = name or function.__qualname__
        when = "in a future version" if date is None else f"after {date}"
        where = f" (from tensorflow.{module})" if module else ""

        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if shown not in _warned:
                _warned.add(shown)
                get_logger().warning(
                    "From %s: %s%s is deprecated and will be removed %s.\n"
                    "Instructions for updating:\n%s",
                    _user_line(),
                    shown,
                    where,
                    when,
                    instructions,
                )
            return function(*args, **kwargs)

        return call

    return decorate


def _user_line() -> str:
    """`file:line` of the first frame outside this package."""
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
