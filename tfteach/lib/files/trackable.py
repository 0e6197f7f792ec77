"""Objects that hold variables, and how they hang together: the graph of a checkpoint.

`tf.train.Checkpoint` finds variables by the way from one object to the next, such as
`model/dense/kernel`, instead of by their names.

Source: python/training/tracking/{base,graph_view,data_structures}.py,
core/protobuf/trackable_object_graph.proto.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfteach.framework.operation import Operation
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import Proto
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.lib.files.saveable_variables import saveables_of
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.variables.base import Variable

_VALUE = "VARIABLE_VALUE"
_ATTRIBUTES = ".ATTRIBUTES"
_SLOT = ".OPTIMIZER_SLOT"


class AutoTrackable:
    """Base of objects whose attributes are saved: variables, layers, lists of them."""

    def _checkpoint_children(self) -> dict[str, Any]:
        return {name: item for name, item in vars(self).items() if _holds(item)}


def is_trackable(item: Any) -> bool:
    """Whether an object can be saved: variables, layers, optimizers, tables, ..."""
    return (
        isinstance(item, Variable)
        or hasattr(item, "_checkpoint_children")
        or hasattr(item, "_gather_saveables_for_checkpoint")
    )


def _holds(item: Any) -> bool:
    return is_trackable(item) or isinstance(item, list | dict)


def children(item: Any) -> dict[str, Any]:
    """The objects that an object depends on, by local names."""
    if isinstance(item, list):
        return {str(i): part for i, part in enumerate(item) if _holds(part)}
    if isinstance(item, dict):
        named = ((key, part) for key, part in item.items() if isinstance(key, str))
        return {key: part for key, part in named if _holds(part)}
    found = getattr(item, "_checkpoint_children", None)
    return found() if found is not None else {}


class Attribute(NamedTuple):
    """A part of an object that a checkpoint has the value of."""

    name: str
    full_name: str
    make: Callable[[str], SaveableObject]


def attributes(item: Any) -> list[Attribute]:
    """What is saved of an object itself, without its children."""
    if isinstance(item, Variable):
        [saveable] = saveables_of([item])
        return [Attribute(_VALUE, item._shared_name, _named(saveable))]
    gather = getattr(item, "_gather_saveables_for_checkpoint", dict)
    return [Attribute(name, "", make) for name, make in gather().items()]


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


class Node(NamedTuple):
    """An object in the graph, and the key that its attributes' keys begin with."""

    item: Any
    prefix: str


class ObjectGraph:
    """The objects that can be reached from one, in breadth-first order.

    Args:
      root: where it begins.

    Attributes:
      nodes: the objects; slot variables of optimizers come last.
    """

    def __init__(self, root: Any) -> None:
        self.nodes: list[Node] = [Node(root, "")]
        self._ids = {id(root): 0}
        self._children: list[dict[str, int]] = []
        for node in self.nodes:  # which grows
            self._children.append(
                {
                    name: self._id_of(
                        item, f"{node.prefix}/{_escaped(name)}".strip("/")
                    )
                    for name, item in children(node.item).items()
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

    def saved(self, cache: SaveableCache) -> tuple[Proto, list[SaveableObject]]:
        """The TrackableObjectGraph, and what a Saver saves, under the keys there."""
        graph = pool.message("TrackableObjectGraph")()
        saveables = []
        for number, (item, prefix) in enumerate(self.nodes):
            proto = graph.nodes.add()
            for name, child in self._children[number].items():
                proto.children.add(node_id=child, local_name=name)
            for attribute in attributes(item):
                key = f"{prefix}/{_ATTRIBUTES}/{_escaped(attribute.name)}"
                saveable = cache.make(item, attribute, key)
                saveables.append(saveable)
                proto.attributes.add(
                    name=attribute.name,
                    full_name=attribute.full_name,
                    checkpoint_key=key,
                    optional_restore=saveable.optional_restore,
                )
            for original, slot_name, slot in self._slots.get(number, ()):
                proto.slot_variables.add(
                    original_variable_node_id=original,
                    slot_name=slot_name,
                    slot_variable_node_id=slot,
                )
        return graph, saveables


class ObjectGraphSaveable(SaveableObject):
    """The graph itself in a checkpoint: a message as a string.

    Args:
      tensor: the string.
      key: its name.
    """

    def __init__(self, tensor: Any, key: str) -> None:
        super().__init__(tensor, [SaveSpec(tensor, "", key)], key)

    @property
    def optional_restore(self) -> bool:
        return True

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """An Operation that does nothing: the graph describes the checkpoint only."""
        return no_op()


class Matches:
    """Which objects of a checkpoint are which of the program.

    Args:
      root: the object that corresponds to the checkpoint's first.
      graph: the checkpoint's TrackableObjectGraph.

    Attributes:
      by_node: the objects, by number in the checkpoint.
    """

    def __init__(self, root: Any, graph: Proto) -> None:
        self._graph = graph
        self.by_node: dict[int, Any] = {0: root}
        pending = [0]
        for number in pending:  # which grows
            own = children(self.by_node[number])
            for child in graph.nodes[number].children:
                item = own.get(child.local_name)
                if item is not None and child.node_id not in self.by_node:
                    self.by_node[child.node_id] = item
                    pending.append(child.node_id)
        for number in pending:
            for slot in graph.nodes[number].slot_variables:
                optimizer = self.by_node[number]
                variable = self.by_node.get(slot.original_variable_node_id)
                if variable is not None and hasattr(optimizer, "get_slot"):
                    found = optimizer.get_slot(variable, slot.slot_name)
                    if found is not None:
                        self.by_node[slot.slot_variable_node_id] = found

    def saveables(
        self, cache: SaveableCache
    ) -> tuple[list[SaveableObject], dict[int, str]]:
        """What to restore, under the checkpoint's keys; attributes without an object.

        An object that stands at two places of the checkpoint is restored once.
        """
        found, unused = [], {}
        seen: set[int] = set()
        for number, item in sorted(self.by_node.items()):
            known = {a.name: a for a in attributes(item)}
            for attribute in self._graph.nodes[number].attributes:
                if attribute.name not in known:
                    unused[number] = attribute.name
                elif id(item) not in seen:
                    own = known[attribute.name]
                    found.append(cache.make(item, own, attribute.checkpoint_key))
            seen.add(id(item))
        return found, unused

    @functools.cached_property
    def names(self) -> Mapping[int, str]:
        """What the checkpoint's objects are called: `(root).model.kernel`."""
        nodes = self._graph.nodes
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
