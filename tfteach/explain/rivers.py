"""The figures of a watched pipeline: rates, shares of time, buffers, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.explain.pipeline_stages import STEP, Pipeline, Stage
from tfteach.explain.queue_waits import QueueState, RunnerState, Wait
from tfteach.framework.call_origin import SourceLine
from tfteach.framework.pipeline_meters import StageMeter, Totals, clock_ns

__all__ = ["River", "StageRate", "StepRate"]

_FILL_FACTOR = 5  # a first element that takes so many times longer is told apart
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
        fills = (
            count > 1
            and first_ns > _FILL_FACTOR * others_ns
            and first_ns > _FILL_S * 1e9
        )
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


class OpMeter:
    """What an op did with a queue, in one thread.

    Attributes:
      count: the number of elements that it added or removed.
      calls: how often.
      waited_ns: how long it waited.
      first_ns, last_ns: the ends of its first and last call or wait.
      first_wait_ns: how long it waited in its first call.
    """

    __slots__ = (
        "calls", "count", "first_ns", "first_wait_ns", "last_ns", "waited_ns",
    )  # fmt: skip

    def __init__(self) -> None:
        self.count = self.calls = 0
        self.waited_ns = self.first_wait_ns = 0
        self.first_ns = self.last_ns = 0

    def passed(self, count: int) -> None:
        """Count a call."""
        self.last_ns = clock_ns()
        if not self.calls:
            self.first_ns, self.first_wait_ns = self.last_ns, self.waited_ns
        self.calls += 1
        self.count += count


def queue_river(
    pipeline: Pipeline,
    meters: Mapping[str, Sequence[OpMeter]],
    queues: Mapping[str, QueueState],
    waits: Sequence[Wait],
    began_ns: int,
    lines: Mapping[str, SourceLine | None],
) -> River:
    """The figures of queues, and of the threads that fill them.

    Args:
      pipeline: its stages.
      meters: those of each op, one for each thread.
      queues: the queues by the names of their ops.
      waits: who waits now.
      began_ns: when the watch began.
      lines: the line of user code that ran each op.
    """
    takes = pipeline.stage(STEP).takes
    step = _step_of(takes, meters, waits)
    step = step._replace(line=next((lines[op] for op in takes if op in lines), None))
    rates: dict[str, StageRate] = {}
    window = _Window(pipeline, meters, queues, began_ns)
    for stage in pipeline.stages:
        if stage.kind == "queue":
            rates[stage.key] = _queue_rate(stage, meters, queues, pipeline, window)
        elif stage.kind == "threads":
            rates[stage.key] = _threads_rate(
                stage, meters, pipeline, waits, step, window
            )
    rates[STEP] = StageRate(
        step.steps, step.per_s, 1 - step.waits, step.waits, 0.0, step.could_per_s
    )
    return River(pipeline, step, rates, queues, tuple(waits))


Meters = Mapping[str, Sequence[OpMeter]]


def _count(ops: Sequence[str], meters: Meters) -> int:
    return sum(meter.count for op in ops for meter in meters.get(op, ()))


def _waited_s(ops: Sequence[str], meters: Meters, waits: Sequence[Wait]) -> float:
    """How long ops waited, those that wait now included."""
    waited_ns = sum(meter.waited_ns for op in ops for meter in meters.get(op, ()))
    return waited_ns / 1e9 + sum(wait.elapsed_s for wait in waits if wait.op in ops)


def _step_of(ops: Sequence[str], meters: Meters, waits: Sequence[Wait]) -> StepRate:
    """The step's figures: those of the op that it runs most often."""
    known = [(meter.calls, op, meter) for op in ops for meter in meters.get(op, ())]
    if not known:
        waited_s = _waited_s(ops, meters, waits)
        return StepRate(0, waited_s, waited_s)
    _, op, meter = max(known, key=lambda each: each[0])
    count, waited_ns = meter.calls, meter.waited_ns
    first_ns = meter.first_wait_ns
    others_ns = (waited_ns - first_ns) / max(1, count - 1)
    between_ns = meter.last_ns - meter.first_ns - (waited_ns - first_ns)
    fills = (
        count > 1 and first_ns > _FILL_FACTOR * others_ns and first_ns > _FILL_S * 1e9
    )
    own_ns: float = between_ns
    if fills:
        count, waited_ns = count - 1, waited_ns - first_ns
    elif count > 1:
        own_ns = between_ns * count / (count - 1)
    pending_s = sum(wait.elapsed_s for wait in waits if wait.op == op)
    waited_s = waited_ns / 1e9 + pending_s
    filled_s = first_ns / 1e9 if fills else 0.0
    return StepRate(count, max(0.0, own_ns) / 1e9 + waited_s, waited_s, filled_s)


class _Window:
    """The time in which queues were used, within the watch.

    Args:
      pipeline, meters, queues: as for `queue_river`.
      began_ns: when the watch began.

    Attributes:
      elapsed_s: its length.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        meters: Meters,
        queues: Mapping[str, QueueState],
        began_ns: int,
    ) -> None:
        self._queues, self._pipeline = queues, pipeline
        self.began_ns = began_ns
        runners = [each for state in queues.values() for each in state.runners]
        starts = [runner.began_ns for runner in runners if runner.was_started]
        starts += [m.first_ns for each in meters.values() for m in each if m.first_ns]
        self.starts_ns = max(began_ns, min(starts, default=began_ns))
        ends = [meter.last_ns for each in meters.values() for meter in each]
        is_over = not any(runner.running for runner in runners) and any(ends)
        self.ends_ns = max(ends) if is_over else clock_ns()
        self.elapsed_s = max(1, self.ends_ns - self.starts_ns) / 1e9

    def runners(self, stage: Stage) -> list[RunnerState]:
        """The QueueRunners whose threads are this stage."""
        return [
            runner
            for each in self._pipeline.readers(stage.key)
            if each.key in self._queues
            for runner in self._queues[each.key].runners
        ]


def _queue_rate(
    stage: Stage,
    meters: Meters,
    queues: Mapping[str, QueueState],
    pipeline: Pipeline,
    window: _Window,
) -> StageRate:
    takes = [op for each in pipeline.readers(stage.key) for op in each.takes]
    count = -_count(takes, meters)
    state = queues.get(stage.key)
    held, capacity = (None, None) if state is None else (state.size, state.capacity)
    return StageRate(count, count / window.elapsed_s, held=held, capacity=capacity)


def _threads_rate(
    stage: Stage,
    meters: Meters,
    pipeline: Pipeline,
    waits: Sequence[Wait],
    step: StepRate,
    window: _Window,
) -> StageRate:
    ours = meters.get(stage.op, ())
    count = _count([stage.op], meters)
    runners = [each for each in window.runners(stage) if each.was_started]
    running = sum(runner.running for runner in runners) if runners else len(ours)
    threads = min(running, stage.threads) if stage.threads else running
    worked = max(threads, len(ours))
    if not worked:
        return StageRate(threads=0)
    starts_ns = max([window.starts_ns, *(runner.began_ns for runner in runners)])
    ends_ns = window.ends_ns
    if not threads and ours:  # they have ended
        ends_ns = min(ends_ns, max(meter.last_ns for meter in ours))
    whole_s = worked * max(1, ends_ns - starts_ns) / 1e9
    waits_in = min(1.0, _waited_s(stage.takes, meters, waits) / whole_s)
    waits_out = min(1.0 - waits_in, _waited_s([stage.op], meters, waits) / whole_s)
    busy = 1.0 - waits_in - waits_out
    if not stage.threads:  # the program's own thread, which also runs the step
        return StageRate(
            count, count / window.elapsed_s, 0.0, waits_in, waits_out, threads=worked
        )
    could_per_s = float("inf")
    used = _used(stage, meters, pipeline)
    if count and busy > 0 and step.steps and used:
        could_per_s = step.steps * worked / (busy * whole_s * used)
    return StageRate(
        count, count / window.elapsed_s, busy, waits_in, waits_out, could_per_s,
        threads=worked,
    )  # fmt: skip


def _used(stage: Stage, meters: Meters, pipeline: Pipeline) -> float:
    """The share of a stage's elements that steps have used; others are in queues."""
    share = 1.0
    at = stage
    while at.kind != "step":
        behind = pipeline.readers(at.key)
        if not behind:
            break
        if at.kind == "queue":
            added = _count(at.inputs, meters)
            removed = -_count([op for each in behind for op in each.takes], meters)
            share *= min(1.0, removed / added) if added else 1.0
        at = behind[0]
    return share
