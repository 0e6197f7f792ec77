"""The hook that ends the training of clusters once their loss hardly changes.

Source: contrib/factorization/python/ops/kmeans.py.
"""

from __future__ import annotations

from tfteach.framework.operation import Tensor
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class LossRelativeChangeHook(SessionRunHook):
    """Ends the training once the loss hardly changes.

    Args:
      loss: a scalar.
      tolerance: the least change, as a fraction of 1 + the loss before.
    """

    def __init__(self, loss: Tensor, tolerance: float) -> None:
        self._loss = loss
        self._tolerance = tolerance
        self._previous: float | None = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the loss."""
        return SessionRunArgs(self._loss)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Compare it with that of the step before."""
        loss, previous = run_values.results, self._previous
        self._previous = loss
        # TensorFlow compares with no loss of 0.
        if previous and abs(loss - previous) / (1 + abs(previous)) <= self._tolerance:
            run_context.request_stop()
