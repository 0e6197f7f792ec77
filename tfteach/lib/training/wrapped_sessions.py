"""The layers of a MonitoredSession around a `tf.Session`.

RecoverableSession > CoordinatedSession > HookedSession > Session: each has the inner
one as `_sess`, by which programs reach the innermost.
Source: python/training/monitored_session.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.errors import AbortedError, UnavailableError
from tfteach.framework.graph import Graph
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import RunMetadata, RunOptions
from tfteach.framework.type_aliases import (
    FeedDict,
)
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

# A session that failed with one of these is replaced by a new one.
PREEMPTION_ERRORS = AbortedError, UnavailableError


class StepContext:
    """What `MonitoredSession.run_step_fn` passes to its function.

    Args:
      session: the `tf.Session`, to run something without hooks.
      run_with_hooks_fn: runs something as `MonitoredSession.run` does.
    """

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The `tf.Session`."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Same as `MonitoredSession.run`."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """End the loop.

        Raises:
          StopIteration: always; `with MonitoredSession()` ends by it without an error.
        """
        raise StopIteration("step_fn has requested the iterations to stop.")


class WrappedSession:
    """A session around another."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess

    @property
    def graph(self) -> Graph:
        """The session's graph."""
        graph: Graph = self._sess.graph
        return graph

    @property
    def sess_str(self) -> bytes:
        """The target of the innermost session."""
        target: bytes = self._sess.sess_str
        return target

    def should_stop(self) -> bool:
        """Whether this layer or one below it asks to stop, or is closed."""
        if self._check_stop() or not self._sess:
            return True
        return isinstance(self._sess, WrappedSession) and self._sess.should_stop()

    def _check_stop(self) -> bool:
        """Whether this layer asks to stop."""
        return False

    def close(self) -> None:
        """Close this session and those below it; the second time without effect."""
        if self._sess:
            try:
                self._sess.close()
            except PREEMPTION_ERRORS as error:
                get_logger().warning(
                    "An error occurred when attempting to close the session. This may "
                    "be due to a preemption in a connected worker or parameter server. "
                    f"Error: {error}"
                )
            finally:
                self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """`run` of the session below."""
        return self._sess.run(*args, **kwargs)


class HookedSession(WrappedSession):
    """Adds the fetches and feeds of hooks to each run."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(
        self,
        fetches: Any,
        feed_dict: FeedDict | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """`Session.run`, with the hooks' additions.

        Raises:
          RuntimeError: a hook has asked to stop, or two feed the same tensor.
        """
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        original = SessionRunArgs(fetches, feed_dict)
        context = SessionRunContext(original, self._sess)
        merged = RunOptions()
        if options is not None:
            merged.CopyFrom(options)
        requests = [hook.before_run(context) for hook in self._hooks]
        feeds = self._feeds(requests, feed_dict)
        for request in requests:
            if request is not None and request.options:
                _merge_options(merged, request.options)
        metadata = RunMetadata() if run_metadata is None else run_metadata
        added = [None if r is None else r.fetches for r in requests]
        asked = [f for f in added if f is not None]
        # Without options the session's fast path runs; it would record nothing anyway.
        is_plain = run_metadata is None and not merged.ByteSize()
        values = self._sess.run(
            [*asked, fetches],
            feed_dict=feeds,
            options=None if is_plain else merged,
            run_metadata=None if is_plain else metadata,
        )
        found = iter(values)
        for hook, fetched in zip(self._hooks, added, strict=True):
            result = None if fetched is None else next(found)
            hook.after_run(context, SessionRunValues(result, merged, metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return values[-1]

    @staticmethod
    def _feeds(
        requests: list[SessionRunArgs | None], caller: FeedDict | None
    ) -> FeedDict | None:
        """The caller's feeds and those of the hooks."""
        feeds: dict[Any, Any] = {}
        for request in requests:
            if request is not None and request.feed_dict:
                _refuse_common(feeds, request.feed_dict, "two hooks.")
                feeds.update(request.feed_dict)
        if not feeds:
            return caller
        if caller:
            _refuse_common(caller, feeds, "a SessionRunHook and user.")
            feeds.update(caller)
        return feeds


def _refuse_common(first: FeedDict, second: FeedDict, by: str) -> None:
    common = set(first) & set(second)
    if common:
        raise RuntimeError(f"Same tensor is fed by {by} Conflict(s): {list(common)}")


def _merge_options(options: Any, added: Any) -> None:
    """Merge the requests of `added` into `options`."""
    for field in ("trace_level", "timeout_in_ms", "inter_op_thread_pool"):
        setattr(options, field, max(getattr(options, field), getattr(added, field)))
    for field in ("output_partition_graphs", "report_tensor_allocations_upon_oom"):
        setattr(options, field, getattr(options, field) or getattr(added, field))
    debug = added.debug_options
    if debug.ByteSize():
        options.debug_options.debug_tensor_watch_opts.extend(
            debug.debug_tensor_watch_opts
        )
        if debug.reset_disk_byte_usage:
            options.debug_options.reset_disk_byte_usage = True


class CoordinatedSession(WrappedSession):
    """Ends when a Coordinator does, whose threads it joins when it is closed."""

    def __init__(
        self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120
    ) -> None:
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        """Stop and join the threads, then close the session.

        Raises:
          Exception: what a thread failed with.
        """
        self._coord.request_stop()
        try:
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs,
                ignore_live_threads=True,
            )
        finally:
            # The threads may have left the session in any state.
            with contextlib.suppress(Exception):
                super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """`run` of the session below.

        Raises:
          Exception: the run's own; the preemption that ended a thread, which is the
            cause of others, takes precedence.
        """
        try:
            return self._sess.run(*args, **kwargs)
        except PREEMPTION_ERRORS:
            raise
        except Exception as error:
            try:
                self._coord.raise_requested_exception()
            except PREEMPTION_ERRORS:
                raise
            except Exception:
                raise error from None
            raise


class RecoverableSession(WrappedSession):
    """Replaces a session that failed with a preemption error by a new one.

    Args:
      sess_creator: its `create_session` makes a CoordinatedSession; `tf_sess` is the
        `tf.Session` of the last one made.
    """

    def __init__(self, sess_creator: Any) -> None:
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except PREEMPTION_ERRORS as error:
                _report("while a session was being created", error)

    def _check_stop(self) -> bool:
        if not self._sess:
            return True
        try:
            stops: bool = self._sess._check_stop()
            return stops
        except PREEMPTION_ERRORS as error:
            _report("while considering whether the session is complete", error)
            self.close()
            self._sess = self._create_session()
            return False
        except Exception:
            return True  # `run` or `close` raises it

    def _recovering(self, call: Callable[[], Any]) -> Any:
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return call()
            except PREEMPTION_ERRORS as error:
                _report("", error)
                self.close()

    def run(
        self,
        fetches: Any,
        feed_dict: FeedDict | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """`run` of the session below, in a new one if that fails by preemption."""
        return self._recovering(
            lambda: self._sess.run(
                fetches,
                feed_dict=feed_dict,
                options=options,
                run_metadata=run_metadata,
            )
        )

    def run_step_fn(self, step_fn: Callable[[StepContext], Any]) -> Any:
        """The function's result; it is called again after a preemption."""
        return self._recovering(
            lambda: step_fn(StepContext(self._sess_creator.tf_sess, self._sess.run))
        )


def _report(when: str, error: Exception) -> None:
    get_logger().info(
        f"An error was raised{' ' if when else ''}{when}. This may be due to a "
        "preemption in a connected worker or parameter server. The current session "
        "will be closed and a new session will be created, from the last checkpoint "
        f"if there is one. Error: {error}"
    )
