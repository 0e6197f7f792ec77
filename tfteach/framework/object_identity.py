"""`Reference`: an object as a key, compared by identity.

Source: python/util/object_identity.py.
"""

from __future__ import annotations

from typing import Any, NoReturn


class Reference:
    """A hashable stand-in for an object; equal to references to the same object."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> NoReturn:
        raise AttributeError("unreadable attribute: use deref()")

    def deref(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
