"""The collections of a graph: lists of variables, losses etc. under a key.

A graph also records who adds to its collections and who looks them up, for
tfteach.explain.graphs.collections.
Source: python/framework/ops.py, Graph.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tfteach.framework.call_origin import Origin, user_frame
from tfteach.framework.graph_keys import GraphKeys

# The collections of a graph's store of variables, and of the open variable scopes.
VARIABLE_STORE = ("__variable_store",)
VARIABLE_SCOPES = ("__varscope",)
_OF_VARIABLES = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    VARIABLE_STORE,
    VARIABLE_SCOPES,
)


class Added(NamedTuple):
    """An item that `add_to_collection` put into a collection.

    Attributes:
      value: the item.
      origin: the user's call that led to it; None if unknown.
      order: its place among everything that the graph recorded, from 1.
    """

    value: Any
    origin: Origin | None
    order: int


class Lookup:
    """The lookups of a collection by one call of the user's program.

    Attributes:
      key: the collection's.
      scope: the `scope` of the lookup, or None.
      is_reference: whether it returned the collection itself.
      origin: the user's call.
      order: of the last lookup, as in `Added`.
      count: the number of lookups.
    """

    __slots__ = ("count", "is_reference", "key", "order", "origin", "scope")

    def __init__(
        self, key: Any, scope: str | None, is_reference: bool, origin: Origin
    ) -> None:
        self.key = key
        self.scope = scope
        self.is_reference = is_reference
        self.origin = origin
        self.order = 0
        self.count = 0


class GraphCollections:
    """The methods of `Graph` that concern its collections.

    Attributes:
      added: key -> what was added to that collection, in order.
      lookups: which collection and call -> the lookups, so that those of a training
        loop are one record.
      order: numbers what is recorded.
    """

    def __init__(self) -> None:
        self._collections: dict[Any, list[Any]] = {}
        self.added: dict[Any, list[Added]] = {}
        self.lookups: dict[Any, Lookup] = {}
        self.order: Iterator[int] = itertools.count(1)

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
        self._add((name,), value, user_frame())

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Add `value` to one collection, or to each of several."""
        keys = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
        if keys:
            self._check_not_finalized()
            self._add(keys, value, user_frame())

    def add_variable(self, names: Any, variable: Any) -> None:
        """`add_to_collections` by the call that created the variable's op."""
        keys = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
        self._add(keys, variable, variable.op._origin)

    def _add(self, keys: tuple[Any, ...], value: Any, origin: Origin | None) -> None:
        record = Added(value, origin, next(self.order))
        for key in keys:
            self._collections.setdefault(key, []).append(value)
            self.added.setdefault(key, []).append(record)

    def share_collections(self, outer: GraphCollections) -> None:
        """Begin with the collections of an outer graph, in a function's body.

        Those of variables remain the outer graph's own lists: a variable that
        `tf.get_variable` creates in a body is found in the next one.
        """
        for key, items in outer._collections.items():
            self._collections[key] = list(items)
        for key in _OF_VARIABLES:
            self._collections[key] = outer.collection_list(key)

    def collection_list(self, name: Any) -> list[Any]:
        """The collection itself, for this package: the lookup is not recorded."""
        return self._collections.setdefault(name, [])

    def collection_size(self, name: Any) -> int:
        """The number of items, for this package: the lookup is not recorded."""
        return len(self._collections.get(name, ()))

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself: modifying the list modifies the collection."""
        self._record_lookup(name, None, True, user_frame())
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a collection.

        Args:
          name: the collection's key, such as `tf.GraphKeys.TRAINABLE_VARIABLES`.
          scope: return only items whose names start with a match of this regex.
        """
        self._record_lookup(name, scope, False, user_frame())
        found = self._collections.get(name)
        if found is None or scope is None:
            return list(found or ())
        pattern = re.compile(scope)
        return [
            item for item in found if hasattr(item, "name") and pattern.match(item.name)
        ]

    def _record_lookup(
        self, key: Any, scope: str | None, is_reference: bool, origin: Origin | None
    ) -> None:
        if origin is None or not isinstance(scope, str | None):
            return  # as in TF, any object can be asked for in an empty collection
        # Code objects hash all that they contain; the record keeps them alive.
        code, offset, called = origin
        which = key, scope, is_reference, id(code), offset, id(called)
        lookup = self.lookups.get(which)
        if lookup is None:
            new = Lookup(key, scope, is_reference, origin)
            lookup = self.lookups.setdefault(which, new)
        lookup.order = next(self.order)
        lookup.count += 1

    def clear_collection(self, name: Any) -> None:
        """Empty a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)
        self.added.pop(name, None)
