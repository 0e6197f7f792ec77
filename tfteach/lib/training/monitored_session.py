"""`tf.train.MonitoredSession`: a session with hooks that survives preemption.

Source: python/training/monitored_session.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from tfteach.engine.session.session import Session
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import (
    FeedDict,
    PathLike,
    Proto,
)
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.queues.queue_runner import start_queue_runners
from tfteach.lib.training import wrapped_sessions
from tfteach.lib.training.hooks.progress_bar import progress_bar_hook
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.scaffold import Scaffold
from tfteach.lib.training.session_creators import ChiefSessionCreator, SessionCreator
from tfteach.lib.training.wrapped_sessions import (
    CoordinatedSession,
    HookedSession,
    RecoverableSession,
)


class _CoordinatedSessionCreator:
    """Makes sessions with hooks and queue runners; has the last one made."""

    def __init__(
        self,
        session_creator: Any,
        hooks: Sequence[SessionRunHook],
        stop_grace_period_secs: float,
    ) -> None:
        self._session_creator = session_creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None

    def create_session(self) -> CoordinatedSession:
        self.tf_sess = self._session_creator.create_session()
        # The end of a queue does not end the loop: the run that reads it fails.
        self.coord = Coordinator(clean_stop_exception_types=())
        if get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        hooked = HookedSession(self.tf_sess, self._hooks)
        return CoordinatedSession(hooked, self.coord, self._stop_grace_period_secs)


class BaseMonitoredSession:
    """The common part of MonitoredSession and SingularMonitoredSession."""

    StepContext = wrapped_sessions.StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._progress = progress_bar_hook(self._hooks)
        self._coordinated_creator = _CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(),
            [*self._hooks, self._progress] if self._progress else self._hooks,
            stop_grace_period_secs,
        )
        self._sess: Any = (
            RecoverableSession(self._coordinated_creator)
            if should_recover
            else self._coordinated_creator.create_session()
        )

    @property
    def graph(self) -> Graph | None:
        """The graph; None once the session is closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(
        self,
        fetches: Any,
        feed_dict: FeedDict | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """`tf.Session.run`, with what the hooks add.

        Args:
          fetches, feed_dict, options, run_metadata: as in `tf.Session.run`.

        Returns:
          The values of `fetches` alone.

        Raises:
          RuntimeError: the session is closed, or `should_stop()` is True; or two feed
            the same tensor.
        """
        return self._open().run(
            fetches,
            feed_dict=feed_dict,
            options=options,
            run_metadata=run_metadata,
        )

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call a function that runs several parts of a step, of which some have hooks.

        Args:
          step_fn: a function of `step_context`, a StepContext.

        Returns:
          Its result.

        Raises:
          ValueError: the function's arguments are others.
          StopIteration: the function has called `step_context.request_stop()`.

        Example:
          >>> def step(step_context):
          ...     batch = step_context.session.run(next_batch)
          ...     return step_context.run_with_hooks(train, {x: batch})
          >>> with tf.train.MonitoredTrainingSession() as session:
          ...     while not session.should_stop():
          ...         session.run_step_fn(step)
        """
        named = inspect.unwrap(getattr(step_fn, "__func__", step_fn))
        arguments = tuple(inspect.signature(named).parameters)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                "`step_context` arguments if it's an instance method. Got "
                f"{arguments} instead."
            )
        session = self._open()
        if isinstance(session, RecoverableSession):
            return session.run_step_fn(step_fn)
        return step_fn(self.StepContext(self._tf_sess(), session.run))

    def should_stop(self) -> bool:
        """Whether the loop is to end: a hook asks for it, or the session is closed."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Call the hooks' `end`, join the threads, and close the session.

        Raises:
          RuntimeError: it is closed already.
        """
        self._close(None)

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if exception_type in (OutOfRangeError, StopIteration):
            exception_type = None  # the input's end
        self._close(exception_type)
        # Otherwise the exception of the block continues.
        return exception_type is None

    def _close(self, exception_type: type[BaseException] | None) -> None:
        creator = self._coordinated_creator
        try:
            if exception_type is None:
                for hook in self._hooks:
                    hook.end(creator.tf_sess)
        finally:
            try:
                self._open().close()
            finally:
                if self._progress:
                    self._progress.close()
                self._sess = creator.tf_sess = creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def _open(self) -> Any:
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        return self._sess

    def _is_closed(self) -> bool:
        return self._tf_sess() is None

    def _tf_sess(self) -> Any:
        """The `tf.Session`; None once it is closed."""
        return self._coordinated_creator.tf_sess


@export("train.MonitoredSession")
class MonitoredSession(BaseMonitoredSession):
    """A session with hooks: initialized or restored when it is made, and watched.

    After an AbortedError or an UnavailableError a new session replaces the lost one,
    restored from the last checkpoint, and the run is repeated.  OutOfRangeError and
    StopIteration end the `with` block without an error.

    Args:
      session_creator: makes the sessions; None for a ChiefSessionCreator.
      hooks: SessionRunHooks.
      stop_grace_period_secs: how long to wait for the threads when it is closed.

    Example:
      >>> hooks = [tf.train.StopAtStepHook(last_step=1000)]
      >>> with tf.train.MonitoredSession(hooks=hooks) as session:
      ...     while not session.should_stop():
      ...         session.run(train)

    Source: python/training/monitored_session.py.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


@export("train.SingularMonitoredSession")
class SingularMonitoredSession(BaseMonitoredSession):
    """A session with hooks that raises all errors, those of preemption too.

    Args:
      hooks: SessionRunHooks.
      scaffold: the ops that initialize and save; None for the default ones.
      master: the session's target.
      config: its ConfigProto.
      checkpoint_dir: the directory whose newest checkpoint to restore.
      stop_grace_period_secs: how long to wait for the threads when it is closed.
      checkpoint_filename_with_path: the checkpoint, in place of a directory.

    Example:
      >>> with tf.train.SingularMonitoredSession() as session:
      ...     while not session.should_stop():
      ...         session.run(train)

    Source: python/training/monitored_session.py.
    """

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Proto | None = None,
        checkpoint_dir: PathLike | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: PathLike | None = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Session | None:
        """The `tf.Session` underneath."""
        session: Session | None = self._tf_sess()
        return session
