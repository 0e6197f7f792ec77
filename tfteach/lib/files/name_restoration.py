"""A `Saver`'s checkpoint restored to objects of an eager program: by variables' names.

Source: python/training/tracking/util.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.graph import get_default_graph
from tfteach.framework.scope import open_init_scope
from tfteach.framework.trackable import awaited
from tfteach.lib.files.functional_saver import restore
from tfteach.lib.files.object_graph import ObjectGraph, attributes
from tfteach.lib.files.restoration import next_number
from tfteach.lib.files.saveable_object import SaveableObject


class NameRestoration:
    """Assigns values to what an object depends on now and later.

    Args:
      root: the object.
      path: the checkpoint.

    Attributes:
      number: orders restorations; the value of an object is that of the newest.
    """

    def __init__(self, root: Any, path: str) -> None:
        self.number = next_number()
        self._root, self._path = root, path
        self._names: set[str] = read_checkpoint(
            path, lambda reader: {*reader.types_and_shapes()}
        )
        self._unused: list[tuple[Any, list[str]]] = []
        self.matched()

    def matched(self) -> None:
        """Restore what has been found since the last call."""
        found = []
        for item in ObjectGraph(self._root).items():
            if self not in awaited(item):
                awaited(item).append(self)
                awaited(item).sort(key=lambda restoration: restoration.number)
            if item._update_uid < self.number:
                item._update_uid = self.number
                found += self._saveables(item)
        with open_init_scope(get_default_graph()):
            restore(self._path, found)

    def initial_value(self, parent: Any, name: str) -> None:
        """None: the name of a variable is not known before it is made."""

    def _saveables(self, item: Any) -> list[SaveableObject]:
        found, missing = [], []
        for attribute in attributes(item):
            saveable = attribute.make(attribute.full_name)
            if all(spec.name in self._names for spec in saveable.specs):
                found.append(saveable)
            elif attribute.full_name or not saveable.optional_restore:
                missing.append(attribute.full_name or attribute.name)
        if missing:
            self._unused.append((item, missing))
        return found

    def assert_consumed(self) -> None:
        """Raise AssertionError unless all objects have values of the checkpoint."""
        if self._unused:
            lines = [f"\n    {item}: {names}" for item, names in self._unused]
            raise AssertionError(
                "Some objects had attributes which were not restored:" + "".join(lines)
            )
        for item in ObjectGraph(self._root).items():
            if item._update_uid < self.number:
                raise AssertionError(f"Object not restored: {item}")
