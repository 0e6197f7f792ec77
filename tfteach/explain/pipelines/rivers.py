"""The figures of a watched pipeline: rates, shares of time, buffers, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tfteach.explain.pipelines.pipeline_stages import STEP, Pipeline, Stage
from tfteach.explain.pipelines.queue_waits import QueueState, Wait
from tfteach.framework.call_origin import SourceLine

__all__ = ["River", "StageRate", "StepRate"]

_FILL_FACTOR = 5  # how many times longer than the others
_FILL_S = 0.05


class StageRate(NamedTuple):
    """What one stage did while it was watched; shares are from 0 to 1.

    Attributes:
      elements: the number of elements that it gave.
      per_s: elements per second.
      busy: the share of the time, of all its threads, in which it worked.
      waits_in: the share in which it waited for the stages that it reads.
      waits_out: the share in which nobody asked it, or its buffer was full.
      could_per_s: how many steps per second this stage alone could supply; infinite if
        it took no time.
      held: the number of elements in its buffer; None without a buffer.
      capacity: how many fit; None without a buffer.
      threads: the number of threads that worked.
      is_asked_s: for how long a call for its next element has lasted; 0 without one.
      epochs: how often its elements began.
    """

    elements: int = 0
    per_s: float = 0.0
    busy: float = 0.0
    waits_in: float = 0.0
    waits_out: float = 0.0
    could_per_s: float = float("inf")
    held: int | None = None
    capacity: int | None = None
    threads: int = 1
    is_asked_s: float = 0.0
    epochs: int = 0


class StepRate(NamedTuple):
    """What the step did: the runs that take elements.

    Attributes:
      steps: how many elements, or batches, it took.
      elapsed_s: from the first request to the end of the last step.
      waited_s: how much of this it waited for elements.
      first_s: how long the first element took, if that was much longer than the others:
        `elapsed_s` and `waited_s` begin after it.  Else 0.
      line: the line of user code that ran the first of them, or None.
    """

    steps: int = 0
    elapsed_s: float = 0.0
    waited_s: float = 0.0
    first_s: float = 0.0
    line: SourceLine | None = None

    @property
    def per_s(self) -> float:
        """Steps per second."""
        return self.steps / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def waits(self) -> float:
        """The share of the time in which the step waited for elements."""
        return min(1.0, self.waited_s / self.elapsed_s) if self.elapsed_s else 0.0

    @property
    def could_per_s(self) -> float:
        """How many steps per second there would be if elements came at once."""
        own_s = self.elapsed_s - self.waited_s
        return self.steps / own_s if own_s > 0 else float("inf")


class River(NamedTuple):
    """A pipeline with the figures of a watched run.

    Attributes:
      pipeline: the `Pipeline`.
      step: the `StepRate`.
      rates: a `StageRate` for the key of each stage that was seen to work.
      queues: a `QueueState` for each queue of the session, by the name of its op.
      waits: who waits now, or waited when the run was interrupted.
      is_partial: an iterator was initialized before anybody watched, so that its stages
        could not be measured.
    """

    pipeline: Pipeline
    step: StepRate
    rates: Mapping[str, StageRate]
    queues: Mapping[str, QueueState]
    waits: Sequence[Wait] = ()
    is_partial: bool = False

    @property
    def narrowest(self) -> Stage | None:
        """The stage that could supply the fewest steps per second; None if unknown."""
        known = [
            (rate.could_per_s, key)
            for key, rate in self.rates.items()
            if rate.could_per_s < float("inf") and key != STEP
        ]
        return self.pipeline.stage(min(known)[1]) if known else None


def is_fill(first_ns: float, others_ns: float) -> bool:
    """Whether the first element took so long that it says nothing about the others.

    Buffers are filled for it; the other elements took `others_ns` on average.
    """
    return first_ns > _FILL_FACTOR * others_ns and first_ns > _FILL_S * 1e9
