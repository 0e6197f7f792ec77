"""Why a pipeline does not move: which queue is empty or full, and whose fault it is."""

from __future__ import annotations

from typing import NamedTuple

from tfteach.explain.pipelines.pipeline_stages import STEP, Place, Stage
from tfteach.explain.pipelines.queue_waits import RunnerState, Wait, plural
from tfteach.explain.pipelines.rivers import River
from tfteach.framework.call_origin import SourceLine

_SOONER = 10


class Hang(NamedTuple):
    """Why nothing moves.

    Attributes:
      headline: who waits for what.
      reasons: the chain of causes, down to the first.
      advice: what to do.
      stage: the key of the stage where the cause is; "" if it is not known.
    """

    headline: str
    reasons: tuple[str, ...]
    advice: tuple[str, ...]
    stage: str = ""


def hang_of(river: River, least_s: float, place: Place) -> Hang | None:
    """Why a pipeline hangs; None if it does not.

    Args:
      river: its figures.
      least_s: how long the step must have waited.
      place: how to write a line of code.
    """
    if river.pipeline.kind == "dataset":
        return _dataset_hang(river, least_s, place)
    takes = river.pipeline.stage(STEP).takes
    failed = None if river.step.steps else _failure(river, place)
    if failed is not None:
        return failed
    # Before the first step, less time tells: nothing has moved at all.
    least_s = least_s if river.step.steps else least_s / _SOONER
    waits = [wait for wait in river.waits if wait.elapsed_s >= least_s]
    step = next((wait for wait in waits if wait.op in takes), None)
    if step is not None:
        return _Search(river, place).empty(step)
    fills = {
        s.op for s in river.pipeline.stages if s.kind == "threads" and not s.threads
    }
    full = next((w for w in waits if w.is_enqueue and w.op in fills), None)
    return None if full is None else _full(river, full, place)


def _failure(river: River, place: Place) -> Hang | None:
    """The error that ended the threads before any step had its elements."""
    failed = [
        (_is_cancelled(runner), number, stage, runner)
        for number, stage in enumerate(river.pipeline.stages)
        if stage.key in river.queues
        for runner in river.queues[stage.key].runners
        if runner.failures
    ]
    if not failed:
        return None
    *_, queue, runner = min(failed, key=lambda each: each[:2])
    search = _Search(river, place)
    key = search.of_runner(river.pipeline.stage(queue.inputs[0]), runner)
    headline = f"No step had its elements: {queue.key} was not filled."
    return Hang(headline, tuple(search.reasons), tuple(search.advice), key)


def _is_cancelled(runner: RunnerState) -> bool:
    """Whether its threads only ended because others had failed."""
    return all(error.startswith("CancelledError") for _, error in runner.failures)


class _Search:
    """Follows a wait for an empty queue to the first cause.

    Args:
      river: the figures.
      place: how to write a line of code.
    """

    def __init__(self, river: River, place: Place) -> None:
        self.river, self.place = river, place
        self.reasons: list[str] = []
        self.advice: list[str] = []

    def empty(self, wait: Wait) -> Hang:
        """The cause of a dequeue op that waits."""
        state = self.river.queues[wait.queue]
        headline = (
            f"{wait.op}{self._at(wait.source)} has waited {wait.elapsed_s:.1f} s for "
            f"elements of {wait.queue}, which has {state.size}."
        )
        stage = self._cause(wait.queue)
        return Hang(headline, tuple(self.reasons), tuple(self.advice), stage)

    def _at(self, source: SourceLine | None) -> str:
        return "" if source is None else f" ({self.place(source)})"

    def _cause(self, queue: str) -> str:
        """The key of the stage at fault."""
        river = self.river
        state = river.queues[queue]
        if state.least and state.size:
            self.reasons.append(
                f"{queue} keeps min_after_dequeue={state.least} elements for shuffling."
            )
        fills = [
            river.pipeline.stage(key) for key in river.pipeline.stage(queue).inputs
        ]
        if not fills:
            self.reasons.append(f"No op of the graph enqueues anything into {queue}.")
            self.advice.append(f"run an enqueue op of {queue} first.")
            return queue
        for stage in fills:
            if stage.threads and state.runners:
                return self.of_runner(stage, _worst(state.runners))
        stage = fills[0]
        self.reasons.append(
            f"Only {stage.op}{self._at(stage.source)} adds elements to it, and no "
            "QueueRunner has this op: your program must run it."
        )
        self.advice.append(
            f"sess.run of {stage.op}, or tf.train.add_queue_runner("
            "tf.train.QueueRunner(queue, [enqueue_op])) and start_queue_runners."
        )
        return stage.key

    def of_runner(self, stage: Stage, runner: RunnerState) -> str:
        """The cause in the threads of a QueueRunner; the key of the stage at fault."""
        line = self._at(stage.source)
        threads = plural(runner.threads, "thread")
        if not runner.was_started:
            self.reasons.append(
                f"{threads} should run {stage.op}{line} and fill it, but "
                "tf.train.start_queue_runners was never called for this session."
            )
            self.advice.append(
                "`coord = tf.train.Coordinator()` and `threads = "
                "tf.train.start_queue_runners(sess, coord)` before the first run that "
                "dequeues."
            )
            return stage.key
        if runner.failures:
            op, error = runner.failures[0]
            self.reasons.append(
                f"Of {threads} that run {op}{line}, one ended by {error}"
            )
            self.advice.append(
                "`coord.join(threads)` raises this error behind the loop."
                if runner.has_coordinator
                else "pass a Coordinator to start_queue_runners: its should_stop() and "
                "join() report the error."
            )
            return stage.key
        if not runner.running:
            why = (
                "coordinator was asked to stop" if runner.is_stopping else "input ended"
            )
            self.reasons.append(f"No thread runs {stage.op}{line} any more: {why}.")
            if runner.ends:
                self.reasons.append(f"The end was reported as {runner.ends[0][1]}")
            self.advice.append(
                "`num_epochs` limits the input; local variables count the epochs: run "
                "`tf.local_variables_initializer()` first."
                if runner.ends
                else "start the threads again, or end the loop at coord.should_stop()."
            )
            return stage.key
        waits = [w for w in self.river.waits if w.op in stage.takes]
        if waits:
            upper = waits[0].queue
            self.reasons.append(
                f"Its {plural(runner.running, 'thread')} ({stage.detail}) in turn "
                f"wait{'s' if runner.running == 1 else ''} for {upper}, which has "
                f"{self.river.queues[upper].size}."
            )
            return self._cause(upper)
        self.reasons.append(
            f"{plural(runner.running, 'thread')} that run {stage.op}{line} are alive "
            "and work: they are slow, or hang themselves."
        )
        return stage.key


def _worst(runners: tuple[RunnerState, ...]) -> RunnerState:
    """Of several QueueRunners, the one that explains most."""
    return min(runners, key=lambda r: (r.running > 0, not r.failures, r.was_started))


def _full(river: River, wait: Wait, place: Place) -> Hang:
    state = river.queues[wait.queue]
    line = "" if wait.source is None else f" ({place(wait.source)})"
    return Hang(
        f"{wait.op}{line} has waited {wait.elapsed_s:.1f} s for room in {wait.queue}, "
        f"which has {state.size} of {state.capacity}.",
        ("Nobody takes elements from it meanwhile.",),
        ("dequeue in another thread, or a larger capacity.",),
        wait.queue,
    )


def _dataset_hang(river: River, least_s: float, place: Place) -> Hang | None:
    asked = [
        stage
        for stage in river.pipeline.stages
        if (rate := river.rates.get(stage.key)) and rate.is_asked_s >= least_s
    ]
    if not asked:
        return None
    first = asked[0]
    if is_filling(first, river):
        return None
    line = "" if first.source is None else f" ({place(first.source)})"
    elapsed_s = river.rates[first.key].is_asked_s
    return Hang(
        f"The step waits for an element: {first.title}{line} has worked on its next "
        f"one for {elapsed_s:.1f} s.",
        ("Nothing behind it moves meanwhile.",),
        (),
        first.key,
    )


def is_filling(stage: Stage, river: River) -> bool:
    """Whether a shuffle fills its buffer before its first element."""
    rate = river.rates.get(stage.key)
    if stage.kind != "shuffle" or rate is None or rate.held is None:
        return False
    return not rate.elements and rate.held < (rate.capacity or 0)
