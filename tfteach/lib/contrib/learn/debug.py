"""Estimators that ignore the features: what a model must at least be better than.

A DebugClassifier learns how frequent the classes are, a DebugRegressor the mean.
Source: contrib/learn/python/learn/estimators/debug.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfteach.control.checks.values import assert_equal
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.layers.optimizers import optimize_loss
from tfteach.lib.contrib.learn.canned import Classifier, Regressor
from tfteach.lib.contrib.learn.head import Head
from tfteach.lib.contrib.learn.head_functions import multi_class_head, regression_head
from tfteach.lib.contrib.learn.layers import features_by_name
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.run_config import RunConfig
from tfteach.lib.training.global_step import get_global_step
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.shape_ops import shape

_RATE = 0.3


def debug_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    params: Mapping[str, Any],
    config: RunConfig | None = None,
) -> ModelFnOps:
    """A model whose logits are zero, but for the centered bias of its head.

    Args:
      features: a Tensor, or a dict of them, which must have the same batch size.
      labels: a Tensor, or what the head expects.
      mode: a `tf.contrib.learn.ModeKeys`.
      params: "head", a head with a centered bias.
      config: unused; model functions have it.

    Raises:
      ValueError: there are no features.

    Source: contrib/learn/python/learn/estimators/debug.py.
    """
    del config
    features = features_by_name(features)
    if not features:
        raise ValueError("Features cannot be empty.")
    head: Head = params["head"]
    first, *others = features.values()
    size = shape(first)[0]
    checks = [assert_equal(size, shape(other)[0]) for other in others]
    with control_dependencies(checks):
        logits = zeros([size, head.logits_dimension])

    def train_op_fn(loss: Tensor) -> Tensor:
        step = get_global_step()
        return optimize_loss(
            loss, global_step=step, learning_rate=_RATE, optimizer="Adagrad"
        )

    return head.create_model_fn_ops(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn,
        logits=logits,
    )  # fmt: skip


class DebugClassifier(Classifier):
    """Predicts how frequent each class is, whatever the features.

    Args:
      model_dir: the directory of checkpoints and event files; None for that of
        `config`, or a temporary one.
      n_classes: the number of classes; labels are from 0 to `n_classes - 1`.
      weight_column_name: the feature with each example's weight.
      config: a `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: a function from features and labels to such.
      label_keys: the names of the classes, if the labels are texts.

    Raises:
      ValueError: there are fewer than 2 classes.

    Example:
      >>> from tensorflow.contrib.learn.python.learn.estimators import debug
      >>> classifier = debug.DebugClassifier(n_classes=3)
      >>> classifier.fit(input_fn=input_fn, steps=100)

    Source: contrib/learn/python/learn/estimators/debug.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=True,
            label_keys=label_keys,
        )
        super().__init__(
            debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn
        )


class DebugRegressor(Regressor):
    """Predicts the mean of the labels, whatever the features.

    Args:
      model_dir: the directory of checkpoints and event files; None for that of
        `config`, or a temporary one.
      label_dimension: the numbers of a label.
      weight_column_name: the feature with each example's weight.
      config: a `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: a function from features and labels to such.

    Source: contrib/learn/python/learn/estimators/debug.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        label_dimension: int = 1,
        weight_column_name: str | None = None,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=True,
        )
        super().__init__(
            debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn
        )
