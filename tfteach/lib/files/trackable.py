"""Objects that hold variables, and how they hang together: the graph of a checkpoint.

`tf.train.Checkpoint` finds variables by the way from one object to the next, such as
`model/dense/kernel`, instead of by their names.

Source: python/training/tracking/{base,graph_view,data_structures}.py,
core/protobuf/trackable_object_graph.proto.
"""

from __future__ import annotations

from collections.abc import Callable
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
# The attribute of an object with restored checkpoints that have more than it does so
# far: `Restoration`s of tfteach/lib/files/object_matches.py.
AWAITED = "_awaited_restorations"


class AutoTrackable:
    """Base of objects whose attributes are saved: variables, layers, lists of them."""

    def _checkpoint_children(self) -> dict[str, Any]:
        return {name: item for name, item in vars(self).items() if _holds(item)}


def match_awaited(item: Any) -> None:
    """Look for new parts of an object in the checkpoints that were restored to it."""
    for restoration in tuple(vars(item).get(AWAITED, ())):
        restoration.matched()


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
