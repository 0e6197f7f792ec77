"""What is in a checkpoint of objects, and what would be saved of an object.

Source: python/training/tracking/util.py, contrib/checkpoint/python/visualize.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.protos import pool
from tfteach.framework.trackable import VARIABLE_VALUE_KEY, Trackable
from tfteach.framework.type_aliases import Proto
from tfteach.lib.files.checkpoint_reader import OBJECT_GRAPH_KEY
from tfteach.lib.files.object_graph import ObjectGraph


@export("contrib.checkpoint.object_metadata")
def object_metadata(save_path: str) -> Proto:
    """The objects of a checkpoint of `tf.train.Checkpoint`, and their names.

    Args:
      save_path: the checkpoint.

    Returns:
      A TrackableObjectGraph proto.

    Raises:
      ValueError: it is a checkpoint of `tf.train.Saver`.
      NotFoundError: there is no such checkpoint.

    Example:
      >>> graph = tf.contrib.checkpoint.object_metadata("objects/model-1")
      >>> names = [a.full_name for node in graph.nodes for a in node.attributes]

    Source: python/training/tracking/util.py.
    """

    def read(reader: Any) -> bytes | None:
        has_graph = OBJECT_GRAPH_KEY in reader
        return bytes(reader.read(OBJECT_GRAPH_KEY)[()]) if has_graph else None

    data = read_checkpoint(save_path, read)
    if data is None:
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be '
            f'object-based (it is missing the key "{OBJECT_GRAPH_KEY}"). Likely it was '
            "created with a name-based saver and does not contain an object dependency "
            "graph."
        )
    return pool.message("TrackableObjectGraph").FromString(data)


@export("contrib.checkpoint.list_objects")
def list_objects(root_trackable: Trackable) -> list[Any]:
    """The objects that a checkpoint of an object would have, slots included.

    Args:
      root_trackable: the object.

    Example:
      >>> tf.contrib.checkpoint.list_objects(tf.train.Checkpoint(v=tf.Variable(1.0)))

    Source: python/training/tracking/util.py.
    """
    return ObjectGraph(root_trackable).items()


@export("contrib.checkpoint.dot_graph_from_checkpoint")
def dot_graph_from_checkpoint(save_path: str) -> str:
    """The objects of a checkpoint as a graph in the language of Graphviz.

    Args:
      save_path: the checkpoint.

    Returns:
      Text for `dot -Tsvg`: variables are blue, slots orange, optimizers red.

    Raises:
      ValueError: it is a checkpoint of `tf.train.Saver`.

    Example:
      >>> text = tf.contrib.checkpoint.dot_graph_from_checkpoint("objects/model-1")

    Source: contrib/checkpoint/python/visualize.py.
    """
    graph: Any = object_metadata(save_path)
    known = read_checkpoint(save_path, lambda reader: {**reader.types_and_shapes()})
    slots = {s.slot_variable_node_id for n in graph.nodes for s in n.slot_variables}
    lines: list[str] = []
    for number, node in enumerate(graph.nodes):
        lines.append(f"N_{number} [{_looks(node, number in slots, known)}]")
        lines += _edges(number, node)
    return "\n".join(["digraph {", *lines, "}", ""])


def _looks(node: Any, is_slot: bool, known: Any) -> str:
    if [attribute.name for attribute in node.attributes] == [VARIABLE_VALUE_KEY]:
        [attribute] = node.attributes
        dtype, shape = known[attribute.checkpoint_key]
        kind, color = ("Slot variable", "orange") if is_slot else ("Variable", "blue")
        return (
            f'shape=point label="" color={color} width=.25 tooltip="{kind} '
            f'{_quoted(attribute.full_name)} shape={list(shape)} {dtype.name}"'
        )
    looks = 'shape=point label="" width=.25'
    return looks + (' color=red,tooltip="Optimizer"' if node.slot_variables else "")


def _edges(number: int, node: Any) -> Iterator[str]:
    for child in node.children:
        name = _quoted(child.local_name)
        yield f'N_{number} -> N_{child.node_id} [label="{name}"]'
    for slot in node.slot_variables:
        to, name = slot.slot_variable_node_id, _quoted(slot.slot_name)
        yield f'N_{number} -> N_{to} [label="{name}" style=dotted]'
        yield f"N_{slot.original_variable_node_id} -> N_{to} [style=dotted]"


def _quoted(name: str) -> str:
    return name.replace('"', '\\"')
