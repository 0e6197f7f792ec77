"""When an Experiment begins to train, and when it ends.

Source: contrib/learn/python/learn/experiment.py.
"""

from __future__ import annotations

from collections.abc import Callable

from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.estimator.run_config import RunConfig

# A function of the metrics, or of these and the checkpoint's path.
Predicate = Callable[..., bool]
_DELAY_OF_TASK_S = 5
_MAX_DELAY_S = 60
_STEPS_PER_ITERATION = 1000
_ITERATIONS = 10


def training_delay_s(config: RunConfig) -> int:
    """The seconds before training, so that workers begin one after the other."""
    return min(_MAX_DELAY_S, int(config.task_id or 0) * _DELAY_OF_TASK_S)


def steps_per_iteration(train_steps: int | None) -> int:
    """The steps to train before each evaluation, a tenth of all by default."""
    return _STEPS_PER_ITERATION if train_steps is None else train_steps // _ITERATIONS


def checked_predicate(predicate: Predicate | None) -> Predicate | None:
    """The predicate, as a function of the metrics and the checkpoint's path.

    Raises:
      ValueError: it is no function.
    """
    if predicate is None:
        return None
    if not callable(predicate):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    if "checkpoint_path" in argument_names(predicate):
        return predicate
    return lambda metrics, path: predicate(metrics)
