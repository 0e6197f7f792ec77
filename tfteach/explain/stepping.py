"""Recording a run op by op, to step through it forward and backward.

The executor runs the step; an observer records the inputs and outputs of each op.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.program import Turns, ValueObserver
from tfteach.engine.plan.step import Edge, Node
from tfteach.engine.session.fetches import Fetches
from tfteach.explain.live_bytes import Alive
from tfteach.explain.placement import label_of
from tfteach.explain.value_summary import (
    WHOLE,
    Seen,
    figures_of,
    is_array,
    kind_of,
    words_of,
)
from tfteach.framework.errors import OpError
from tfteach.framework.graph import Graph
from tfteach.framework.op import op_class
from tfteach.framework.op_traits import Flow
from tfteach.framework.type_aliases import FeedDict
from tfteach.framework.variable_cell import Cell
from tfteach.ops.core.identity_reshape import Identity

__all__ = ["LoopRun", "Recording", "Step", "record"]

MAX_BYTES = 64 << 20
MAX_STEPS = 100_000
MOST_LINES = 200


class Step(NamedTuple):
    """One op of a recorded run; `print` it for its values.

    Attributes:
      number: its position in the run, from 0.
      op: the op's name.
      op_type: the op's type.
      turns: (frame name, iteration) of each enclosing loop, outermost first; iterations
        count from 0.
      inputs: a `Seen` for each input.
      outputs: a `Seen` for each output.
      passed: the values that Switch, Merge, Enter, Exit and NextIteration forwarded
        just before.
      device: the short name of the device, such as "CPU:0".
      elapsed_us: the execution time in microseconds.
      live_bytes: the size of all arrays that the run has created and not released,
        inputs included.
    """

    number: int
    op: str
    op_type: str
    turns: Turns
    inputs: tuple[Seen, ...]
    outputs: tuple[Seen, ...]
    passed: tuple[Seen, ...]
    device: str
    elapsed_us: float
    live_bytes: int

    @property
    def turn(self) -> int:
        """The iteration of the innermost loop; 0 outside loops."""
        return self.turns[-1][1] if self.turns else 0

    def __str__(self) -> str:
        lines = [
            f"step {self.number}: {_title(self)}, {self.op_type} on {self.device}, "
            f"{self.elapsed_us:.0f} us, {show_bytes(self.live_bytes)} alive"
        ]
        lines += [f"  takes {seen}" for seen in self.inputs]
        lines += [f"  gives {seen}" for seen in self.outputs]
        return "\n".join(lines)


class LoopRun(NamedTuple):
    """One execution of a loop.

    Attributes:
      name: the frame name of the loop.
      outer: (frame name, iteration) of each enclosing loop.
      starts: the number of the first step of each iteration; the last iteration may
        consist of the condition only.
      last: the number of the last step.
      times: the number of times the body ran.
    """

    name: str
    outer: Turns
    starts: tuple[int, ...]
    last: int
    times: int


class Recording(Sequence[Step]):
    """A recorded run: a sequence of `Step`s; `print` it for a table.

    Attributes:
      steps: the `Step`s, in order of execution.
      result: the return value of the run; None if it failed.
      error: the exception that ended the run, or None.
      failed: the `Step` that raised it, with its inputs, or None.
      graph: the graph.
      fetches: the names of the fetches.
      fed: a `Seen` for each fed tensor.
      stops: the numbers of the steps for which `when` was true.
      dropped: the number of small arrays that were not kept because `max_bytes` was
        reached.
      missed: the number of steps that were not recorded because `max_steps` was
        reached.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        result: Any = None,
        error: BaseException | None = None,
        *,
        graph: Graph,
        fetches: Sequence[str] = (),
        fed: Sequence[Seen] = (),
        failed: Step | None = None,
        stops: Sequence[int] = (),
        dropped: int = 0,
        missed: int = 0,
    ) -> None:
        self.steps = tuple(steps)
        self.result = result
        self.error = error
        self.graph = graph
        self.fetches, self.fed = tuple(fetches), tuple(fed)
        self.failed = failed
        self.stops = tuple(stops)
        self.dropped = dropped
        self.missed = missed

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        return self.steps[index]

    def loops(self) -> list[LoopRun]:
        """The executions of loops, in the order in which they began.

        Returns:
          A list of `LoopRun`.
        """
        starts: dict[tuple[Turns, str], dict[int, int]] = {}
        last: dict[tuple[Turns, str], int] = {}
        goes_on: dict[tuple[Turns, str], bool] = {}
        for step in self.steps:
            for depth, (name, turn) in enumerate(step.turns):
                key = step.turns[:depth], name
                starts.setdefault(key, {}).setdefault(turn, step.number)
                last[key] = step.number
            if (
                op_class(step.op_type).flow is Flow.LOOP_COND
                and step.outputs[0].array is not None
            ):
                key = step.turns[:-1], step.turns[-1][0]
                goes_on[key] = bool(step.outputs[0].array)
        return [
            LoopRun(
                key[1],
                key[0],
                tuple(turns[turn] for turn in sorted(turns)),
                last[key],
                len(turns) - (not goes_on.get(key, True)),
            )
            for key, turns in starts.items()
        ]

    def values_at(self, number: int) -> dict[str, Seen]:
        """The latest value of every tensor that is known after a step.

        Args:
          number: the number of the step.

        Returns:
          A dict from tensor names to `Seen`.
        """
        known = {seen.name: seen for seen in self.fed}
        for step in self.steps[: number + 1]:
            for seen in (*step.passed, *step.inputs, *step.outputs):
                known[seen.name] = seen
        return known

    def breakpoints(
        self,
        *patterns: str,
        nan: bool = False,
        when: Callable[[Step], bool] | None = None,
    ) -> list[int]:
        """Find the steps at which to stop.

        Args:
          patterns: names of ops; * matches any part, as in "layer1/*".
          nan: also match steps that produce a NaN from inputs without NaN, or an
            infinity from finite inputs.
          when: also match steps for which this function of a `Step` returns True.

        Returns:
          A list of step numbers, ascending.
        """
        return [
            step.number
            for step in self.steps
            if any(fnmatch.fnmatchcase(step.op, pattern) for pattern in patterns)
            or (nan and _spoils(step))
            or (when is not None and when(step))
        ]

    def after(self, number: int, breakpoints: Sequence[int]) -> int | None:
        """The next breakpoint after a step.

        Args:
          number: the number of the step.
          breakpoints: step numbers, as from `breakpoints`.

        Returns:
          A step number, or None if there is none.
        """
        return next((b for b in sorted(breakpoints) if b > number), None)

    def before(self, number: int, breakpoints: Sequence[int]) -> int | None:
        """The last breakpoint before a step.

        Args:
          number: the number of the step.
          breakpoints: step numbers, as from `breakpoints`.

        Returns:
          A step number, or None if there is none.
        """
        return next((b for b in sorted(breakpoints, reverse=True) if b < number), None)

    def spoilers(self) -> list[int]:
        """The steps where a NaN or an infinity originates: `breakpoints(nan=True)`.

        Returns:
          A list of step numbers, ascending.
        """
        return self.breakpoints(nan=True)

    def where_it_failed(self) -> str:
        """The exception that ended the run, with its op and first line.

        Returns:
          A string; "" if the run succeeded.
        """
        if self.error is None:
            return ""
        where = "" if self.failed is None else f" at {_title(self.failed)}"
        words = str(getattr(self.error, "message", self.error)).partition("\n")[0]
        return f"ended by {type(self.error).__name__}{where}: {words}"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, most: int = MOST_LINES, marked: Sequence[int] = ()) -> str:
        """A table of the steps.

        Args:
          most: the number of lines; of a longer run the beginning, the end, and the
            surroundings of marked steps are shown.
          marked: numbers of steps to mark.

        Returns:
          A string of several lines.
        """
        shown = self._shown(most, marked)
        width = max((len(_title(self[n])) for n in shown), default=2)
        kind = max((len(self[n].op_type) for n in shown), default=4)
        lines = []
        before = -1
        for number in shown:
            if number > before + 1:
                lines.append(f"      ... {number - before - 1} steps")
            before = number
            step = self[number]
            made = "; ".join(seen.text for seen in step.outputs)
            mark = ">" if number in marked else " "
            lines.append(
                f"{mark}{number:>4}  {_title(step):<{width}}  "
                f"{step.op_type:<{kind}}  {made}".rstrip()
            )
        if len(self) > before + 1:
            lines.append(f"      ... {len(self) - before - 1} steps")
        if self.missed:
            lines.append(f"      {self.missed} more steps were not recorded")
        if self.error is not None:
            lines.append(f"      {self.where_it_failed()}")
        if self.dropped:
            lines.append(f"      {self.dropped} values were not kept: memory limit")
        return "\n".join(lines)

    def _shown(self, most: int, marked: Sequence[int]) -> list[int]:
        if len(self) <= most:
            return list(range(len(self)))
        found: dict[int, None] = {}
        around = [n + i for n in sorted(marked)[: most // 20] for i in range(-4, 3)]
        for number in (*around, *range(most // 4), *range(len(self) - 4, len(self))):
            found[number] = None
        for number in range(len(self)):
            if len(found) >= most:
                break
            found[number] = None
        return sorted(n for n in found if 0 <= n < len(self))


When = Callable[..., Any]


def record(
    session: Any,
    fetches: Any,
    feed_dict: FeedDict | None = None,
    *,
    when: When | None = None,
    max_bytes: int = MAX_BYTES,
    max_steps: int = MAX_STEPS,
) -> Recording:
    """Run once and record every op.

    The run has its usual effects: variables change. Ops appear in the order in which
    the executor runs them; ops that were pruned, folded or merged have no step. An op
    that fails ends the recording, not the program.

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
    recorder = _Recorder(when, max_bytes, max_steps)
    result, error = None, None
    try:
        result = session.follow(fetches, feed_dict, [recorder], recorder.begin)
    except OpError as raised:
        error = raised
    if recorder.problem is not None:
        raise recorder.problem
    return Recording(
        recorder.steps,
        result,
        error,
        graph=session.graph,
        fetches=_names_in(session.graph, fetches),
        fed=tuple(recorder.fed.values()),
        failed=None if error is None else recorder.running(),
        stops=recorder.stops,
        dropped=recorder.dropped,
        missed=recorder.missed,
    )


def _names_in(graph: Graph, fetches: Any) -> list[str]:
    return [element.name for element in Fetches(graph, fetches).elements]


class _Recorder(ValueObserver):
    """An observer that records a run."""

    def __init__(self, when: When | None, max_bytes: int, max_steps: int) -> None:
        self.steps: list[Step] = []
        self.stops: list[int] = []
        self.fed: dict[str, Seen] = {}
        self.dropped = self.missed = 0
        self.problem: Exception | None = None
        self._when = when
        self._room = max_bytes
        self._most = max_steps
        # The latest value of each edge: (id of the array, its description).
        self._known: dict[Edge, tuple[int, Seen]] = {}
        self._passed: list[Seen] = []
        self._alive = Alive()
        self._next: tuple[Node, Turns, tuple[Seen, ...]] | None = None
        self._start_ns = 0

    def begin(self, fed: dict[Any, Any]) -> None:
        for name, value in fed.items():
            self.fed[name] = self._see(name, value)
            self._alive.leave(value)

    def takes(self, node: Node, values: Sequence[Any], turns: Turns) -> None:
        for value in values:
            if isinstance(value, Cell) and value.is_initialized:
                self._alive.leave(value.value)
        if len(self.steps) >= self._most:
            return
        seen = []
        if len(values) == len(node.inputs):  # else an implicit read of a variable
            pairs = zip(node.inputs, values, strict=True)
            seen = [self._taken(edge, value) for edge, value in pairs]
        self._next = node, turns, tuple(seen)

    def passes(self, node: Node, values: Sequence[Any], turns: Turns) -> None:
        if len(self.steps) >= self._most:
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
                self._alive.add(value)
        elif not (isinstance(node.op.spec, Identity) or node.op.spec.reads_variable):
            return  # an implicit read; the op that it serves has its own step
        if self._next is None:
            self.missed += node.values is None
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
        self.steps.append(step)
        if self._when is not None and self.problem is None:
            try:
                if self._when(step, *map(_array_of, results)):
                    self.stops.append(step.number)
            except Exception as problem:  # an error of `when`, not of the op
                self.problem = problem

    def release(self, instruction: Instruction) -> None:
        return None

    def running(
        self, outputs: tuple[Seen, ...] = (), elapsed_us: float = 0.0
    ) -> Step | None:
        """The op that is running, as a step."""
        if self._next is None:
            return None
        node, turns, inputs = self._next
        return Step(
            len(self.steps),
            node.op.name,
            node.op.type,
            tuple((name.rpartition("/")[0] or name, turn) for name, turn in turns),
            inputs,
            outputs,
            tuple(self._passed),
            label_of(node.device.name),
            elapsed_us,
            self._alive.size_bytes,
        )

    def _made(self, node: Node, index: int, value: Any) -> Seen:
        seen = self._see(node.op.outputs[index].name, value)
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
                seen = known[1]._replace(name=node.op.outputs[index].name)
                self._known[Edge(node, index)] = id(value), seen
                return seen
        return self._made(node, index, value)

    def _taken(self, edge: Edge, value: Any) -> Seen:
        known = self._known.get(edge)
        if known is not None and known[0] == id(value) and not isinstance(value, Cell):
            return known[1]
        name = edge.node.op.outputs[max(0, edge.index)].name
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
            if array.nbytes <= self._room:
                self._room -= array.nbytes
                copy = array.copy()
            else:
                self.dropped += 1
        said = words_of(array, figures) if copy is None else ""
        return Seen(name, kind_of(array), array.shape, said, copy, figures)


def _array_of(value: Any) -> np.ndarray[Any, Any] | None:
    """The array of a value or variable, on the host; None if it is not an array."""
    if isinstance(value, Cell):
        value = value.value if value.is_initialized else None
    return np.asarray(to_host(value)) if is_array(value) else None


def _title(step: Step) -> str:
    turns = ".".join(str(turn) for _, turn in step.turns)
    return f"{step.op} ({turns})" if turns else step.op


def _spoils(step: Step) -> bool:
    """True if a NaN or an infinity originates in this step."""
    if any(seen.nans for seen in step.outputs):
        return not any(seen.nans for seen in step.inputs)
    made = any(seen.infinities for seen in step.outputs)
    return made and all(seen.is_finite for seen in step.inputs)
