"""What code that runs eagerly adds to a graph, iteration by iteration: nothing.

The counterpart of `growth`, for a loop of eager code beside the same loop in a graph.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from textwrap import wrap
from typing import Any, Literal, NamedTuple

from tfteach.engine.eager.context import eager_graph, eager_mode, executing_eagerly
from tfteach.engine.eager.function_program import FunctionRun
from tfteach.explain.building.growth import Growth
from tfteach.explain.building.lazy_loading import Place, in_file
from tfteach.explain.building.user_loops import LoopTracker, OpenLoop
from tfteach.explain.graphs.large_constants import size_text
from tfteach.framework.call_origin import SourceLine, line_of, user_frame, user_frames
from tfteach.framework.observers import OpRan
from tfteach.framework.operation import Tensor
from tfteach.framework.variable_cell import Cell

__all__ = ["EagerGrowth", "EagerVerdict", "Held", "LoopUse", "watch_eager"]

MOST_LINES = 5  # listed individually
LEAST_ITERATIONS = 3  # of which each has kept a tensor


class Held(NamedTuple):
    """The tensors and variables in use at a time: Python refers to them.

    Attributes:
      tensors: how many.
      size_bytes: the memory of their values, each counted for itself.
    """

    tensors: int
    size_bytes: int

    def plus(self, tensors: int, size_bytes: int) -> Held:
        """With these in addition.

        Args:
          tensors: how many more; negative for fewer.
          size_bytes: the memory of their values.

        Returns:
          A `Held`.
        """
        return Held(self.tensors + tensors, self.size_bytes + size_bytes)

    def __str__(self) -> str:
        if not self.tensors:
            return "no tensor"
        return f"{_count(self.tensors, 'tensor')} ({size_text(self.size_bytes)})"


class LoopUse:
    """A loop of Python code that has run ops eagerly.

    Attributes:
      source: the line of its `for` or `while`.
      iterations: the number of iterations that ran an op.
      ops: the number of ops that ran in them; a call of a traced function is one.
      first, last: the tensors that were held after the first and the last iteration;
        None before the first has ended.
    """

    def __init__(self, source: SourceLine) -> None:
        self.source = source
        self.iterations = self.ops = 0
        self.first: Held | None = None
        self.last: Held | None = None

    @property
    def pace(self) -> str:
        """How many ops an iteration runs, such as "2 ops"."""
        each = self.ops / max(1, self.iterations)
        if each == round(each):
            return _count(round(each), "op")
        return f"about {each:.1f} ops"

    @property
    def holds(self) -> bool:
        """Whether each iteration has left another tensor behind."""
        if self.first is None or self.last is None:
            return False
        more = self.last.tensors - self.first.tensors
        return self.iterations >= LEAST_ITERATIONS and more >= self.iterations - 1


class EagerVerdict(NamedTuple):
    """What a loop of eager code leaves behind; `print` it.

    Attributes:
      kind: "eager": nothing grows. "held": no graph grows, but Python keeps tensors of
        each iteration.
      loop: the loop that ran most iterations, or the one that keeps tensors; None
        without a loop.
      ops: the number of ops that ran.
      added: the number of nodes that they added to a graph.
    """

    kind: Literal["eager", "held"]
    loop: LoopUse | None
    ops: int
    added: int

    @property
    def is_lazy(self) -> bool:
        """False: nothing was built, so nothing was built again."""
        return False

    @property
    def lines(self) -> tuple[()]:
        """No line adds to a graph."""
        return ()

    def headline(self, place: Place | None = None) -> str:
        """The verdict in one sentence.

        Args:
          place: formats a source line, for instance as "In [3] line 4".

        Returns:
          A string.
        """
        loop = self.loop
        if not self.ops:
            return "No op ran eagerly."
        if loop is None:
            ran = f"{_count(self.ops, 'op')} ran at once"
            return f"{ran}, and added {_count(self.added, 'node')} to a graph."
        at = (place or in_file)(loop.source)
        times = "once" if loop.iterations == 1 else f"{loop.iterations:,} times"
        return (
            f"The loop at {at} ran {times}, {loop.pace} each time, and added "
            f"{_count(self.added, 'node')} to a graph."
        )

    def fix(self, place: Place | None = None) -> str:
        """What is kept, and what to change about it.

        Args:
          place: as for `headline`.

        Returns:
          A string of one line; "" without a loop.
        """
        loop = self.loop
        if loop is None or loop.first is None or loop.last is None:
            return ""
        if self.kind == "held":
            return (
                f"But Python keeps tensors of each iteration: {loop.first} in use "
                f"after the first, {loop.last} after the last. Keep numbers, such as "
                "`float(loss)`, or only what is needed later."
            )
        if loop.first == loop.last:
            return f"Memory is flat: {loop.first} in use after each iteration."
        return (
            f"In use after the first iteration: {loop.first}; after the last: "
            f"{loop.last}."
        )

    def __str__(self) -> str:
        return "\n".join(part for part in (self.headline(), self.fix()) if part)


class EagerGrowth(Growth):
    """Counts what code runs eagerly, until `close()`; `print` it for the verdict.

    As a `Growth`, which `GrowthView` draws, it has the nodes of the graph that stands
    for eager execution, to which nothing is ever added; an iteration of a Python loop
    counts as a run.

    Attributes:
      ops_ran: the number of ops that ran; a call of a traced function is one.

    Example:
      >>> with watch_eager() as growth:
      ...     for _ in range(3):
      ...         z = tf.add(1.0, 2.0)
      >>> growth.runs, growth.ops_ran, growth.ops_after
      (3, 3, 0)
    """

    def __init__(self) -> None:
        self.ops_ran = 0
        self._computed = Held(0, 0)  # without variables
        self._variables: weakref.WeakSet[Tensor] = weakref.WeakSet()  # their handles
        self._tracker = LoopTracker()
        self._loops: dict[tuple[str, int], LoopUse] = {}
        self._at: weakref.WeakKeyDictionary[OpenLoop, int]
        self._at = weakref.WeakKeyDictionary()
        self._innermost_at: weakref.WeakKeyDictionary[OpenLoop, int]
        self._innermost_at = weakref.WeakKeyDictionary()
        self._open: list[LoopUse] = []  # the loops around the last op
        self._lines: dict[tuple[str, int], tuple[SourceLine, int]] = {}
        self._references: set[weakref.ref[Tensor]] = set()
        self._thread = threading.get_ident()
        # Loops around the recording are none that it sees.
        self._around = tuple(self._tracker.at_call(user_frames()))
        super().__init__(eager_graph())

    @property
    def held(self) -> Held:
        """The tensors and variables in use now, of those that these ops returned."""
        cells = [handle.value for handle in self._variables]  # type: ignore[attr-defined]
        sizes = [cell.value.nbytes for cell in cells if cell.is_initialized]
        return self._computed.plus(len(cells), sum(sizes))

    @property
    def loops(self) -> list[LoopUse]:
        """The loops that ran ops, in the order of their first ones."""
        return [loop for loop in self._loops.values() if loop.iterations]

    @property
    def lines(self) -> list[tuple[SourceLine, int]]:
        """The lines that ran ops, each with their number, the largest first."""
        return sorted(self._lines.values(), key=lambda item: -item[1])

    @property
    def is_judged(self) -> bool:
        """True: that nothing grows needs no run."""
        return True

    @property
    def verdict(self) -> EagerVerdict:  # type: ignore[override]
        """Does anything grow with the iterations, and where."""
        added = self.ops_after - self.ops_before
        holding = [loop for loop in self.loops if loop.holds]
        found = holding or self.loops
        loop = max(found, key=lambda use: use.iterations) if found else None
        return EagerVerdict("held" if holding else "eager", loop, self.ops_ran, added)

    def close(self) -> None:
        """Stop recording. What was recorded remains available."""
        if self.is_open:
            self._tracker.close()  # its frames refer to tensors
            self._leave(self._open)
            self._open = []
        super().close()
        self._references.clear()

    def text(self, place: Place | None = None) -> str:
        """The numbers, the verdict and the lines.

        Args:
          place: formats a source line.
        """
        place = place or in_file
        verdict = self.verdict
        ran = f"{_count(self.ops_ran, 'op')} ran eagerly"
        if self.runs:
            ran += f" in {_count(self.runs, 'iteration')}"
        said = [ran, *wrap(verdict.headline(place), 79)]
        for source, count in self.lines[:MOST_LINES]:
            said.append(f"  {count:>5}  {place(source)}: {source.text}")
        if len(self.lines) > MOST_LINES:
            said.append(f"  and {len(self.lines) - MOST_LINES} lines more")
        return "\n".join([*said, *wrap(verdict.fix(place), 79)])

    # ---- recording

    def note(self, event: OpRan | FunctionRun) -> None:  # type: ignore[override]
        """Count an op that has run, or the call of a traced function.

        Args:
          event: what runs.
        """
        if threading.get_ident() != self._thread:
            return
        self.ops_ran += 1
        origin = user_frame()
        if origin is not None:
            line = line_of(origin)
            first, count = self._lines.get(line[:2], (line, 0))
            self._lines[line[:2]] = first, count + 1
        found = self._tracker.at_call(user_frames())
        loops = [loop for loop in found if loop not in self._around]
        uses = [self._use(open_loop) for open_loop in loops]
        self._leave([use for use in self._open if use not in uses])
        self._open = uses
        for open_loop, use in zip(loops, uses, strict=True):
            if not open_loop.asks and self._at.get(open_loop) != open_loop.iteration:
                if open_loop in self._at:
                    self._leave([use])
                self._at[open_loop] = open_loop.iteration
                use.iterations += 1
            use.ops += 1
        inner = loops[-1] if loops and not loops[-1].asks else None
        if inner is not None and self._innermost_at.get(inner) != inner.iteration:
            self._innermost_at[inner] = inner.iteration
            self._recorded.append((self.graph.version, origin))
        if isinstance(event, OpRan):
            self._hold(event.op.outputs)
        else:
            event.at_end.append(lambda outputs, _: self._hold(outputs or ()))

    def _use(self, open_loop: OpenLoop) -> LoopUse:
        loop = open_loop.loop
        key = loop.file, loop.line
        if key not in self._loops:
            self._loops[key] = LoopUse(SourceLine(loop.file, loop.line, ""))
        return self._loops[key]

    def _leave(self, uses: Sequence[LoopUse]) -> None:
        """An iteration of these loops has ended."""
        held = self.held if uses else None
        for use in uses:
            use.last = held
            if use.first is None:
                use.first = held

    def _hold(self, tensors: Sequence[Tensor]) -> None:
        """Count tensors for as long as Python refers to them."""
        for tensor in tensors:
            value = getattr(tensor, "value", None)
            if isinstance(value, Cell):
                self._variables.add(tensor)
                continue
            size = int(getattr(value, "nbytes", 0))

            def ended(reference: Any, size: int = size) -> None:
                self._references.discard(reference)
                self._computed = self._computed.plus(-1, -size)

            self._references.add(weakref.ref(tensor, ended))
            self._computed = self._computed.plus(1, size)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@contextmanager
def watch_eager() -> Iterator[EagerGrowth]:
    """Count what a `with` block runs eagerly, also in a program of graphs.

    Returns:
      A context manager; `with` assigns an `EagerGrowth`, which is closed at the end of
      the block.

    Example:
      >>> with watch_eager() as growth:
      ...     x = tf.constant(1.0)
      ...     for _ in range(3):
      ...         x = tf.sqrt(x)
      >>> print(growth.verdict.headline())
      The loop at line 3 ran 3 times, 1 op each time, and added 0 nodes to a graph.
    """
    growth = EagerGrowth()
    try:
        with nullcontext() if executing_eagerly() else eager_mode():
            yield growth
    finally:
        growth.close()
