"""A restored checkpoint: what of it was found in the program so far.

In an eager program the values that are found are assigned at once, also to objects that
are made later.  In a graph a session restores them.

Source: python/training/tracking/{base,util}.py.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable
from typing import Any

from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import open_init_scope
from tfteach.framework.trackable import awaited
from tfteach.lib.files.functional_saver import restore
from tfteach.lib.files.object_graph import SaveableCache
from tfteach.lib.files.object_matches import (
    Matches,
    is_variable,
    names_of,
    saveables_under_keys,
)
from tfteach.lib.files.python_state import PythonStateSaveable
from tfteach.lib.files.saveable_object import SaveableObject
from tfteach.ops.io.save_restore import RestoreV2
from tfteach.variables.creation import creators

_numbers = itertools.count()


def next_number() -> int:
    """A number above those of all earlier restorations."""
    return next(_numbers)


def without_python_state(saveables: Iterable[SaveableObject]) -> list[SaveableObject]:
    """The saveables that are restored by ops."""
    return [s for s in saveables if not isinstance(s, PythonStateSaveable)]


class Restoration:
    """What of a checkpoint was found in the program so far.

    It lives as long as its status, and as the objects for which the checkpoint has
    children that do not exist yet: these hold it in an attribute.  When nothing can be
    found any more, it warns of what was not.

    Args:
      root: the object that corresponds to the checkpoint's first.
      graph: the checkpoint's TrackableObjectGraph.
      path: the checkpoint.
      cache: of the saveables of a graph.

    Attributes:
      number: orders restorations; the value of an object is that of the newest.
      is_partial_expected: whether not to warn.
      is_eager: whether values are assigned as soon as they are found.
    """

    def __init__(self, root: Any, graph: Any, path: str, cache: SaveableCache) -> None:
        self.number = next_number()
        self.is_partial_expected = False
        self.is_eager = get_default_graph().is_eager
        self._graph, self._path, self._cache = graph, path, cache
        self._found: dict[int, weakref.ref[Any]] = {0: weakref.ref(root)}
        self._numbers: set[int] = set()
        self._restored: set[int] = set()
        self._unused: dict[int, list[str]] = {}
        self._holders: dict[int, weakref.ref[Any]] = {}  # by id
        self._settled: set[tuple[int, str]] = set()
        self._is_matching = False
        self.matched()

    def matched(self) -> Matches | None:
        """The matches as of now; None inside another call, which finds all itself."""
        if self._is_matching:
            return None
        self._is_matching = True
        try:
            with open_init_scope(get_default_graph()):
                return self._match()
        finally:
            self._is_matching = False

    def _match(self) -> Matches:
        known = {number: refer() for number, refer in self._found.items()}
        alive = {number: item for number, item in known.items() if item is not None}
        matches = Matches(self._graph, alive, self._settled, self._make_slot)
        self._found = {n: weakref.ref(item) for n, item in matches.by_node.items()}
        self._numbers.update(matches.by_node)
        self._unused = matches.unused
        self._live_with(matches.incomplete)
        for known_item, item in matches.conflicts:
            get_logger().warning(
                "Inconsistent references when loading the checkpoint into this object "
                "graph. Either the Trackable object references in the Python program "
                "have changed in an incompatible way, or the checkpoint was generated "
                "in an incompatible program.\n\nTwo checkpoint references resolved to "
                f"different objects ({known_item} and {item})."
            )
        self._restore(matches)
        return matches

    def _live_with(self, items: list[Any]) -> None:
        """Live as long as any of these objects."""
        for refer in self._holders.values():
            holder = refer()
            if holder is not None:
                awaited(holder).remove(self)
        self._holders = {id(item): weakref.ref(item) for item in items}
        for item in {id(item): item for item in items}.values():
            awaiting = awaited(item)
            awaiting.append(self)
            awaiting.sort(key=lambda restoration: restoration.number)

    # ---- values

    def _restore(self, matches: Matches) -> None:
        """Set what was found now: Python's state, and variables of eager programs."""
        cache = SaveableCache() if self.is_eager else self._cache
        saveables: list[SaveableObject] = []
        for number, item in sorted(matches.by_node.items()):
            if number in self._restored or item._update_uid >= self.number:
                continue
            self._restored.add(number)
            item._update_uid = self.number
            node = self._graph.nodes[number]
            saveables += saveables_under_keys(node, item, cache)
        for saveable in saveables:
            if isinstance(saveable, PythonStateSaveable):
                keys = [spec.name for spec in saveable.specs]
                saveable.python_restore([self._string(key) for key in keys])
        if self.is_eager:
            restore(self._path, without_python_state(saveables))

    def _string(self, key: str) -> bytes:
        return read_checkpoint(self._path, lambda reader: bytes(reader.read(key)[()]))

    def _value(self, number: int) -> Any:
        """The value of a variable, if the checkpoint's object is one; else None."""
        node = self._graph.nodes[number]
        if not self.is_eager or not is_variable(node):
            return None
        key = node.attributes[0].checkpoint_key
        dtype = read_checkpoint(self._path, lambda reader: reader.dtype_of(key))
        with open_init_scope(get_default_graph()):
            return RestoreV2((dtype,))(self._path, [key], [""])[0]

    def initial_value(self, parent: Any, name: str) -> Any:
        """The value of a variable that is about to be made, if it has that; or None."""
        for number, refer in self._found.items():
            if refer() is parent:
                for child in self._graph.nodes[number].children:
                    if child.local_name == name and (number, name) not in self._settled:
                        return self._value(child.node_id)
        return None

    def _make_slot(
        self, optimizer: Any, variable: Any, slot_name: str, number: int
    ) -> Any:
        # Inside a scope that watches the creation of variables, slots wait until the
        # optimizer makes them: they would seem to be variables of the model.
        make = getattr(optimizer, "_get_or_make_slot", None)
        if make is None or creators(get_default_graph()):
            return None
        value = self._value(number)
        if value is None:
            return None
        return make(variable, value, slot_name, optimizer._name)

    def __del__(self) -> None:
        if self.is_partial_expected:
            return
        names = names_of(self._graph)
        numbers = range(len(self._graph.nodes))
        lines = [
            f"Unresolved object in checkpoint: {names.get(number)}"
            for number in numbers
            if number not in self._numbers
        ] + [
            f"Unused attribute in object {names[number]}: {unused}"
            for number, unused in self._unused.items()
        ]
        if lines:
            lines.append(
                "A checkpoint was restored (e.g. tf.train.Checkpoint.restore or "
                "tf.keras.Model.load_weights) but not all checkpointed values were "
                "used: the lines above name the others. If that is right, call "
                "expect_partial() of what restore() returned, which silences these "
                "warnings; assert_consumed() makes an error of them."
            )
        for line in lines:
            get_logger().warning(line)
