"""Whether TensorFlow 2's behavior is on.

Source: python/tf2.py.
"""

from __future__ import annotations


class _Switch:
    is_on = False


def enable() -> None:
    """Switch TensorFlow 2's behavior on, as far as functions ask for it."""
    _Switch.is_on = True


def disable() -> None:
    """Switch it off."""
    _Switch.is_on = False


def enabled() -> bool:
    """Whether it is on."""
    return _Switch.is_on
