"""The hook by which estimators of clusters choose their first centers.

Source: contrib/factorization/python/ops/{kmeans,gmm}.py.
"""

from __future__ import annotations

import time

from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.variables.base import Variable

_POLL_S = 1.0  # of a worker that waits for the chief


class InitializeClustersHook(SessionRunHook):
    """Runs `init_op` until `is_initialized` is true; other workers wait for the chief.

    Args:
      init_op: adds centers from a batch of points.
      is_initialized: a bool variable or Tensor [].
      is_chief: whether this process runs `init_op`.
    """

    def __init__(
        self,
        init_op: Operation | Tensor,
        is_initialized: Tensor | Variable,
        is_chief: bool,
    ) -> None:
        self._init_op = init_op
        self._is_initialized = is_initialized
        self._is_chief = is_chief

    def after_create_session(
        self, session: SessionLike, coord: Coordinator | None
    ) -> None:
        """Called when the session is there, and threads fill its queues."""
        while not session.run(self._is_initialized):
            if self._is_chief:
                session.run(self._init_op)
            else:
                time.sleep(_POLL_S)
