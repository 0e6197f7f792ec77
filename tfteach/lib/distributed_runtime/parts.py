"""The parts of a step: the subgraph of each task, with its inputs and outputs.

Source: core/distributed_runtime/master_session.cc, core/graph/graph_partition.cc.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from tfteach.engine.devices.devices import Device
from tfteach.engine.plan.step import Step, argument_names, return_names
from tfteach.engine.session.partition_graphs import ExecutedGraph, ExecutedNode
from tfteach.framework.graphdef.graph_def import versions
from tfteach.framework.operation import Tensor
from tfteach.framework.protos import GraphDef
from tfteach.framework.type_aliases import Proto
from tfteach.lib.distributed_runtime.control_loops import (
    add_control_loops,
    sources_of,
    task_of,
)
from tfteach.lib.distributed_runtime.exchange import (
    RECV,
    SEND,
    Way,
    may_wait,
    ways_of,
)
from tfteach.lib.distributed_runtime.partition_session import IN_LAST_CALL, IS_LIVE
from tfteach.lib.distributed_runtime.rendezvous import Key


class Calls(enum.Enum):
    """When a part is called."""

    AT_ONCE = "once, at the step's beginning"
    AFTER_ANSWERS = "once, with what the first answers of other parts brought"
    AFTER_MASTER = "once, with what the master's part computed"
    TWICE = "at the step's beginning, and with what the master's part computed"


@dataclass
class Part:
    """A task's part of a step.

    Attributes:
      task: its name.
      graph_def: what it runs.
      handle: of the part at the task.
      calls: when it is called.
      feeds, fetches: key at the task -> fed or fetched tensor.
      answered: key of a tensor in the first answer -> key at the master's part.
      brought: key at the master's part -> key of a tensor in the last call.
    """

    task: str
    graph_def: Proto
    handle: str = ""
    calls: Calls = Calls.AT_ONCE
    feeds: dict[str, Tensor] = field(default_factory=dict)
    fetches: dict[str, Tensor] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)
    brought: dict[str, str] = field(default_factory=dict)


def parts_of_step(
    step: Step, devices: dict[str, Device], master: str, exchanges: bool
) -> list[Part]:
    """The parts of a planned step, one per task, sorted by task.

    Args:
      step: placed on devices of several tasks, and partitioned.
      devices: all devices by their full names.
      master: the master's task.
      exchanges: whether the master's calls may carry tensors; see `Way`.
    """
    return _PartsOfStep(step, devices, master, exchanges).make()


class _PartsOfStep:
    def __init__(
        self, step: Step, devices: dict[str, Device], master: str, exchanges: bool
    ) -> None:
        self.devices = devices
        self.master = master
        graph = ExecutedGraph(step, task_of)
        add_control_loops(graph, step)
        self.nodes = graph.nodes
        self.are_live = not step.has_control_flow
        by_node = {node: tensor for tensor, node in step.feeds.items()}
        self.fed = {name: by_node[node] for node, name in argument_names(step).items()}
        self.returned = {name: t for t, name in return_names(step).items()}
        by_name = ways_of(self.nodes, master) if exchanges and self.are_live else {}
        # Keyed by what both halves of a transfer share.
        self.ways: dict[tuple[str, str], Way] = {}
        self.origins: dict[tuple[str, str], str] = {}
        self.fetched: dict[tuple[str, str], Tensor] = {}
        recvs: dict[str, tuple[str, str]] = {}
        for node in self.nodes:
            if node.op_type == SEND:
                self.origins[node.transfer] = sources_of(node)[0]
            elif node.op_type == RECV:
                self.ways[node.transfer] = by_name.get(node.name, Way.REQUESTED)
                recvs[node.name] = node.transfer
            elif node.op_type == "_Retval":
                (source,) = sources_of(node)
                if by_name.get(source) is Way.FETCHED:
                    self.fetched[recvs[source]] = self.returned.pop(node.name)
        self.parts: dict[str, Part] = {}
        self.with_peers: set[str] = set()  # tasks with requested tensors
        self.waiting: set[str] = set()  # tasks with ops that may wait

    def make(self) -> list[Part]:
        kept = [node for node in self.nodes if self.is_kept(node)]
        used = {source for node in kept for source in sources_of(node)}
        for node in kept:
            if node.op_type != "_Arg" or node.name in used:
                self.add(node)
        for part in self.parts.values():
            part.calls = self.calls(part)
        return [self.parts[task] for task in sorted(self.parts)]

    def is_kept(self, node: ExecutedNode) -> bool:
        """False for the master's half of a transfer that a feed or fetch replaces."""
        if node.op_type == "_Retval":
            return node.name in self.returned
        if not node.is_transfer:
            return True
        return self.ways[node.transfer] is not (
            Way.FED if node.op_type == SEND else Way.FETCHED
        )

    def add(self, node: ExecutedNode) -> None:
        """Add a node to the part of its task."""
        task = task_of(node.device)
        part = self.parts.get(task)
        if part is None:
            part = self.parts[task] = Part(task, GraphDef(versions=versions()))
        if node.op_type == "_Arg":
            tensor = self.fed[node.name]
            kind = ("type", tensor.dtype.base_dtype)
            node.op_type, node.attrs = RECV, {"tensor_type": kind}
            part.feeds[self.end_at_client(node, tensor.name)] = tensor
        elif node.op_type == "_Retval":
            tensor = self.returned[node.name]
            kind = ("type", tensor.dtype.base_dtype)
            node.op_type, node.attrs = SEND, {"T": kind}
            part.fetches[self.end_at_client(node, tensor.name)] = tensor
        elif node.is_transfer:
            self.add_transfer(node, part)
        if may_wait(node):
            self.waiting.add(task)
        node.write(part.graph_def)

    def add_transfer(self, node: ExecutedNode, part: Part) -> None:
        """Add one half of a transfer; that of a feed or fetch is the client."""
        transfer = node.transfer
        way = self.ways[transfer]
        sender = self.devices[node.attrs["send_device"][1]]
        number = _signed(sender.incarnation)
        node.attrs = {**node.attrs, "send_device_incarnation": ("i", number)}
        if self.are_live:
            node.attrs[IS_LIVE] = ("b", True)
        if way is Way.REQUESTED:
            self.with_peers.add(part.task)
            return
        name, receiver = transfer
        key = Key(sender.name, sender.incarnation, receiver, name).text
        if part.task == self.master:
            if way is Way.ANSWERED:
                node.attrs["client_terminated"] = ("b", True)
            return
        own = self.end_at_client(node, name)
        if way is Way.FED:
            part.feeds[own] = self.fed[self.origins[transfer]]
        elif way is Way.FETCHED:
            part.fetches[own] = self.fetched[transfer]
        elif way is Way.ANSWERED:
            part.answered[own] = key
        else:
            node.attrs[IN_LAST_CALL] = ("b", True)
            part.brought[key] = own

    def end_at_client(self, node: ExecutedNode, name: str) -> str:
        """Make the client the other half of a `_Send` or `_Recv`; returns the key."""
        device = node.device
        node.attrs = {
            **node.attrs,
            "client_terminated": ("b", True),
            "recv_device": ("s", device.name),
            "send_device": ("s", device.name),
            "send_device_incarnation": ("i", _signed(device.incarnation)),
            "tensor_name": ("s", name),
        }
        return Key(device.name, device.incarnation, device.name, name).text

    def calls(self, part: Part) -> Calls:
        task = part.task
        if task == self.master:
            is_fed = Way.ANSWERED in self.ways.values()
            return Calls.AFTER_ANSWERS if is_fed else Calls.AT_ONCE
        if part.brought:
            is_late = not part.answered and task not in self.with_peers
            return Calls.AFTER_MASTER if is_late else Calls.TWICE
        # A part answers once all of it has run, which may be late.
        is_early = not part.answered or task not in self.with_peers | self.waiting
        return Calls.AT_ONCE if is_early else Calls.TWICE


def number_transfers(parts: list[Part], first: int) -> int:
    """Give the transfers of a step names that no other step of the session uses.

    TensorFlow's workers cache the kernels of stateful ops by name, also across parts.

    Args:
      parts: those of the step, where a `_Recv` has its `_Send`'s number plus 1.
      first: the lowest number to use.

    Returns:
      The lowest number for the next step.
    """
    numbers = [_number(n.name) for part in parts for n in part.graph_def.node]
    count = max(numbers, default=-1) + 1
    first = max(first, count)  # no name of a node that keeps its own
    for part in parts:
        names: dict[str, str] = {}
        for node in part.graph_def.node:
            if node.op in (SEND, RECV):
                prefix, number = node.name.rpartition("/_")[0], _number(node.name)
                names[node.name] = (
                    f"{node.name}_{first}"  # a feed or a fetch
                    if number < 0
                    else f"{prefix}/_{first + number}"
                )
        for node in part.graph_def.node:
            node.name = names.get(node.name, node.name)
            for i, source in enumerate(node.input):
                name = source.lstrip("^").partition(":")[0]
                if name in names:
                    node.input[i] = source.replace(name, names[name], 1)
    return first + max(count, 1)


def _number(name: str) -> int:
    """The 3 of "x/_3"; -1 for other names."""
    _, mark, number = name.rpartition("/_")
    return int(number) if mark and number.isdecimal() else -1


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
