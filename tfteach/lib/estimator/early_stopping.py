"""Hooks that end a training early.

Source: tensorflow_estimator/python/estimator/early_stopping.py, hooks/hooks.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import bool_
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.eval_results import read_eval_metrics
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfteach.lib.training.hooks.stopping import StopAtStepHook
from tfteach.lib.training.hooks.timer import SecondOrStepTimer
from tfteach.ops.state.ref_variables import assign
from tfteach.variables.initializers import Constant
from tfteach.variables.scope import AUTO_REUSE, get_variable, variable_scope

Better = Callable[[float, float], bool]


class _StopOnPredicateHook(SessionRunHook):
    """Ends the training once a function says so.

    The variable that says so to other workers is part of checkpoints.
    """

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ) -> None:
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(run_every_secs, run_every_steps)

    def begin(self) -> None:
        """Create the variable."""
        self._global_step = get_global_step()
        auto: Any = AUTO_REUSE
        with variable_scope("signal_early_stopping", reuse=auto):
            stop = get_variable(
                "STOP",
                [],
                bool_,
                initializer=Constant(False),
                trainable=False,
                collections=[GraphKeys.GLOBAL_VARIABLES],
            )
        self._stop_op = assign(stop, True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Call the function, if it is time."""
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            get_logger().info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


@export("estimator.experimental.make_early_stopping_hook")
def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends a training when a function returns True.

    Args:
      estimator: the Estimator that trains.
      should_stop_fn: a function without arguments.
      run_every_secs: how often to call it, in seconds.
      run_every_steps: how often to call it, in steps, with `run_every_secs=None`.

    Returns:
      A SessionRunHook for `Estimator.train` or `tf.estimator.TrainSpec`.

    Raises:
      TypeError: `estimator` is no Estimator, or the function no function.
      ValueError: both intervals are given, or none.

    Source: tensorflow_estimator/python/estimator/early_stopping.py.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            "`estimator` must have type `tf.estimator.Estimator`. Got: "
            f"{type(estimator)}"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError(
            "Only one of `run_every_secs` and `run_every_steps` must be set."
        )
    return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)


def _threshold_hook(
    is_past: Better,
    text: str,
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None,
    min_steps: int,
    run_every_secs: float | None,
    run_every_steps: int | None,
) -> SessionRunHook:
    """Stops once a metric has been past a threshold."""
    folder = eval_dir or estimator.eval_dir()

    def is_reached() -> bool:
        for step, metrics in read_eval_metrics(folder).items():
            if step < min_steps:
                continue
            value = metrics[metric_name]
            if is_past(value, threshold):
                get_logger().info(
                    'At step %s, metric "%s" has value %s which is %s the configured '
                    "threshold (%s) for early stopping.",
                    step,
                    metric_name,
                    value,
                    text,
                    threshold,
                )
                return True
        return False

    return make_early_stopping_hook(
        estimator, is_reached, run_every_secs, run_every_steps
    )


def _no_improvement_hook(
    is_better: Better,
    text: str,
    estimator: Estimator,
    metric_name: str,
    max_steps: int,
    eval_dir: str | None,
    min_steps: int,
    run_every_secs: float | None,
    run_every_steps: int | None,
) -> SessionRunHook:
    """Stops once a metric has not become better for a number of steps."""
    folder = eval_dir or estimator.eval_dir()

    def is_stagnant() -> bool:
        best: float | None = None
        best_step = 0
        for step, metrics in read_eval_metrics(folder).items():
            if step < min_steps:
                continue
            value = metrics[metric_name]
            if best is None or is_better(value, best):
                best, best_step = value, step
            elapsed = step - best_step
            if elapsed >= max_steps:
                get_logger().info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal '
                    "to max steps (%s) configured for early stopping.",
                    text,
                    metric_name,
                    elapsed,
                    max_steps,
                )
                return True
        return False

    return make_early_stopping_hook(
        estimator, is_stagnant, run_every_secs, run_every_steps
    )


@export("estimator.experimental.stop_if_lower_hook")
def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends a training once a metric has been below a threshold.

    Args:
      estimator: the Estimator that trains.
      metric_name: the metric, such as "loss".
      threshold: the value it must be below.
      eval_dir: the directory of the evaluations; None for `estimator.eval_dir()`.
      min_steps: evaluations of earlier steps do not count.
      run_every_secs, run_every_steps: see
        `tf.estimator.experimental.make_early_stopping_hook`.

    Returns:
      A SessionRunHook.

    Raises:
      KeyError: (while training) there is no such metric.

    Example:
      >>> hook = tf.estimator.experimental.stop_if_lower_hook(estimator, "loss", 0.1)
      >>> train = tf.estimator.TrainSpec(input_fn, hooks=[hook])
      >>> tf.estimator.train_and_evaluate(estimator, train, test)

    Source: tensorflow_estimator/python/estimator/early_stopping.py.
    """
    return _threshold_hook(
        operator.lt, "less than", estimator, metric_name, threshold, eval_dir,
        min_steps, run_every_secs, run_every_steps,
    )  # fmt: skip


@export("estimator.experimental.stop_if_higher_hook")
def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends a training once a metric has been above a threshold.

    For the arguments see `tf.estimator.experimental.stop_if_lower_hook`.
    """
    return _threshold_hook(
        operator.gt, "greater than", estimator, metric_name, threshold, eval_dir,
        min_steps, run_every_secs, run_every_steps,
    )  # fmt: skip


@export("estimator.experimental.stop_if_no_decrease_hook")
def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends a training once a metric has stopped decreasing.

    Args:
      max_steps_without_decrease: the number of steps without a new minimum.
      estimator, metric_name, eval_dir, min_steps, run_every_secs, run_every_steps: see
        `tf.estimator.experimental.stop_if_lower_hook`.
    """
    return _no_improvement_hook(
        operator.lt, "decrease", estimator, metric_name, max_steps_without_decrease,
        eval_dir, min_steps, run_every_secs, run_every_steps,
    )  # fmt: skip


@export("estimator.experimental.stop_if_no_increase_hook")
def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends a training once a metric has stopped increasing.

    Args:
      max_steps_without_increase: the number of steps without a new maximum.
      estimator, metric_name, eval_dir, min_steps, run_every_secs, run_every_steps: see
        `tf.estimator.experimental.stop_if_lower_hook`.
    """
    return _no_improvement_hook(
        operator.gt, "increase", estimator, metric_name, max_steps_without_increase,
        eval_dir, min_steps, run_every_secs, run_every_steps,
    )  # fmt: skip


@export("estimator.experimental.make_stop_at_checkpoint_step_hook")
def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: int = 30
) -> SessionRunHook:
    """A hook that ends a training at a global step.

    In a cluster, workers wait for the chief's checkpoint of that step; here the only
    process is the chief, which stops at the step.

    Args:
      estimator: the Estimator that trains.
      last_step: the global step at which to end.
      wait_after_file_check_secs: how long workers of a cluster wait between two looks
        at the checkpoints.

    Returns:
      A SessionRunHook.

    Source: tensorflow_estimator/python/estimator/hooks/hooks.py.
    """
    if not estimator.config.is_chief:
        raise NotImplementedError(
            "make_stop_at_checkpoint_step_hook: only for the chief of a cluster"
        )
    return StopAtStepHook(last_step=last_step)
