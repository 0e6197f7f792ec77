"""Deprecation warnings, issued once per function, through `tf.logging`.

`deprecated.tsv` lists TensorFlow 1.15's deprecations: public functions, methods and
arguments.  `@export` attaches them to the functions of these names.  Warnings are
issued for a program's calls, not for this package's.  Programs silence all warnings
with

    from tensorflow.python.util import deprecation
    deprecation._PRINT_DEPRECATION_WARNINGS = False

and `%load_ext tfteach` does the same in a notebook.

Source: python/util/deprecation.py (format of the messages).
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from tfteach.framework.logger import get_logger

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")

_PRINT_DEPRECATION_WARNINGS = True  # TensorFlow's name, which programs set
_warned: set[str] = set()  # warnings issued so far
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Deprecation(NamedTuple):
    """Something deprecated about a function.

    Attributes:
      member: the method of the exported class; "" for a function.
      positions: argument -> its position, where giving the argument is deprecated.
      values: argument -> the value that is deprecated.
      name: the function's name in TensorFlow.
      module: its module in TensorFlow, below `tensorflow.`.
      date: the day after which TensorFlow may remove it, or "".
      instructions: the recommended replacement.
    """

    member: str
    positions: dict[str, int]
    values: dict[str, str]
    name: str
    module: str
    date: str
    instructions: str

    def subject(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """The description of the deprecated usage in a call, or None."""
        if not self.positions and not self.values:
            return self._place()
        for argument, position in self.positions.items():
            if argument in kwargs or len(args) > position:
                return f"calling {self._place()} with {argument}"
        for argument, value in self.values.items():
            if argument in kwargs and kwargs[argument] == value:
                return f"calling {self._place()} with {argument}={value}"
        return None

    def _place(self) -> str:
        return self.name + (f" (from tensorflow.{self.module})" if self.module else "")


def warn_if_deprecated(item: _T, names: tuple[str, ...]) -> _T:
    """The object with warnings attached for its public names, for `@export`.

    Args:
      item: a function or a class; the methods of a class are replaced.
      names: below `tf.`.
    """
    found = [row for name in names for row in _table().get(name, ())]
    if not found:
        return item
    if inspect.isfunction(item):
        return _warning(item, found)  # type: ignore[return-value]
    for member in dict.fromkeys(row.member for row in found):
        rows = [row for row in found if row.member == member]
        method = inspect.getattr_static(item, member)
        if isinstance(method, property):
            assert method.fget is not None
            setattr(item, member, property(_warning(method.fget, rows), method.fset))
        else:
            setattr(item, member, _warning(method, rows))
    return item


def deprecated(
    date: str | None, instructions: str, module: str = "", name: str = ""
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorator: the first call warns that the function is deprecated.

    Args:
      date: the day after which TensorFlow may remove it, or None.
      instructions: the recommended replacement.
      module: its module in TensorFlow, below `tensorflow.`.
      name: its name in that module, if it differs.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        shown = name or function.__qualname__
        row = Deprecation("", {}, {}, shown, module, date or "", instructions)
        return _warning(function, [row])

    return decorate


def deprecated_argument_lookup(
    new_name: str, new_value: Any, old_name: str, old_value: Any
) -> Any:
    """The value of an argument that also has a deprecated name.

    Args:
      new_name, old_name: the argument's names.
      new_value, old_value: the values passed under them; None for one that is missing.

    Raises:
      ValueError: both are given.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


def _warning(function: Callable[_P, _R], rows: list[Deprecation]) -> Callable[_P, _R]:
    """The function with a warning for each row, issued once."""

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for row in rows:
            subject = row.subject(args, kwargs)
            if subject is not None and subject not in _warned:
                _warn(subject, row, sys._getframe(1))
        return function(*args, **kwargs)

    return call


def is_in_package(frame: Any) -> bool:
    """Whether a stack frame belongs to this package, not to a program."""
    file: str = frame.f_code.co_filename
    return file.startswith(_PACKAGE)


def _warn(subject: str, row: Deprecation, frame: Any) -> None:
    """Log the warning, if the call comes from the user's program."""
    if not _PRINT_DEPRECATION_WARNINGS or is_in_package(frame):
        return
    _warned.add(subject)
    get_logger().warning(
        "From %s: %s is deprecated and will be removed %s.\n"
        "Instructions for updating:\n%s",
        f"{frame.f_code.co_filename}:{frame.f_lineno}",
        subject,
        f"after {row.date}" if row.date else "in a future version",
        row.instructions,
    )


@functools.cache
def _table() -> dict[str, list[Deprecation]]:
    """Public name -> its deprecations."""
    found: dict[str, list[Deprecation]] = {}
    text = Path(__file__).with_name("deprecated.tsv").read_text("utf-8")
    for line in text.splitlines():
        public, member, arguments, name, module, date, instructions = line.split("\t")
        given = [part for part in arguments.split(",") if part]
        positions = dict(part.split(":") for part in given if ":" in part)
        row = Deprecation(
            member,
            {argument: int(position) for argument, position in positions.items()},
            dict(part.split("=") for part in given if "=" in part),
            name,
            module,
            date,
            instructions.replace("\\n", "\n"),
        )
        found.setdefault(public, []).append(row)
    return found
