"""Recording a run op by op, to step through it forward and backward.

The executor runs the step; an observer records the inputs and outputs of each op.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.program import Iterations, ValueObserver
from tfteach.engine.plan.step import Edge, Node
from tfteach.engine.session.fetches import Fetches
from tfteach.engine.session.unfolded import is_unfolded
from tfteach.engine.session.unfolded import unfolded as as_graph
from tfteach.explain.cluster_plan import label_of
from tfteach.explain.folding import folded_run
from tfteach.explain.function_bodies import function_scopes
from tfteach.explain.live_bytes import Alive
from tfteach.explain.recording import LoopRun, Recording, Step
from tfteach.explain.value_summary import (
    WHOLE,
    Seen,
    figures_of,
    is_array,
    kind_of,
    words_of,
)
from tfteach.framework.errors import OpError
from tfteach.framework.functions.body import Body
from tfteach.framework.graph import Graph
from tfteach.framework.op_traits import Flow
from tfteach.framework.type_aliases import FeedDict
from tfteach.framework.variable_cell import Cell
from tfteach.ops.core.identity_reshape import Identity

__all__ = ["LoopRun", "Recording", "Step", "record"]


MAX_BYTES = 64 << 20


MAX_STEPS = 100_000


When = Callable[..., Any]


def record(
    session: Any,
    fetches: Any,
    feed_dict: FeedDict | None = None,
    *,
    when: When | None = None,
    max_bytes: int = MAX_BYTES,
    max_steps: int = MAX_STEPS,
    unfolded: bool = False,
) -> Recording:
    """Run once and record every op.

    The run has its usual effects: variables change. Ops appear in the order in which
    the executor runs them; ops that were pruned, folded or merged have no step. An op
    that fails ends the recording, not the program.

    Functions that kernels call, such as those that datasets map over their elements,
    are recorded op by op, too: each call is an iteration of its scope. Elements that
    other threads prepare (`prefetch`, parallel calls) have no steps; `elements_of`
    shows them.

    Args:
      session: an open session.
      fetches: as for `session.run`.
      feed_dict: as for `session.run`.
      when: called as `when(step, *arrays)` after each op with its outputs (None for
        resources such as tables); if it returns True, the step is added to
        `Recording.stops`.
      max_bytes: the memory for copies of small arrays; beyond it only descriptions are
        kept.
      max_steps: the number of steps to record; further ones are only counted.
      unfolded: True to run every op, constants included, without the optimizer.

    Returns:
      A `Recording`.

    Raises:
      ValueError: as for `session.run`.
      TypeError: as for `session.run`.
      Exception: the exception that `when` raised, after the run has ended.

    Example:
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> loss = tf.reduce_sum(tf.log(x, name="log"), name="loss")
      >>> with tf.Session() as sess:
      ...     run = record(sess, loss, {x: [1.0, 0.0]})
      >>> print(run)
         0  log   Log  [ 0., -inf]
         1  loss  Sum  -∞
      >>> run.spoilers()
      [0]
    """
    unfolded = unfolded or is_unfolded()
    record = _Record(when, max_bytes, max_steps)
    recorder = _Recorder(record)
    functions = _FunctionCalls(record, session.graph)
    result, error = None, None
    try:
        with as_graph(unfolded):
            result = session.follow(
                fetches, feed_dict, [recorder], recorder.begin, functions.observers
            )
    except OpError as raised:
        error = raised
    if record.problem is not None:
        raise record.problem
    failed = None
    if error is not None:
        failed = functions.running() or recorder.running()
    return Recording(
        record.steps,
        result,
        error,
        graph=session.graph,
        fetches=_names_in(session.graph, fetches),
        fed=tuple(recorder.fed.values()),
        functions=functions.scopes,
        failed=failed,
        stops=record.stops,
        dropped=record.dropped,
        missed=record.missed,
        folded=folded_run(session, fetches, feed_dict, unfolded),
        unfolded=unfolded,
    )


def _names_in(graph: Graph, fetches: Any) -> list[str]:
    return [element.name for element in Fetches(graph, fetches).elements]


class _Record:
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
                if self.when(step, *map(_array_of, results)):
                    self.stops.append(step.number)
            except Exception as problem:  # an error of `when`, not of the op
                self.problem = problem


class _FunctionCalls:
    """Recorders for the functions that kernels call, such as those of datasets.

    Their steps have the names that the functions' ops have in pictures; each call of a
    function is an iteration of its scope.
    """

    def __init__(self, record: _Record, graph: Graph) -> None:
        self._record, self._graph = record, graph
        self._scopes: dict[str, str] | None = None
        self._calls: Counter[str] = Counter()
        self._last: _Recorder | None = None

    def observers(self, body: Body) -> list[_Recorder]:
        """The observers of one call."""
        if self._scopes is None:
            self._scopes = function_scopes(self._graph.as_graph_def())
        scope = self._scopes.get(body.name, f"{body.name}/")
        number = self._calls[scope]
        self._calls[scope] += 1
        self._last = _Recorder(self._record, scope, ((scope[:-1], number),))
        return [self._last]

    @property
    def scopes(self) -> list[str]:
        """The scopes of the functions that were called."""
        return [scope[:-1] for scope in self._calls]

    def running(self) -> Step | None:
        """The op of a function that is running, as a step."""
        return None if self._last is None else self._last.running()


class _Recorder(ValueObserver):
    """An observer that records a run, or a call of a function.

    Args:
      record: to which it adds the steps.
      prefix: of the ops' names; "" for those of the graph.
      outer: the iterations around them.
    """

    def __init__(
        self, record: _Record, prefix: str = "", outer: Iterations = ()
    ) -> None:
        self.record = record
        self.fed: dict[str, Seen] = {}
        self._prefix, self._outer = prefix, outer
        # The latest value of each edge: (id of the array, its description).
        self._known: dict[Edge, tuple[int, Seen]] = {}
        self._passed: list[Seen] = []
        self._next: tuple[Node, Iterations, tuple[Seen, ...]] | None = None
        self._start_ns = 0

    def begin(self, fed: dict[Any, Any]) -> None:
        for name, value in fed.items():
            self.fed[name] = self._see(name, value)
            self.record.alive.leave(value)

    def takes(self, node: Node, values: Sequence[Any], iterations: Iterations) -> None:
        for value in values:
            if isinstance(value, Cell) and value.is_initialized:
                self.record.alive.leave(value.value)
        if self.record.is_full:
            return
        seen = []
        if len(values) == len(node.inputs):  # else an implicit read of a variable
            pairs = zip(node.inputs, values, strict=True)
            seen = [self._taken(edge, value) for edge, value in pairs]
        self._next = node, iterations, tuple(seen)

    def passes(self, node: Node, values: Sequence[Any], iterations: Iterations) -> None:
        if self.record.is_full:
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
                self.record.alive.add(value)
        elif not (isinstance(node.op.spec, Identity) or node.op.spec.reads_variable):
            return  # an implicit read; the op that it serves has its own step
        if self._next is None:
            self.record.missed += node.values is None
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
        self.record.add(step, results)

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
            len(self.record.steps),
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
            self.record.alive.size_bytes,
        )

    def _made(self, node: Node, index: int, value: Any) -> Seen:
        seen = self._see(self._prefix + node.op.outputs[index].name, value)
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
        seen = self._see(name, value) if made is None else made._replace(name=name)
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

    def _see(self, name: str, value: Any) -> Seen:
        if isinstance(value, Cell) and not value.is_initialized:
            return Seen(name, "", (), "uninitialized")
        array = _array_of(value)
        if array is None:
            return Seen(name, "resource", (), type(value).__name__)
        figures = figures_of(array)
        copy = None
        if array.size <= WHOLE:
            if array.nbytes <= self.record.room:
                self.record.room -= array.nbytes
                copy = array.copy()
            else:
                self.record.dropped += 1
        said = words_of(array, figures) if copy is None else ""
        return Seen(name, kind_of(array), array.shape, said, copy, figures)


def _array_of(value: Any) -> np.ndarray[Any, Any] | None:
    """The array of a value or variable, on the host; None if it is not an array."""
    if isinstance(value, Cell):
        value = value.value if value.is_initialized else None
    return np.asarray(to_host(value)) if is_array(value) else None
