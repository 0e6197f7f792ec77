"""The collections of a graph: lists of variables, losses etc. under a key.

Source: python/framework/ops.py, Graph.
"""

from __future__ import annotations

import re
from typing import Any


class GraphCollections:
    """The methods of `Graph` that concern its collections."""

    def __init__(self) -> None:
        self._collections: dict[Any, list[Any]] = {}

    def _check_not_finalized(self) -> None:
        raise NotImplementedError

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Add `value` to a collection."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Add `value` to one collection, or to each of several."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself: modifying the list modifies the collection."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a collection.

        Args:
          name: the collection's key, such as `tf.GraphKeys.TRAINABLE_VARIABLES`.
          scope: return only items whose names start with a match of this regex.
        """
        found = self._collections.get(name)
        if found is None or scope is None:
            return list(found or ())
        pattern = re.compile(scope)
        return [
            item for item in found if hasattr(item, "name") and pattern.match(item.name)
        ]

    def clear_collection(self, name: Any) -> None:
        """Empty a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)
