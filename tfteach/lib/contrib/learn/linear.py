"""The canned linear models of `tf.contrib.learn`.

Source: contrib/learn/python/learn/estimators/linear.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfteach.autodiff.gradients import gradients
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.layers.optimizers import OPTIMIZER_CLS_NAMES
from tfteach.lib.contrib.layers.weighted_sums import (
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from tfteach.lib.contrib.learn.canned import Classifier, Regressor
from tfteach.lib.contrib.learn.estimator import Estimator
from tfteach.lib.contrib.learn.head import Head
from tfteach.lib.contrib.learn.head_functions import multi_class_head, regression_head
from tfteach.lib.contrib.learn.layers import (
    MIN_SLICE_BYTES,
    are_older,
    features_by_name,
    optimizer_of,
    server_count,
)
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.type_aliases import OptimizerLike
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.feature_column.linear_model import linear_model
from tfteach.lib.training.ftrl import FtrlOptimizer
from tfteach.lib.training.global_step import get_global_step
from tfteach.ops.nn.clip_by_norm import clip_by_global_norm
from tfteach.variables.collections import trainable_variables
from tfteach.variables.partitioners import min_max_variable_partitioner
from tfteach.variables.scope import variable_scope

_MAX_RATE = 0.2
_SCOPE = "linear"


def linear_rate(feature_columns: tuple[Any, ...]) -> float:
    """The default rate: the less, the more columns add up."""
    return min(_MAX_RATE, 1.0 / math.sqrt(len(feature_columns)))


def linear_logits(
    features: Mapping[Any, Any], feature_columns: Any, units: int, joint: bool,
    scope: Any,
) -> Tensor:  # fmt: skip
    """The weighted sum of columns."""
    if not are_older(feature_columns):
        return linear_model(
            features, feature_columns, units, weight_collections=[_SCOPE]
        )
    make: Any = weighted_sum_from_feature_columns
    if joint:
        make = joint_weighted_sum_from_feature_columns
    logits: Tensor
    logits, _, _ = make(
        columns_to_tensors=features,
        feature_columns=feature_columns,
        num_outputs=units,
        weight_collections=[_SCOPE],
        scope=scope,
    )
    return logits


def _linear_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    params: Mapping[str, Any],
    config: RunConfig | None = None,
) -> ModelFnOps:
    features = features_by_name(features)
    head: Head = params["head"]
    rate = linear_rate(params["feature_columns"])
    given = params.get("optimizer")
    if isinstance(given, str):
        kind: Any = OPTIMIZER_CLS_NAMES[given]
        optimizer = kind(learning_rate=rate)
    else:
        optimizer = optimizer_of(given) or FtrlOptimizer(learning_rate=rate)
    parts = min_max_variable_partitioner(
        max_partitions=server_count(config), min_slice_size=MIN_SLICE_BYTES
    )
    values = tuple(features.values())
    with variable_scope(_SCOPE, values=values, partitioner=parts) as scope:
        logits = linear_logits(
            features, params["feature_columns"], head.logits_dimension,
            params.get("joint_weights", False), scope,
        )  # fmt: skip

        def train_op_fn(loss: Tensor) -> Operation:
            variables = get_collection(_SCOPE) or trainable_variables()
            grads: Any = gradients(loss, variables)
            norm = params.get("gradient_clip_norm")
            if norm:
                grads, _ = clip_by_global_norm(grads, norm)
            pairs = zip(grads, variables, strict=True)
            applied: Operation = optimizer.apply_gradients(
                pairs, global_step=get_global_step()
            )
            return applied

        return head.create_model_fn_ops(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn,
        logits=logits,
    )  # fmt: skip


def _params(
    head: Head, feature_columns: Any, optimizer: Any, norm: Any, joint: bool
) -> dict[str, Any]:
    """The hyperparameters of the model function."""
    return {
        "head": head,
        "feature_columns": feature_columns,
        "optimizer": optimizer,
        "gradient_clip_norm": norm,
        "joint_weights": joint,
    }


def _columns(given: Iterable[Any] | None) -> tuple[Any, ...]:
    found = tuple(given or ())
    assert found, "feature_columns must not be empty"
    return found


@export("contrib.learn.LinearClassifier")
class LinearClassifier(Classifier):
    """Classes from a weighted sum of columns.

    Args:
      feature_columns: columns of `tf.contrib.layers`, at least one.
      model_dir: the directory of checkpoints and event files; None for that of
        `config`, or a temporary one.
      n_classes: the number of classes; labels are from 0 to `n_classes - 1`.
      weight_column_name: the feature with each example's weight.
      optimizer: an optimizer, its name, or a function that makes it; Ftrl with a rate
        of min(0.2, 1 / sqrt(columns)) if None.
      gradient_clip_norm: the maximum global norm of the gradients, a float.
      enable_centered_bias: whether to train a bias apart from the columns.
      _joint_weight: whether all columns, of ids, share one variable.
      config: a `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: a function from features and labels to such.
      label_keys: the names of the classes, if the labels are texts.

    Raises:
      ValueError: there are fewer than 2 classes.
      AssertionError: there are no columns.

    Example:
      >>> age = tf.contrib.layers.real_valued_column("age")
      >>> classifier = tf.contrib.learn.LinearClassifier([age])

    Source: contrib/learn/python/learn/estimators/linear.py.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any] | None,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        self._feature_columns = _columns(feature_columns)
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        params = _params(
            head, self._feature_columns, optimizer, gradient_clip_norm, _joint_weight
        )
        super().__init__(
            _linear_model_fn, model_dir, config, params, feature_engineering_fn
        )


@export("contrib.learn.LinearRegressor")
class LinearRegressor(Regressor):
    """Numbers from a weighted sum of columns.

    Args:
      label_dimension: how many numbers an example has.
      feature_columns, model_dir, weight_column_name, optimizer, gradient_clip_norm,
        enable_centered_bias, _joint_weights, config, feature_engineering_fn: as in
        `LinearClassifier`.

    Example:
      >>> x = tf.contrib.layers.real_valued_column("x")
      >>> regressor = tf.contrib.learn.LinearRegressor([x])

    Source: contrib/learn/python/learn/estimators/linear.py.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any] | None,
        model_dir: PathLike | None = None,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        self._feature_columns = _columns(feature_columns)
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        params = _params(
            head, self._feature_columns, optimizer, gradient_clip_norm, _joint_weights
        )
        super().__init__(
            _linear_model_fn, model_dir, config, params, feature_engineering_fn
        )


@export("contrib.learn.LinearEstimator")
class LinearEstimator(Estimator):
    """A weighted sum of columns under any head.

    Args:
      feature_columns: columns of `tf.contrib.layers`, at least one.
      head: a `tf.contrib.learn.Head`.
      weight_column_name: ignored, as by TensorFlow: heads have their own.
      model_dir, optimizer, gradient_clip_norm, _joint_weights, config,
        feature_engineering_fn: as in `LinearClassifier`.

    Example:
      >>> head = tf.contrib.learn.poisson_regression_head()
      >>> x = tf.contrib.layers.real_valued_column("x")
      >>> estimator = tf.contrib.learn.LinearEstimator([x], head)

    Source: contrib/learn/python/learn/estimators/linear.py.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any] | None,
        head: Head,
        model_dir: PathLike | None = None,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        params = _params(
            head, _columns(feature_columns), optimizer, gradient_clip_norm,
            _joint_weights,
        )  # fmt: skip
        super().__init__(
            _linear_model_fn, model_dir, config, params, feature_engineering_fn
        )
