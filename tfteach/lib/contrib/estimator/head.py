"""Heads with names and losses of the caller's choice.

Source: tensorflow_estimator/contrib/estimator/python/estimator/head.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.heads.binary_head import BinaryHead
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.head_checks import LossFn, WeightColumn, in_range
from tfteach.lib.estimator.heads.multi_class_head import MultiClassHead
from tfteach.lib.estimator.heads.regression_head import RegressionHead
from tfteach.lib.losses.weighted import Reduction
from tfteach.ops.math.exponential import exp, sigmoid
from tfteach.ops.nn.sigmoid_losses import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
)


@export("contrib.estimator.binary_classification_head")
def binary_classification_head(
    weight_column: WeightColumn = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Vocabulary = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: LossFn | None = None,
    name: str | None = None,
) -> BinaryHead:
    """The head of a classifier with two classes and one logit.

    Args:
      weight_column: a feature's key or a numeric column, of weights for the loss.
      thresholds: probabilities of class 1, in (0, 1), for each of which accuracy,
        precision and recall are evaluated.
      label_vocabulary: the two classes' names, if labels are strings.
      loss_reduction: a `tf.losses.Reduction` other than NONE.
      loss_fn: a function of `labels`, `logits` and perhaps `features` that returns the
        losses [batch, 1]; None for sigmoid cross entropies.
      name: the name of its scope, and the suffix of its metrics.

    Returns:
      A head, for `tf.estimator.DNNEstimator` and the like.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> head = tf.contrib.estimator.binary_classification_head(thresholds=[0.9])
      >>> estimator = tf.estimator.LinearEstimator(head, columns)

    Source: tensorflow_estimator/contrib/estimator/python/estimator/head.py.
    """
    return BinaryHead(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


@export("contrib.estimator.multi_class_head")
def multi_class_head(
    n_classes: int,
    weight_column: WeightColumn = None,
    label_vocabulary: Vocabulary = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: LossFn | None = None,
    name: str | None = None,
) -> MultiClassHead:
    """The head of a classifier with more than two classes, of which one is true.

    Args:
      n_classes: the number of classes.
      weight_column, label_vocabulary, loss_reduction, name: see
        `tf.contrib.estimator.binary_classification_head`.
      loss_fn: as there; None for softmax cross entropies.

    Returns:
      A head with `n_classes` logits.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/contrib/estimator/python/estimator/head.py.
    """
    return MultiClassHead(
        n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name
    )


@export("contrib.estimator.regression_head")
def regression_head(
    weight_column: WeightColumn = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: LossFn | None = None,
    inverse_link_fn: Callable[[Tensor], Tensor] | None = None,
    name: str | None = None,
) -> RegressionHead:
    """The head of a regression, with squared errors.

    Args:
      weight_column, loss_reduction, name: see
        `tf.contrib.estimator.binary_classification_head`.
      label_dimension: how many numbers a label is.
      loss_fn: as there, but of losses [batch, label_dimension]; None for squared
        errors.
      inverse_link_fn: a function from logits to predictions; None for the same.

    Returns:
      A head with `label_dimension` logits.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/contrib/estimator/python/estimator/head.py.
    """
    return RegressionHead(
        weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name
    )


@export("contrib.estimator.poisson_regression_head")
def poisson_regression_head(
    weight_column: WeightColumn = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> RegressionHead:
    """The head of a Poisson regression: `exp(logits)` is the expected count.

    Args:
      weight_column, label_dimension, loss_reduction, name: see
        `tf.contrib.estimator.regression_head`.
      compute_full_loss: whether the losses have the term of Stirling's formula; see
        `tf.nn.log_poisson_loss`.

    Returns:
      A head with `label_dimension` logits.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/contrib/estimator/python/estimator/head.py.
    """

    def losses(labels: Tensor, logits: Tensor) -> Tensor:
        return log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

    return RegressionHead(
        weight_column, label_dimension, loss_reduction, losses, exp, name
    )


@export("contrib.estimator.logistic_regression_head")
def logistic_regression_head(
    weight_column: WeightColumn = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> RegressionHead:
    """The head of a logistic regression, whose labels are probabilities.

    Args:
      weight_column, loss_reduction, name: see
        `tf.contrib.estimator.regression_head`.

    Returns:
      A head with one logit.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/contrib/estimator/python/estimator/head.py.
    """

    def losses(labels: Tensor, logits: Tensor) -> Tensor:
        labels = in_range(labels, 2, "Labels must be in range [0, 1]")
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    return RegressionHead(weight_column, 1, loss_reduction, losses, sigmoid, name)
