"""Runs as the graph has them: every op computed, none folded, merged or removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from tfteach.framework.observers import observe_all

_unfolded: ContextVar[bool] = ContextVar("unfolded", default=False)


def is_unfolded() -> bool:
    """Whether runs of this thread are planned without the optimizer's passes."""
    return _unfolded.get()


@contextmanager
def unfolded(is_on: bool = True) -> Iterator[None]:
    """Let session runs compute every op that they need, constants included.

    The runs belong to the same sessions as any others: they read and change the same
    variables. Only the optimizer's passes are left out, as in a session at level L0.
    Runs of other threads, and functions of `make_callable` that already exist, are
    unaffected.

    Args:
      is_on: False for runs as the session's options say.

    Returns:
      A context manager.

    Example:
      >>> y = tf.add(2.0, 5.0, name="y")
      >>> with tf.Session() as sess, unfolded():
      ...     run = record(sess, y)
      >>> [step.op for step in run]
      ['y/x', 'y/y', 'y']
    """
    before = _unfolded.set(is_on)
    try:
        # Observed runs look up their plan anew, under a key that includes this.
        with observe_all(_ignore) if is_on else nullcontext():
            yield
    finally:
        _unfolded.reset(before)


def _ignore(event: Any) -> None:
    return None
