"""Recorders of steps: of a run, of functions that it calls, of ops that run eagerly."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.program import Iterations, ValueObserver
from tfteach.engine.plan.step import Edge, Node
from tfteach.explain.profiling.live_bytes import Alive
from tfteach.explain.runs.cluster_plan import label_of
from tfteach.explain.steps.recording import Step
from tfteach.explain.steps.value_summary import (
    WHOLE,
    Seen,
    figures_of,
    is_array,
    kind_of,
    words_of,
)
from tfteach.framework.op_traits import Flow
from tfteach.framework.variable_cell import Cell
from tfteach.ops.core.identity_reshape import Identity

When = Callable[..., Any]


class StepLog:
    """What the recorders of a run, and of the functions it calls, have in common.

    Args:
      when: as for `record`.
      room: the bytes left for copies of arrays.
      most: the number of steps to record.
    """

    def __init__(self, when: When | None, room: int, most: int) -> None:
        self.when, self.room, self.most = when, room, most
        self.steps: list[Step] = []
        self.stops: list[int] = []
        self.dropped = self.missed = 0
        self.problem: Exception | None = None
        self.alive = Alive()

    @property
    def is_full(self) -> bool:
        """Whether there are as many steps as are recorded."""
        return len(self.steps) >= self.most

    def add(self, step: Step, results: Sequence[Any]) -> None:
        """Record a step; ask `when` whether to stop there."""
        self.steps.append(step)
        if self.when is not None and self.problem is None:
            try:
                if self.when(step, *map(array_of, results)):
                    self.stops.append(step.number)
            except Exception as problem:  # an error of `when`, not of the op
                self.problem = problem

    def see(self, name: str, value: Any) -> Seen:
        """The description of a value, with a copy if it is small."""
        if isinstance(value, Cell) and not value.is_initialized:
            return Seen(name, "", (), "uninitialized")
        array = array_of(value)
        if array is None:
            return Seen(name, "resource", (), type(value).__name__)
        figures = figures_of(array)
        copy = None
        if array.size <= WHOLE:
            if array.nbytes <= self.room:
                self.room -= array.nbytes
                copy = array.copy()
            else:
                self.dropped += 1
        said = words_of(array, figures) if copy is None else ""
        return Seen(name, kind_of(array), array.shape, said, copy, figures)


class StepRecorder(ValueObserver):
    """An observer that records a run, or a call of a function.

    Args:
      log: to which it adds the steps.
      prefix: of the ops' names; "" for those of the graph.
      outer: the iterations around them.
    """

    def __init__(self, log: StepLog, prefix: str = "", outer: Iterations = ()) -> None:
        self.log = log
        self.fed: dict[str, Seen] = {}
        self._prefix, self._outer = prefix, outer
        # The latest value of each edge: (id of the array, its description).
        self._known: dict[Edge, tuple[int, Seen]] = {}
        self._passed: list[Seen] = []
        self._next: tuple[Node, Iterations, tuple[Seen, ...]] | None = None
        self._start_ns = 0

    def begin(self, fed: dict[Any, Any]) -> None:
        for name, value in fed.items():
            self.fed[name] = self.log.see(name, value)
            self.log.alive.leave(value)

    def takes(self, node: Node, values: Sequence[Any], iterations: Iterations) -> None:
        for value in values:
            if isinstance(value, Cell) and value.is_initialized:
                self.log.alive.leave(value.value)
        if self.log.is_full:
            return
        seen = []
        if len(values) == len(node.inputs):  # else an implicit read of a variable
            pairs = zip(node.inputs, values, strict=True)
            seen = [self._taken(edge, value) for edge, value in pairs]
        self._next = node, iterations, tuple(seen)

    def passes(self, node: Node, values: Sequence[Any], iterations: Iterations) -> None:
        if self.log.is_full:
            return
        for i, value in enumerate(values[: len(node.op.outputs)]):
            if value is not None:
                self._passed.append(self._handed(node, i, value))

    def before(self, instruction: Instruction) -> None:
        self._start_ns = time.perf_counter_ns()

    def after(self, instruction: Instruction, results: Sequence[Any]) -> None:
        elapsed_us = (time.perf_counter_ns() - self._start_ns) / 1000
        node = instruction.node
        if not instruction.is_read and not node.op.spec.reads_variable:
            for value in results:
                self.log.alive.add(value)
        elif not (isinstance(node.op.spec, Identity) or node.op.spec.reads_variable):
            return  # an implicit read; the op that it serves has its own step
        if self._next is None:
            self.log.missed += node.values is None
            return
        made = [self._made(node, i, v) for i, v in enumerate(results)]
        if node.values is not None:  # a constant inside a loop
            self._passed += made
            self._next = None
            return
        step = self.running(tuple(made), elapsed_us)
        assert step is not None
        self._next = None
        self._passed = []
        self.log.add(step, results)

    def release(self, instruction: Instruction) -> None:
        return None

    def running(
        self, outputs: tuple[Seen, ...] = (), elapsed_us: float = 0.0
    ) -> Step | None:
        """The op that is running, as a step."""
        if self._next is None:
            return None
        node, iterations, inputs = self._next
        return Step(
            len(self.log.steps),
            self._prefix + node.op.name,
            node.op.type,
            (
                *self._outer,
                *(
                    (self._prefix + (name.rpartition("/")[0] or name), iteration)
                    for name, iteration in iterations
                ),
            ),
            inputs,
            outputs,
            tuple(self._passed),
            label_of(node.device.name),
            elapsed_us,
            self.log.alive.size_bytes,
        )

    def _made(self, node: Node, index: int, value: Any) -> Seen:
        seen = self.log.see(self._prefix + node.op.outputs[index].name, value)
        self._known[Edge(node, index)] = id(value), seen
        return seen

    def _handed(self, node: Node, index: int, value: Any) -> Seen:
        """The same value under another name; equal statistics identify it."""
        is_merge = node.flow is Flow.MERGE
        for edge in node.inputs if is_merge else node.inputs[:1]:  # a Switch's data
            known = self._known.get(edge)
            if edge.node.is_feed and not is_merge:  # fed arrays arrive as copies
                known = id(value), self._taken(edge, value)
            if known is not None and known[0] == id(value):
                name = self._prefix + node.op.outputs[index].name
                seen = known[1]._replace(name=name)
                self._known[Edge(node, index)] = id(value), seen
                return seen
        return self._made(node, index, value)

    def _taken(self, edge: Edge, value: Any) -> Seen:
        known = self._known.get(edge)
        if known is not None and known[0] == id(value) and not isinstance(value, Cell):
            return known[1]
        name = self._prefix + edge.node.op.outputs[max(0, edge.index)].name
        if edge.node.is_feed and name in self.fed:
            return self.fed[name]
        made = self._behind(edge, value)
        seen = self.log.see(name, value) if made is None else made._replace(name=name)
        self._known[edge] = id(value), seen
        return seen

    def _behind(self, edge: Edge, value: Any) -> Seen | None:
        """The value behind an Identity that was reduced to an alias of its input."""
        while not edge.node.is_feed and edge.node.forwards_input:
            if not edge.node.inputs:  # a constant, the same in every run
                return None
            edge = edge.node.inputs[0]
            known = self._known.get(edge)
            if known is not None and known[0] == id(value):
                return known[1]
        return None


def array_of(value: Any) -> np.ndarray[Any, Any] | None:
    """The array of a value or variable, on the host; None if it is not an array."""
    if isinstance(value, Cell):
        value = value.value if value.is_initialized else None
    return np.asarray(to_host(value)) if is_array(value) else None
