"""A run written down op by op, to be gone through forward and back.

The executor itself runs the step; an observer writes down what each op took and made.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.explain.placement import label_of
from tfteach.framework.errors import OpError
from tfteach.framework.resource import Cell
from tfteach.runtime.instruction import Instruction
from tfteach.runtime.ledger import show_bytes
from tfteach.runtime.step import Edge
from tfteach.runtime.xp import to_host

# Elements up to which a value is kept whole.
WHOLE = 1000
MAX_BYTES = 64 << 20
MOST_LINES = 200
_SHOWN = 6  # numbers in a line


class Seen(NamedTuple):
    """A value as it was when an op made it.

    Attributes:
      name: of the tensor.
      dtype, shape: of the array.
      text: it in a few words: all of a small array, else its range and first numbers.
      array: a copy, if it is small and there was room for it; else None.
      nans, infinities: how many of its numbers are none.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    text: str
    array: np.ndarray[Any, Any] | None
    nans: int
    infinities: int

    @property
    def is_finite(self) -> bool:
        return not self.nans and not self.infinities

    def __str__(self) -> str:
        shape = "x".join(str(n) for n in self.shape) or "scalar"
        return f"{self.name}: {self.dtype} {shape} {self.text}"


class Step(NamedTuple):
    """One op of a run.

    Attributes:
      number: in the order of running, from 0.
      op, op_type: its name and type.
      turn: how often it had run before in this run: the turn of its loop.
      inputs, outputs: what it took and made.
      device: "CPU:0".
      elapsed_us: how long it took.
      live_bytes: of all arrays that the run had made and still had, its inputs too.
    """

    number: int
    op: str
    op_type: str
    turn: int
    inputs: tuple[Seen, ...]
    outputs: tuple[Seen, ...]
    device: str
    elapsed_us: float
    live_bytes: int

    def __str__(self) -> str:
        turn = f" (turn {self.turn})" if self.turn else ""
        lines = [
            f"step {self.number}: {self.op}{turn}, {self.op_type} on {self.device}, "
            f"{self.elapsed_us:.0f} us, {show_bytes(self.live_bytes)} alive"
        ]
        lines += [f"  takes {seen}" for seen in self.inputs]
        lines += [f"  gives {seen}" for seen in self.outputs]
        return "\n".join(lines)


class Recording(Sequence[Step]):
    """The steps of a run; `print` it for a table, `print(recording[3])` for one step.

    Attributes:
      steps: what ran, in order.
      result: what the run returned; None if it failed.
      error: what ended it; None if nothing did.
      dropped: how many small arrays were not kept, because there was no room left.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        result: Any,
        error: BaseException | None,
        dropped: int = 0,
    ) -> None:
        self.steps = tuple(steps)
        self.result = result
        self.error = error
        self.dropped = dropped

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        return self.steps[index]

    def values_at(self, number: int) -> dict[str, Seen]:
        """Every tensor that is known after a step, by name: its latest value."""
        known: dict[str, Seen] = {}
        for step in self.steps[: number + 1]:
            for seen in (*step.inputs, *step.outputs):
                known[seen.name] = seen
        return known

    def breakpoints(
        self,
        *patterns: str,
        nan: bool = False,
        when: Callable[[Step], bool] | None = None,
    ) -> list[int]:
        """The numbers of the steps at which to stop.

        Args:
          patterns: names of ops, with * for any part: "layer1/*".
          nan: where a NaN or an infinity is made from numbers that are none.
          when: a predicate of the step.
        """
        return [
            step.number
            for step in self.steps
            if any(fnmatch.fnmatchcase(step.op, pattern) for pattern in patterns)
            or (nan and _spoils(step))
            or (when is not None and when(step))
        ]

    def after(self, number: int, breakpoints: Sequence[int]) -> int | None:
        """The next breakpoint after a step; None if there is none."""
        return next((b for b in sorted(breakpoints) if b > number), None)

    def before(self, number: int, breakpoints: Sequence[int]) -> int | None:
        """The last breakpoint before a step; None if there is none."""
        return next((b for b in sorted(breakpoints, reverse=True) if b < number), None)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        shown = self.steps[:MOST_LINES]
        width = max((len(_title(step)) for step in shown), default=2)
        kind = max((len(step.op_type) for step in shown), default=4)
        for step in shown:
            made = "; ".join(seen.text for seen in step.outputs)
            yield (
                f"{step.number:>4}  {_title(step):<{width}}  {step.op_type:<{kind}}  "
                f"{made}"
            )
        if len(self.steps) > MOST_LINES:
            yield f"      and {len(self.steps) - MOST_LINES} more steps"
        if self.error is not None:
            op = getattr(self.error, "op", None)
            where = "" if op is None else f" at {op.name}"
            yield f"      ended by {type(self.error).__name__}{where}"
        if self.dropped:
            yield f"      {self.dropped} values were not kept: no room"


def record(
    session: Any, fetches: Any, feed_dict: Any = None, max_bytes: int = MAX_BYTES
) -> Recording:
    """Run once and write down every op; an error ends the recording, not the program.

    The run does what runs do: variables change.  Ops appear as the executor runs them:
    what the optimizer folded or merged, and what nothing needs, has no step.

    Args:
      session: a session.
      fetches, feed_dict: as for `session.run`.
      max_bytes: for copies of small arrays; what is beyond is kept in words only.

    Raises:
      ValueError, TypeError: as `session.run` does for wrong fetches and feeds.

    Example:
      >>> run = record(sess, loss, {x: batch})
      >>> print(run[run.breakpoints("loss")[0]])
      step 7: loss, Mean on CPU:0, 12 us, 1.2 KiB alive
        takes Square:0: float32 2x2 [[1, 0], [0, 1]]
        gives loss:0: float32 scalar 0.5
    """
    recorder = _Recorder(max_bytes)
    result, error = None, None
    try:
        result = session.follow(fetches, feed_dict, [recorder], recorder.begin)
    except OpError as raised:
        error = raised
    return Recording(recorder.steps, result, error, recorder.dropped)


class _Recorder:
    """An observer of a run (`runtime.execute.StepObserver`)."""

    def __init__(self, max_bytes: int) -> None:
        self.steps: list[Step] = []
        self.dropped = 0
        self._room = max_bytes
        self._known: dict[Edge, Seen] = {}
        self._turns: dict[Any, int] = {}
        self._live: dict[int, int] = {}  # register -> bytes
        self._start_ns = 0

    def begin(self, fed: dict[Any, Any]) -> None:
        self._fed = {name: self._see(name, value) for name, value in fed.items()}

    def before(self, instruction: Instruction) -> None:
        self._start_ns = time.perf_counter_ns()

    def after(self, instruction: Instruction, results: Sequence[Any]) -> None:
        elapsed_us = (time.perf_counter_ns() - self._start_ns) / 1000
        node = instruction.node
        outputs = []
        for i, value in enumerate(results[: len(node.op.outputs)]):
            seen = self._see(node.op.outputs[i].name, value)
            self._known[Edge(node, i)] = seen
            outputs.append(seen)
        for slot, value in zip(instruction.outputs, results, strict=False):
            self._live[slot] = getattr(value, "nbytes", 0)
        if instruction.is_read and node.op.type not in ("Identity", "ReadVariableOp"):
            return  # of a variable, for this op: the op itself has its own step
        turn = self._turns.get(node, 0)
        self._turns[node] = turn + 1
        inputs = [self._taken(edge) for edge in node.inputs]
        self.steps.append(
            Step(
                len(self.steps),
                node.op.name,
                node.op.type,
                turn,
                tuple(seen for seen in inputs if seen is not None),
                tuple(outputs),
                label_of(node.device.name),
                elapsed_us,
                sum(self._live.values()),
            )
        )

    def release(self, instruction: Instruction) -> None:
        for slot in instruction.frees:
            self._live.pop(slot, None)

    def _taken(self, edge: Edge) -> Seen | None:
        found = self._known.get(edge)
        if found is None and edge.index >= 0:
            name = edge.node.op.outputs[edge.index].name
            if edge.constant is not None:
                found = self._see(name, edge.constant)
            else:
                found = self._fed.get(name)
        return found

    def _see(self, name: str, value: Any) -> Seen:
        if isinstance(value, Cell):
            if not value.is_initialized:
                return Seen(name, "", (), "uninitialized", None, 0, 0)
            value = value.value
        array = np.asarray(to_host(value))
        nans = infinities = 0
        if array.dtype.kind in "fc":
            nans = int(np.isnan(array).sum())
            infinities = int(np.isinf(array).sum())
        copy = None
        if array.size <= WHOLE:
            if array.nbytes <= self._room:
                self._room -= array.nbytes
                copy = array.copy()
            else:
                self.dropped += 1
        text = words_of(array, nans, infinities)
        return Seen(name, _kind(array), array.shape, text, copy, nans, infinities)


def words_of(array: np.ndarray[Any, Any], nans: int = 0, infinities: int = 0) -> str:
    """An array in a few words."""
    if array.dtype.hasobject:
        items = [_quoted(item) for item in array.reshape(-1)[:_SHOWN].tolist()]
        more = ", ..." if array.size > _SHOWN else ""
        return ", ".join(items) + more if array.ndim else "".join(items)
    if array.size <= _SHOWN * 2:
        text = np.array2string(array, precision=4, separator=", ", threshold=50)
        return " ".join(text.split())
    first = np.array2string(array.reshape(-1)[:3], precision=4, separator=", ")
    words = f"{first[:-1]}, ...]"
    if array.dtype.kind in "fiu":
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        if finite.size:
            mean = finite.mean(dtype=np.float64)
            words += f" from {finite.min():.4g} to {finite.max():.4g}, mean {mean:.4g}"
    if nans:
        words += f", {nans} NaN"
    if infinities:
        words += f", {infinities} infinite"
    return words


def _quoted(item: Any) -> str:
    text = item.decode(errors="replace") if isinstance(item, bytes) else str(item)
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _kind(array: np.ndarray[Any, Any]) -> str:
    return "string" if array.dtype.hasobject else str(array.dtype)


def _title(step: Step) -> str:
    return f"{step.op} ({step.turn})" if step.turn else step.op


def _spoils(step: Step) -> bool:
    made = all(seen.is_finite for seen in step.outputs)
    return not made and all(seen.is_finite for seen in step.inputs)
