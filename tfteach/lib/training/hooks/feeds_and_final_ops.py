"""FeedFnHook feeds each run; FinalOpsHook runs ops at the end.

Source: python/training/basic_session_run_hooks.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import (
    FeedDict,
    FetchedValues,
    Fetches,
    SessionLike,
)
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
)


@export("train.FeedFnHook", "estimator.FeedFnHook")
class FeedFnHook(SessionRunHook):
    """Feeds each run what a function returns.

    Args:
      feed_fn: called before each run without arguments; returns a feed dict.

    Example:
      >>> hooks = [tf.train.FeedFnHook(lambda: {x: next(batches)})]

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(self, feed_fn: Callable[[], FeedDict]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Add the function's feeds to the run."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


@export("train.FinalOpsHook", "estimator.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """Runs ops at the end of the session, unless it ends with an error.

    Args:
      final_ops: what to run: any structure that `session.run` accepts; None for
        nothing.
      final_ops_feed_dict: the feeds.

    Example:
      >>> hook = tf.train.FinalOpsHook({"accuracy": accuracy})

    Source: python/training/basic_session_run_hooks.py.
    """

    def __init__(
        self, final_ops: Fetches, final_ops_feed_dict: FeedDict | None = None
    ) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> FetchedValues:
        """The values in the structure of `final_ops`; None before the end."""
        return self._final_ops_values

    def end(self, session: SessionLike) -> None:
        """Run the ops.

        Raises:
          OutOfRangeError: they read input, which is exhausted.
        """
        if self._final_ops is None:
            return
        feeds = self._final_ops_feed_dict
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=feeds)
        except (OutOfRangeError, StopIteration):
            get_logger().warning(
                "An OutOfRangeError or StopIteration exception is raised by the code "
                "in FinalOpsHook. The final ops read the input once more, which is "
                "exhausted: let them depend only on variables, as the value of a "
                "metric does, and not its update op."
            )
            raise
