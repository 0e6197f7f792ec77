"""Which objects of a checkpoint are which of the program.

Source: python/training/tracking/{base,util}.py.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import Proto
from tfteach.lib.files.saveable_object import SaveableObject
from tfteach.lib.files.trackable import AWAITED, SaveableCache, attributes, children


class Matches:
    """Which objects of a checkpoint are which of the program.

    Args:
      graph: the checkpoint's TrackableObjectGraph.
      known: objects that are known, by number: the first, and those that were found
        before, which remain what they were.
      settled: children that were found before, by number and name, to which those that
        are found now are added: what an attribute becomes later is another object.

    Attributes:
      by_node: the objects, by number in the checkpoint.
      unused: names of attributes that an object does not have, by its number.
      incomplete: objects that lack a child or a slot variable which the checkpoint has.
      conflicts: two objects that the program has for one of the checkpoint.
    """

    def __init__(
        self, graph: Proto, known: Mapping[int, Any], settled: set[tuple[int, str]]
    ) -> None:
        self._graph = graph
        self.by_node = dict(known)
        self.unused: dict[int, list[str]] = {}
        self.incomplete: list[Any] = []
        self.conflicts: list[tuple[Any, Any]] = []
        pending = list(self.by_node)
        for number in pending:  # which grows
            pending += self._match_children(number, settled)
        for number in pending:
            self._match_slots(number)
        for number, item in sorted(self.by_node.items()):
            known_names = {attribute.name for attribute in attributes(item)}
            for attribute in graph.nodes[number].attributes:
                if attribute.name not in known_names:
                    self.unused.setdefault(number, []).append(attribute.name)

    def _match_children(self, number: int, settled: set[tuple[int, str]]) -> list[int]:
        """The children that are found for the first time."""
        parent, found = self.by_node[number], []
        own = children(parent)
        for child in self._graph.nodes[number].children:
            edge = number, child.local_name
            if edge in settled:
                continue
            item = own.get(child.local_name)
            if item is None:
                self.incomplete.append(parent)
                continue
            settled.add(edge)
            known = self.by_node.setdefault(child.node_id, item)
            if known is not item:
                self.conflicts.append((known, item))
            else:
                found.append(child.node_id)
        return found

    def _match_slots(self, number: int) -> None:
        for slot in self._graph.nodes[number].slot_variables:
            optimizer = self.by_node[number]
            variable = self.by_node.get(slot.original_variable_node_id)
            if variable is None or slot.slot_variable_node_id in self.by_node:
                continue
            get_slot: Callable[..., Any] | None = getattr(optimizer, "get_slot", None)
            found = get_slot and get_slot(variable, slot.slot_name)
            if found is None:
                self.incomplete.append(optimizer)
            else:
                self.by_node[slot.slot_variable_node_id] = found

    def saveables(self, cache: SaveableCache) -> list[SaveableObject]:
        """What to restore, under the checkpoint's keys.

        An object that the checkpoint has under two names is restored once.
        """
        found = []
        seen: set[int] = set()
        for number, item in sorted(self.by_node.items()):
            known = {a.name: a for a in attributes(item)}
            for attribute in self._graph.nodes[number].attributes:
                if attribute.name in known and id(item) not in seen:
                    own = known[attribute.name]
                    found.append(cache.make(item, own, attribute.checkpoint_key))
            seen.add(id(item))
        return found

    @functools.cached_property
    def names(self) -> Mapping[int, str]:
        """What the checkpoint's objects are called: `(root).model.kernel`."""
        return names_of(self._graph)


def names_of(graph: Any) -> Mapping[int, str]:
    """What the objects of a TrackableObjectGraph are called, by number."""
    nodes = graph.nodes
    found = {0: "(root)"}
    pending = [0]
    for number in pending:
        for child in nodes[number].children:
            if child.node_id not in found:
                found[child.node_id] = f"{found[number]}.{child.local_name}"
                pending.append(child.node_id)
    for number, node in enumerate(nodes):
        for slot in node.slot_variables:
            original = found.get(slot.original_variable_node_id, "?")
            owner = found.get(number, "?")
            found[slot.slot_variable_node_id] = (
                f"{owner}'s state '{slot.slot_name}' for {original}"
            )
    return found


class Restoration:
    """What of a checkpoint was found in the program so far.

    It lives as long as its status, and as the objects for which the checkpoint has
    children that do not exist yet: these hold it in an attribute.  When nothing can be
    found any more, it warns of what was not.

    Args:
      root: the object that corresponds to the checkpoint's first.
      graph: the checkpoint's TrackableObjectGraph.

    Attributes:
      is_partial_expected: whether not to warn.
    """

    def __init__(self, root: Any, graph: Any) -> None:
        self.is_partial_expected = False
        self._graph = graph
        self._found: dict[int, Callable[[], Any]] = {0: weakref.ref(root)}
        self._numbers: set[int] = set()
        self._unused: dict[int, list[str]] = {}
        self._holders: weakref.WeakSet[Any] = weakref.WeakSet()
        self._settled: set[tuple[int, str]] = set()
        self.matched()

    def matched(self) -> Matches:
        """The matches as of now."""
        known = {number: refer() for number, refer in self._found.items()}
        alive = {number: item for number, item in known.items() if item is not None}
        matches = Matches(self._graph, alive, self._settled)
        self._found = {n: _reference(i) for n, i in matches.by_node.items()}
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
        return matches

    def _live_with(self, items: list[Any]) -> None:
        """Live as long as any of these objects."""
        # Lists and dicts have no attributes: the first object holds it for them.
        root = self._found[0]()
        holders = [item if hasattr(item, "__dict__") else root for item in items]
        for holder in self._holders:
            vars(holder)[AWAITED].discard(self)
        self._holders = weakref.WeakSet(h for h in holders if h is not None)
        for holder in self._holders:
            vars(holder).setdefault(AWAITED, set()).add(self)

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


def _reference(item: Any) -> Callable[[], Any]:
    """A weak reference, if there is such a thing for the object."""
    if isinstance(item, list | dict):
        return lambda: item
    return weakref.ref(item)
