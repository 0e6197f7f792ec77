"""`tf.estimator.add_metrics`: an Estimator with further metrics.

Source: tensorflow_estimator/python/estimator/extenders.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.run_config import RunConfig

_ARGUMENTS = ("features", "labels", "predictions", "config")


@export("estimator.add_metrics", "contrib.estimator.add_metrics")
def add_metrics(
    estimator: Estimator, metric_fn: Callable[..., Mapping[str, Any]]
) -> Estimator:
    """An Estimator with the same model, and further metrics in evaluations.

    Args:
      estimator: the Estimator; it stays as it is.
      metric_fn: a function of some of `features`, `labels`, `predictions` and `config`
        that returns a dict of names to (value, update op), as `tf.metrics` return them.

    Returns:
      An Estimator with the same directory and configuration.

    Raises:
      ValueError: the function has other arguments.

    Example:
      >>> def error(labels, predictions):
      ...     return {
      ...         "error": tf.metrics.mean_absolute_error(
      ...             labels, predictions["predictions"][:, 0]
      ...         )
      ...     }
      >>> tf.estimator.add_metrics(regressor, error).evaluate(input_fn)["error"]

    Source: tensorflow_estimator/python/estimator/extenders.py.
    """
    wanted = argument_names(metric_fn)
    unknown = list(set(wanted) - set(_ARGUMENTS))
    if unknown:
        raise ValueError(
            f"metric_fn ({metric_fn}) has following not expected args: {unknown}"
        )

    def model_fn(
        features: Any, labels: Any, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = {
            "features": features, "labels": labels, "predictions": spec.predictions,
            "config": config,
        }  # fmt: skip
        added = metric_fn(**{key: offered[key] for key in wanted})
        metrics = {**(spec.eval_metric_ops or {}), **dict(added)}
        return spec._replace(eval_metric_ops=metrics)

    return Estimator(model_fn, estimator.model_dir, estimator.config)
