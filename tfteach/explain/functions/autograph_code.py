"""The code that AutoGraph writes for a traced function, line by line."""

from __future__ import annotations

from types import FunctionType
from typing import Any, NamedTuple

from tfteach.lib.autograph.conversion import converted_source

__all__ = ["ConvertedCode", "converted_code"]


class ConvertedCode(NamedTuple):
    """The code that is traced in place of a function; `print` it.

    Attributes:
      lines: its lines, each with the number of the line in the user's file that it
        comes from; 0 if it comes from none.
      problem: why there is none; "" if there is.
    """

    lines: tuple[tuple[str, int], ...]
    problem: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether AutoGraph changed anything but calls."""
        return any(
            "ag__." in line.replace("ag__.converted_call(", "")
            for line, _ in self.lines
        )

    def __str__(self) -> str:
        return self.problem or "\n".join(line for line, _ in self.lines)


def converted_code(function: Any) -> ConvertedCode:
    """The code that AutoGraph writes for a Python function.

    Args:
      function: what `tf.function` was called with.

    Returns:
      A `ConvertedCode`.

    Example:
      >>> def positive(x):
      ...     if x > 0:
      ...         return x
      ...     return -x
      >>> code = converted_code(positive)
      >>> code.is_changed
      True
      >>> code.lines[0]
      ('def tf__positive(x):', 1)
    """
    if not isinstance(function, FunctionType):
        return ConvertedCode((), "AutoGraph converts functions only.")
    try:
        found = converted_source(function)
    except (ValueError, NotImplementedError, SyntaxError) as error:
        return ConvertedCode((), f"AutoGraph leaves it as it is: {error}")
    lines = found.source.splitlines()
    return ConvertedCode(
        tuple((line, found.lines.get(i, 0)) for i, line in enumerate(lines, 1))
    )
