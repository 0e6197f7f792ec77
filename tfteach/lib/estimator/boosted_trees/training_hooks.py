"""Hooks of a training of boosted trees: when it starts and when it stops.

Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
"""

from __future__ import annotations

from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class GrowerInitializationHook(SessionRunHook):
    """Runs an op when a session was created.

    Args:
      init_op: a `Grower.chief_init_op`.
    """

    def __init__(self, init_op: Operation) -> None:
        self._init_op = init_op

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Run the op."""
        session.run(self._init_op)


class StopAtAttemptsHook(SessionRunHook):
    """Stops when all trees are finished, or twice as many layers were tried in vain.

    Args:
      num_finalized_trees: an int32 scalar.
      num_attempted_layers: an int32 scalar.
      max_trees: the number of trees.
      max_depth: the number of their layers.
    """

    def __init__(
        self,
        num_finalized_trees: Tensor,
        num_attempted_layers: Tensor,
        max_trees: int,
        max_depth: int,
    ) -> None:
        self._tensors = (num_finalized_trees, num_attempted_layers)
        self._max_trees, self._max_depth = max_trees, max_depth

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the numbers."""
        return SessionRunArgs(self._tensors)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Stop after the last tree; the step's own numbers are those before it."""
        trees, layers = run_values.results
        most = 2 * self._max_trees * self._max_depth
        if trees >= self._max_trees - 1 or layers > most - 1:
            trees, layers = run_context.session.run(self._tensors)
        if trees >= self._max_trees or layers > most:
            run_context.request_stop()
