"""Hooks of the training of random forests.

Source: contrib/tensor_forest/client/random_forest.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

_PLACES = (
    "contrib.tensor_forest.client.random_forest",
    "contrib.tensor_forest.random_forest",
)
LOSS_NAME = "rf_training_loss"


@export(*(f"{place}.TensorForestRunOpAtEndHook" for place in _PLACES))
class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs ops when the training ends, and logs their values.

    Args:
      op_dict: name -> op or Tensor; they run in the order of their names.
    """

    def __init__(self, op_dict: Mapping[str, Operation | Tensor]) -> None:
        self._ops = op_dict

    def end(self, session: SessionLike) -> None:
        """Run the ops."""
        for name in sorted(self._ops):
            value = session.run(self._ops[name])
            get_logger().info("%s: %s", name, value)


@export(*(f"{place}.TensorForestLossHook" for place in _PLACES))
class TensorForestLossHook(SessionRunHook):
    """Ends the training when the loss no longer falls.

    Args:
      early_stopping_rounds: how many steps in a row the loss may fail to fall.
      early_stopping_loss_threshold: the least fall, as a fraction of the least loss.
      loss_op: the loss; None for the graph's Tensor "rf_training_loss".
    """

    def __init__(
        self,
        early_stopping_rounds: int,
        early_stopping_loss_threshold: float | None = None,
        loss_op: Tensor | None = None,
    ) -> None:
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold
        self.loss_op = loss_op
        self.min_loss: float | None = None
        self.last_step = -1
        self.steps = 0  # in a row without a fall

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the step and the loss."""
        loss = self.loss_op
        if loss is None:
            graph = run_context.session.graph
            loss = graph.get_operation_by_name(LOSS_NAME).outputs[0]
        step = get_global_step()
        return SessionRunArgs({"global_step": step, "current_loss": loss})

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Compare the loss with the least one."""
        step = run_values.results["global_step"]
        loss = run_values.results["current_loss"]
        if self.last_step == -1 or self.last_step > step:
            get_logger().info("TensorForestLossHook resetting last_step.")
            self.last_step, self.steps, self.min_loss = step, 0, None
            return
        self.last_step = step
        threshold = self.early_stopping_loss_threshold or 0.0
        if self.min_loss is None or loss < self.min_loss * (1 - threshold):
            self.min_loss, self.steps = loss, 0
            return
        self.steps += 1
        if self.steps > self.early_stopping_rounds:
            get_logger().info("TensorForestLossHook requesting stop.")
            run_context.request_stop()
