"""Loops whose bodies span several tasks.

A task that receives values in a loop has to know how often: it gets a loop of its own,
with nothing in it, that iterates while the condition holds, and each iteration of which
receives anew.
Source: core/graph/graph_partition.cc (AddControlFlow).
"""

from __future__ import annotations

from typing import NamedTuple

from tfteach.engine.devices.devices import Device
from tfteach.engine.plan.frames import Path, frames_of, path_behind
from tfteach.engine.plan.step import Step
from tfteach.engine.session.partition_graphs import ExecutedGraph, ExecutedNode, Source
from tfteach.framework.dtypes import bool_
from tfteach.framework.op_traits import Flow

_TYPE = ("type", bool_)


def task_of(device: Device) -> str:
    """The name of a device's task."""
    return device.name.partition("/device:")[0]


def sources_of(node: ExecutedNode) -> list[str]:
    """The names of the nodes that a node takes values from, or waits for."""
    return [name.lstrip("^").partition(":")[0] for name in node.inputs]


def add_control_loops(graph: ExecutedGraph, step: Step) -> None:
    """Make each receive inside a loop run once per iteration.

    Args:
      graph: the parts of a step; it gets further nodes.
      step: the step.
    """
    if step.has_control_flow:
        _ControlLoops(graph, step).run()


class _Loop(NamedTuple):
    """A control loop of a device: its Merge outputs a value per iteration."""

    merge: str
    device: Device


class _ControlLoops:
    def __init__(self, graph: ExecutedGraph, step: Step) -> None:
        self.graph = graph
        self.by_name = {node.name: node for node in graph.nodes}
        self.frames = frames_of(step)
        self.conditions = {
            path: node
            for node, path in self.frames.items()
            if node.flow is Flow.LOOP_COND
        }
        self.sends = {
            node.transfer: node
            for node in graph.nodes
            if node.is_transfer and node.inputs
        }
        self.made: dict[tuple[Path, str], _Loop] = {}
        self.received: dict[str, Path] = {}  # the loops that a `_Recv` is in

    def run(self) -> None:
        for node in list(self.graph.nodes):
            if node.is_transfer and not node.inputs:
                send = self.sends[node.transfer]
                path = self.path_of(send)
                if path and task_of(send.device) != task_of(node.device):
                    loop = self.loop(path, node.device)
                    node.inputs = [f"^{loop.merge}"]
                    self.received[node.name] = path

        for node in self.graph.nodes:  # which grow: conditions are received, too
            self.follow_loops(node)

    def follow_loops(self, node: ExecutedNode) -> None:
        """Have a node wait for the iteration if it takes from its task's other devices.

        TensorFlow's workers cut these edges, and then let the `_Recv` wait instead.
        """
        paths: dict[Path, None] = {}
        for name in sources_of(node):
            source = self.by_name.get(name)
            if source is None or source.device is node.device:
                continue
            if task_of(source.device) == task_of(node.device):
                paths[self.path_of(source)] = None
        node.inputs += [f"^{self.loop(p, node.device).merge}" for p in paths if p]

    def path_of(self, node: ExecutedNode) -> Path:
        """The loops that contain a node's outputs."""
        if node.name in self.received:
            return self.received[node.name]
        if node.node is not None and node.node in self.frames:
            return path_behind(node.node, self.frames[node.node])
        source, *_ = (*sources_of(node), "")
        return self.path_of(self.by_name[source]) if source in self.by_name else ()

    def loop(self, path: Path, device: Device) -> _Loop:
        """The control loop on a device that follows the loop at `path`.

        Each device has its own: TensorFlow's workers divide their parts by device, and
        look for a control input of a `_Recv` on the device of that.
        """
        key = path, device.name
        if key in self.made:
            return self.made[key]
        around = self.loop(path[:-1], device) if path[:-1] else None
        graph, name = self.graph, f"_cloop{len(self.made)}_{path[-1]}"
        if around is None:
            start = graph.add(graph.numbered(name), "Const", device)
            start.attrs = {"dtype": _TYPE, "value": ("tensor", False)}
            outer = start.name
        else:
            outer = around.merge
        enter = graph.add(graph.numbered(name), "Enter", device)
        enter.inputs = [outer]
        enter.attrs = {
            "T": _TYPE,
            "frame_name": ("s", path[-1]),
            "is_constant": ("b", False),
            "parallel_iterations": ("i", 10),
        }
        merge = graph.add(graph.numbered(name), "Merge", device)
        switch = graph.add(graph.numbered(name), "Switch", device)
        again = graph.add(graph.numbered(name), "NextIteration", device)
        merge.inputs = [enter.name, again.name]
        merge.attrs = {"T": _TYPE, "N": ("i", 2)}
        switch.inputs = [merge.name, self.condition(path, device, merge.name)]
        again.inputs = [f"{switch.name}:1"]
        switch.attrs = again.attrs = {"T": _TYPE}
        found = self.made[key] = _Loop(merge.name, device)
        return found

    def condition(self, path: Path, device: Device, merge: str) -> str:
        """The name of the loop condition of `path`, available on a device's task."""
        (node,) = self.graph.of[self.conditions[path]]
        if task_of(node.device) == task_of(device):
            return node.name
        source = Source(node.name, 0, node.device)
        received = self.graph.transfer(source, source, device, bool_)
        self.graph.nodes[-1].inputs = [f"^{merge}"]
        return received.name
