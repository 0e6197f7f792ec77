"""Evaluations of checkpoints as they appear, for `tf.estimator.train_and_evaluate`.

Source: tensorflow_estimator/python/estimator/training.py.
"""

from __future__ import annotations

import os
import time
from typing import Any

from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.train_specs import EvalSpec
from tfteach.lib.training.hooks.checkpoints import CheckpointSaverListener
from tfteach.lib.training.hooks.timer import SecondOrStepTimer

_WARNING_INTERVAL_S = 600


class CheckpointEvaluator:
    """Evaluates and exports the newest checkpoint, each one once.

    Attributes:
      max_steps: the training's last step, or None.
      metrics: of the last evaluation; None if there was none.
      exported: what the exporters returned after it.
    """

    def __init__(
        self, estimator: Estimator, spec: EvalSpec, max_steps: int | None
    ) -> None:
        self._estimator, self._spec, self.max_steps = estimator, spec, max_steps
        self.metrics: dict[str, Any] | None = None
        self.exported: list[Any] | None = None
        self._evaluated: str | None = None
        self._warned_s = float("-inf")

    @property
    def is_at_the_end(self) -> bool:
        """Whether the last evaluation was of the training's last step."""
        if self.metrics is None or self.max_steps is None:
            return False
        return bool(self.metrics[GraphKeys.GLOBAL_STEP] >= self.max_steps)

    def evaluate(self) -> bool:
        """Evaluate the newest checkpoint; returns whether there was a new one."""
        estimator, spec = self._estimator, self._spec
        path = estimator.latest_checkpoint()
        if path is None:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a "
                "checkpoint is ready."
            )
            return False
        if path == self._evaluated:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation "
                "pass as evaluation results are expected to be same for the same "
                "checkpoint."
            )
            return False
        self.metrics = estimator.evaluate(
            spec.input_fn, spec.steps, spec.hooks, path, spec.name
        )
        folder = os.path.join(estimator.model_dir, "export")
        self.exported = [
            exporter.export(
                estimator=estimator,
                export_path=os.path.join(folder, exporter.name),
                checkpoint_path=path,
                eval_result=self.metrics,
                is_the_final_export=self.is_at_the_end,
            )
            for exporter in spec.exporters
        ]
        self._evaluated = path
        self._warned_s = float("-inf")
        return True

    def _warn(self, message: str) -> None:
        """Warn at most every ten minutes."""
        now_s = time.monotonic()
        if now_s - self._warned_s > _WARNING_INTERVAL_S:
            get_logger().warning(message)
            self._warned_s = now_s


class EvaluationListener(CheckpointSaverListener):
    """Evaluates each new checkpoint of a training, but for the first."""

    def __init__(self, evaluator: CheckpointEvaluator, throttle_s: float) -> None:
        self._evaluator, self._throttle_s = evaluator, throttle_s

    def begin(self) -> None:
        self._timer = SecondOrStepTimer(every_secs=self._throttle_s)
        self._is_first = True

    def after_save(self, session: SessionLike, global_step_value: int) -> None:
        if self._is_first:  # what was restored, or initialized
            self._is_first = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            get_logger().info(
                "Skip the current checkpoint eval due to throttle secs "
                f"({self._throttle_s} secs)."
            )

    def end(self, session: SessionLike, global_step_value: int) -> None:
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        if not self._evaluator.evaluate():
            raise RuntimeError("There was no new checkpoint after the training.")


def evaluate_until_trained(evaluator: CheckpointEvaluator, spec: EvalSpec) -> None:
    """Evaluate the checkpoints that other processes write, until the last step's.

    Args:
      evaluator: evaluates them.
      spec: says when to begin, and how long to wait between two.
    """
    if spec.start_delay_secs:
        get_logger().info(
            "Waiting %f secs before starting eval.", spec.start_delay_secs
        )
        time.sleep(spec.start_delay_secs)
    while not evaluator.is_at_the_end:
        began_s = time.monotonic()
        is_new = evaluator.evaluate()
        left_s = spec.throttle_secs - (time.monotonic() - began_s)
        if left_s > 0:
            get_logger().info("Waiting %f secs before starting next eval run.", left_s)
            time.sleep(left_s)
        elif spec.throttle_secs == 0 and not is_new:
            get_logger().warning(
                "EvalSpec.throttle_secs is set as 0. This might overload the job "
                "before finding (next) new checkpoint. Please consider to increase it."
            )
    get_logger().info(
        "Exiting evaluation, global_step=%s >= train max_steps=%s",
        evaluator.metrics and evaluator.metrics[GraphKeys.GLOBAL_STEP],
        evaluator.max_steps,
    )
