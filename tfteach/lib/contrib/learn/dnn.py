"""The canned deep models of `tf.contrib.learn`.

Source: contrib/learn/python/learn/estimators/dnn.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.layers.dense import fully_connected
from tfteach.lib.contrib.layers.feature_column_ops import input_from_feature_columns
from tfteach.lib.contrib.layers.optimizers import optimize_loss
from tfteach.lib.contrib.layers.shaping import dropout as dropout_layer
from tfteach.lib.contrib.learn.canned import Classifier, Regressor, ScoredMetrics
from tfteach.lib.contrib.learn.estimator import Estimator
from tfteach.lib.contrib.learn.head import Head
from tfteach.lib.contrib.learn.head_functions import multi_class_head, regression_head
from tfteach.lib.contrib.learn.keys import ModeKeys
from tfteach.lib.contrib.learn.layers import (
    MIN_SLICE_BYTES,
    ActivationFn,
    activation_of,
    are_older,
    columns,
    embedding_rate_multipliers,
    features_by_name,
    optimizer_of,
    server_count,
    summarize,
)
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.type_aliases import OptimizerLike
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.feature_column.input_layer import input_layer
from tfteach.lib.training.global_step import get_global_step
from tfteach.ops.nn.activations import relu
from tfteach.variables.partitioners import min_max_variable_partitioner
from tfteach.variables.scope import variable_scope

DNN_RATE = 0.05
_SCOPE = "dnn"


def hidden_layers(
    features: Mapping[Any, Any],
    mode: str,
    params: Mapping[str, Any],
    logits_dimension: int,
    servers: int,
    link: str,
) -> tuple[Tensor, str]:
    """The logits of columns and hidden layers, and the name of the columns' scope.

    Args:
      features: a dict of features.
      mode: a `tf.contrib.learn.ModeKeys`: layers drop values in TRAIN.
      params: "feature_columns", "hidden_units", "activation_fn", "dropout" and
        "input_layer_min_slice_size".
      logits_dimension: the number of logits.
      servers: the number of parameter servers.
      link: what stands between the name of a layer and that of its summaries.
    """
    values = tuple(features.values())
    least = params.get("input_layer_min_slice_size") or MIN_SLICE_BYTES
    drop_rate = params.get("dropout") if mode == ModeKeys.TRAIN else None
    activation_fn = activation_of(params.get("activation_fn"))
    with variable_scope(
        "input_from_feature_columns",
        values=values,
        partitioner=min_max_variable_partitioner(
            max_partitions=servers, min_slice_size=least
        ),
    ) as input_scope:
        given = params["feature_columns"]
        if are_older(given):
            layer = input_from_feature_columns(
                features, given, [_SCOPE], scope=input_scope
            )
        else:
            layer = input_layer(features, given, [_SCOPE])
    for i, units in enumerate(params["hidden_units"]):
        with variable_scope(f"hiddenlayer_{i}", values=(layer,)) as scope:
            layer = fully_connected(
                layer, units, activation_fn=activation_fn,
                variables_collections=[_SCOPE], scope=scope,
            )  # fmt: skip
            if drop_rate is not None:
                layer = dropout_layer(layer, keep_prob=1.0 - drop_rate)
        summarize(layer, scope.name, link)
    with variable_scope("logits", values=(layer,)) as scope:
        logits = fully_connected(
            layer, logits_dimension, activation_fn=None,
            variables_collections=[_SCOPE], scope=scope,
        )  # fmt: skip
    summarize(logits, scope.name, link)
    return logits, input_scope.name


def _dnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    params: Mapping[str, Any],
    config: RunConfig | None = None,
) -> ModelFnOps:
    features = features_by_name(features)
    servers = server_count(config)
    head: Head = params["head"]
    optimizer = optimizer_of(params.get("optimizer")) or "Adagrad"
    parts = min_max_variable_partitioner(max_partitions=servers)
    with variable_scope(_SCOPE, values=tuple(features.values()), partitioner=parts):
        logits, inputs = hidden_layers(
            features, mode, params, head.logits_dimension, servers, "_"
        )
        multipliers = embedding_rate_multipliers(
            params.get("embedding_lr_multipliers"), _SCOPE, inputs
        )

        def train_op_fn(loss: Tensor) -> Tensor:
            return optimize_loss(
                loss=loss,
                global_step=get_global_step(),
                learning_rate=DNN_RATE,
                optimizer=optimizer,
                gradient_multipliers=multipliers,
                clip_gradients=params.get("gradient_clip_norm"),
                name=_SCOPE,
                summaries=[],
            )

        return head.create_model_fn_ops(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn,
        logits=logits,
    )  # fmt: skip


def _params(head: Head, options: Mapping[str, Any]) -> dict[str, Any]:
    """The hyperparameters of the model function."""
    names = (
        "hidden_units feature_columns optimizer activation_fn dropout "
        "gradient_clip_norm embedding_lr_multipliers input_layer_min_slice_size"
    )
    found = {"head": head, **{name: options[name] for name in names.split()}}
    found["feature_columns"] = columns(found["feature_columns"])
    return found


@export("contrib.learn.DNNClassifier")
class DNNClassifier(Classifier):
    """Classes from columns and hidden layers.

    Args:
      hidden_units: the number of units of each hidden layer.
      feature_columns: columns of `tf.contrib.layers`.
      model_dir: the directory of checkpoints and event files; None for that of
        `config`, or a temporary one.
      n_classes: the number of classes; labels are from 0 to `n_classes - 1`.
      weight_column_name: the feature with each example's weight.
      optimizer: an optimizer, its name, or a function that makes it; Adagrad with a
        rate of 0.05 if None.
      activation_fn: the function after each hidden layer; None for none.
      dropout: the probability with which a unit is dropped while training.
      gradient_clip_norm: the maximum global norm of the gradients, a float.
      enable_centered_bias: whether to train a bias apart from the layers.
      config: a `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: a function from features and labels to such.
      embedding_lr_multipliers: a dict from embedding columns to factors of the rate.
      input_layer_min_slice_size: the least size of a variable's part, in bytes.
      label_keys: the names of the classes, if the labels are texts.

    Raises:
      ValueError: there are fewer than 2 classes.

    Example:
      >>> x = tf.contrib.layers.real_valued_column("", dimension=4)
      >>> classifier = tf.contrib.learn.DNNClassifier([10, 20, 10], [x], n_classes=3)
      >>> classifier.fit(iris.data, iris.target, steps=200)
      >>> classifier.evaluate(iris.data, iris.target)["accuracy"]

    Source: contrib/learn/python/learn/estimators/dnn.py.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any] | None,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike = None,
        activation_fn: ActivationFn | None = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        options = dict(locals())
        self._feature_columns = columns(feature_columns)
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            _dnn_model_fn, model_dir, config, _params(head, options),
            feature_engineering_fn,
        )  # fmt: skip


@export("contrib.learn.DNNRegressor")
class DNNRegressor(ScoredMetrics, Regressor):
    """Numbers from columns and hidden layers.

    Args:
      label_dimension: how many numbers an example has.
      hidden_units, feature_columns, model_dir, weight_column_name, optimizer,
        activation_fn, dropout, gradient_clip_norm, enable_centered_bias, config,
        feature_engineering_fn, embedding_lr_multipliers, input_layer_min_slice_size:
        as in `DNNClassifier`.

    Example:
      >>> x = tf.contrib.layers.real_valued_column("", dimension=13)
      >>> regressor = tf.contrib.learn.DNNRegressor([10, 10], [x])

    Source: contrib/learn/python/learn/estimators/dnn.py.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any] | None,
        model_dir: PathLike | None = None,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike = None,
        activation_fn: ActivationFn | None = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        options = dict(locals())
        self._feature_columns = columns(feature_columns)
        head = regression_head(
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            _dnn_model_fn, model_dir, config, _params(head, options),
            feature_engineering_fn,
        )  # fmt: skip


@export("contrib.learn.DNNEstimator")
class DNNEstimator(Estimator):
    """Columns and hidden layers under any head.

    Args:
      head: a `tf.contrib.learn.Head`.
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
        gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers,
        input_layer_min_slice_size: as in `DNNClassifier`.

    Example:
      >>> head = tf.contrib.learn.poisson_regression_head()
      >>> x = tf.contrib.layers.real_valued_column("", dimension=4)
      >>> estimator = tf.contrib.learn.DNNEstimator(head, [10], [x])

    Source: contrib/learn/python/learn/estimators/dnn.py.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any] | None,
        model_dir: PathLike | None = None,
        optimizer: OptimizerLike = None,
        activation_fn: ActivationFn | None = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        super().__init__(
            _dnn_model_fn, model_dir, config, _params(head, dict(locals())),
            feature_engineering_fn,
        )  # fmt: skip
