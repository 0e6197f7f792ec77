"""The figures of queues, and of the threads that fill them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfteach.explain.pipelines.pipeline_stages import STEP, Pipeline, Stage
from tfteach.explain.pipelines.queue_waits import QueueState, RunnerState, Wait
from tfteach.explain.pipelines.rivers import River, StageRate, StepRate, is_fill
from tfteach.framework.call_origin import SourceLine
from tfteach.framework.pipeline_meters import clock_ns


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
    fills = count > 1 and is_fill(first_ns, others_ns)
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
