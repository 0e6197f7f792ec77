"""Errors in converted code, whose messages show the user's lines.

Source: python/autograph/impl/api.py, python/autograph/pyct/errors.py.
"""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Collection, Sequence
from types import CodeType, TracebackType
from typing import Any, NamedTuple

from tfteach.framework.errors import OpError
from tfteach.framework.export import export
from tfteach.framework.operation import OperatorNotAllowedInGraphError
from tfteach.lib.autograph.verbosity import log


@export("contrib.autograph.AutoGraphError")
class AutoGraphError(Exception):
    """Base class of AutoGraph's own errors."""


class ConversionError(AutoGraphError):
    """A function cannot be converted."""


class StagingError(AutoGraphError):
    """Converted code raised an error of a type that cannot have another message."""


class _KeyError(KeyError):
    """A KeyError whose message has several lines."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(key)
        self._message = message

    def __str__(self) -> str:
        return self._message


_KeyError.__name__ = _KeyError.__qualname__ = "KeyError"

_OF_A_MESSAGE = (
    AssertionError,
    AttributeError,
    NameError,
    NotImplementedError,
    RecursionError,  # ours, of a function that calls itself
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
    AutoGraphError,
    ConversionError,
    StagingError,
    OperatorNotAllowedInGraphError,
)


class Frame(NamedTuple):
    """A line of the way to an error.

    Attributes:
      file, line, function: where it is.
      is_converted: whether it is in converted code.
    """

    file: str
    line: int
    function: str
    is_converted: bool

    @property
    def text(self) -> str:
        """The line itself."""
        found = linecache.getline(self.file, self.line).strip()
        return found or "<source unavailable>"


class ErrorMetadata:
    """The way to an error, through the converted functions.

    Attributes:
      frames: the lines, the innermost first.
      cause: the error's class and message.
    """

    def __init__(self, frames: Sequence[Frame], cause: str) -> None:
        self.frames = frames
        self.cause = cause

    def get_message(self) -> str:
        """The message of the error, after the lines that led to it."""
        paths = [frame.file for frame in self.frames]
        common = ""
        if len(paths) > 1:
            common = os.path.dirname(os.path.commonprefix(paths))  # noqa: RUF071  as TF
            common = "" if common == os.path.sep else common
        lines = ["in converted code:"]
        if common:
            lines.append(f"    relative to {common}:")
        lines.append("")
        start = len(common) + 1 if common else 0
        for frame in reversed(self.frames):
            star = "  *" if frame.is_converted else ""
            lines.append(
                f"    {frame.file[start:]}:{frame.line} {frame.function}{star}"
            )
            lines.append(f"        {frame.text}")
        lines.append("")
        lines += [f"    {line}" for line in self.cause.split("\n")]
        return "\n".join([*lines, ""])

    def to_exception(self, error: BaseException) -> BaseException:
        """The error with this message, of the same type and with its traceback."""
        made = self._made(error).with_traceback(error.__traceback__)
        made.__suppress_context__ = True
        made.ag_error_metadata = self  # type: ignore[attr-defined]
        return made

    def _made(self, error: BaseException) -> BaseException:
        kind: Any = type(error)
        message = self.get_message()
        if isinstance(error, OpError):
            made: BaseException = kind(error.node_def, error.op, message)
            return made
        if kind in _OF_A_MESSAGE or kind.__init__ is Exception.__init__:
            found: BaseException = kind(message)
            return found
        if kind is KeyError:
            return _KeyError(message, self.cause)
        return StagingError(message)


def add_metadata(
    error: BaseException, codes: Collection[CodeType], skipped: int = 1
) -> None:
    """Note on an error how it was reached from the caller, which handles it.

    Args:
      error: the error.
      codes: those of the converted function that was called; none if it was called as
        it is.
      skipped: the frames of the caller.
    """
    if hasattr(error, "ag_pass_through"):
        return
    metadata: ErrorMetadata | None = getattr(error, "ag_error_metadata", None)
    frames = _frames(error.__traceback__, codes, skipped)
    if metadata is None:
        log(1, "Caught error in converted code: %s", error, shows_error=True)
        new = ErrorMetadata(frames, f"{type(error).__name__}: {error}")
    else:
        new = ErrorMetadata([*metadata.frames, *frames[-1:]], metadata.cause)
    error.ag_error_metadata = new  # type: ignore[attr-defined]


def _frames(
    tb: TracebackType | None, codes: Collection[CodeType], skipped: int
) -> list[Frame]:
    """The frames below the caller's, the innermost first, up to converted code."""
    found = []
    for frame, line in reversed([*traceback.walk_tb(tb)][skipped:]):
        code = frame.f_code
        is_converted = code in codes
        found.append(Frame(code.co_filename, line, code.co_name, is_converted))
        if is_converted:
            break
    return found
