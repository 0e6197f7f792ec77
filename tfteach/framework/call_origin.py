"""Which line of the user's code a call came from, and which public function it called.

Recorded as code objects and offsets, whose lines are decoded only when somebody asks.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any, NamedTuple

# The innermost frame of the user's code, as its code object and the offset of the
# instruction, and the code of the function that it called, if that is no wrapper.
Origin = tuple[CodeType, int, CodeType | None]

_USERS, _OURS, _WRAPPERS = "the user's", "ours", "wrappers"
_INSTALLED = "an installed package's"
_PACKAGE = __file__[: -len("framework/call_origin.py")]
_STANDARD = tuple(
    {sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")}
)
_SITES = tuple(os.sep + name + os.sep for name in ("site-packages", "dist-packages"))
# File -> whose code it holds. Wrappers stand between the caller and what is called, as
# Python's own modules do: contextlib, threading.
_FILES: dict[str, str] = {_PACKAGE + "framework/deprecation.py": _WRAPPERS}


class SourceLine(NamedTuple):
    """The line of user code that built an op."""

    file: str
    line: int
    function: str

    @property
    def text(self) -> str:
        """The line itself; "" if the source cannot be read."""
        return linecache.getline(self.file, self.line).strip()


@functools.lru_cache(maxsize=1024)  # loops build many ops on one line
def decode_source(code: CodeType, lasti: int, file: str) -> SourceLine:
    """The line of the instruction at offset `lasti` of `code`, which is in `file`.

    Code objects of equal statements are equal, also those of two cells.
    """
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= lasti < end and number is not None:
            line = number
            break
    return SourceLine(file, line, code.co_name)


def line_of(origin: Origin) -> SourceLine:
    """The line of the user's code that an origin refers to."""
    return decode_source(origin[0], origin[1], origin[0].co_filename)


def user_frame() -> Origin | None:
    """The origin of the current call; None if only this package is on the stack.

    A package that is installed between the two, such as a progress bar that iterates
    over a generator of ours, is named only if no other code calls it.
    """
    frame: Any = sys._getframe(2)
    called = installed = None
    while frame is not None:
        code = frame.f_code
        whose = _FILES.get(code.co_filename)
        if whose is _OURS:
            called = code
        elif (whose or _whose(code.co_filename)) is _USERS:
            return code, frame.f_lasti, called
        elif whose is None:
            continue  # now it is known
        elif whose is _INSTALLED and installed is None:
            installed = code, frame.f_lasti, called
        frame = frame.f_back
    return installed


def user_frames() -> list[tuple[FrameType, FrameType | None]]:
    """The frames of the user's code below the current call, the innermost first.

    Returns:
      For each of them also the frame that it called, of whatever code; None if that is
      the caller of this function.
    """
    frame: FrameType | None = sys._getframe(2)
    found: list[tuple[FrameType, FrameType | None]] = []
    called = None
    while frame is not None:
        file = frame.f_code.co_filename
        if (_FILES.get(file) or _whose(file)) is _USERS:
            found.append((frame, called))
        called, frame = frame, frame.f_back
    return found


def user_line() -> SourceLine | None:
    """The line of `user_frame`: for an observer, the one that builds or runs."""
    origin = user_frame()
    return None if origin is None else line_of(origin)


def is_called_by_user() -> bool:
    """Whether the caller of the function that asks is outside this package."""
    file = sys._getframe(2).f_code.co_filename
    return (_FILES.get(file) or _whose(file)) in (_USERS, _INSTALLED)


def calling_module(*skipped: str) -> str:
    """The module of the innermost frame outside some folders of this package.

    Args:
      skipped: the folders, such as "engine"; `framework` is always one of them.

    Returns:
      Its name, such as "tfteach.lib.files.saver".
    """
    folders = tuple(_PACKAGE + name + os.sep for name in ("framework", *skipped))
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(folders):
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def _whose(file: str) -> str:
    whose = _USERS
    if file.startswith(_PACKAGE):
        whose = _OURS
    elif any(site in file for site in _SITES):
        whose = _INSTALLED
    elif file.startswith(_STANDARD):
        whose = _WRAPPERS
    _FILES[file] = whose
    return whose
