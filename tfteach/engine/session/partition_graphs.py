"""The graphs that a run executes, one for each device, with TensorFlow's names.

They hold a step's nodes with `_Arg` nodes for feeds, `_Retval` nodes for what
is fetched, `Const` nodes for what was folded, and `_Send`/`_Recv` pairs where an edge
goes from device to device.  `RunMetadata.partition_graphs` shows these graphs, and
`RunMetadata.step_stats` has a row for each of their nodes.
Source: core/graph/subgraph.cc, core/graph/graph_partition.cc,
core/common_runtime/constant_folding.cc (names).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.devices.devices import Device
from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.plan.step import (
    Edge,
    Node,
    Step,
    argument_names,
    return_names,
)
from tfteach.framework.dtypes import DType, float32
from tfteach.framework.graphdef.graph_def import attr_value, versions
from tfteach.framework.op import ROLES
from tfteach.framework.op_traits import Role
from tfteach.framework.operation import Tensor

# Grappler skips smaller graphs; a later pass folds their constants and renames them.
LEAST_GRAPPLER_NODES = 4
_folded_numbers = itertools.count()  # of the process, as there

# Passes that may let the users of a node take its input.  Where such a node is fetched,
# TensorFlow runs an Identity in its place.
_BYPASSES = ("remove_identities", "fold_constants")

Attrs = dict[str, tuple[str, Any]]  # attribute -> its kind (as in AttrValue) and value


class Source(NamedTuple):
    """The source of a value: an output of an executed node."""

    name: str
    slot: int
    device: Device

    def __str__(self) -> str:
        return f"{self.name}:{self.slot}" if self.slot else self.name


class ExecutedNode:
    """One node of a partition.

    Attributes:
      name, op_type, device: as TensorFlow would say.
      inputs: data inputs, and `^name` for control inputs.
      requested: the inputs as the label shows them, which for a fetch names what was
        fetched; elsewhere the same.
      node: the step's node, or None for nodes of the partition only.
      value: of a Const, else None.
      attrs: the attributes of a node that is not in the graph, as (kind, value).
    """

    def __init__(
        self, name: str, op_type: str, device: Device, node: Node | None = None
    ) -> None:
        self.name = name
        self.op_type = op_type
        self.device = device
        self.node = node
        self.inputs: list[str] = []
        self.requested: list[str] | None = None
        self.value: Any = None
        self.attrs: Attrs = {}

    @property
    def label(self) -> str:
        """Such as `y = Mul(x, y/y, ^init)`."""
        inputs = self.inputs if self.requested is None else self.requested
        return f"{self.name} = {self.op_type}({', '.join(inputs)})"

    @property
    def is_transfer(self) -> bool:
        return self.op_type in (Send.op_type, Recv.op_type)

    @property
    def transfer(self) -> tuple[str, str]:
        """What a `_Send` and its `_Recv` have in common."""
        if not self.attrs:  # the other one is in another process
            return self.name, ""
        return str(self.attrs["tensor_name"][1]), str(self.attrs["recv_device"][1])

    def write(self, graph_def: Any) -> None:
        """Add the node to a GraphDef."""
        written = graph_def.node.add()
        if self.node is not None and not self.attrs:
            written.CopyFrom(self.node.op.node_def)
            del written.input[:]
        written.name = self.name
        written.op = self.op_type
        written.device = self.device.name
        written.input.extend(self.inputs)
        for name, (kind, value) in self.attrs.items():
            _, dtype = self.attrs.get("dtype", ("", None))
            written.attr[name].CopyFrom(attr_value(kind, value, dtype))

    def __repr__(self) -> str:
        return f"<ExecutedNode {self.label}>"


class ExecutedGraph:
    """The nodes of a planned step as TensorFlow names them.

    Args:
      step: placed, optimized and partitioned.
      location: where a device is, as for `partition`.

    Attributes:
      nodes: in execution order.
      of: the step's nodes -> the nodes that represent them: one, or where a node was
        folded a Const for each output that is used.
    """

    def __init__(self, step: Step, location: Callable[[Device], Hashable] = id) -> None:
        self.step = step
        self._location = location
        self.nodes: list[ExecutedNode] = []
        self.of: dict[Node, list[ExecutedNode]] = {}
        self._sources: dict[Edge, Source] = {}
        self._names: set[str] = set()
        self._carried: dict[tuple[str, Hashable], Source] = {}
        self._arguments = argument_names(step)
        self._fed = {node: tensor for tensor, node in step.feeds.items()}
        self._halves = sum(isinstance(n.spec, Send | Recv) for n in step.nodes)
        self._folded = itertools.count()
        self._bypassed = {c.node for c in step.log if c.pass_name in _BYPASSES}
        anyone = next(iter([*step.nodes, *step.feeds.values()]), None)
        count = 0 if anyone is None else len(anyone.op.graph.operations)
        self._is_tiny = count < LEAST_GRAPPLER_NODES
        self._edges = itertools.count(count)  # partition.py takes the ids of nodes
        edges = dict(zip(step.fetched, step.fetches, strict=True))
        names = return_names(step)
        used = [edge for node in step.nodes for edge in node.inputs]
        self._used = {*used, *(edges[tensor] for tensor in names)}
        self._add_arguments()
        for node in step.nodes:  # all nodes first: loops have back edges
            self._name(node)
        for node in step.nodes:
            self._connect(node)
        for index, (tensor, name) in enumerate(names.items()):
            self._add_fetch(tensor, edges[tensor], name, index)

    @property
    def devices(self) -> list[Device]:
        """The devices that run at least one node."""
        found = {node.device for node in self.nodes}
        return sorted(found, key=lambda d: (d.device_type, d.index))

    def graph_defs(self) -> Iterator[Any]:
        """A GraphDef for each device."""
        from tfteach.framework.protos import GraphDef

        for device in self.devices:
            graph_def = GraphDef(versions=versions())
            for node in self.nodes:
                if node.device is device:
                    node.write(graph_def)
            yield graph_def

    # ---- building

    def add(self, name: str, op_type: str, device: Device) -> ExecutedNode:
        """Add a node that only the partition has."""
        made = ExecutedNode(name, op_type, device)
        self.nodes.append(made)
        return made

    def _add_arguments(self) -> None:
        used = {edge.node for edge in self._used}
        for index, (node, name) in enumerate(self._arguments.items()):
            if node not in used:
                continue
            made = self.add(name, "_Arg", node.device)
            self.of[node] = [made]
            dtype = self._fed[node].dtype.base_dtype
            made.attrs = {"T": ("type", dtype), "index": ("i", index)}
            self._sources[Edge(node, 0)] = Source(name, 0, node.device)

    def _name(self, node: Node) -> None:
        """Create the nodes that represent a node of the step, and name its outputs."""
        if self._is_grouping(node):
            self.of[node] = []  # waiting for it means waiting for its inputs
            return
        if node.values is None and node.name in self._names:
            # A second read of a variable (reads_after_writes.py): TensorFlow has only
            # the first, whose output is the variable's own buffer.
            self.of[node] = []
            self._sources[Edge(node, 0)] = Source(node.name, 0, node.device)
            return
        if node.values is None:
            self._names.add(node.name)
            made = ExecutedNode(node.name, node.spec.op_type, node.device, node)
            made.value = node.spec.constant
            self.of[node] = [made]
            for i in range(len(node.op.outputs)):
                self._sources[Edge(node, i)] = Source(made.name, i, node.device)
            if isinstance(node.spec, Recv):
                # Also for what takes only the value's shape, and needs no copy here.
                sent = self._sources[node.inputs[0].node.inputs[0]]
                received = Source(made.name, 0, node.device)
                place = self._location(node.device)
                self._carried.setdefault((str(sent), place), received)
            return
        self.of[node] = []
        for i, value in enumerate(node.values):
            if Edge(node, i) not in self._used:
                continue
            name = self._constant_name(node, i)
            self._names.add(name)
            made = ExecutedNode(name, _type_of(Role.CONSTANT), node.device, node)
            made.value = value
            if not node.op.spec.holds_value:
                dtype = node.op.outputs[i].dtype
                made.attrs = {"dtype": ("type", dtype), "value": ("tensor", value)}
            self.of[node].append(made)
            self._sources[Edge(node, i)] = Source(name, 0, node.device)

    def _connect(self, node: Node) -> None:
        """Add the nodes that represent a node of the step, with their inputs."""
        if node.values is not None:
            for made in self.of[node]:
                made.inputs = self._controls(node, node.inputs, set())
                self.nodes.append(made)
            return
        if not self.of[node]:
            return
        (made,) = self.of[node]
        spec = node.spec
        if isinstance(spec, Send | Recv):
            dtype = node.op.outputs[0].dtype
            attrs = _transfer_attrs(spec.source, spec.target, spec.tensor_name, dtype)
            made.attrs = attrs[type(spec) is Recv]
        if not isinstance(spec, Recv):
            made.inputs = [
                str(self._on(self._sources[edge], node.device, edge))
                for edge in node.inputs
            ]
            taken = {edge.node for edge in node.inputs}
            made.inputs += self._controls(node, [], taken)
        self.nodes.append(made)

    def _is_grouping(self, node: Node) -> bool:
        """Whether grappler prunes the node, which only waits for others."""
        return (
            self.step.is_optimized
            and isinstance(node.spec, ROLES[Role.NO_OP])
            and node not in self.step.targets
        )

    def _constant_name(self, node: Node, index: int) -> str:
        if node.op.spec.holds_value:
            return node.name
        if self._is_tiny:
            number = next(_folded_numbers)
            return f"{node.name}/_{next(self._folded)}__cf__{number}"
        if len(node.op.outputs) > 1:
            return f"ConstantFolding/{node.name}-folded-{index}"
        return node.name

    def _add_fetch(self, tensor: Tensor, edge: Edge, name: str, index: int) -> None:
        source = self._sources[edge]
        op, kind = tensor.op, ("type", tensor.dtype.base_dtype)
        is_bypassed = op.name in self._bypassed and op.name not in self._names
        origin = edge.node
        while isinstance(origin.spec, Send | Recv):
            origin = origin.inputs[0].node
        if is_bypassed and origin.values is None:
            forwards = op.spec.forwards_input
            op_type = op.type if forwards else _type_of(Role.IDENTITY)
            made = self.add(op.name, op_type, source.device)
            made.inputs = [str(source)]
            made.attrs = {"T": kind}
            self._bypassed.discard(op.name)
            source = self._sources[edge] = Source(op.name, 0, source.device)
        made = self.add(name, "_Retval", source.device)
        made.inputs = [str(source)]
        made.requested = [tensor.name if tensor.value_index else op.name]
        if isinstance(edge.node.spec, Recv):
            made.requested = made.inputs
        made.attrs = {"T": kind, "index": ("i", index)}

    # ---- edges

    def _controls(self, node: Node, also: list[Edge], taken: set[Node]) -> list[str]:
        """Control inputs of the node and its edges, data inputs excluded."""
        found: dict[str, None] = {}
        seen = set(taken)
        stack = [*(source for source, _ in also), *reversed(node.control)]
        while stack:
            other = stack.pop()
            if other in seen or other.is_feed:
                continue
            seen.add(other)
            made = self.of.get(other)
            if other.values is not None or not made:
                # Available immediately, or removed: its control inputs count.
                stack += [*other.control, *(source for source, _ in other.inputs)]
                continue
            waited = Source(made[0].name, 0, made[0].device)
            if not self._is_at(waited, node.device):
                if self.step.is_optimized and _needs(node, other):
                    continue
                waited = self._signal(waited, node.device)
            found[f"^{waited.name}"] = None
        return sorted(found)

    def _on(self, source: Source, device: Device, edge: Edge) -> Source:
        """The value on a device; inputs that GPUs read on the host are not copied."""
        if self._is_at(source, device):
            return source
        found = self._carried.get((str(source), self._location(device)))
        if found is None:
            dtype = edge.node.op.outputs[edge.index].dtype
            found = self.transfer(source, source, device, dtype.base_dtype)
            self._carried[str(source), self._location(device)] = found
        return found

    def _is_at(self, source: Source, device: Device) -> bool:
        return self._location(source.device) == self._location(device)

    def _signal(self, source: Source, device: Device) -> Source:
        """The node on another device that stands for the source in control inputs."""
        found = self._carried.get((f"^{source.name}", self._location(device)))
        if found is not None:
            return found
        number, constant = self.numbered(source.name), _type_of(Role.CONSTANT)
        dummy = self.add(number, constant, source.device)
        dummy.inputs = [f"^{source.name}"]
        dummy.value = np.zeros([0], np.float32)
        dummy.attrs = {"dtype": ("type", float32), "value": ("tensor", dummy.value)}
        sent = Source(dummy.name, 0, source.device)
        received = self.transfer(sent, source, device, float32)
        self.nodes[-1].value = dummy.value
        identity = _type_of(Role.IDENTITY)
        made = self.add(self.numbered(source.name), identity, device)
        made.inputs = [received.name]
        made.attrs = {"T": ("type", float32)}
        found = Source(made.name, 0, device)
        self._carried[f"^{source.name}", self._location(device)] = found
        return found

    def transfer(
        self, value: Source, named: Source, device: Device, dtype: DType
    ) -> Source:
        """Send a value to a device; `named` is what the nodes are named after."""
        edge = f"edge_{next(self._edges)}_{named.name}"
        to_send, to_receive = _transfer_attrs(value.device, device, edge, dtype)
        send = self.add(self.numbered(named.name), Send.op_type, value.device)
        send.inputs, send.attrs = [str(value)], to_send
        recv = self.add(self.numbered(named.name), Recv.op_type, device)
        recv.attrs = to_receive
        return Source(recv.name, 0, device)

    def numbered(self, prefix: str) -> str:
        """A new name that begins with the prefix."""
        self._halves += 1
        return f"{prefix}/_{self._halves - 1}"


def _type_of(role: Role) -> str:
    return ROLES[role].op_type


def _needs(node: Node, other: Node) -> bool:
    """Whether the node depends on data of the other one, directly or not."""
    seen: set[Node] = set()
    stack = [source for source, _ in node.inputs]
    while stack:
        source = stack.pop()
        if source is other:
            return True
        if source not in seen:
            seen.add(source)
            stack += [above for above, _ in source.inputs]
    return False


def _transfer_attrs(
    source: Device, target: Device, tensor_name: str, dtype: DType
) -> tuple[Attrs, Attrs]:
    """The attributes of a `_Send` and of its `_Recv`."""
    kind = ("type", dtype.base_dtype)
    common: Attrs = {
        "client_terminated": ("b", False),
        "recv_device": ("s", target.name),
        "send_device": ("s", source.name),
        "send_device_incarnation": ("i", 1),  # as TensorFlow's DirectSession has it
        "tensor_name": ("s", tensor_name),
    }
    return {"T": kind, **common}, {"tensor_type": kind, **common}


def executed_graph(step: Step) -> ExecutedGraph:
    """The `ExecutedGraph` of a step, cached on the step."""
    if step.executed is None:
        step.executed = ExecutedGraph(step)
    found: ExecutedGraph = step.executed
    return found
