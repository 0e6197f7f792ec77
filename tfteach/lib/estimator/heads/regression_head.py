"""The head of regressions: squared error, or another loss and link.

Source: tensorflow_estimator/python/estimator/canned/head.py,
_RegressionHeadWithMeanSquaredErrorLoss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.export_outputs import ExportOutput, RegressionOutput
from tfteach.lib.estimator.heads.head import (
    REGRESS,
    Evaluated,
    LossSpec,
    Metrics,
    Predictions,
    SingleHead,
    regularization_metrics,
)
from tfteach.lib.estimator.heads.head_checks import (
    LossFn,
    WeightColumn,
    checked_logits,
    dense_labels,
)
from tfteach.lib.estimator.heads.head_metrics import predictions_mean
from tfteach.lib.losses.regression import mean_squared_error
from tfteach.lib.losses.weighted import Reduction
from tfteach.lib.metrics.means import mean
from tfteach.ops.math.cast import to_float


def _squared_errors(labels: Tensor, logits: Tensor) -> Tensor:
    return mean_squared_error(labels, logits, reduction=Reduction.NONE)


class RegressionHead(SingleHead):
    """Predicts numbers.

    Args:
      weight_column: a feature's key or a numeric column, of weights for the loss.
      label_dimension: how many numbers a label is.
      loss_reduction: a `tf.losses.Reduction` other than NONE.
      loss_fn: a function of `labels`, `logits` and perhaps `features` that returns the
        losses; None for squared errors.
      inverse_link_fn: a function from logits to predictions; None for the same.
      name: the name of its scope, and the suffix of its metrics.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        weight_column: WeightColumn = None,
        label_dimension: int = 1,
        loss_reduction: str = Reduction.SUM,
        loss_fn: LossFn | None = None,
        inverse_link_fn: Callable[[Tensor], Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(name, loss_reduction, weight_column, loss_fn)
        self._logits_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """How many numbers a label is."""
        return self._logits_dimension

    def create_loss(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The losses of a batch; for the arguments see `Head.create_loss`."""
        logits = convert(logits)
        labels = dense_labels(labels, logits, self._logits_dimension)
        labels = to_float(labels)
        return self._loss_spec(
            features, logits, labels, _squared_errors, self._logits_dimension, True
        )

    def _predictions(self, logits: Any) -> tuple[Tensor, Predictions]:
        logits = checked_logits(logits, self._logits_dimension)
        if self._inverse_link_fn is None:
            return logits, {"predictions": logits}
        predicted = self._inverse_link_fn(logits)
        return logits, {"predictions": predicted, "logits": logits}

    def _served(self, predictions: Predictions) -> dict[str, ExportOutput]:
        return {REGRESS: RegressionOutput(predictions["predictions"])}

    def _metrics(self, evaluated: Evaluated) -> Metrics:
        predictions, given, loss, regularization = evaluated
        weights = loss.weights
        return {
            "average_loss": mean(loss.unreduced_loss, weights),
            "prediction/mean": predictions_mean(
                predictions["predictions"], weights, "prediction/mean"
            ),
            "label/mean": mean(given, weights),
            **regularization_metrics(regularization),
        }
