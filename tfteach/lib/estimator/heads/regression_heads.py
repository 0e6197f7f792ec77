"""`tf.estimator.RegressionHead`, `LogisticRegressionHead`, `PoissonRegressionHead`.

Source: tensorflow_estimator/python/estimator/head/regression_head.py.
"""

from __future__ import annotations

from collections.abc import Callable

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.heads import regression_head
from tfteach.lib.estimator.heads.class_heads import WithoutMeanLoss
from tfteach.lib.estimator.heads.estimator_heads import HeadOfOne, reduction_of
from tfteach.lib.estimator.heads.head_checks import LossFn, WeightColumn, in_range
from tfteach.lib.losses.reduction_v2 import ReductionV2
from tfteach.ops.math.exponential import exp, sigmoid
from tfteach.ops.nn.sigmoid_losses import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
)


class _Regression(WithoutMeanLoss, regression_head.RegressionHead):
    pass


@export("estimator.RegressionHead")
class RegressionHead(HeadOfOne):
    """The head of regressions: squared errors, or another loss and link.

    Args:
      label_dimension: how many numbers a label is.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      loss_reduction: "sum" or "sum_over_batch_size".
      loss_fn: a function of `labels`, `logits` and perhaps `features` that returns the
        losses [batch, label_dimension]; None for squared errors.
      inverse_link_fn: a function from logits to predictions; None for the same.
      name: the name of its scope, and the suffix of its metrics.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> head = tf.estimator.RegressionHead()
      >>> loss = head.loss(tf.constant([[1.0]]), tf.constant([[3.0]]))  # 4.0

    Source: tensorflow_estimator/python/estimator/head/regression_head.py.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        loss_reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        inverse_link_fn: Callable[[Tensor], Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        reduction = reduction_of(loss_reduction)
        head = _Regression(
            weight_column, label_dimension, reduction, loss_fn, inverse_link_fn, name
        )
        super().__init__(head, loss_reduction)


@export("estimator.PoissonRegressionHead")
class PoissonRegressionHead(RegressionHead):
    """The head of a Poisson regression: `exp(logits)` is the expected count.

    Args:
      compute_full_loss: whether the losses have the term of Stirling's formula; see
        `tf.nn.log_poisson_loss`.
      label_dimension, weight_column, loss_reduction, name: see
        `tf.estimator.RegressionHead`.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/python/estimator/head/regression_head.py.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        loss_reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        def losses(labels: Tensor, logits: Tensor) -> Tensor:
            return log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

        super().__init__(
            label_dimension, weight_column, loss_reduction, losses, exp, name
        )


@export("estimator.LogisticRegressionHead")
class LogisticRegressionHead(RegressionHead):
    """The head of a logistic regression, whose labels are probabilities.

    Args:
      weight_column, loss_reduction, name: see `tf.estimator.RegressionHead`.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/python/estimator/head/regression_head.py.
    """

    def __init__(
        self,
        weight_column: WeightColumn = None,
        loss_reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE,
        name: str | None = None,
    ) -> None:
        def losses(labels: Tensor, logits: Tensor) -> Tensor:
            labels = in_range(labels, 2, "Labels must be in range [0, 1]")
            return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

        super().__init__(1, weight_column, loss_reduction, losses, sigmoid, name)
