"""The state of queues: contents, waiting threads, and those that should fill them."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.explain.pipelines.queue_stages import queue_of, runners_of
from tfteach.framework.graph import Operation, SourceLine
from tfteach.framework.pipeline_meters import clock_ns
from tfteach.lib.queues.queue_runner import QueueRunner
from tfteach.ops.queues.queue_attempts import UNLIMITED, Attempt, Queue
from tfteach.ops.queues.queue_ops import QueueHandle

__all__ = ["QueueState", "RunnerState", "Wait", "queue_states", "waits_for"]


class RunnerState(NamedTuple):
    """The threads of one QueueRunner in one session.

    Attributes:
      threads: how many it has; as many as enqueue ops.
      was_started: whether threads were created for the session.
      running: how many are alive.
      ends: the enqueue op and the error for each thread that met the input's end.
      failures: the enqueue op and the error for each thread that failed.
      has_coordinator: whether a Coordinator stops them.
      is_stopping: whether it was asked to stop.
      began_ns: when they were created, by `time.perf_counter_ns`.
    """

    threads: int
    was_started: bool = False
    running: int = 0
    ends: tuple[tuple[str, str], ...] = ()
    failures: tuple[tuple[str, str], ...] = ()
    has_coordinator: bool = False
    is_stopping: bool = False
    began_ns: int = 0

    def __str__(self) -> str:
        if not self.was_started:
            return f"{plural(self.threads, 'thread')}, never started"
        text = f"{self.running} of {plural(self.threads, 'thread')} running"
        for _, error in dict(self.failures).items():
            text += f", ended by {error}"
        if self.ends and not self.running:
            text += ", the input has ended"
        if self.is_stopping:
            text += ", the coordinator has stopped"
        return text


class QueueState(NamedTuple):
    """A queue of a session.

    Attributes:
      name: the name of its op.
      size: the number of elements.
      capacity: the most elements; 0 without a limit.
      least: how many of them a dequeue op leaves, for shuffling.
      is_closed: whether it accepts no more.
      enqueues, dequeues: the numbers of ops that wait to add or remove elements.
      runners: a `RunnerState` for each of its QueueRunners.
      exists: whether the session has run an op of it.
    """

    name: str
    size: int = 0
    capacity: int = 0
    least: int = 0
    is_closed: bool = False
    enqueues: int = 0
    dequeues: int = 0
    runners: tuple[RunnerState, ...] = ()
    exists: bool = True

    def __str__(self) -> str:
        most = f" of {self.capacity}" if self.capacity else ""
        text = f"{self.name}: {self.size}{most}"
        if self.is_closed:
            text += ", closed"
        for count, word in ((self.enqueues, "enqueue"), (self.dequeues, "dequeue")):
            if count:
                text += f", {plural(count, word)} waiting"
        return "; ".join([text, *map(str, self.runners)])


class Wait(NamedTuple):
    """An op that waits for a queue.

    Attributes:
      op: the name of the op.
      queue: the name of the queue's op.
      is_enqueue: whether it waits for room; else for elements.
      elapsed_s: for how long.
      source: the line of user code that built the op, or None.
    """

    op: str
    queue: str
    is_enqueue: bool
    elapsed_s: float
    source: SourceLine | None


def queue_states(session: Any) -> dict[str, QueueState]:
    """The queues of a session's graph.

    Args:
      session: a session; a closed one has none.

    Returns:
      A dict from the names of the queues' ops to a `QueueState`.

    Example:
      >>> queue = tf.FIFOQueue(3, tf.int32, name="queue")
      >>> with tf.Session() as sess:
      ...     sess.run(queue.enqueue(7))
      ...     state = queue_states(sess)["queue"]
      >>> state.size, state.capacity
      (1, 3)
    """
    runners = runners_of(session.graph)
    found = {}
    for op in session.graph.get_operations():
        if isinstance(op.spec, QueueHandle):
            states = tuple(_runner(each, session) for each in runners.get(op, ()))
            found[op.name] = _state(op, queue_in(session, op), states)
    return found


def waits_for(session: Any) -> list[Wait]:
    """The ops that wait for a session's queues now.

    Args:
      session: a session; in a closed one, none waits.

    Returns:
      A list of `Wait`, the longest first.

    Example:
      >>> with tf.Session() as sess:
      ...     waits_for(sess)
      []
    """
    found = []
    for _, queue in session.resources.items():
        if not isinstance(queue, Queue) or not (queue.enqueues or queue.dequeues):
            continue
        with queue.lock:
            lines = [(a, True) for a in queue.enqueues]
            lines += [(a, False) for a in queue.dequeues]
        found += [_wait(a, is_enqueue) for a, is_enqueue in lines if a.op]
    return sorted(found, key=lambda wait: -wait.elapsed_s)


def queue_in(session: Any, op: Operation) -> Queue | None:
    """A session's queue; None if the session has not run its op."""
    spec: Any = op.spec
    name = spec.shared_name or f"node {op.name}"
    found = session.resources.find(("queue", spec.container, name))
    return found if isinstance(found, Queue) else None


def plural(count: int, word: str) -> str:
    """ "1 thread", "2 threads"."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def _wait(attempt: Attempt, is_enqueue: bool) -> Wait:
    op = attempt.op
    assert op is not None
    elapsed_s = (clock_ns() - attempt.since_ns) / 1e9
    queues = (queue_of(tensor) for tensor in op.inputs)  # a reader's is its second
    name = next((queue.name for queue in queues if queue is not None), "")
    return Wait(op.name, name, is_enqueue, elapsed_s, op.source)


def _state(
    op: Operation, queue: Queue | None, runners: tuple[RunnerState, ...]
) -> QueueState:
    spec: Any = op.spec
    least = getattr(spec, "min_after_dequeue", 0)
    if queue is None:
        capacity = max(0, spec.capacity)
        return QueueState(op.name, 0, capacity, least, runners=runners, exists=False)
    with queue.lock:
        return QueueState(
            op.name,
            queue.size,
            0 if queue.capacity == UNLIMITED else queue.capacity,
            least,
            queue.is_closed,
            len(queue.enqueues),
            len(queue.dequeues),
            runners,
        )


def _runner(runner: QueueRunner, session: Any) -> RunnerState:
    count = len(runner.enqueue_ops)
    threads = runner.threads_in(session)
    if threads is None:
        return RunnerState(count)
    return RunnerState(
        count,
        True,
        threads.running,
        tuple(threads.ends),
        tuple(threads.failures),
        threads.has_coordinator,
        threads.is_stopping,
        threads.began_ns,
    )
