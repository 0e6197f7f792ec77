"""`tf.train.QueueRunner`: threads that run enqueue ops until the end.

Source: python/training/queue_runner_impl.py (API, messages, names of threads).
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.engine.session.base_session import BaseSession
from tfteach.framework import defaults, errors, protos
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.meta_graph import (
    ProtoFunctions,
    prepended,
    register_proto_functions,
    stripped,
)
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation
from tfteach.framework.scope import add_to_collection, get_collection
from tfteach.lib.queues.coordinator import Coordinator


class RunnerThreads:
    """The threads of a QueueRunner in one session, and how they ended.

    It refers to neither the session nor the threads, so that views keep none alive.

    Args:
      threads: that run enqueue ops.
      coord: the Coordinator that stops them, or None.

    Attributes:
      count: the number of threads.
      began_ns: when they were created, by `time.perf_counter_ns`.
      has_coordinator: whether there is one.
      ends: the enqueue op and the message of each error that was the input's end.
      failures: the enqueue op and the text of each error that ended a thread.
    """

    def __init__(
        self, threads: Sequence[threading.Thread], coord: Coordinator | None
    ) -> None:
        self._threads = weakref.WeakSet(threads)
        self._coord = None if coord is None else weakref.ref(coord)
        self.count = len(threads)
        self.began_ns = time.perf_counter_ns()
        self.has_coordinator = coord is not None
        self.ends: list[tuple[str, str]] = []
        self.failures: list[tuple[str, str]] = []

    @property
    def running(self) -> int:
        """The number of threads that are alive."""
        return sum(thread.is_alive() for thread in self._threads)

    @property
    def is_stopping(self) -> bool:
        """Whether the Coordinator was asked to stop."""
        coord = None if self._coord is None else self._coord()
        return coord is not None and coord.should_stop()


# TensorFlow's message for all input pipelines of queues.
QUEUES_REFUSED = (
    "Input pipelines based on Queues are not supported when eager execution is "
    "enabled. Please use tf.data to ingest data into your model instead."
)


@export("train.QueueRunner", "train.queue_runner.QueueRunner")
class QueueRunner:
    """Threads that run the enqueue ops of a queue until it or its input ends.

    The input's end, an OutOfRangeError, closes the queue once all threads have met it.
    A Coordinator that stops cancels the enqueue ops that wait.

    Args:
      queue: the queue.
      enqueue_ops: the ops to run, a thread for each; an op may occur several times.
      close_op: closes the queue; None for `queue.close()`.
      cancel_op: closes it and cancels what waits; None for
        `queue.close(cancel_pending_enqueues=True)`.
      queue_closed_exception_types: the errors that count as the input's end; None for
        OutOfRangeError.
      queue_runner_def: a QueueRunnerDef in place of all these.
      import_scope: a scope that precedes the names in `queue_runner_def`.

    Raises:
      ValueError: there is no queue or no enqueue op, or both a queue and a
        `queue_runner_def`.
      TypeError: an exception type is no error of `tf.errors`.

    Example:
      >>> queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
      >>> runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.random_uniform([]))])
      >>> coord = tf.train.Coordinator()
      >>> session = tf.Session()
      >>> threads = runner.create_threads(session, coord, daemon=True, start=True)
      >>> session.run(queue.dequeue_many(3)).shape
      (3,)
      >>> coord.request_stop()
      >>> coord.join(threads)

    Source: python/training/queue_runner_impl.py.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Operation] | None = None,
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        queue_closed_exception_types: tuple[type[errors.OpError], ...] | None = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        require_graph(
            "QueueRunners are not supported when eager execution is enabled. Instead, "
            "please use tf.data to get data into your model."
        )
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            self._init_from_args(
                queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types
            )
        self._lock = threading.Lock()
        # Session -> the number of threads that run enqueue ops in it.
        self._runs_per_session: weakref.WeakKeyDictionary[Any, int] = (
            weakref.WeakKeyDictionary()
        )
        self._threads_per_session: weakref.WeakKeyDictionary[Any, RunnerThreads] = (
            weakref.WeakKeyDictionary()
        )
        self._exceptions_raised: list[Exception] = []

    def _init_from_args(
        self,
        queue: Any,
        enqueue_ops: Sequence[Operation] | None,
        close_op: Operation | None,
        cancel_op: Operation | None,
        closed_types: tuple[type[errors.OpError], ...] | None,
    ) -> None:
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        if cancel_op is None:
            cancel_op = queue.close(cancel_pending_enqueues=True)
        self._cancel_op = cancel_op
        if closed_types is None:
            closed_types = (OutOfRangeError,)
        if (
            not isinstance(closed_types, tuple)
            or not closed_types
            or not all(issubclass(found, errors.OpError) for found in closed_types)
        ):
            found = (
                " ".join(map(str, closed_types))
                if isinstance(closed_types, tuple)
                else closed_types
            )
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of "
                f"tf.error types, but saw: {found}"
            )
        self._queue_closed_exception_types = closed_types

    def _init_from_proto(self, queue_runner_def: Any, import_scope: str | None) -> None:
        assert isinstance(queue_runner_def, protos.QueueRunnerDef)
        graph = defaults.get_default_graph()

        def found(name: str) -> Any:
            return graph.as_graph_element(prepended(name, import_scope))

        self._queue = found(queue_runner_def.queue_name)
        self._enqueue_ops = [found(n) for n in queue_runner_def.enqueue_op_name]
        self._close_op = found(queue_runner_def.close_op_name)
        self._cancel_op = found(queue_runner_def.cancel_op_name)
        self._queue_closed_exception_types = tuple(
            errors.exception_type_from_error_code(code)
            for code in queue_runner_def.queue_closed_exception_types
        )
        if not self._queue_closed_exception_types:  # written by an old TensorFlow
            self._queue_closed_exception_types = (OutOfRangeError,)

    @property
    def queue(self) -> Any:
        """The queue; its op, if this was made from a QueueRunnerDef."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Operation]:
        """The ops that the threads run."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Operation:
        """Closes the queue."""
        return self._close_op

    @property
    def cancel_op(self) -> Operation:
        """Closes the queue, and cancels what waits."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[errors.OpError], ...]:
        """The errors that count as the input's end."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """The errors of threads without a Coordinator, since they were created."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The name of the queue's op."""
        return str(self._queue.name)

    def threads_in(self, sess: Any) -> RunnerThreads | None:
        """The threads that were last created for a session; None if none ever were."""
        return self._threads_per_session.get(sess)

    def _run(
        self, sess: Any, enqueue_op: Operation, coord: Coordinator | None = None
    ) -> None:
        """The work of one thread."""
        is_counted = True
        ours = self._threads_per_session.get(sess)
        try:
            enqueue = self._enqueue_call(sess, enqueue_op)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._queue_closed_exception_types as end:
                    if ours is not None:
                        ours.ends.append((enqueue_op.name, first_line(end)))
                    with self._lock:
                        self._runs_per_session[sess] -= 1
                        is_counted = False
                        if self._runs_per_session[sess] == 0:
                            self._ignoring_errors(sess, self._close_op)
                    return
        except Exception as error:
            if ours is not None:
                ours.failures.append((enqueue_op.name, first_line(error)))
            if coord:
                if not (coord.joined and isinstance(error, errors.CancelledError)):
                    coord.request_stop(error)
                return  # a session that was closed ends what waited in it
            get_logger().error("Exception in QueueRunner: %s", error)
            with self._lock:
                self._exceptions_raised.append(error)
            raise
        finally:
            if is_counted:
                with self._lock:
                    self._runs_per_session[sess] -= 1

    def _enqueue_call(self, sess: Any, enqueue_op: Operation) -> Callable[[], Any]:
        """What a thread calls again and again; subclasses add feeds."""
        call: Callable[[], Any] = sess.make_callable(enqueue_op)
        return call

    def _ignoring_errors(self, sess: Any, op: Operation) -> None:
        """Run a closing op: the queue, or the session, may be closed already."""
        try:
            sess.run(op)
        except Exception as error:
            get_logger().debug("Ignored exception: %s", error)

    def _close_on_stop(self, sess: Any, cancel_op: Operation, coord: Any) -> None:
        coord.wait_for_stop()
        self._ignoring_errors(sess, cancel_op)

    def create_threads(
        self,
        sess: Any,
        coord: Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """The threads that run the enqueue ops in a session.

        Args:
          sess: the session.
          coord: stops the threads, and hears of their errors; or None.
          daemon: whether the process may end while they run.
          start: whether to start them; otherwise the caller does.

        Returns:
          The threads, with one that waits for the Coordinator's stop if there is one.
          None of them if those of an earlier call still run in this session.
        """
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [
            threading.Thread(
                target=self._run,
                args=(sess, op, coord),
                name=f"QueueRunnerThread-{self.name}-{op.name}",
            )
            for op in self._enqueue_ops
        ]
        self._threads_per_session[sess] = RunnerThreads(threads, coord)
        if coord:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop,
                    args=(sess, self._cancel_op, coord),
                    name=f"QueueRunnerThread-{self.name}-close_on_stop",
                )
            )
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A QueueRunnerDef.

        Args:
          export_scope: a scope to remove from the names.

        Returns:
          The message; None if the queue is not in the scope.
        """
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None
        made = protos.QueueRunnerDef()
        made.queue_name = stripped(self.queue.name, export_scope)
        made.enqueue_op_name.extend(
            stripped(op.name, export_scope) for op in self._enqueue_ops
        )
        made.close_op_name = stripped(self._close_op.name, export_scope)
        made.cancel_op_name = stripped(self._cancel_op.name, export_scope)
        made.queue_closed_exception_types.extend(
            errors.error_code_from_exception_type(found)
            for found in self._queue_closed_exception_types
        )
        return made

    @staticmethod
    def from_proto(
        queue_runner_def: Any, import_scope: str | None = None
    ) -> QueueRunner:
        """The QueueRunner that a QueueRunnerDef describes, in the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


@export("train.add_queue_runner", "train.queue_runner.add_queue_runner")
def add_queue_runner(
    qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS
) -> None:
    """Add a QueueRunner to a collection, whose threads `start_queue_runners` starts.

    Source: python/training/queue_runner_impl.py.
    """
    add_to_collection(collection, qr)


def first_line(error: Exception) -> str:
    """The class and the first line of the message of an error."""
    message = str(getattr(error, "message", error)).partition("\n")[0]
    return f"{type(error).__name__}: {message}"


# Sessions that start the threads themselves, for which old programs do so again.
_START_THEMSELVES = ("MonitoredSession", "SingularMonitoredSession")


@export("train.start_queue_runners", "train.queue_runner.start_queue_runners")
def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Start the threads of all QueueRunners of the graph; returns them.

    Args:
      sess: the session; None for the default one.
      coord: stops the threads, and hears of their errors; or None.
      daemon: whether the process may end while they run.
      start: whether to start them; otherwise the caller does.
      collection: that of the QueueRunners.

    Raises:
      ValueError: there is no session.
      TypeError: `sess` is no session.

    Source: python/training/queue_runner_impl.py.
    """
    require_graph("Queues are not compatible with eager execution.")
    if sess is None:
        sess = defaults.get_default_session()
        if not sess:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use "
                "`with sess.as_default()` or pass an explicit session to "
                "tf.start_queue_runners(sess=sess)"
            )
    if not isinstance(sess, BaseSession):
        if type(sess).__name__ in _START_THEMSELVES:
            return []
        raise TypeError(
            f"sess must be a `tf.Session` object. Given class: {type(sess)}"
        )
    runners = get_collection(collection)
    if not runners:
        get_logger().warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were "
            "defined. You can safely remove the call to this deprecated function."
        )
    with sess.graph.as_default():
        threads: list[threading.Thread] = []
        for runner in get_collection(collection):
            threads += runner.create_threads(
                sess, coord=coord, daemon=daemon, start=start
            )
        return threads


register_proto_functions(
    [GraphKeys.QUEUE_RUNNERS],
    ProtoFunctions("QueueRunnerDef", QueueRunner.to_proto, QueueRunner.from_proto),
)
