"""Fully connected networks of feature columns.

Source: tensorflow_estimator/python/estimator/canned/dnn.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfteach.control.zero_fraction import zero_fraction
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Partitioner, PathLike
from tfteach.lib.estimator.canned.linear import (
    check_features,
    input_partitioner,
    layer_partitioner,
)
from tfteach.lib.estimator.canned.optimizers import OptimizerLike, optimizer_of
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.head import Head
from tfteach.lib.estimator.heads.head_checks import WeightColumn
from tfteach.lib.estimator.heads.multi_class_head import classification_head
from tfteach.lib.estimator.heads.regression_head import RegressionHead
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.feature_column.base_column import Columns
from tfteach.lib.feature_column.dense_features import (
    DenseFeatures,
    is_feature_column_v2,
)
from tfteach.lib.feature_column.input_layer import input_layer
from tfteach.lib.files.warm_start import WarmStartSettings
from tfteach.lib.layers.core import Dense
from tfteach.lib.layers.core import dropout as dropout_layer
from tfteach.lib.layers.normalization import BatchNormalization
from tfteach.lib.losses.weighted import Reduction
from tfteach.ops.debug.summary_functions import histogram, scalar
from tfteach.ops.nn.activations import relu
from tfteach.variables.initializers import GlorotUniform
from tfteach.variables.scope import variable_scope

Activation = Callable[[Any], Tensor]
LogitFn = Callable[[Mapping[str, Any], str], Tensor]
_LEARNING_RATE = 0.05
_MOMENTUM = 0.999  # of batch normalization's moving averages


def add_layer_summary(value: Tensor, tag: str) -> None:
    """Summaries of a layer's output: how much of it is 0, and its distribution."""
    scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}/activation", value)


def _dense(inputs: Tensor, units: int, activation: Any, scope: Any) -> Tensor:
    layer = Dense(
        units,
        activation=activation,
        kernel_initializer=GlorotUniform(),
        name=scope,
        _scope=scope,
    )
    result: Tensor = layer(inputs)
    return result


def _normalized(inputs: Tensor, number: int, is_training: bool, scope: Any) -> Tensor:
    with (
        variable_scope(scope, auxiliary_name_scope=False),
        name_scope(scope.original_name_scope),
    ):
        layer = BatchNormalization(momentum=_MOMENTUM, name=f"batchnorm_{number}")
        result: Tensor = layer(inputs, training=is_training)
    return result


@export(
    "estimator.experimental.dnn_logit_fn_builder",
    "contrib.estimator.dnn_logit_fn_builder",
)
def dnn_logit_fn_builder(
    units: int,
    hidden_units: Iterable[int],
    feature_columns: Columns,
    activation_fn: Activation | None,
    dropout: float | None,
    input_layer_partitioner: Partitioner | None,
    batch_norm: bool,
) -> LogitFn:
    """A function that makes logits of features: a fully connected network.

    Args:
      units: the number of logits.
      hidden_units: the number of units of each hidden layer.
      feature_columns: an iterable of dense columns.
      activation_fn: the activation of hidden layers; None for none.
      dropout: the fraction of hidden units that a training step sets to 0.
      input_layer_partitioner: the partitioner of the columns' variables.
      batch_norm: whether each hidden layer's output is normalized.

    Returns:
      A function from a dictionary of features and a `tf.estimator.ModeKeys` to logits
      [batch, units].

    Raises:
      ValueError: `units` is no int.

    Source: tensorflow_estimator/python/estimator/canned/dnn.py.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: Mapping[str, Any], mode: str) -> Tensor:
        is_training = mode == ModeKeys.TRAIN
        columns: Any = feature_columns
        given = tuple(features.values())
        with variable_scope(
            "input_from_feature_columns",
            values=given,
            partitioner=input_layer_partitioner,
        ):
            if is_feature_column_v2(columns):
                net = DenseFeatures(columns, name="input_layer")(features)
            else:
                net = input_layer(features, columns)
        for i, size in enumerate(hidden_units):
            # Layers of a Keras model have resource variables.
            name = f"hiddenlayer_{i}"
            with variable_scope(name, values=(net,), use_resource=True) as scope:
                net = _dense(net, size, activation_fn, scope)
            if dropout is not None and is_training:
                net = dropout_layer(net, dropout, training=True)
            if batch_norm:
                net = _normalized(net, i, is_training, scope)
            add_layer_summary(net, scope.name)
        with variable_scope("logits", values=(net,), use_resource=True) as scope:
            logits = _dense(net, units, None, scope)
        add_layer_summary(logits, scope.name)
        return logits

    return dnn_logit_fn


class _DNN(Estimator):
    def __init__(
        self,
        head: Head,
        hidden_units: Iterable[int],
        feature_columns: Columns,
        model_dir: PathLike | None,
        optimizer: OptimizerLike,
        activation_fn: Activation | None,
        dropout: float | None,
        input_layer_partitioner: Partitioner | None,
        config: RunConfig | None,
        warm_start_from: PathLike | WarmStartSettings | None,
        batch_norm: bool,
    ) -> None:
        def model_fn(
            features: Any, labels: Any, mode: str, config: RunConfig
        ) -> EstimatorSpec:
            check_features(features)
            made = optimizer_of(optimizer, _LEARNING_RATE)
            partitioner = layer_partitioner(config)
            cut_input = input_layer_partitioner or input_partitioner(config)
            given = tuple(features.values())
            with variable_scope("dnn", values=given, partitioner=partitioner):
                logit_fn = dnn_logit_fn_builder(
                    head.logits_dimension, hidden_units, feature_columns,
                    activation_fn, dropout, cut_input,
                    batch_norm,
                )  # fmt: skip
                logits = logit_fn(features, mode)
                return head.create_estimator_spec(features, mode, logits, labels, made)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.DNNEstimator")
class DNNEstimator(_DNN):
    """A fully connected network of columns, with any head.

    Args:
      head: a head, such as `tf.contrib.estimator.multi_label_head` makes.
      hidden_units: the number of units of each hidden layer.
      feature_columns: an iterable of dense columns.
      model_dir: the directory of checkpoints and event files.
      optimizer: a `tf.train.Optimizer`, a function that makes one, or "Adagrad",
        "Adam", "Ftrl", "RMSProp" or "SGD", with a learning rate of 0.05.
      activation_fn: the activation of hidden layers.
      dropout: the fraction of hidden units that a training step sets to 0.
      input_layer_partitioner: the partitioner of the columns' variables.
      config: a `tf.estimator.RunConfig`.
      warm_start_from: see `tf.estimator.Estimator`.
      batch_norm: whether each hidden layer's output is normalized.

    Source: tensorflow_estimator/python/estimator/canned/dnn.py.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Iterable[int],
        feature_columns: Columns,
        model_dir: PathLike | None = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn,
            dropout, input_layer_partitioner, config, warm_start_from, batch_norm,
        )  # fmt: skip


@export("estimator.DNNClassifier")
class DNNClassifier(_DNN):
    """A fully connected network that predicts classes.

    Args:
      hidden_units: the number of units of each hidden layer.
      feature_columns: an iterable of dense columns.
      model_dir: the directory of checkpoints and event files.
      n_classes: the number of classes.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      label_vocabulary: the classes' names, if labels are strings.
      optimizer, activation_fn, dropout, input_layer_partitioner, config,
      warm_start_from, batch_norm: see `tf.estimator.DNNEstimator`.
      loss_reduction: a `tf.losses.Reduction` other than NONE.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> columns = [tf.feature_column.numeric_column("petal", 2)]
      >>> classifier = tf.estimator.DNNClassifier([10, 10], columns, n_classes=3)
      >>> classifier.train(input_fn, steps=1000)
      >>> classifier.evaluate(test_input_fn)["accuracy"]

    Source: tensorflow_estimator/python/estimator/canned/dnn.py.
    """

    def __init__(
        self,
        hidden_units: Iterable[int],
        feature_columns: Columns,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Vocabulary = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = classification_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn,
            dropout, input_layer_partitioner, config, warm_start_from, batch_norm,
        )  # fmt: skip


@export("estimator.DNNRegressor")
class DNNRegressor(_DNN):
    """A fully connected network that predicts numbers.

    Args:
      hidden_units: the number of units of each hidden layer.
      feature_columns: an iterable of dense columns.
      model_dir: the directory of checkpoints and event files.
      label_dimension: how many numbers a label is.
      weight_column, loss_reduction: see `tf.estimator.DNNClassifier`.
      optimizer, activation_fn, dropout, input_layer_partitioner, config,
      warm_start_from, batch_norm: see `tf.estimator.DNNEstimator`.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/python/estimator/canned/dnn.py.
    """

    def __init__(
        self,
        hidden_units: Iterable[int],
        feature_columns: Columns,
        model_dir: PathLike | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = RegressionHead(weight_column, label_dimension, loss_reduction)
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn,
            dropout, input_layer_partitioner, config, warm_start_from, batch_norm,
        )  # fmt: skip
