"""A recorded run as JSON for the page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tfteach.explain.steps.recording import LoopRun, Recording, Step
from tfteach.explain.steps.value_summary import Seen, number_text

MOST_STEPS = 5000  # in the page
# Arrays up to this size are sent element by element.
MOST_CELLS, MOST_COLUMNS = 64, 8
LONGEST_WORDS = 24


def as_text(value: Any, _: Any) -> str:
    """The value of a trait as a string, for the page."""
    return json.dumps(value, separators=(",", ":"))


def clipped(text: str) -> str:
    """A text cut to the length of an edge label."""
    if len(text) <= LONGEST_WORDS:
        return text
    return text[: LONGEST_WORDS - 1] + "…"


class StepWire:
    """A recording as JSON, in which values shared by several steps occur once.

    Args:
      run: the recording; of a long one that failed the last steps are sent, else the
        first ones.
      at: the index of each op in the page.
    """

    def __init__(self, run: Recording, at: dict[str, int]) -> None:
        self.values: list[list[Any]] = []
        self._ids: dict[int, int] = {}
        self._first: dict[int, int] = {}
        self._keep: list[Seen] = []  # keeps the ids valid
        loops = run.loops()
        self.loops = [_loop_row(loop) for loop in loops]
        self._loop_of = {(loop.outer, loop.name): i for i, loop in enumerate(loops)}
        self._at = at
        # _Send and _Recv, which are in no graph.
        self._added: dict[tuple[str, str], int] = {}
        first = max(0, len(run) - MOST_STEPS) if run.error is not None else 0
        steps = run.steps[first : first + MOST_STEPS]
        fed = [self._value(seen) for seen in run.fed]
        self.steps = [self._step(step) for step in steps]
        self.words = {
            "first": first,
            "steps": len(run),
            "missed": run.missed,
            "error": "" if run.error is None else type(run.error).__name__,
            "message": "" if run.error is None else _message(run.error),
            "failed": None if run.failed is None else self._step(run.failed),
            "added": list(self._added),
            "fed": fed,
        }

    def contents(self) -> dict[str, Any]:
        """All of it as one JSON object."""
        return {
            "values": self.values,
            "steps": self.steps,
            "loops": self.loops,
            "words": self.words,
        }

    def _step(self, step: Step) -> list[Any]:
        loops = []
        for depth, (name, iteration) in enumerate(step.iterations):
            loop = self._loop_of.get((step.iterations[:depth], name))
            if loop is not None:  # unless the op failed in an iteration without steps
                loops += [loop, iteration]
        op = self._at.get(step.op)
        if op is None:
            key = step.op, step.op_type
            op = -1 - self._added.setdefault(key, len(self._added))
        # Before its inputs are consumed.
        passed = [self._value(seen) for seen in step.passed]
        return [
            op,
            loops,
            [self._value(seen) for seen in step.inputs],
            [self._value(seen) for seen in step.outputs],
            passed,
            step.device,
            round(step.elapsed_us, 1),
            step.live_bytes,
        ]

    def _value(self, seen: Seen) -> int:
        found = self._ids.get(id(seen))
        if found is None:
            found = self._ids[id(seen)] = len(self.values)
            self._keep.append(seen)
            # Values that Switch or Merge forward share their statistics.
            first = self._first.setdefault(id(seen.figures), found)
            self.values.append(_value_row(seen, first))
        return found


def _value_row(seen: Seen, first: int) -> list[Any]:
    """A value as JSON: elements of a small array, statistics of a large one.

    The last entry is the number that this value had when it was produced.
    """
    cells = _cells(seen)
    is_told = bool(cells) or (seen.array is not None and not seen.shape)  # by `short`
    figures = seen.figures
    return [
        seen.name,
        seen.dtype,
        list(seen.shape),
        "" if is_told else seen.text,
        clipped(seen.short),
        [figures.nans, figures.infinities],
        None if is_told or figures.low is None else [
            _figure(figures.low), _figure(figures.mean), _figure(figures.high)
        ],
        [] if cells else list(figures.bins),
        cells,
        first,
    ]  # fmt: skip


def _figure(value: float | None) -> str:
    return "" if value is None else number_text(value)


def _cells(seen: Seen) -> list[list[str]]:
    """The elements of a small array, in rows; empty for a large one."""
    array = seen.array
    if array is None or array.ndim not in (1, 2) or array.dtype.hasobject:
        return []
    if not 0 < array.size <= MOST_CELLS or array.shape[-1] > MOST_COLUMNS:
        return []
    rows = np.atleast_2d(array)
    return [[number_text(item) for item in row] for row in rows]


def _loop_row(loop: LoopRun) -> list[Any]:
    return [loop.name, list(loop.starts), loop.last, loop.times, loop.is_function]


def _message(error: BaseException) -> str:
    # Without TensorFlow's trailing op and file: the page shows both.
    words = str(getattr(error, "message", error)).partition("\n\t [[")[0]
    return words[:4000]
