"""`tf.train.Supervisor`: sessions with threads that save and write summaries.

Source: python/training/supervisor.py.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfteach.engine.session.session import Session
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import SessionLog
from tfteach.framework.type_aliases import (
    Proto,
    TensorLike,
)
from tfteach.lib.files.graph_io import write_graph
from tfteach.lib.queues.coordinator import LooperThread
from tfteach.lib.training.global_step import global_step as value_of_step
from tfteach.lib.training.supervisor_setup import SupervisorSetup
from tfteach.lib.training.supervisor_threads import (
    SVStepCounterThread,
    SVSummaryThread,
    SVTimerCheckpointThread,
)


@export("train.Supervisor")
class Supervisor(SupervisorSetup):
    """Restores or initializes a model, and saves it and its summaries meanwhile.

    Deprecated in TensorFlow: `tf.train.MonitoredTrainingSession` replaces it.  Where an
    argument is `USE_DEFAULT`, the graph's collections have the op, or it is built.
    The graph is finalized.

    Args:
      graph: the graph; the default graph if None.
      ready_op: returns the names of uninitialized variables.
      ready_for_local_init_op: the same for what `local_init_op` needs.
      is_chief: whether it initializes the model and writes files; otherwise it waits
        until the chief has.
      init_op: initializes the model when there is no checkpoint.
      init_feed_dict: its feeds.
      local_init_op: run in each new session.
      logdir: the directory of checkpoints and summaries; None for no files.
      summary_op: the summaries; None to write none.
      saver: the Saver; None to save nothing.
      global_step: the global step.
      save_summaries_secs: the seconds from one summary to the next; 0 for none.
      save_model_secs: the seconds from one checkpoint to the next; 0 for none.
      recovery_wait_secs: the interval of looking for a checkpoint, in seconds.
      stop_grace_secs: how long to wait for the threads at the end.
      checkpoint_basename: the beginning of the checkpoints' names.
      session_manager: a SessionManager in place of the default one.
      summary_writer: a FileWriter in place of the default one; None for none.
      init_fn: called with the session after `init_op`.
      local_init_run_options: RunOptions of `local_init_op`.

    Raises:
      ValueError: it is not the chief, and a variable has no device.

    Example:
      >>> supervisor = tf.train.Supervisor(logdir="logs")
      >>> with supervisor.managed_session() as session:
      ...     while not supervisor.should_stop():
      ...         session.run(train)

    Source: python/training/supervisor.py.
    """

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Proto | None = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:
        """A block with a session; at its end the threads are joined, and all is closed.

        Args:
          master: the session's target.
          config: its ConfigProto.
          start_standard_services: whether to start the threads that save and those of
            the queues.
          close_summary_writer: whether to close the event file at the end.

        Raises:
          Exception: that of the block or of a thread, but not OutOfRangeError.
        """
        session: Session | None = None
        try:
            session = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Proto | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """A session whose model is restored or initialized.

        Args:
          master, config, start_standard_services: as in `managed_session`.
          wait_for_checkpoint: whether to wait for a checkpoint to appear.
          max_wait_secs: for how long, in seconds.

        Returns:
          The session.

        Raises:
          RuntimeError: the model cannot be initialized.
        """
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if not self._is_chief:
            session: Session = self._session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        else:
            session = self._session_manager.prepare_session(
                master,
                init_op=self._init_op,
                saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                get_logger().info("Starting standard services.")
                self.start_standard_services(session)
        if start_standard_services:
            get_logger().info("Starting queue runners.")
            self.start_queue_runners(session)
        return session

    def _write_graph(self) -> None:
        if self._logdir:
            graph_def = self._graph.as_graph_def(add_shapes=True)
            write_graph(graph_def, self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    def start_standard_services(self, sess: Session) -> list[threading.Thread] | None:
        """Start the threads that write summaries, the speed, and checkpoints.

        Args:
          sess: the session.

        Returns:
          The threads; None without a directory.

        Raises:
          RuntimeError: it is not the chief.
        """
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief "
                "supervisors can write events."
            )
        if not self._logdir:
            get_logger().warning(
                "Standard services need a 'logdir' passed to the SessionManager"
            )
            return None
        writer = self._summary_writer
        if self._global_step is not None and writer:
            step = value_of_step(sess, self._global_step)
            writer.add_session_log(SessionLog(status=SessionLog.START), step)
        threads: list[threading.Thread] = []
        if self._save_summaries_secs and writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self._saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: Session, queue_runners: Sequence[Any] | None = None
    ) -> list[threading.Thread]:
        """Start the threads of queue runners.

        Args:
          sess: the session.
          queue_runners: the QueueRunners; all of the graph if None.

        Returns:
          The threads.
        """
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            thread
            for runner in queue_runners
            for thread in runner.create_threads(
                sess, coord=self._coord, daemon=True, start=True
            )
        ]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """A started thread that calls a function until the supervisor stops.

        Args:
          timer_interval_secs: the seconds from one call to the next; None for no pause.
          target: the function.
          args, kwargs: its arguments.
        """
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Sequence[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stop and join the threads.

        Args:
          threads: to wait for, in addition to those that the supervisor started.
          close_summary_writer: whether to close the event file.
          ignore_live_threads: whether to return although some still work after
            `stop_grace_secs`.

        Raises:
          Exception: the one with which a stop was requested.
          RuntimeError: a thread still works.
        """
        self._coord.request_stop()
        try:
            self._coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self._summary_writer:
                stopped = SessionLog(status=SessionLog.STOP)
                self._summary_writer.add_session_log(stopped)
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: BaseException | None = None) -> None:
        """Ask the threads to stop; see `tf.train.Coordinator.request_stop`."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> contextlib.AbstractContextManager[None]:
        """A block whose exception requests a stop; see `tf.train.Coordinator`."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Wait until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(
        self,
        sess: Session,
        summary: bytes | Proto,
        global_step: TensorLike | None = None,
    ) -> None:
        """Write a summary.

        Args:
          sess: the session, for the global step.
          summary: the bytes or the proto.
          global_step: the step to write; None for the current one.

        Raises:
          RuntimeError: there is no FileWriter.
        """
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = value_of_step(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    # Older names.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed
