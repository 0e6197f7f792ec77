"""Checks of shapes in runs, for `Op.check_shapes`, in TensorFlow's words."""

from __future__ import annotations

from typing import Any

from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import text

Sizes = tuple[int, ...]


def require(holds: Any, words: str, *values: Any) -> None:
    """Raise InvalidArgumentError unless `holds`.

    Args:
      holds: the condition.
      words: the message, with a `%s` for each of the values.
      *values: shapes, written as TensorFlow does, and others.
    """
    if not holds:
        found = tuple(text(s) if isinstance(s, tuple) else s for s in values)
        raise invalid_argument(words % found)


def require_scalar(shape: Sizes, words: str) -> None:
    """Require rank 0; a `%s` in `words` is the shape."""
    if shape:
        raise invalid_argument(words.replace("%s", text(shape)))


def require_vector(shape: Sizes, words: str) -> None:
    """Require rank 1; a `%s` in `words` is the shape."""
    if len(shape) != 1:
        raise invalid_argument(words.replace("%s", text(shape)))


def require_matrix(shape: Sizes, words: str) -> None:
    """Require rank 2; a `%s` in `words` is the shape."""
    if len(shape) != 2:
        raise invalid_argument(words.replace("%s", text(shape)))
