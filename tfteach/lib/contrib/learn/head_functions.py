"""The public heads of `tf.contrib.learn`.

Source: contrib/learn/python/learn/estimators/head.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.contrib.learn.head import Head
from tfteach.lib.contrib.learn.head_losses import mean_squared_loss, poisson_loss
from tfteach.lib.contrib.learn.multi_head import LossOnlyHead, MultiHead, weighted_sum
from tfteach.lib.contrib.learn.single_heads import (
    BinaryLogisticHead,
    BinarySvmHead,
    LossFunction,
    MultiClassHead,
    MultiLabelHead,
    RegressionHead,
    check_loss_fn,
)
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.exponential import exp


def _check_count(n_classes: int | None, shown: str) -> None:
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification{shown}.")


@export("contrib.learn.regression_head", "contrib.learn.head.regression_head")
def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Tensor], Tensor] | None = None,
) -> Head:
    """A head of numbers, trained on the squared error.

    Args:
      label_name: the key of its labels, if these are a dict.
      weight_column_name: the feature with each example's weight.
      label_dimension: how many numbers an example has.
      enable_centered_bias: whether to train a bias apart from the model.
      head_name: its name; summaries and metrics end in it.
      link_fn: a function from logits to predictions.

    Raises:
      ValueError: `label_dimension` is not positive.

    Source: contrib/learn/python/learn/estimators/head.py.
    """
    return RegressionHead(
        label_dimension, mean_squared_loss, link_fn or identity, label_name,
        weight_column_name, enable_centered_bias, head_name,
    )  # fmt: skip


@export(
    "contrib.learn.poisson_regression_head",
    "contrib.learn.head.poisson_regression_head",
)
def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head of counts: the logits are logarithms of their expected values.

    Args:
      label_name, weight_column_name, label_dimension, enable_centered_bias,
        head_name: as in `regression_head`.

    Source: contrib/learn/python/learn/estimators/head.py.
    """
    return RegressionHead(
        label_dimension, poisson_loss, exp, label_name, weight_column_name,
        enable_centered_bias, head_name,
    )  # fmt: skip


@export("contrib.learn.multi_class_head", "contrib.learn.head.multi_class_head")
def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: LossFunction | None = None,
    label_keys: Sequence[str] | None = None,
) -> Head:
    """A head of classes: a softmax, or a sigmoid for two classes.

    Args:
      n_classes: the number of classes, 2 or more.
      label_name, weight_column_name, enable_centered_bias, head_name: as in
        `regression_head`.
      thresholds: for two classes, where to compute accuracy, precision and recall;
        0.5 if None.
      metric_class_ids: for more classes, those with metrics of their own.
      loss_fn: a function of `labels`, `logits` and `weights` that returns the loss.
      label_keys: the names of the classes, if the labels are texts.

    Raises:
      ValueError: an argument is out of range, or not for this number of classes.

    Source: contrib/learn/python/learn/estimators/head.py.
    """
    _check_count(n_classes, f": {n_classes}")
    check_loss_fn(loss_fn)
    options = label_name, weight_column_name, enable_centered_bias, head_name
    if n_classes > 2:
        return MultiClassHead(
            n_classes, metric_class_ids, loss_fn, label_keys, *options
        )
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys:
        raise ValueError("label_keys is not supported for n_classes=2.")
    return BinaryLogisticHead(thresholds, loss_fn, *options)


@export("contrib.learn.multi_label_head", "contrib.learn.head.multi_label_head")
def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: LossFunction | None = None,
) -> Head:
    """A head of classes of which an example may have several: a sigmoid for each.

    Args:
      n_classes: the number of classes, 2 or more.
      label_name, weight_column_name, enable_centered_bias, head_name,
        metric_class_ids, loss_fn: as in `multi_class_head`.  The labels are 0 and 1,
        [batch, n_classes], or a SparseTensor of class ids.
      thresholds: accepted; TensorFlow, too, computes no metric of them here.

    Source: contrib/learn/python/learn/estimators/head.py.
    """
    _check_count(n_classes, "")
    check_loss_fn(loss_fn)
    return MultiLabelHead(
        n_classes, thresholds, metric_class_ids, loss_fn, label_name,
        weight_column_name, enable_centered_bias, head_name,
    )  # fmt: skip


@export("contrib.learn.binary_svm_head", "contrib.learn.head.binary_svm_head")
def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """A head of two classes, trained on the hinge loss.

    Args:
      label_name, weight_column_name, enable_centered_bias, head_name: as in
        `regression_head`.
      thresholds: accepted; TensorFlow, too, computes no metric of them here.

    Source: contrib/learn/python/learn/estimators/head.py.
    """
    return BinarySvmHead(
        thresholds, label_name, weight_column_name, enable_centered_bias, head_name
    )


@export("contrib.learn.head.loss_only_head")
def loss_only_head(loss_fn: Callable[[], Tensor], head_name: str | None = None) -> Head:
    """A head of a loss without logits and predictions, such as a regularization.

    Args:
      loss_fn: a function without arguments that returns a scalar Tensor.
      head_name: its name.

    Source: contrib/learn/python/learn/estimators/head.py.
    """
    return LossOnlyHead(loss_fn, head_name)


@export("contrib.learn.multi_head", "contrib.learn.head.multi_head")
def multi_head(
    heads: Sequence[Head], loss_weights: Sequence[float] | None = None
) -> Head:
    """Several named heads on one model; the losses are added.

    Args:
      heads: heads with names.
      loss_weights: a factor for each loss; 1 if None.

    Raises:
      ValueError: a head has no name, or the lengths differ.

    Source: contrib/learn/python/learn/estimators/head.py.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")
    return MultiHead(heads, weighted_sum(loss_weights or None))
