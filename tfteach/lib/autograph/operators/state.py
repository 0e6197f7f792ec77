"""State that code changes beside its variables: attributes, and elements.

Operators over Tensors read it before and after a piece of code, and restore it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

GetState = Callable[[], tuple[Any, ...]]
SetState = Callable[[Any], None]


def no_state() -> tuple[Any, ...]:
    """The state of code that changes variables only."""
    return ()


def ignore_state(state: Any) -> None:
    """Restore the state of such code."""
