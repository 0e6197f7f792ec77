"""Wide and deep models: a linear model and a network, whose logits are added.

Source: tensorflow_estimator/python/estimator/canned/dnn_linear_combined.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, get_collection
from tfteach.framework.type_aliases import Partitioner, PathLike
from tfteach.lib.estimator.canned.dnn import (
    Activation,
    add_layer_summary,
    dnn_logit_fn_builder,
)
from tfteach.lib.estimator.canned.linear import (
    check_features,
    input_partitioner,
    layer_partitioner,
    linear_logit_fn_builder,
)
from tfteach.lib.estimator.canned.optimizers import OptimizerLike, optimizer_of
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.head import Head
from tfteach.lib.estimator.heads.head_checks import WeightColumn
from tfteach.lib.estimator.heads.multi_class_head import classification_head
from tfteach.lib.estimator.heads.regression_head import RegressionHead
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.feature_column.base_column import Columns
from tfteach.lib.files.warm_start import WarmStartSettings
from tfteach.lib.losses.weighted import Reduction
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.optimizer import Optimizer
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.nn.activations import relu
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.scope import variable_scope

_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005
_DNN, _LINEAR = "dnn", "linear"


class _Linear(NamedTuple):
    """The wide part: a linear model, perhaps of crossed columns."""

    columns: Any
    optimizer: OptimizerLike
    sparse_combiner: str

    def made_optimizer(self) -> Optimizer:
        rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(self.columns)))
        return optimizer_of(self.optimizer, rate)

    def logits(
        self, features: Mapping[str, Any], units: int, partitioner: Partitioner
    ) -> Tensor:
        given = tuple(features.values())
        with variable_scope(_LINEAR, values=given, partitioner=partitioner) as scope:
            build = linear_logit_fn_builder(units, self.columns, self.sparse_combiner)
            logits = build(features)
            add_layer_summary(logits, scope.name)
        return logits


class _Network(NamedTuple):
    """The deep part: a network, perhaps of embeddings."""

    columns: Any
    optimizer: OptimizerLike
    hidden_units: Any
    activation_fn: Activation | None
    dropout: float | None
    batch_norm: bool

    def made_optimizer(self) -> Optimizer:
        if not self.hidden_units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is "
                "specified."
            )
        return optimizer_of(self.optimizer, _DNN_LEARNING_RATE)

    def logits(
        self,
        features: Mapping[str, Any],
        units: int,
        mode: str,
        partitioner: Partitioner,
        input_partitioner: Partitioner,
    ) -> Tensor:
        given = tuple(features.values())
        with variable_scope(_DNN, values=given, partitioner=partitioner):
            build = dnn_logit_fn_builder(
                units,
                self.hidden_units,
                self.columns,
                self.activation_fn,
                self.dropout,
                input_partitioner,
                self.batch_norm,
            )
            return build(features, mode)


def _check_columns(linear: Any, dnn: Any) -> None:
    if not linear and not dnn:
        raise ValueError(
            "Either linear_feature_columns or dnn_feature_columns must be defined."
        )


class _DNNLinearCombined(Estimator):
    def __init__(
        self,
        head: Head,
        model_dir: PathLike | None,
        linear: _Linear,
        network: _Network,
        input_layer_partitioner: Partitioner | None,
        config: RunConfig | None,
        warm_start_from: PathLike | WarmStartSettings | None,
    ) -> None:
        def model_fn(
            features: Any, labels: Any, mode: str, config: RunConfig
        ) -> EstimatorSpec:
            check_features(features)
            cut_input = input_layer_partitioner or input_partitioner(config)
            units, logits, optimizers = head.logits_dimension, [], []
            if network.columns:
                optimizers.append((network.made_optimizer(), _DNN))
                logits.append(
                    network.logits(
                        features, units, mode, layer_partitioner(config), cut_input
                    )
                )
            if linear.columns:
                optimizers.append((linear.made_optimizer(), _LINEAR))
                logits.append(linear.logits(features, units, cut_input))
            return head.create_estimator_spec(
                features,
                mode,
                logits[0] + logits[1] if len(logits) == 2 else logits[0],
                labels,
                train_op_fn=lambda loss: _train_op(loss, optimizers),
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _train_op(loss: Tensor, optimizers: list[tuple[Optimizer, str]]) -> Operation:
    """Each optimizer trains the variables of its part; then the step is counted."""
    trained = group(
        *(
            optimizer.minimize(
                loss,
                var_list=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope),
            )
            for optimizer, scope in optimizers
        )
    )
    with control_dependencies([trained]):
        counted: Operation = assign_add(get_global_step(), 1).op
        return counted


@export("estimator.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(_DNNLinearCombined):
    """A linear model and a network, whose logits are added, with any head.

    Args:
      head: a head, such as `tf.contrib.estimator.regression_head` makes.
      model_dir: the directory of checkpoints and event files.
      linear_feature_columns: the columns of the linear model.
      linear_optimizer: a `tf.train.Optimizer`, a function that makes one, or
        "Adagrad", "Adam", "Ftrl", "RMSProp" or "SGD", with a learning rate of
        `min(0.005, 1 / sqrt(number of linear columns))`.
      dnn_feature_columns: the dense columns of the network.
      dnn_optimizer: that of the network; by name, with a learning rate of 0.001.
      dnn_hidden_units: the number of units of each hidden layer.
      dnn_activation_fn: the activation of hidden layers.
      dnn_dropout: the fraction of hidden units that a training step sets to 0.
      input_layer_partitioner: the partitioner of the columns' variables.
      config: a `tf.estimator.RunConfig`.
      linear_sparse_combiner: "sum", "mean" or "sqrtn" of the linear weights of an
        example's ids.

    Raises:
      ValueError: there are no columns.

    Source: tensorflow_estimator/python/estimator/canned/dnn_linear_combined.py.
    """

    def __init__(
        self,
        head: Head,
        model_dir: PathLike | None = None,
        linear_feature_columns: Columns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: Columns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Activation | None = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        linear = _Linear(
            linear_feature_columns or [], linear_optimizer, linear_sparse_combiner
        )
        network = _Network(
            dnn_feature_columns or [], dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, False,
        )  # fmt: skip
        _check_columns(linear.columns, network.columns)
        super().__init__(
            head, model_dir, linear, network, input_layer_partitioner, config, None
        )


@export("estimator.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(_DNNLinearCombined):
    """A linear model and a network, whose logits are added, that predict classes.

    Args:
      model_dir: the directory of checkpoints and event files.
      linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
      dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner,
      config, linear_sparse_combiner: see `tf.estimator.DNNLinearCombinedEstimator`.
      n_classes: the number of classes.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      label_vocabulary: the classes' names, if labels are strings.
      warm_start_from: see `tf.estimator.Estimator`.
      loss_reduction: a `tf.losses.Reduction` other than NONE.
      batch_norm: whether each hidden layer's output is normalized.

    Raises:
      ValueError: there are no columns, or an argument is not valid.

    Example:
      >>> job = tf.feature_column.categorical_column_with_hash_bucket("job", 100)
      >>> classifier = tf.estimator.DNNLinearCombinedClassifier(
      ...     linear_feature_columns=[job],
      ...     dnn_feature_columns=[tf.feature_column.embedding_column(job, 8)],
      ...     dnn_hidden_units=[16],
      ... )
      >>> classifier.train(input_fn, steps=1000)

    Source: tensorflow_estimator/python/estimator/canned/dnn_linear_combined.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        linear_feature_columns: Columns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: Columns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Activation | None = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Vocabulary = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        linear = _Linear(
            linear_feature_columns or [], linear_optimizer, linear_sparse_combiner
        )
        network = _Network(
            dnn_feature_columns or [], dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, batch_norm,
        )  # fmt: skip
        _check_columns(linear.columns, network.columns)
        head = classification_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(
            head, model_dir, linear, network, input_layer_partitioner, config,
            warm_start_from,
        )  # fmt: skip


@export("estimator.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(_DNNLinearCombined):
    """A linear model and a network, whose logits are added, that predict numbers.

    Args:
      model_dir: the directory of checkpoints and event files.
      linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
      dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner,
      config, linear_sparse_combiner: see `tf.estimator.DNNLinearCombinedEstimator`.
      label_dimension: how many numbers a label is.
      weight_column, warm_start_from, loss_reduction, batch_norm: see
        `tf.estimator.DNNLinearCombinedClassifier`.

    Raises:
      ValueError: there are no columns, or an argument is not valid.

    Source: tensorflow_estimator/python/estimator/canned/dnn_linear_combined.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        linear_feature_columns: Columns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: Columns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Activation | None = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        linear = _Linear(
            linear_feature_columns or [], linear_optimizer, linear_sparse_combiner
        )
        network = _Network(
            dnn_feature_columns or [], dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, batch_norm,
        )  # fmt: skip
        _check_columns(linear.columns, network.columns)
        head = RegressionHead(weight_column, label_dimension, loss_reduction)
        super().__init__(
            head, model_dir, linear, network, input_layer_partitioner, config,
            warm_start_from,
        )  # fmt: skip
