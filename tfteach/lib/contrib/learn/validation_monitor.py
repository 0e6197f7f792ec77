"""`tf.contrib.learn.monitors.ValidationMonitor`: evaluates during the training.

Source: contrib/learn/python/learn/monitors.py.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.logger import get_logger
from tfteach.lib.contrib.learn.monitors import EveryN
from tfteach.lib.contrib.learn.type_aliases import InputFn, Metrics, Rows
from tfteach.lib.estimator.estimator import Estimator as CoreEstimator
from tfteach.lib.files.checkpoint_management import latest_checkpoint
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook


@export("contrib.learn.monitors.ValidationMonitor")
class ValidationMonitor(EveryN):
    """Evaluates each new checkpoint, and ends the training if it gets no better.

    Args:
      x, y, input_fn, batch_size: the input, as of `tf.contrib.learn.Estimator`.
      eval_steps: the number of batches; None until the input's end.
      every_n_steps: the steps from one evaluation to the next; there is none without a
        new checkpoint, see `tf.contrib.learn.RunConfig`.
      metrics: the metrics.
      hooks: SessionRunHooks of the evaluation.
      early_stopping_rounds: after how many steps without a better value to end the
        training; None for never.
      early_stopping_metric: the metric to watch.
      early_stopping_metric_minimize: whether less is better.
      name: the evaluation's name.
      check_interval_secs: the seconds from one look for a new checkpoint to the next.

    Attributes:
      best_step: the step of the best value; None without `early_stopping_rounds`.
      best_value: that value.
      best_metrics: the metrics of that step.
      early_stopped: whether it ended the training.

    Raises:
      ValueError: there is no input; or in the training, no such metric.

    Example:
      >>> monitor = tf.contrib.learn.monitors.ValidationMonitor(
      ...     test_x, test_y, every_n_steps=50, early_stopping_rounds=200
      ... )
      >>> classifier.fit(x, y, steps=2000, monitors=[monitor])

    Source: contrib/learn/python/learn/monitors.py.
    """

    def __init__(
        self,
        x: Rows | None = None,
        y: Rows | None = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Metrics | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._options = {
            "x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size,
            "steps": eval_steps, "metrics": metrics, "hooks": hooks, "name": name,
        }  # fmt: skip
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self.check_interval_secs = check_interval_secs
        self._best_value_step: int | None = None
        self._best_value: Any = None
        self._best_metrics: Mapping[str, Any] | None = None
        self._early_stopped = False
        self._last_checkpoint: Any = None
        self._last_check_at_s: float | None = None

    @property
    def early_stopped(self) -> bool:
        """Whether it ended the training."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step of the best value."""
        return self._best_value_step

    @property
    def best_value(self) -> float | None:
        """The best value."""
        found: float | None = self._best_value
        return found

    @property
    def best_metrics(self) -> Mapping[str, Any] | None:
        """The metrics at the best step."""
        return self._best_metrics

    def _has_new_checkpoint(self) -> bool:
        """Whether there is a checkpoint that was not evaluated."""
        now = time.time()
        last, least = self._last_check_at_s, self.check_interval_secs
        if last is not None and least is not None and now - last < least:
            return False
        self._last_check_at_s = now
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None:
            return False
        found = path, file_system.version(f"{path}.index")
        if self._last_checkpoint == found:
            return False
        self._last_checkpoint = found
        return True

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Evaluate, and compare with the best value."""
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if not self._has_new_checkpoint():
            return False
        options = self._options
        if isinstance(self._estimator, CoreEstimator):
            refused = "x", "y", "batch_size", "metrics"
            if any(options[key] is not None for key in refused):
                raise ValueError(
                    "tf.estimator.Estimator does not support following arguments: "
                    f"{', '.join(refused)}. Should set as `None` in ValidationMonitor"
                )
            accepted = "input_fn", "steps", "hooks", "name"
            options = {key: options[key] for key in accepted}
        found = self._estimator.evaluate(**options)
        shown = ", ".join(f"{key} = {value!s}" for key, value in found.items())
        get_logger().info("Validation (step %d): %s", step, shown)
        if self.early_stopping_rounds is None:
            return False
        metric = self.early_stopping_metric
        if metric not in found:
            raise ValueError(
                f"Metric {metric} missing from outputs {set(found.keys())}."
            )
        value, best = found[metric], self._best_value
        is_less = self.early_stopping_metric_minimize
        if best is None or (value < best if is_less else value > best):
            self._best_value, self._best_value_step = value, step
            self._best_metrics = found
        assert self._best_value_step is not None
        if step - self._best_value_step < self.early_stopping_rounds:
            return False
        get_logger().info(
            "Stopping. Best step: %d with %s = %s.",
            self._best_value_step,
            metric,
            float(self._best_value),
        )
        self._early_stopped = True
        return True
