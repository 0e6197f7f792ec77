"""Copies between devices: an edge from one to another becomes a `_Send`/`_Recv` pair.

A value is copied once per destination, however many nodes take it there.  References
and handles are not copied: placing keeps what takes them beside the variable.
Source: core/graph/graph_partition.cc, core/ops/sendrecv_ops.cc.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

from tfteach.engine.devices.devices import Device
from tfteach.engine.plan.references import accepts_reference, carries_reference
from tfteach.engine.plan.step import Edge, Node, Step, argument_names
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule
from tfteach.framework.variable_cell import Cell

UNCOPIED = ("resource", "variant")  # handles: what they stand for stays where it is


class Transfer:
    """Copies from one device to another.

    Attributes:
      source, target: full device names.
      count: how many values.
      size_bytes: how many bytes in all.
    """

    __slots__ = ("count", "size_bytes", "source", "target")

    def __init__(self, source: str, target: str) -> None:
        self.source = source
        self.target = target
        self.count = 0
        self.size_bytes = 0

    def __repr__(self) -> str:
        return (
            f"<Transfer {self.source} -> {self.target}: {self.count} values, "
            f"{self.size_bytes} bytes>"
        )


class Transfers(dict[tuple[str, str], Transfer]):
    """(source device, target device) -> copies over a session's life.

    Attributes:
      latest: (tensor_name of the pair, target device) -> the bytes of its last copy.
    """

    def __init__(self) -> None:
        super().__init__()
        self.latest: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def record(
        self, source: str, target: str, size_bytes: int, tensor_name: str
    ) -> None:
        with self._lock:
            self.latest[tensor_name, target] = size_bytes
            found = self.get((source, target))
            if found is None:
                found = self[source, target] = Transfer(source, target)
            found.count += 1
            found.size_bytes += size_bytes

    @property
    def count(self) -> int:
        """The total number of copied values."""
        return sum(transfer.count for transfer in self.values())

    @property
    def size_bytes(self) -> int:
        """The total number of copied bytes."""
        return sum(transfer.size_bytes for transfer in self.values())


class _Copy(Op, abstract=True):
    """Half of a copy; in a step only, never in a graph or a GraphDef.

    TF hands the value over in a rendezvous.  Here it flows along an edge from `_Send`
    to `_Recv`, so that both halves are ordered and freed like any other node.
    """

    tensor_name: str
    source: Device
    target: Device
    transfers: Transfers

    is_foldable: ClassVar[bool] = False

    def __new__(cls, *args: Any) -> Any:  # not interned: it knows its session
        spec = object.__new__(cls)
        for name, value in zip(cls.fields, args, strict=True):
            object.__setattr__(spec, name, value)
        return spec

    def infer_shape(self, shape: Shape) -> Shape:
        return shape


class Send(_Copy, abstract=True):
    """Sends a value to another device."""

    op_type: ClassVar[str] = "_Send"
    signature = "tensor: T -> sent: T"
    aliases: ClassVar[bool] = True

    def compute(self, xp: ArrayModule, tensor: Any) -> Any:
        return tensor


class Recv(_Copy, abstract=True):
    """Receives a value from another device."""

    op_type: ClassVar[str] = "_Recv"
    signature = "sent: T -> tensor: T"
    aliases: ClassVar[bool] = True  # CPU devices share arrays

    def compute(self, xp: ArrayModule, sent: Any) -> Any:
        if isinstance(sent, Cell):
            sent = sent.value
        self.record(sent)
        return self.target.put(sent, self.source)

    def queue(self, sent: Any) -> Any:
        """The value in the host's memory, or a `Download`; for what is only fetched."""
        if isinstance(sent, Cell):
            sent = sent.value
        self.record(sent)
        return self.source.download(sent)

    def record(self, sent: Any) -> None:
        """Count the copy."""
        source, target = self.source.name, self.target.name
        self.transfers.record(source, target, _size_bytes(sent), self.tensor_name)


def _size_bytes(value: Any) -> int:
    dtype = getattr(value, "dtype", None)
    if dtype is not None and dtype.hasobject:
        return sum(len(text) for text in value.reshape(-1).tolist())
    return int(getattr(value, "nbytes", 0))


def partition(
    step: Step,
    host: Device,
    transfers: Transfers,
    location: Callable[[Device], Hashable] = id,
) -> None:
    """Insert a `_Send`/`_Recv` pair into every edge that crosses devices.

    Args:
      step: placed and optimized; its nodes and edges change.
      host: where feeds come from and fetches go to, and what host memory is.
      transfers: counts the copies, run by run.
      location: where a device is; edges between devices of one location stay.
    """
    _Partitioner(step, host, transfers, location).run()


class _Partitioner:
    def __init__(
        self,
        step: Step,
        host: Device,
        transfers: Transfers,
        location: Callable[[Device], Hashable],
    ) -> None:
        self.location = location
        self.step = step
        self.host = host
        self.transfers = transfers
        self.received: dict[tuple[Edge, Hashable], Edge] = {}
        self.nodes: list[Node] = []
        self.arguments = argument_names(step)
        self.halves = 0
        self.fed = {node: tensor for tensor, node in step.feeds.items()}

    def run(self) -> None:
        step = self.step
        for node in step.nodes:
            if not node.op.spec.only_metadata:
                args = host_arguments(node) if node.device.device_type == "GPU" else ()
                for i, edge in enumerate(node.inputs):
                    if accepts_reference(node, i):
                        continue
                    target = (
                        (node.device.host or self.host) if i in args else node.device
                    )
                    node.inputs[i] = self.moved(edge, target, node)
            self.nodes.append(node)
        step.fetches = [self.moved(edge, self.host) for edge in step.fetches]
        step.nodes = self.nodes

    def moved(self, edge: Edge, target: Device, reader: Node | None = None) -> Edge:
        """The edge's value on `target`, for `reader` or to be fetched."""
        source = edge.node.device
        place = self.location(target)
        if self.location(source) == place:
            return edge
        if self.tensor(edge).dtype.name in UNCOPIED:
            return edge
        found = self.received.get((edge, place))
        if found is not None:
            return found
        name = f"edge_{edge.node.op.node_id}_{edge.node.name}"
        if edge.index:
            name += f":{edge.index}"
        prefix = self.arguments.get(edge.node) or edge.node.name
        sender = Send(name, source, target, self.transfers)
        receiver = Recv(name, source, target, self.transfers)
        sent = Edge(self.half(sender, edge, source, prefix), 0)
        result = Edge(self.half(receiver, sent, target, prefix), 0)
        if not carries_reference(edge):
            self.received[edge, place] = result
        elif reader is not None:
            # Each reader has a copy, made after what the reader waits for.  In
            # TensorFlow the variable may be sent before.
            sent.node.control = list(reader.control)
        return result

    def half(self, spec: Op, edge: Edge, device: Device, prefix: str) -> Node:
        """A node of the step that is not in the graph, numbered as TF does."""
        op = edge.node.op
        tensor = self.tensor(edge)
        made = object.__new__(Operation)
        made.graph, made.node_id, made.device = op.graph, op.node_id, device.name
        made.name = f"{prefix}/_{self.halves}"
        self.halves += 1
        made.spec = spec
        made.inputs = (tensor,)
        made.control_inputs = []
        made.extra_attrs = None
        made.control_flow_context = None
        made._origin = op._origin
        made.outputs = [Tensor(made, 0, tensor.dtype.base_dtype, tensor.static_shape)]
        node = Node(made, spec, [edge], made.name)
        node.device = device
        self.nodes.append(node)
        return node

    def tensor(self, edge: Edge) -> Tensor:
        """The tensor that flows along the edge."""
        node, index = edge
        fed = self.fed.get(node)
        return node.op.outputs[index] if fed is None else fed


def host_arguments(node: Node) -> set[int]:
    """Positions of the inputs that the kernel requires in host memory."""
    wanted = node.spec.host_inputs
    if not wanted:
        return set()
    found: set[int] = set()
    index = 0
    args = type(node.spec).inputs
    for arg, group in zip(args, node.op.grouped_inputs(), strict=True):
        size = len(group) if isinstance(group, list) else 1
        if arg.name in wanted:
            found.update(range(index, index + size))
        index += size
    return found
