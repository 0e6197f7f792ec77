"""Callbacks of views: at the end of a cell, and without keeping the view alive."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any


def at_cell_end(method: Callable[[], Any]) -> None:
    """Call a bound method after each cell, until its object is collected.

    Without IPython, as in tests and scripts, there are no cells, and nothing is called.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return
    held = weakref.WeakMethod(method)

    def after_cell(*_: Any) -> None:
        call = held()
        if call is None:
            shell.events.unregister("post_run_cell", after_cell)
        else:
            call()

    shell.events.register("post_run_cell", after_cell)


def weakly(method: Callable[..., Any]) -> Callable[..., None]:
    """A function that calls a bound method without keeping its object alive."""
    held = weakref.WeakMethod(method)

    def call(*arguments: Any) -> None:
        found = held()
        if found is not None:
            found(*arguments)

    return call
