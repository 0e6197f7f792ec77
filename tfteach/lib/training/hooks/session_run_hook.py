"""`tf.train.SessionRunHook`: extends the runs of a MonitoredSession.

Source: python/training/session_run_hook.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import (
    FeedDict,
    Proto,
    SessionLike,
)
from tfteach.lib.queues.coordinator import Coordinator


@export("train.SessionRunHook", "estimator.SessionRunHook")
class SessionRunHook:
    """What a MonitoredSession calls at the stages of its life; override what you need.

    The order: `begin`, `after_create_session`; for each run `before_run` and
    `after_run`; `end`.  A session that is created anew after an error calls
    `after_create_session` again.

    Example:
      >>> class PrintLoss(tf.train.SessionRunHook):
      ...     def before_run(self, run_context):
      ...         return tf.train.SessionRunArgs(loss)
      ...     def after_run(self, run_context, run_values):
      ...         print(run_values.results)

    Source: python/training/session_run_hook.py.
    """

    def begin(self) -> None:
        """Called before the session is created: the graph can still be changed."""

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Called with each new session; the graph is finalized.

        Args:
          session: the new `tf.Session`, its variables initialized or restored.
          coord: the `tf.train.Coordinator` of its threads.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run.

        Args:
          run_context: the caller's fetches and feeds, and the session.

        Returns:
          What to run in addition; None for nothing.
        """

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Called after each run that succeeded.

        Args:
          run_context: the caller's fetches and feeds; its `request_stop()` ends the
            loop.
          run_values: the values of what `before_run` asked for.
        """

    def end(self, session: SessionLike) -> None:
        """Called at the end of the session, unless it ends with an error.

        Args:
          session: the `tf.Session`, still open.
        """


@export("train.SessionRunArgs", "estimator.SessionRunArgs")
class SessionRunArgs(NamedTuple):
    """What a hook adds to a run.

    Attributes:
      fetches: any structure that `session.run` accepts; None for nothing.
      feed_dict: additional feeds, or None.
      options: a RunOptions proto to merge with that of the run, or None.

    Example:
      >>> tf.train.SessionRunArgs({"step": global_step, "loss": loss})

    Source: python/training/session_run_hook.py.
    """

    fetches: Any
    feed_dict: FeedDict | None = None
    options: Proto | None = None


@export("train.SessionRunContext", "estimator.SessionRunContext")
class SessionRunContext:
    """The run that a hook extends.

    Args:
      original_args: the caller's fetches and feeds, SessionRunArgs.
      session: the `tf.Session`.

    Source: python/training/session_run_hook.py.
    """

    def __init__(self, original_args: SessionRunArgs, session: SessionLike) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The fetches and feeds of the caller of `run`."""
        return self._original_args

    @property
    def session(self) -> SessionLike:
        """The `tf.Session` of the run."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has called `request_stop`."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Let the session's `should_stop()` return True from now on."""
        self._stop_requested = True


@export("train.SessionRunValues", "estimator.SessionRunValues")
class SessionRunValues(NamedTuple):
    """The outcome of a run, for a hook.

    Attributes:
      results: the values of the hook's own fetches, in their structure; None if it had
        none.
      options: the RunOptions proto of the run.
      run_metadata: its RunMetadata proto.

    Source: python/training/session_run_hook.py.
    """

    results: Any
    options: Proto
    run_metadata: Proto


def graph_element(value: Tensor | Operation | str, graph: Graph) -> Any:
    """A tensor or operation of `graph` that a hook was made with.

    A name without ":" is that of an op with one output.

    Raises:
      ValueError: it belongs to another graph, or an op has several outputs.
    """
    if not isinstance(value, str):
        if getattr(value, "graph", None) is not graph:
            raise ValueError(
                f"Passed {value} should have graph attribute that is equal to current "
                f"graph {graph}."
            )
        return value
    if ":" in value:
        return graph.as_graph_element(value)
    element: Any = graph.as_graph_element(f"{value}:0")
    if len(element.op.outputs) > 1:
        raise ValueError(
            f"Name {value} is ambiguous, as this `Operation` has multiple outputs (at "
            "least 2)."
        )
    return element
