"""`tf.contrib.learn.LogisticRegressor`: metrics of logistic regression for any model.

Source: contrib/learn/python/learn/estimators/logistic_regressor.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.learn.estimator import Estimator
from tfteach.lib.contrib.learn.head_metrics import Metric
from tfteach.lib.contrib.learn.keys import MetricKey, ModeKeys, ProblemType
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.metrics.counts import precision, recall
from tfteach.lib.metrics.means import accuracy, mean
from tfteach.lib.metrics.thresholds import auc
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import greater_equal


def _make_logistic_eval_metric_ops(
    labels: Tensor, predictions: Tensor, thresholds: Sequence[float] | None
) -> dict[str, Metric]:
    """Means, the area under the curve, and the metrics at each threshold."""
    found: dict[str, Metric] = {
        MetricKey.PREDICTION_MEAN: mean(predictions),
        MetricKey.LABEL_MEAN: mean(labels),
        MetricKey.ACCURACY_BASELINE: mean(labels),
        MetricKey.AUC: auc(labels, predictions),
    }
    for threshold in thresholds or [0.5]:
        chosen = cast(
            greater_equal(predictions, threshold),
            float32,
            name=f"predictions_at_threshold_{threshold:f}",
        )
        found[MetricKey.ACCURACY_MEAN % threshold] = accuracy(labels, chosen)
        found[MetricKey.PRECISION_MEAN % threshold] = precision(labels, chosen)
        found[MetricKey.RECALL_MEAN % threshold] = recall(labels, chosen)
    return found


def _get_model_fn_with_logistic_metrics(
    model_fn: Callable[..., tuple[Any, Any, Any]],
) -> Callable[..., ModelFnOps]:
    """A model function whose evaluation has the metrics."""

    def with_metrics(
        features: Any, labels: Any, mode: str, params: Mapping[str, Any]
    ) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        metrics = None
        if mode == ModeKeys.EVAL:
            metrics = _make_logistic_eval_metric_ops(
                labels, predictions, params["thresholds"]
            )
        return ModelFnOps(
            mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives={
                "head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})
            },
        )

    return with_metrics


@export("contrib.learn.LogisticRegressor")
def LogisticRegressor(
    model_fn: Callable[..., tuple[Any, Any, Any]],
    thresholds: Sequence[float] | None = None,
    model_dir: PathLike | None = None,
    config: RunConfig | None = None,
    feature_engineering_fn: Callable[..., Any] | None = None,
) -> Estimator:
    """An Estimator of a model of probabilities, with the metrics of such a model.

    Its `evaluate` returns the means of predictions and labels, the area under the ROC
    curve, and the accuracy, precision and recall at each threshold.

    Args:
      model_fn: a function of features, labels and mode that returns predictions (the
        probabilities of class 1, a Tensor of the labels' shape), loss and train op.
      thresholds: the probabilities from which on class 1 is predicted; None for 0.5.
      model_dir: the directory of checkpoints and event files.
      config: a `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: a function from features and labels to such, called
        before the model function.

    Returns:
      A `tf.contrib.learn.Estimator`.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     logits = tf.contrib.layers.linear(features, 1)
      ...     loss = tf.losses.sigmoid_cross_entropy(labels, logits)
      ...     step = tf.train.get_global_step()
      ...     train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "Adagrad")
      ...     return tf.sigmoid(logits), loss, train
      >>> estimator = tf.contrib.learn.LogisticRegressor(model_fn, thresholds=[0.3])

    Source: contrib/learn/python/learn/estimators/logistic_regressor.py.
    """
    return Estimator(
        _get_model_fn_with_logistic_metrics(model_fn),
        model_dir,
        config,
        {"thresholds": thresholds},
        feature_engineering_fn,
    )
