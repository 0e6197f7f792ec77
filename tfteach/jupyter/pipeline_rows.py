"""What pictures and views show of a watched pipeline: a row for each stage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tfteach.explain.pipelines.buffer_history import BufferHistory, Level
from tfteach.explain.pipelines.pipeline_stages import STEP, Stage
from tfteach.explain.pipelines.pipeline_verdict import Verdict, rate_text, time_text
from tfteach.explain.pipelines.queue_waits import QueueState
from tfteach.explain.pipelines.rivers import River, StageRate

_NARROWEST = 0.2  # width of the narrowest stage; of the widest, 1
_DECADES = 2.0  # between them
_MOST_LEVELS = 48
_ASKED_S = 0.3  # from which on the picture says for how long a stage has worked


class RowFigures(NamedTuple):
    """The figures of a stage as a picture shows them; shares are from 0 to 1.

    Attributes:
      rate: elements per second, "" if unknown.
      number: how many elements, "" if unknown.
      shares: of the time: busy, waiting for input, waiting to be asked.
      width: of the river's bed, by how many steps per second the stage could supply.
      level: how full its buffer is; -1 without one.
      buffer: the same in words.
      note: threads, epochs, and what is unusual.
      levels: how full the buffer was, from 0 to 100, in order of time.
    """

    rate: str = ""
    number: str = ""
    shares: tuple[float, float, float] = (0.0, 0.0, 0.0)
    width: float = 0.6
    level: float = -1.0
    buffer: str = ""
    note: str = ""
    levels: Sequence[int] = ()


class RiverFigures(NamedTuple):
    """The figures of a pipeline as a picture shows them.

    Attributes:
      head: how many steps there were, and how many per second.
      flow: the width of the water, in the measure of `RowFigures.width`.
      rows: a `RowFigures` for each stage.
    """

    head: str
    flow: float
    rows: tuple[RowFigures, ...]


def figures_of(river: River, history: BufferHistory | None) -> RiverFigures:
    """The figures of a pipeline.

    Args:
      river: the pipeline.
      history: how full the buffers were, or None.
    """
    step = river.step
    head = "not run yet"
    if step.steps:
        per_s = rate_text(step.per_s)
        head = f"{step.steps:,} steps, {per_s} steps/s"
    elif step.waited_s:
        head = f"no step yet: the first has waited {time_text(step.waited_s)}"
    known = [rate.could_per_s for rate in river.rates.values()]
    slowest = min((each for each in known if math.isfinite(each)), default=0.0)
    flow = _NARROWEST * min(1.0, step.per_s / slowest) if slowest else 0.0
    rows = tuple(
        _row(stage, river, slowest, history) for stage in river.pipeline.stages
    )
    return RiverFigures(head, flow, rows)


def _row(
    stage: Stage, river: River, slowest: float, history: BufferHistory | None
) -> RowFigures:
    rate = river.rates.get(stage.key)
    if rate is None:
        return RowFigures()
    levels = [] if history is None else history.levels(stage.key)
    state = river.queues.get(stage.key)
    runs = bool(river.step.elapsed_s)
    unit = "steps" if stage.key == STEP else "elements"
    return RowFigures(
        f"{rate_text(rate.per_s)}/s" if runs else "",
        f"{rate.elements:,} {unit}" if runs else "",
        (round(rate.busy, 4), round(rate.waits_in, 4), round(rate.waits_out, 4)),
        _width(rate, slowest),
        _level(rate),
        _buffer(rate, state),
        _note(stage, rate, river),
        _percents(levels),
    )


def _width(rate: StageRate, slowest: float) -> float:
    """The width of the bed, on a logarithmic scale."""
    if not slowest:
        return 0.6
    if not math.isfinite(rate.could_per_s):
        return 1.0
    decades = math.log10(rate.could_per_s / slowest) / _DECADES
    return round(_NARROWEST + (1 - _NARROWEST) * min(1.0, max(0.0, decades)), 3)


def _level(rate: StageRate) -> float:
    if rate.held is None:
        return -1.0
    if not rate.capacity:
        return 0.5 if rate.held else 0.0
    return round(min(1.0, rate.held / rate.capacity), 3)


def _buffer(rate: StageRate, state: QueueState | None) -> str:
    if rate.held is None:
        return ""
    text = f"{rate.held:,} of {rate.capacity:,}" if rate.capacity else f"{rate.held:,}"
    return f"{text}, closed" if state is not None and state.is_closed else text


def _note(stage: Stage, rate: StageRate, river: River) -> str:
    words = []
    if stage.kind == "threads":
        behind = [river.queues.get(s.key) for s in river.pipeline.readers(stage.key)]
        words += [str(r) for state in behind if state for r in state.runners]
    elif stage.kind == "queue":
        state = river.queues.get(stage.key)
        if state is not None and state.enqueues:
            words.append(f"{state.enqueues} waiting to add")
        if state is not None and state.dequeues:
            words.append(f"{state.dequeues} waiting to take")
    elif rate.threads > 1:
        words.append(f"{rate.threads} threads")
    if rate.epochs > 1:
        words.append(f"begun {rate.epochs:,} times")
    if rate.is_asked_s > _ASKED_S:
        words.append(f"works for {time_text(rate.is_asked_s)} on one element")
    return ", ".join(words)


def _percents(levels: Sequence[Level]) -> list[int]:
    """At most 48 levels, evenly chosen."""
    every = max(1, math.ceil(len(levels) / _MOST_LEVELS))
    most = max((level.held for level in levels), default=0) or 1
    return [
        round(100 * min(1.0, level.held / (level.capacity or most)))
        for level in levels[::every]
    ]


def sign_of(verdict: Verdict) -> str:
    """What a picture writes before a verdict."""
    return {"data": "▼", "step": "●", "both": "◆", "stuck": "✕"}.get(verdict.kind, "○")
