"""The memory of the arrays of a run that are still referenced."""

from __future__ import annotations

import weakref
from typing import Any


class Alive:
    """The arrays that a run has created and not yet released."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self._held: dict[int, tuple[weakref.ref[Any], int]] = {}

    def leave(self, array: Any) -> None:
        """Exclude an array: it existed before the run."""
        self._hold(array, counts=False)

    def add(self, array: Any) -> None:
        """Count an array that was just created, unless it is known."""
        self._hold(array, counts=True)

    def _hold(self, array: Any, counts: bool) -> None:
        while isinstance(getattr(array, "base", None), type(array)):
            array = array.base
        key = id(array)
        size_bytes = int(getattr(array, "nbytes", 0)) if counts else 0
        if key in self._held:
            return

        def ended(_: Any) -> None:
            self.size_bytes -= self._held.pop(key)[1]

        try:
            self._held[key] = weakref.ref(array, ended), size_bytes
        except TypeError:  # NumPy scalars have no weak references
            return
        self.size_bytes += size_bytes
