"""The objects that can be reached from one: the graph that a checkpoint records.

Source: python/training/tracking/graph_view.py,
core/protobuf/trackable_object_graph.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import Proto
from tfteach.lib.files.saveable_object import SaveableObject
from tfteach.lib.files.saveable_variables import saveables_of
from tfteach.variables.base import Variable

_ATTRIBUTES = ".ATTRIBUTES"
_SLOT = ".OPTIMIZER_SLOT"


class Attribute(NamedTuple):
    """A part of an object that a checkpoint has the value of."""

    name: str
    full_name: str
    make: Callable[[str], SaveableObject]


def attributes(item: Any) -> list[Attribute]:
    """What is saved of an object itself, without its children."""
    found = []
    for name, made in item._gather_saveables_for_checkpoint().items():
        if isinstance(made, Variable):
            [saveable] = saveables_of([made])
            found.append(Attribute(name, made._shared_name, _named(saveable)))
        else:
            make = made if callable(made) else _named(made)
            found.append(Attribute(name, "", make))
    return found


def _named(saveable: SaveableObject) -> Callable[[str], SaveableObject]:
    def make(key: str) -> SaveableObject:
        saveable.name = key
        for spec in saveable.specs:
            spec.name = key
        return saveable

    return make


class SaveableCache:
    """Objects' saveables by key: making one of a table adds nodes to the graph."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Any, SaveableObject]] = {}

    def make(self, item: Any, attribute: Attribute, key: str) -> SaveableObject:
        """What a Saver saves of an object's attribute under a key."""
        place = id(item), key
        if place not in self._made:
            self._made[place] = item, attribute.make(key)
        return self._made[place][1]


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


def key_of(prefix: str, attribute: str) -> str:
    """The key of an object's attribute in a checkpoint.

    Args:
      prefix: of the object's `Node`.
      attribute: its name.
    """
    return f"{prefix}/{_ATTRIBUTES}/{_escaped(attribute)}"


class Node(NamedTuple):
    """An object in the graph, and the key that its attributes' keys begin with."""

    item: Any
    prefix: str


def declared_dependencies(item: Any) -> Iterable[Any]:
    """The `TrackableReference`s of the objects that an object depends on."""
    found: Iterable[Any] = item._checkpoint_dependencies
    return found


class ObjectGraph:
    """The objects that can be reached from one, in breadth-first order.

    Args:
      root: where it begins.
      dependencies_of: from an object to the `TrackableReference`s of those that it
        depends on; by default those that it declares.

    Attributes:
      nodes: the objects; slot variables of optimizers come last.
    """

    def __init__(
        self,
        root: Any,
        dependencies_of: Callable[[Any], Iterable[Any]] = declared_dependencies,
    ) -> None:
        self.nodes: list[Node] = [Node(root, "")]
        self._ids = {id(root): 0}
        self._children: list[dict[str, int]] = []
        for node in self.nodes:  # which grows
            start = f"{node.prefix}/" if node.prefix else ""
            self._children.append(
                {
                    name: self._id_of(item, start + _escaped(name))
                    for name, item in dependencies_of(node.item)
                }
            )
        self._slots = self._find_slots()

    def _id_of(self, item: Any, prefix: str) -> int:
        if id(item) not in self._ids:
            self._ids[id(item)] = len(self.nodes)
            self.nodes.append(Node(item, prefix))
        return self._ids[id(item)]

    def _find_slots(self) -> dict[int, list[tuple[int, str, int]]]:
        """The slots of optimizers: (original variable, slot's name, slot variable)."""
        found: dict[int, list[tuple[int, str, int]]] = {}
        plain = list(self.nodes)
        for number, (optimizer, path) in enumerate(plain):
            for slot_name in getattr(optimizer, "get_slot_names", list)():
                for original, (variable, prefix) in enumerate(plain):
                    if not isinstance(variable, Variable):
                        continue
                    slot = optimizer.get_slot(variable, slot_name)
                    if slot is None:
                        continue
                    if id(slot) in self._ids:
                        raise NotImplementedError(
                            "A slot variable was re-used as a dependency of a "
                            f"Trackable object: {slot}"
                        )
                    key = f"{prefix}/{_SLOT}/{path}/{_escaped(slot_name)}"
                    row = original, slot_name, len(self.nodes)
                    found.setdefault(number, []).append(row)
                    self._ids[id(slot)] = len(self.nodes)
                    self.nodes.append(Node(slot, key))
                    self._children.append({})
        return found

    def items(self) -> list[Any]:
        """The objects."""
        return [node.item for node in self.nodes]

    def slots(self, number: int) -> list[tuple[int, str, int]]:
        """The slots of an optimizer: (original variable, slot's name, slot variable).

        Args:
          number: the optimizer's.
        """
        return self._slots.get(number, [])

    def saved(self, cache: SaveableCache) -> tuple[Proto, list[SaveableObject]]:
        """The TrackableObjectGraph, and what a Saver saves, under the keys there."""
        graph = pool.message("TrackableObjectGraph")()
        saveables = []
        for number, (item, prefix) in enumerate(self.nodes):
            proto = graph.nodes.add()
            for name, child in self._children[number].items():
                proto.children.add(node_id=child, local_name=name)
            for attribute in attributes(item):
                key = key_of(prefix, attribute.name)
                saveable = cache.make(item, attribute, key)
                saveables.append(saveable)
                proto.attributes.add(
                    name=attribute.name,
                    full_name=attribute.full_name,
                    checkpoint_key=key,
                    optional_restore=saveable.optional_restore,
                )
            for original, slot_name, slot in self.slots(number):
                proto.slot_variables.add(
                    original_variable_node_id=original,
                    slot_name=slot_name,
                    slot_variable_node_id=slot,
                )
        return graph, saveables
