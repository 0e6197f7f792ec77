"""`tf.compat.forward_compatible`: which formats older programs can read.

Source: python/compat/compat.py (API).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tfteach.framework.export import export

# The date of TensorFlow 1.15's forward compatibility horizon.
_HORIZON = ContextVar("horizon", default=(2019, 8, 21))


@export("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether a date is before the horizon: TensorFlow 1.15's, unless in a block of
    `tf.compat.forward_compatibility_horizon`."""
    return (year, month, day) < _HORIZON.get()


@export("compat.forward_compatibility_horizon")
@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """A context manager: in its block the horizon is this date.

    Example:
      >>> with tf.compat.forward_compatibility_horizon(2020, 1, 5):
      ...     tf.compat.forward_compatible(2020, 1, 4)
      True
    """
    token = _HORIZON.set((year, month, day))
    try:
        yield
    finally:
        _HORIZON.reset(token)
