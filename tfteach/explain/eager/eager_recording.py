"""Recording eager code: each op as a node of a graph and as a step."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from tfteach.autodiff.tape_gradients import RecordedTape
from tfteach.engine.eager.context import eager_graph, eager_mode, executing_eagerly
from tfteach.engine.eager.function_program import FunctionRun
from tfteach.engine.execute.program import Iterations
from tfteach.explain.building.user_loops import Frames, LoopTracker
from tfteach.explain.eager.eager_drawing import EagerDrawing
from tfteach.explain.eager.eager_steps import EagerSteps
from tfteach.explain.eager.eager_text import text_of
from tfteach.explain.steps.recording import Recording, Step
from tfteach.explain.steps.step_recorder import When
from tfteach.explain.steps.stepping import MAX_BYTES
from tfteach.framework.call_origin import (
    Origin,
    SourceLine,
    line_of,
    user_frame,
    user_frames,
)
from tfteach.framework.graph import Graph
from tfteach.framework.observers import OpRan
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import Traversal, tapes

__all__ = ["EagerRecording", "LineUse", "TapeUse", "record_eager"]

MOST_OPS = 2000

_LOOPS = re.compile(r"((for|while)_line_\d+(_\d+)?/iteration_\d+/)+")
_UNUSUAL = re.compile(r"[^\w.\-/]")


class TapeUse(NamedTuple):
    """A `GradientTape`, and what it recorded.

    Attributes:
      number: counts the tapes, from 1.
      ops: the names of the ops that it recorded, in order.
      gradients: the scopes of the ops that computed gradients from it, one for each
        call of `gradient`.
    """

    number: int
    ops: list[str]
    gradients: list[str]


class LineUse:
    """A line of eager code, and the ops that it ran.

    Attributes:
      source: the line.
      ops: their names, without those that were only counted.
      count: how many there were.
      elapsed_us: the execution time of all of them, in microseconds.
      tapes: the numbers of the tapes that recorded some of them.
      backward: how many of them computed gradients from a tape.
    """

    def __init__(self, source: SourceLine) -> None:
        self.source = source
        self.ops: list[str] = []
        self.count = self.backward = 0
        self.elapsed_us = 0.0
        self.tapes: list[int] = []

    def __repr__(self) -> str:
        return f"LineUse(line {self.source.line}, {self.count} ops)"


class EagerRecording:
    """The ops that code has run eagerly, until `close()`; `print` it for its lines.

    Each op is a node of a graph and a step of a recorded run. Iterations of Python's
    loops are scopes, such as `for_line_4/iteration_1`; ops that compute gradients from
    a tape are in scopes such as `gradients/MatMul_grad`. The call of a traced function
    is a node with the function's ops inside.

    Args:
      when: as for `tfteach.explain.record`.
      max_bytes: the memory for copies of small arrays; beyond it only descriptions are
        kept.
      max_ops: the number of ops to record; further ones are only counted.

    Attributes:
      ops_ran: the number of ops that ran.
      tapes: a `TapeUse` for each tape that recorded something.
      recorded_by: the name of an op -> the numbers of the tapes that recorded it.
      gradient_of: the name of an op that computes a gradient -> that of the op whose
        gradient it is; "" if it has none.

    Example:
      >>> with record_eager() as program:
      ...     y = tf.square(tf.constant(3.0), name="y")
      >>> print(program.run)
         0  y  Square  9
    """

    def __init__(
        self,
        when: When | None = None,
        max_bytes: int = MAX_BYTES,
        max_ops: int = MOST_OPS,
    ) -> None:
        self.ops_ran = 0
        self.tapes: list[TapeUse] = []
        self.recorded_by: dict[str, tuple[int, ...]] = {}
        self.gradient_of: dict[str, str] = {}
        self._drawing = EagerDrawing()
        self._steps = EagerSteps(when, max_bytes, max_ops)
        self._loops = LoopTracker()
        self._uses: WeakKeyDictionary[Any, TapeUse] = WeakKeyDictionary()
        self._lines: dict[tuple[str, int], LineUse] = {}
        self._traversals: list[tuple[Traversal, str]] = []
        self._error: BaseException | None = None
        self._failed: Step | None = None
        self._thread = threading.get_ident()
        self._subscription = eager_graph().observe(self._observe)

    # ---- what was recorded

    @property
    def graph(self) -> Graph:
        """A graph with a node for each op; it grows while code runs."""
        return self._drawing.graph

    @property
    def run(self) -> Recording:
        """The ops as a recorded run, for `StepView`."""
        log = self._steps.log
        return Recording(
            log.steps,
            error=self._error,
            graph=self.graph,
            failed=self._failed if self._error is not None else None,
            stops=log.stops,
            dropped=log.dropped,
            missed=log.missed,
        )

    @property
    def lines(self) -> list[LineUse]:
        """The lines that ran ops, in the order of their first ones."""
        return list(self._lines.values())

    def inner_lines(self) -> dict[str, SourceLine]:
        """The lines of the ops inside traced functions.

        Returns:
          A dict from the names of ops in the drawing to `SourceLine`s.
        """
        return self._drawing.inner_lines()

    def close(self, error: BaseException | None = None) -> None:
        """Stop recording. What was recorded remains available.

        Args:
          error: the exception that ended the code, or None.

        Raises:
          Exception: the exception that `when` raised, if the code had none.
        """
        self._subscription.close()
        self._error = error
        self._loops.close()
        self._traversals.clear()
        if error is None and self._steps.log.problem is not None:
            raise self._steps.log.problem

    def __str__(self) -> str:
        return text_of(self)

    # ---- recording

    def _observe(self, event: OpRan | FunctionRun) -> None:
        if threading.get_ident() != self._thread:
            return
        if isinstance(event, FunctionRun):
            self._function_runs(event)
        else:
            self._op_ran(event)

    def _op_ran(self, event: OpRan) -> None:
        op, origin = event.op, event.op._origin
        line = self._count(origin, event.elapsed_s)
        if self._steps.log.is_full:
            self._steps.log.missed += 1
            return
        frames = user_frames()
        name, iterations = self._place(event.name, frames)
        node = self._drawing.add(op, name, origin, [frame for frame, _ in frames])
        step = self._steps.made(node, iterations, op.inputs, event.elapsed_s)
        if event.error is not None:
            self._failed = step
            return
        self._steps.add(step, node, op.inputs, op.outputs)
        self._note(node, line, op.outputs)

    def _function_runs(self, event: FunctionRun) -> None:
        """A traced function is called: its ops follow, then it is complete."""
        origin, log = user_frame(), self._steps.log
        if log.is_full:
            event.at_end.append(lambda _, elapsed_s: self._skip(origin, elapsed_s))
            return
        frames = user_frames()
        name = event.graph.name.removeprefix("__")
        name, iterations = self._place(_UNUSUAL.sub("_", name), frames)
        users = [frame for frame, _ in frames]
        node = self._drawing.add_call(event.graph, event.inputs, name, origin, users)
        follower = self._steps.follower(node, iterations)
        event.followers.append(follower)

        def ended(outputs: Sequence[Tensor] | None, elapsed_s: float) -> None:
            line = self._count(origin, elapsed_s)
            step = self._steps.made(node, iterations, event.inputs, elapsed_s)
            if outputs is None:
                self._failed = follower.running() or step
                return
            self._drawing.complete(node, outputs)
            self._steps.add(step, node, event.inputs, outputs)
            # A tape records the call later, if it depends on what is watched.
            self._note(node, line, event.inputs)

        event.at_end.append(ended)

    def _skip(self, origin: Origin | None, elapsed_s: float) -> None:
        self._count(origin, elapsed_s)
        self._steps.log.missed += 1

    def _count(self, origin: Origin | None, elapsed_s: float) -> LineUse | None:
        self.ops_ran += 1
        if origin is None:
            return None
        source = line_of(origin)
        line = self._lines.setdefault((source.file, source.line), LineUse(source))
        line.count += 1
        line.elapsed_us += elapsed_s * 1e6
        line.backward += tapes.backward is not None
        return line

    def _place(self, name: str, frames: Frames) -> tuple[str, Iterations]:
        """The full name of an op in the drawing, and the loops that it is in."""
        iterations, scope = [], ""
        for loop in self._loops.at_call(frames):
            if not loop.scope:
                loop.scope = self._drawing.new_scope(scope + loop.loop.name)
            iterations.append((loop.scope.rpartition("/")[2], loop.iteration))
            scope = f"{loop.scope}/iteration_{loop.iteration + 1}/"
        if tapes.backward is None:
            self._traversals.clear()
        else:
            scope = self._gradient_scope(tapes.backward, scope)
        return scope + name, tuple(iterations)

    def _gradient_scope(self, traversal: Traversal, scope: str) -> str:
        """The scope of the gradient that is computed now."""
        found = next((name for t, name in self._traversals if t is traversal), None)
        if found is None:
            found = self._drawing.new_scope(f"{scope}gradients")
            self._traversals.append((traversal, found))
            if traversal.tape in self._uses:
                self._uses[traversal.tape].gradients.append(found)
        forward = _LOOPS.sub("", self._forward(traversal))
        return f"{found}/{forward}_grad/" if forward else f"{found}/"

    def _forward(self, traversal: Traversal) -> str:
        """The name of the op whose gradient is computed; "" if it is not drawn."""
        drawn = [self._drawing.drawn(tensor) for tensor in traversal.results[:1]]
        return drawn[0].op.name if drawn and drawn[0] is not None else ""

    def _note(
        self, node: Operation, line: LineUse | None, tensors: Sequence[Tensor]
    ) -> None:
        """Note which tapes recorded an op, and whose gradient it computes."""
        if line is not None:
            line.ops.append(node.name)
        if tapes.backward is not None:
            self.gradient_of[node.name] = self._forward(tapes.backward)
        recording = [t for t in tapes.active if isinstance(t, RecordedTape)]
        numbers = []
        for tape in [t for t in recording if t.depends(tensors)]:
            use = self._uses.get(tape)
            if use is None:
                use = self._uses[tape] = TapeUse(len(self.tapes) + 1, [], [])
                self.tapes.append(use)
            use.ops.append(node.name)
            numbers.append(use.number)
        if numbers:
            self.recorded_by[node.name] = tuple(numbers)
            if line is not None:
                line.tapes += [n for n in numbers if n not in line.tapes]


@contextmanager
def record_eager(
    when: When | None = None,
    *,
    max_bytes: int = MAX_BYTES,
    max_ops: int = MOST_OPS,
) -> Iterator[EagerRecording]:
    """Run a `with` block eagerly, also in a program of graphs, and record its ops.

    An exception ends the block as usual; what ran before it is recorded.

    Args:
      when: as for `tfteach.explain.record`.
      max_bytes: as for `EagerRecording`.
      max_ops: as for `EagerRecording`.

    Returns:
      A context manager; `with` assigns an `EagerRecording`, which is closed at the end
      of the block.

    Example:
      >>> with record_eager() as program:
      ...     x = tf.constant(3.0)
      ...     with tf.GradientTape() as tape:
      ...         tape.watch(x)
      ...         y = tf.square(x, name="y")
      ...     dy_dx = tape.gradient(y, x)
      >>> program.tapes[0].ops
      ['y']
      >>> program.tapes[0].gradients
      ['gradients']
    """
    recording = EagerRecording(when, max_bytes, max_ops)
    try:
        with nullcontext() if executing_eagerly() else eager_mode():
            yield recording
    except BaseException as error:
        recording.close(error)
        raise
    recording.close()
