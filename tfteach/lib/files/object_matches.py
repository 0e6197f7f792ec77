"""Which objects of a checkpoint are which of the program.

Source: python/training/tracking/{base,util}.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.trackable import VARIABLE_VALUE_KEY
from tfteach.framework.type_aliases import Proto
from tfteach.lib.files.object_graph import Attribute, SaveableCache, attributes
from tfteach.lib.files.saveable_object import SaveableObject

# Makes a slot that the program has not made yet: (optimizer, variable, slot's name,
# number in the checkpoint) -> the slot, or None.
MakeSlot = Callable[[Any, Any, str, int], Any]


class Matches:
    """Which objects of a checkpoint are which of the program.

    Args:
      graph: the checkpoint's TrackableObjectGraph.
      known: objects that are known, by number: the first, and those that were found
        before, which remain what they were.
      settled: children that were found before, by number and name, to which those that
        are found now are added: what an attribute becomes later is another object.
      make_slot: called for each slot that an optimizer does not have.

    Attributes:
      by_node: the objects, by number in the checkpoint.
      unused: names of attributes that an object does not have, by its number.
      incomplete: objects that lack a child or a slot variable which the checkpoint has.
      conflicts: two objects that the program has for one of the checkpoint.
    """

    def __init__(
        self,
        graph: Proto,
        known: Mapping[int, Any],
        settled: set[tuple[int, str]],
        make_slot: MakeSlot,
    ) -> None:
        self._graph = graph
        self._make_slot = make_slot
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
                if attribute.name not in known_names and not attribute.optional_restore:
                    self.unused.setdefault(number, []).append(attribute.name)

    def _match_children(self, number: int, settled: set[tuple[int, str]]) -> list[int]:
        """The children that are found for the first time."""
        parent, found = self.by_node[number], []
        for child in self._graph.nodes[number].children:
            edge = number, child.local_name
            if edge in settled:
                continue
            item = parent._lookup_dependency(child.local_name)
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
            slot_number = slot.slot_variable_node_id
            variable = self.by_node.get(slot.original_variable_node_id)
            if variable is None or slot_number in self.by_node:
                continue
            get_slot: Callable[..., Any] | None = getattr(optimizer, "get_slot", None)
            found = get_slot and get_slot(variable, slot.slot_name)
            if found is None:
                found = self._make_slot(
                    optimizer, variable, slot.slot_name, slot_number
                )
            if found is None:
                self.incomplete.append(optimizer)
            else:
                self.by_node[slot_number] = found

    def saveables(self, cache: SaveableCache) -> list[SaveableObject]:
        """What to restore, under the checkpoint's keys.

        An object that the checkpoint has under two names is restored once.
        """
        found = []
        seen: set[int] = set()
        for number, item in sorted(self.by_node.items()):
            if id(item) not in seen:
                found += saveables_under_keys(self._graph.nodes[number], item, cache)
            seen.add(id(item))
        return found

    @functools.cached_property
    def names(self) -> Mapping[int, str]:
        """What the checkpoint's objects are called: `(root).model.kernel`."""
        return names_of(self._graph)


def saveables_under_keys(
    node: Any, item: Any, cache: SaveableCache
) -> list[SaveableObject]:
    """What to restore of an object, under the keys of its node in a checkpoint."""
    known: dict[str, Attribute] = {a.name: a for a in attributes(item)}
    return [
        cache.make(item, known[attribute.name], attribute.checkpoint_key)
        for attribute in node.attributes
        if attribute.name in known
    ]


def is_variable(node: Any) -> bool:
    """Whether a node of a checkpoint has the value of a variable and nothing more."""
    names = [attribute.name for attribute in node.attributes]
    return names == [VARIABLE_VALUE_KEY] and not node.children


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
