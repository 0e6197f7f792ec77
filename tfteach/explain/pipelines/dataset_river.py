"""The figures of a dataset's stages: what each gave, and what it took of the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.explain.pipelines.pipeline_stages import STEP, Pipeline, Stage
from tfteach.explain.pipelines.rivers import River, StageRate, StepRate, is_fill
from tfteach.framework.call_origin import SourceLine
from tfteach.framework.pipeline_meters import StageMeter, Totals, clock_ns


class Draws:
    """The requests of an iterator's consumer.

    Args:
      name: of the iterator.

    Attributes:
      name: as given.
      session: in which it is; None before the first request.
      line: the line of user code that ran the first request, or None.
      meters: the meter of each stage, by key.
      asked_ns: since when a request lasts; 0 for none.
      count: the number of elements.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.session: Any = None
        self.line: SourceLine | None = None
        self.meters: dict[str, StageMeter] = {}
        self.asked_ns = 0
        self.count = 0
        self._waited_ns = 0
        self._first: tuple[int, int] = 0, 0  # when it began, how long it lasted
        self._last_ns = 0
        self._after_first: dict[str, Totals] = {}

    def begin(self) -> None:
        """The consumer asks for an element."""
        self.asked_ns = clock_ns()
        if not self._first[0]:
            self._first = self.asked_ns, 0

    def end(self) -> None:
        """The consumer has it."""
        now_ns = clock_ns()
        elapsed_ns = now_ns - self.asked_ns
        if not self.count:
            self._first = self.asked_ns, elapsed_ns
            self._after_first = {k: m.totals() for k, m in self.meters.items()}
        self._waited_ns += elapsed_ns
        self.asked_ns, self._last_ns = 0, now_ns
        self.count += 1

    def stop(self) -> None:
        """The request ended with an error."""
        self.asked_ns = 0

    def step(self) -> tuple[StepRate, Mapping[str, Totals]]:
        """The figures of the consumer, and the stages' totals before they begin."""
        count, waited_ns = self.count, self._waited_ns
        began_ns, first_ns = self._first
        pending_ns = clock_ns() - self.asked_ns if self.asked_ns else 0
        if not count:
            waited_s = pending_ns / 1e9
            return StepRate(0, waited_s, waited_s, 0.0, self.line), {}
        others_ns = (waited_ns - first_ns) / max(1, count - 1)
        fills = count > 1 and is_fill(first_ns, others_ns)
        between_ns = self._last_ns - began_ns - waited_ns  # all steps but the last
        own_ns = between_ns * count / (count - 1) if count > 1 else 0
        if fills:
            count, waited_ns = count - 1, waited_ns - first_ns
            own_ns = between_ns
        waited_ns += pending_ns
        step = StepRate(
            count,
            (own_ns + waited_ns) / 1e9,
            waited_ns / 1e9,
            first_ns / 1e9 if fills else 0.0,
            self.line,
        )
        return step, self._after_first if fills else {}


def dataset_river(pipeline: Pipeline, draws: Draws) -> River:
    """The figures of a dataset's stages."""
    step, before = draws.step()
    elapsed_ns = step.elapsed_s * 1e9
    nothing = Totals()
    totals = {
        key: meter.totals().since(before.get(key, nothing))
        for key, meter in draws.meters.items()
    }
    rates: dict[str, StageRate] = {}
    meters = dict(draws.meters)
    for shuffle, repeat in _fused(pipeline, meters):  # the meter is named for repeat
        meters[shuffle], totals[shuffle] = meters[repeat], totals[repeat]
    spent = _spent(pipeline, meters, totals)
    for stage in pipeline.stages:
        meter = meters.get(stage.key)
        if meter is not None and elapsed_ns:
            own_ns = spent[stage.key]
            rates[stage.key] = _dataset_rate(stage, meter, totals, own_ns, step)
    for _, repeat in _fused(pipeline, draws.meters):
        if repeat in rates:
            rates[repeat] = rates[repeat]._replace(held=None, capacity=None)
    if elapsed_ns:
        rates[STEP] = StageRate(
            step.steps, step.per_s, 1 - step.waits, step.waits, 0.0, step.could_per_s
        )
    is_partial = bool(step.steps) and not draws.meters
    return River(pipeline, step, rates, {}, (), is_partial)


def _spent(
    pipeline: Pipeline, meters: Mapping[str, StageMeter], totals: dict[str, Totals]
) -> dict[str, float]:
    """The time that each stage itself took, in nanoseconds.

    A stage's calls include those to the stages that it reads in its thread. Where these
    are estimated, its time is divided as it usually is: otherwise it would be charged
    with the pauses of the thread, which fall into calls that nobody timed. Such
    estimates in `totals` are corrected.
    """
    found: dict[str, float] = {}
    for stage in reversed(pipeline.stages):
        meter = meters.get(stage.key)
        if meter is None:
            continue
        total = totals[stage.key]
        read = [
            key
            for key in stage.inputs
            if key in meters and meters[key].thread == meter.thread
        ]
        exact_ns = sum(
            totals[key].elapsed_ns for key in read if not totals[key].is_estimated
        )
        estimated = [key for key in read if totals[key].is_estimated]
        rest_ns = max(0.0, total.elapsed_ns - exact_ns)
        usual_ns = {key: totals[key].usual_ns for key in estimated}
        exact_usual_ns = sum(totals[k].usual_ns for k in read if k not in estimated)
        usual_own_ns = total.usual_ns - exact_usual_ns - sum(usual_ns.values())
        whole_ns = max(0.0, usual_own_ns) + sum(usual_ns.values())
        factor = rest_ns / whole_ns if whole_ns else 0.0
        for key in estimated:
            elapsed_ns = factor * usual_ns[key]
            totals[key] = totals[key]._replace(elapsed_ns=elapsed_ns)
            rest_ns -= elapsed_ns
        found[stage.key] = max(0.0, rest_ns)
    return found


def _fused(
    pipeline: Pipeline, meters: Mapping[str, StageMeter]
) -> list[tuple[str, str]]:
    """The keys of each shuffle and the repeat behind it that run as one, as a default.

    TensorFlow's optimization `shuffle_and_repeat_fusion` makes one dataset of them.
    """
    return [
        (stage.key, reader.key)
        for stage in pipeline.stages
        if stage.kind == "shuffle" and stage.key not in meters
        for reader in pipeline.readers(stage.key)
        if reader.kind == "repeat" and reader.key in meters
    ]


def _dataset_rate(
    stage: Stage,
    meter: StageMeter,
    totals: Mapping[str, Totals],
    own_ns: float,
    step: StepRate,
) -> StageRate:
    total = totals[stage.key]
    wall_ns = step.elapsed_s * 1e9
    buffered = meter.buffered
    threads = 1
    if total.calls_ns:  # its function runs in threads, and the consumer waits for them
        threads = max(1, stage.threads)
        busy_ns = total.calls_ns / threads
        waits_ns = 0.0
    elif stage.kind == "prefetch":
        busy_ns, waits_ns = 0.0, own_ns
    else:
        busy_ns, waits_ns = own_ns, max(0.0, total.elapsed_ns - own_ns)
    busy, waits_in = min(1.0, busy_ns / wall_ns), min(1.0, waits_ns / wall_ns)
    asked_ns = meter.asked_ns
    return StageRate(
        total.elements,
        total.elements / step.elapsed_s,
        busy,
        min(waits_in, 1 - busy),
        max(0.0, 1 - busy - waits_in),
        step.steps * 1e9 / busy_ns if busy_ns > 0 and step.steps else float("inf"),
        None if buffered is None else buffered[0],
        None if buffered is None else buffered[1],
        threads,
        (clock_ns() - asked_ns) / 1e9 if asked_ns else 0.0,
        meter.epochs,
    )
