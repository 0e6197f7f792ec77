"""Which tensors of a step the master's RunGraph calls carry.

Requesting a tensor from another task takes a RecvTensor call. Tensors between the
master's task and another need none: the master calls the other task's RunGraph anyway,
which can carry them as it does feeds and fetches. With variables on a parameter server
a step is two calls: the first returns the variables, the last carries the gradients.
Source: core/protobuf/worker.proto (RunGraphRequest), whose calls are those of a
partial run.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from graphlib import TopologicalSorter

from tfteach.engine.session.partition_graphs import ExecutedNode
from tfteach.lib.distributed_runtime.control_loops import sources_of, task_of

SEND, RECV = "_Send", "_Recv"


class Way(enum.Enum):
    """How a tensor gets from one task to another."""

    REQUESTED = "by RecvTensor"
    FED = "a feed, with the first call"
    ANSWERED = "with the first answer, before the master's part begins"
    BROUGHT = "by the master's part, with the last call"
    FETCHED = "with the last answer, for the client alone"


def ways_of(nodes: Iterable[ExecutedNode], master: str) -> dict[str, Way]:
    """How each tensor of a step without control flow gets to its receiver.

    No call may depend on its own answer. So the first call carries only feeds, and its
    answer must not depend on the master's part; what that part computes from requested
    tensors must be requested, too.

    Args:
      nodes: of all parts.
      master: the master's task.

    Returns:
      The way of each tensor, by the name of its `_Recv`.
    """
    return _Ways(list(nodes), master).run()


class _Ways:
    def __init__(self, nodes: list[ExecutedNode], master: str) -> None:
        self.nodes = nodes
        self.master = master
        self.by_name = {node.name: node for node in nodes}
        self.sends = {n.transfer: n for n in nodes if n.op_type == SEND}
        self.users: dict[str, list[ExecutedNode]] = {}
        for node in nodes:
            for name in sources_of(node):
                self.users.setdefault(name, []).append(node)
        # The nodes that depend on the master's part, on ops that may wait, and on
        # tensors that the master's part requests.
        self.of_master: set[str] = set()
        self.waiting: set[str] = set()
        self.late: set[str] = set()

    def run(self) -> dict[str, Way]:
        found: dict[str, Way] = {}
        before_of = {node.name: self.before(node) for node in self.nodes}
        for name in TopologicalSorter(before_of).static_order():
            node, before = self.by_name[name], before_of[name]
            is_received = node.op_type == RECV
            for marked in (self.of_master, self.waiting, self.late):
                if not marked.isdisjoint(before):
                    marked.add(node.name)
            if is_received:
                send = self.sends[node.transfer]
                way = found[node.name] = self.way(node, send)
                ends = task_of(send.device), task_of(node.device)
                if way is Way.REQUESTED and ends[0] != ends[1] == self.master:
                    self.late.add(node.name)
            elif not node.is_transfer and node.op_type not in ("_Arg", "_Retval"):
                if task_of(node.device) == self.master:
                    self.of_master.add(node.name)
                if may_wait(node):
                    self.waiting.add(node.name)
        if self.waiting and self.late:
            # What they wait for may depend on what a call would carry.
            return dict.fromkeys(found, Way.REQUESTED)
        return found

    def before(self, node: ExecutedNode) -> list[str]:
        """The names of a node's predecessors."""
        if node.op_type == RECV:
            return [self.sends[node.transfer].name]
        return sources_of(node)

    def way(self, recv: ExecutedNode, send: ExecutedNode) -> Way:
        source, target = task_of(send.device), task_of(recv.device)
        kinds = {send.device.device_type, recv.device.device_type}
        if kinds != {"CPU"} or source == target:
            return Way.REQUESTED
        if source == self.master:
            (origin,) = sources_of(send)
            if self.by_name[origin].op_type == "_Arg":
                return Way.FED
            return Way.REQUESTED if recv.name in self.late else Way.BROUGHT
        if target != self.master:
            return Way.REQUESTED
        users = self.users.get(recv.name, [])
        if [user.op_type for user in users] == ["_Retval"]:
            return Way.FETCHED
        is_after = recv.name in self.of_master or recv.name in self.waiting
        return Way.REQUESTED if is_after else Way.ANSWERED


def may_wait(node: ExecutedNode) -> bool:
    """Whether a node's op may wait for another op."""
    if node.is_transfer or node.node is None or node.node.is_feed:
        return False
    spec = node.node.spec
    return spec.may_wait or spec.calls_python
