"""A recorded run: its steps, to go through forward and backward."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.execute.program import Iterations
from tfteach.explain.runs.folding import NOTHING, Folded
from tfteach.explain.steps.value_summary import Seen
from tfteach.framework.graph import Graph
from tfteach.framework.op import op_class
from tfteach.framework.op_traits import Flow

MOST_LINES = 200


class Step(NamedTuple):
    """One op of a recorded run; `print` it for its values.

    Attributes:
      number: its position in the run, from 0.
      op: the op's name.
      op_type: the op's type.
      iterations: (frame name, iteration) of each enclosing loop, outermost first, from
        0 on.
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
    iterations: Iterations
    inputs: tuple[Seen, ...]
    outputs: tuple[Seen, ...]
    passed: tuple[Seen, ...]
    device: str
    elapsed_us: float
    live_bytes: int

    @property
    def iteration(self) -> int:
        """The iteration of the innermost loop; 0 outside loops."""
        return self.iterations[-1][1] if self.iterations else 0

    def __str__(self) -> str:
        lines = [
            f"step {self.number}: {_title(self)}, {self.op_type} on {self.device}, "
            f"{self.elapsed_us:.0f} us, {show_bytes(self.live_bytes)} alive"
        ]
        lines += [f"  takes {seen}" for seen in self.inputs]
        lines += [f"  gives {seen}" for seen in self.outputs]
        return "\n".join(lines)


class LoopRun(NamedTuple):
    """One execution of a loop, or the calls of a function by the kernels of a run.

    Attributes:
      name: the frame name of the loop, or the scope of the function.
      outer: (frame name, iteration) of each enclosing loop.
      starts: the number of the first step of each iteration; the last iteration may
        consist of the condition only.
      last: the number of the last step.
      times: the number of times the body ran.
      is_function: whether it is a function, such as that of a mapped dataset.
    """

    name: str
    outer: Iterations
    starts: tuple[int, ...]
    last: int
    times: int
    is_function: bool = False


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
      functions: the scopes of the functions that kernels called, such as those of
        datasets; each call is an iteration.
      stops: the numbers of the steps for which `when` was true.
      dropped: the number of small arrays that were not kept because `max_bytes` was
        reached.
      missed: the number of steps that were not recorded because `max_steps` was
        reached.
      folded: a `Folded`: the ops that the session's optimizer leaves out of the run.
      unfolded: True if the run was made without the optimizer.
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
        functions: Iterable[str] = (),
        failed: Step | None = None,
        stops: Sequence[int] = (),
        dropped: int = 0,
        missed: int = 0,
        folded: Folded = NOTHING,
        unfolded: bool = False,
    ) -> None:
        self.steps = tuple(steps)
        self.result = result
        self.error = error
        self.functions = frozenset(functions)
        self.graph = graph
        self.fetches, self.fed = tuple(fetches), tuple(fed)
        self.failed = failed
        self.stops = tuple(stops)
        self.dropped = dropped
        self.missed = missed
        self.folded = folded
        self.unfolded = unfolded

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        return self.steps[index]

    def loops(self) -> list[LoopRun]:
        """The executions of loops, in the order in which they began.

        Returns:
          A list of `LoopRun`.
        """
        starts: dict[tuple[Iterations, str], dict[int, int]] = {}
        last: dict[tuple[Iterations, str], int] = {}
        goes_on: dict[tuple[Iterations, str], bool] = {}
        for step in self.steps:
            for depth, (name, iteration) in enumerate(step.iterations):
                key = step.iterations[:depth], name
                starts.setdefault(key, {}).setdefault(iteration, step.number)
                last[key] = step.number
            if (
                op_class(step.op_type).flow is Flow.LOOP_COND
                and step.outputs[0].array is not None
            ):
                key = step.iterations[:-1], step.iterations[-1][0]
                goes_on[key] = bool(step.outputs[0].array)
        return [
            LoopRun(
                key[1],
                key[0],
                tuple(iterations[iteration] for iteration in sorted(iterations)),
                last[key],
                len(iterations) - (not goes_on.get(key, True)),
                key[1] in self.functions,
            )
            for key, iterations in starts.items()
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
        if said := self.folded.sentence(self.unfolded):
            lines.append(said)
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


def _title(step: Step) -> str:
    iterations = ".".join(str(iteration) for _, iteration in step.iterations)
    return f"{step.op} ({iterations})" if iterations else step.op


def _spoils(step: Step) -> bool:
    """True if a NaN or an infinity originates in this step."""
    if any(seen.nans for seen in step.outputs):
        return not any(seen.nans for seen in step.inputs)
    made = any(seen.infinities for seen in step.outputs)
    return made and all(seen.is_finite for seen in step.inputs)
