"""Reporting the verdict of a check, and conditions that several checks share."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tfteach as tf


def report(find_problem: Callable[..., str | None], *answers: Any) -> None:
    """Print the verdict; an exception raised by an answer counts as a problem."""
    try:
        problem = find_problem(*answers)
    except Exception as error:
        problem = _words_of(error)
    print("Right. Well done!" if problem is None else f"Not yet: {problem}")


def _words_of(error: Exception) -> str:
    """The exception and the line of the learner's code that caused it."""
    text = (str(error).strip() or "no message").splitlines()[0]
    built_by = getattr(getattr(error, "op", None), "source", None)
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.line) for frame in frames]
    if built_by is not None:
        places.append((built_by.file, built_by.text))
    others = (
        Path(tf.__file__).parent,
        Path(__file__).parent,
        sys.prefix,
        sys.base_prefix,
    )
    lines = [
        f" Your line: `{line}`"
        for file, line in places
        if line and not any(Path(file).is_relative_to(other) for other in others)
    ]
    return "".join([f"it ends with {type(error).__name__}: {text}", *lines[-1:]])


def not_a_tensor(value: Any, whose: str) -> str | None:
    """The problem if `value` is not a tensor; `whose` begins the sentence."""
    if isinstance(value, tf.Tensor):
        return None
    if value is None:
        return f"{whose} is None. Is there a `return`, or an assignment, missing?"
    text = repr(value)
    if len(text) > 60:
        text = f"of type {type(value).__name__}"
    return f"{whose} is {text}, not a tensor."


def near(values: Any, expected: list[float]) -> bool:
    pairs = zip(values, expected, strict=True)
    return all(abs(value - wanted) < 1e-4 for value, wanted in pairs)


@contextmanager
def quiet() -> Iterator[None]:
    """Without TensorFlow's log lines, which name folders and errors of the check."""
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.FATAL)
    try:
        yield
    finally:
        tf.logging.set_verbosity(before)
