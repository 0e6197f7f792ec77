"""The graph of each device that a run is cut into, with its `_Send` and `_Recv` nodes.

The same graphs as `RunMetadata.partition_graphs`, before the run and with what links
them: each `_Send` belongs to one `_Recv`, and only TensorFlow's names say to which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.plan.step import Edge, Step
from tfteach.engine.session.partition_graphs import ExecutedGraph, ExecutedNode
from tfteach.explain.devices.placement import (
    Copy,
    copies_of,
    planned_run,
    static_size_bytes,
)
from tfteach.explain.graphs.graph_rows import (
    Row,
    Shape,
    plain_source,
    row_of,
    value_text,
)
from tfteach.explain.runs.cluster_plan import label_of, planner_of
from tfteach.explain.runs.pruning import Fetch
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.graph import Operation, SourceLine, Tensor

__all__ = ["Link", "Partition", "PartitionNode", "Partitions", "partitions"]

MOST_ALONE = 2  # values from one device to another that each stand alone in a picture


class PartitionNode(NamedTuple):
    """One node of a device's graph.

    Attributes:
      name: unique in all graphs of the run.
      op_type: such as "MatMul", "_Send" or "_Arg".
      inputs: names of nodes of the same graph, such as "a", "a:1" or "^a".
      op: the operation that it computes; None if it was added for the run.
      value: of a constant, else None.
      outputs: (dtype, shape) of each output.
    """

    name: str
    op_type: str
    inputs: tuple[str, ...]
    op: Operation | None
    value: Any
    outputs: tuple[tuple[str, Shape], ...]

    def __str__(self) -> str:
        return f"{self.name} = {self.op_type}({', '.join(self.inputs)})"


class Partition(NamedTuple):
    """The graph of one device.

    Attributes:
      device: full name of the device.
      nodes: in execution order.
    """

    device: str
    nodes: tuple[PartitionNode, ...]

    @property
    def label(self) -> str:
        """The short name of the device, such as "GPU:0" or "ps:0"."""
        return label_of(self.device)


class Link(NamedTuple):
    """A value that one device sends and another receives.

    Attributes:
      tensor: the name of the tensor; "^a" for the order alone, "after a".
      tensor_name: the name under which both nodes know it.
      source, target: full names of the devices.
      send, recv: names of the two nodes.
      dtype: such as "float32".
      shape: sizes, with -1 for unknown ones; None for an unknown rank.
      size_bytes: in the last run that sent it, else by the static shape; None if that
        is not fully known.
      is_measured: True if `size_bytes` comes from a run.
      readers: names of the nodes that consume it on `target`.
    """

    tensor: str
    tensor_name: str
    source: str
    target: str
    send: str
    recv: str
    dtype: str
    shape: Shape
    size_bytes: int | None
    is_measured: bool
    readers: tuple[str, ...]

    @property
    def is_order(self) -> bool:
        """True if only an order is sent: a control edge between devices."""
        return self.tensor.startswith("^")

    @property
    def size(self) -> str:
        """The size, for people."""
        if self.is_order:
            return "order only"
        return (
            "unknown size" if self.size_bytes is None else show_bytes(self.size_bytes)
        )

    @property
    def what(self) -> str:
        """Type, shape and size: "float32 [16, 10], 640 B"."""
        if self.is_order:
            return self.size
        sizes = (
            None if self.shape is None else ["?" if n < 0 else n for n in self.shape]
        )
        shape = "of unknown rank" if sizes is None else str(sizes).replace("'", "")
        return f"{self.dtype} {shape}, {self.size}"

    @property
    def named(self) -> str:
        """The tensor with its type, shape and size."""
        return f"{self.tensor}, {self.what}"


class Partitions(NamedTuple):
    """The graphs that a run is cut into; `print` it for a listing by device.

    Attributes:
      parts: a `Partition` for each device that computes something.
      links: a `Link` for each pair of `_Send` and `_Recv`.
      fetches: the fetches of the run; empty for the whole graph.
    """

    parts: tuple[Partition, ...]
    links: tuple[Link, ...]
    fetches: tuple[Operation | Tensor, ...]

    def of(self, device: str) -> Partition:
        """The graph of one device.

        Args:
          device: its full name, or its label, such as "GPU:0".

        Returns:
          A `Partition`.

        Raises:
          KeyError: the device computes nothing in this run.
        """
        for part in self.parts:
            if device in (part.device, part.label):
                return part
        here = ", ".join(part.label for part in self.parts)
        raise KeyError(f"{device!r} computes nothing in this run; these do: {here}")

    @property
    def summary(self) -> str:
        """One line: the number of nodes per device, and what is sent."""
        counts = [f"{len(part.nodes)} nodes on {part.label}" for part in self.parts]
        count = len(self.parts)
        text = f"{count} graph{'' if count == 1 else 's'}: {', '.join(counts)}"
        values = [link for link in self.links if not link.is_order]
        orders = len(self.links) - len(values)
        sent = []
        if values:
            least = "at least " if any(v.size_bytes is None for v in values) else ""
            total = show_bytes(sum(v.size_bytes or 0 for v in values))
            plural = "" if len(values) == 1 else "s"
            sent.append(f"{len(values)} value{plural} sent, {least}{total} a run")
        if orders:
            sent.append(
                f"{orders} control edge{'' if orders == 1 else 's'} between them"
            )
        return "; ".join([text, *sent])

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, most: int | None = None) -> str:
        """The nodes of each device, with what is sent where.

        Args:
          most: the number of nodes to list for each device; by default all.

        Returns:
          A string of several lines.
        """
        sends = {link.send: link for link in self.links}
        receives = {link.recv: link for link in self.links}
        lines = [self.summary]
        for part in self.parts:
            lines += ["", part.device]
            shown = part.nodes[:most]
            width = min(max(len(str(node)) for node in shown), 60)
            for node in shown:
                said = ""
                if link := sends.get(node.name):
                    said = f"  # to {label_of(link.target)}: {link.tensor}, {link.what}"
                elif link := receives.get(node.name):
                    said = (
                        f"  # from {label_of(link.source)}: {link.tensor}, {link.what}"
                    )
                lines.append(f"  {node!s:<{width}}{said}".rstrip())
            if more := len(part.nodes) - len(shown):
                lines.append(f"  ... and {more} more")
        return "\n".join(lines)

    def rows(self, where: Callable[[SourceLine], Any] | None = None) -> list[Row]:
        """All graphs as the rows of one, for a picture.

        A name begins with the label of its device, "GPU:0/y", and a `_Recv` has its
        `_Send` as its input. Where one device sends many values to another, their nodes
        are in a scope of their own, "GPU:0/to CPU:0/y/_3".

        Args:
          where: turns a `SourceLine` into (file, line, function, text); by default
            without the file's folders.

        Returns:
          A list of `Row`.
        """
        where = plain_source if where is None else where
        at: dict[str, int] = {}
        for part in self.parts:
            for node in part.nodes:
                at[node.name] = len(at)
        sent = {link.recv: at[link.send] for link in self.links}
        groups = self._groups()
        known: dict[Any, Any] = {}
        rows = []
        for part in self.parts:
            for node in part.nodes:
                inputs = [sent[node.name], 0] if node.name in sent else []
                controls = []
                for text in node.inputs:
                    name, _, slot = text.removeprefix("^").partition(":")
                    if text.startswith("^"):
                        controls.append(at[name])
                    else:
                        inputs += [at[name], int(slot or 0)]
                more: dict[str, Any] = {}
                if node.op is not None:
                    more = {**row_of(node.op, where, known=known).more}
                more["device"] = part.device
                if node.value is not None:
                    more["value"] = value_text(node.value)
                name = f"{part.label}/{groups.get(node.name, '')}{node.name}"
                outputs = list(node.outputs)
                rows.append(Row(name, node.op_type, inputs, controls, outputs, more))
        return rows

    def _groups(self) -> dict[str, str]:
        """The scopes of the nodes between devices that exchange many values."""
        counts = Counter((link.source, link.target) for link in self.links)
        groups: dict[str, str] = {}
        for link in self.links:
            if counts[link.source, link.target] > MOST_ALONE:
                groups[link.send] = f"to {label_of(link.target)}/"
                groups[link.recv] = f"from {label_of(link.source)}/"
        return groups


def partitions(
    session: Any,
    fetches: Fetch | Iterable[Fetch] | None = None,
    feeds: Iterable[Tensor | str] = (),
    unfolded: bool = False,
) -> Partitions:
    """The graph that each device would compute in a run, with what they send.

    Nothing is executed, and the arguments are those of `placement`.

    Args:
      session: a session; or a graph, for a plan of a cluster.
      fetches: what would be fetched; None for all ops of the graph as it is now.
      feeds: what would be fed.
      unfolded: True for a run without the optimizer.

    Returns:
      A `Partitions`; `print` it.

    Raises:
      KeyError, InvalidArgumentError: as for `placement`.

    Example:
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> with tf.device("/cpu:1"):
      ...     y = tf.square(x, name="y")
      >>> config = tf.ConfigProto(device_count={"CPU": 2})
      >>> with tf.Session(config=config) as sess:
      ...     found = partitions(sess, y, [x])
      >>> print(found.summary)
      2 graphs: 4 nodes on CPU:0, 3 nodes on CPU:1; 2 values sent, 16 B a run
      >>> [str(node) for node in found.of("CPU:1").nodes]
      ['_arg_x_0_0/_1 = _Recv()', 'y = Square(_arg_x_0_0/_1)', 'y/_2 = _Send(y)']
    """
    session = planner_of(session)
    planned = planned_run(session, fetches, feeds, unfolded)
    step = planned.step
    found = _Found(step, copies_of(step, session.transfers)).all(planned.fetches)
    order = {device.name: i for i, device in enumerate(session.devices)}
    parts = sorted(found.parts, key=lambda part: order[part.device])
    return found._replace(parts=tuple(parts))


class _Found:
    """Reads the partitions of a planned step."""

    def __init__(self, step: Step, copies: dict[Any, Copy]) -> None:
        self.step, self.copies = step, copies
        self.graph = ExecutedGraph(step)
        sends = [node for node in self.graph.nodes if node.op_type == "_Send"]
        self.senders = {_key(node): node for node in sends}
        self.made = {node.name: node for node in self.graph.nodes}
        self.fed = {
            made.name: tensor
            for tensor, node in step.feeds.items()
            for made in self.graph.of.get(node, [])
        }

    def all(self, fetches: tuple[Operation | Tensor, ...]) -> Partitions:
        parts = []
        for device in self.graph.devices:
            here = [node for node in self.graph.nodes if node.device is device]
            parts.append(Partition(device.name, tuple(map(self.node, here))))
        return Partitions(tuple(parts), tuple(self.links()), fetches)

    def node(self, made: ExecutedNode) -> PartitionNode:
        op = None if made.node is None or made.is_transfer else made.node.op
        outputs = tuple(self.output(made, slot) for slot in range(self.count(made)))
        inputs = tuple(made.inputs)
        return PartitionNode(made.name, made.op_type, inputs, op, made.value, outputs)

    def count(self, made: ExecutedNode) -> int:
        """The number of a node's outputs."""
        if made.op_type in ("_Send", "_Retval"):
            return 0
        if made.node is None or made.value is not None:
            return 1
        return len(made.node.op.outputs)

    def output(self, made: ExecutedNode, slot: int) -> tuple[str, Shape]:
        """Type and shape of an output."""
        if made.value is not None:
            value = np.asarray(made.value)
            return as_dtype(value.dtype).name, list(value.shape)
        tensor = self.fed.get(made.name)
        if tensor is None and made.node is not None:
            tensor = made.node.op.outputs[slot]
        if tensor is None:  # an Identity or a _Recv added to carry what it reads
            return self.carried(made)
        shape = tensor.static_shape
        if made.node is not None:
            shape = self.step.shapes.get(Edge(made.node, slot), shape)
        sizes = None if shape is None else [-1 if n is None else n for n in shape]
        return tensor.dtype.name, sizes

    def carried(self, made: ExecutedNode) -> tuple[str, Shape]:
        text = made.inputs[0] if made.inputs else self.sender(made).inputs[0]
        name, _, slot = text.partition(":")
        return self.output(self.made[name], int(slot or 0))

    def sender(self, recv: ExecutedNode) -> ExecutedNode:
        """The `_Send` of a `_Recv`."""
        return self.senders[_key(recv)]

    def links(self) -> Iterable[Link]:
        readers: dict[str, list[str]] = {}
        for node in self.graph.nodes:
            for text in node.inputs:
                name = text.removeprefix("^").partition(":")[0]
                readers.setdefault(name, []).append(node.name)
        for recv in self.graph.nodes:
            if recv.op_type != "_Recv":
                continue
            send = self.sender(recv)
            dtype, shape = self.output(recv, 0)
            copy = None if recv.node is None else self.copies.get(recv.node)
            tensor, size = send.inputs[0], _static_size(shape, dtype)
            if recv.value is not None:  # an empty constant that waits for the source
                (tensor,) = self.made[send.inputs[0]].inputs
                size = 0
            elif copy is not None:
                tensor, size = copy.tensor.name, copy.size_bytes
            elif ":" not in tensor:
                tensor = f"{tensor}:0"
            read = tuple(dict.fromkeys(readers.get(recv.name, ())))
            yield Link(
                tensor, str(recv.attrs["tensor_name"][1]),
                send.device.name, recv.device.name, send.name, recv.name,
                dtype, shape, size, copy is not None and copy.is_measured, read,
            )  # fmt: skip


def _key(node: ExecutedNode) -> tuple[Any, ...]:
    """What a `_Send` and its `_Recv` have in common."""
    names = ("tensor_name", "send_device", "recv_device")
    return tuple(node.attrs[name][1] for name in names)


def _static_size(shape: Shape, dtype: str) -> int | None:
    sizes = None if shape is None else tuple(None if n < 0 else n for n in shape)
    kind: DType = as_dtype(dtype)
    return static_size_bytes(sizes, kind)
