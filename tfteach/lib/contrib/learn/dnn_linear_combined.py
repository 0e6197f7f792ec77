"""The canned wide and deep models of `tf.contrib.learn`.

Source: contrib/learn/python/learn/estimators/dnn_linear_combined.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, get_collection
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.layers.optimizers import optimize_loss
from tfteach.lib.contrib.learn.canned import Classifier, Regressor, ScoredMetrics
from tfteach.lib.contrib.learn.dnn import DNN_RATE, hidden_layers
from tfteach.lib.contrib.learn.estimator import Estimator
from tfteach.lib.contrib.learn.head import Head
from tfteach.lib.contrib.learn.head_functions import multi_class_head, regression_head
from tfteach.lib.contrib.learn.layers import (
    MIN_SLICE_BYTES,
    ActivationFn,
    columns,
    embedding_rate_multipliers,
    features_by_name,
    optimizer_of,
    server_count,
    summarize,
)
from tfteach.lib.contrib.learn.linear import linear_logits, linear_rate
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.type_aliases import OptimizerLike
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.training.global_step import get_global_step
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.nn.activations import relu
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.partitioners import min_max_variable_partitioner
from tfteach.variables.scope import variable_scope

_DNN, _LINEAR = "dnn", "linear"


def _dnn_linear_combined_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    params: Mapping[str, Any],
    config: RunConfig | None = None,
) -> ModelFnOps:
    if not (params.get("linear_feature_columns") or params.get("dnn_feature_columns")):
        raise ValueError(
            "Either linear_feature_columns or dnn_feature_columns must be defined."
        )
    features = features_by_name(features)
    servers = server_count(config)
    head: Head = params["head"]
    size = head.logits_dimension
    deep, multipliers = _deep_logits(features, mode, params, size, servers)
    wide = _wide_logits(features, params, size, servers)
    both = [logits for logits in (deep, wide) if logits is not None]
    logits = both[0] + both[1] if len(both) == 2 else both[0]
    counts_once = params.get("fix_global_step_increment_bug", True)

    def optimized(
        loss: Tensor, rate: float, optimizer: Any, factors: Any, name: str
    ) -> Tensor:
        return optimize_loss(
            loss=loss,
            global_step=get_global_step(),
            learning_rate=rate,
            optimizer=optimizer,
            gradient_multipliers=factors,
            clip_gradients=params.get("gradient_clip_norm"),
            variables=get_collection(name),
            name=name,
            summaries=[],
            increment_global_step=not counts_once,
        )

    def train_op_fn(loss: Tensor) -> Operation:
        steps = []
        if deep is not None:
            optimizer = optimizer_of(params.get("dnn_optimizer")) or "Adagrad"
            steps.append(optimized(loss, DNN_RATE, optimizer, multipliers, _DNN))
        if wide is not None:
            rate = linear_rate(params["linear_feature_columns"])
            optimizer = optimizer_of(params.get("linear_optimizer")) or "Ftrl"
            steps.append(optimized(loss, rate, optimizer, None, _LINEAR))
        every: Operation = group(*steps)
        if not counts_once:
            return every
        step = get_global_step()
        with control_dependencies([every]), step.graph.colocate_with(step.op):
            counted: Operation = assign_add(step, 1).op
            return counted

    return head.create_model_fn_ops(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn,
        logits=logits,
    )  # fmt: skip


def _deep_logits(
    features: Mapping[Any, Any], mode: str, params: Mapping[str, Any], size: int,
    servers: int,
) -> tuple[Tensor | None, Any]:  # fmt: skip
    """The logits of the hidden layers, and the factors of the gradients."""
    if not params.get("dnn_feature_columns"):
        return None, None
    if not params.get("dnn_hidden_units"):
        raise ValueError(
            "dnn_hidden_units must be defined when dnn_feature_columns is specified."
        )
    deep = {
        "feature_columns": params.get("dnn_feature_columns"),
        "hidden_units": params.get("dnn_hidden_units"),
        "activation_fn": params.get("dnn_activation_fn") or relu,
        "dropout": params.get("dnn_dropout"),
        "input_layer_min_slice_size": params.get("input_layer_min_slice_size"),
    }
    parts = min_max_variable_partitioner(max_partitions=servers)
    with variable_scope(_DNN, values=tuple(features.values()), partitioner=parts):
        logits, inputs = hidden_layers(features, mode, deep, size, servers, "/")
    factors = embedding_rate_multipliers(
        params.get("embedding_lr_multipliers"), _DNN, inputs
    )
    return logits, factors


def _wide_logits(
    features: Mapping[Any, Any], params: Mapping[str, Any], size: int, servers: int
) -> Tensor | None:
    """The weighted sum of the linear columns."""
    if not params.get("linear_feature_columns"):
        return None
    parts = min_max_variable_partitioner(
        max_partitions=servers, min_slice_size=MIN_SLICE_BYTES
    )
    values = tuple(features.values())
    with variable_scope(_LINEAR, values=values, partitioner=parts) as scope:
        logits = linear_logits(
            features, params.get("linear_feature_columns"), size,
            params.get("joint_linear_weights", False), scope,
        )  # fmt: skip
        summarize(logits, scope.name, "/")
    return logits


def _params(head: Head, options: Mapping[str, Any]) -> dict[str, Any]:
    """The hyperparameters of the model function."""
    return {
        "head": head,
        "linear_feature_columns": columns(options["linear_feature_columns"]),
        "linear_optimizer": options["linear_optimizer"],
        "joint_linear_weights": options["_joint_linear_weights"],
        "dnn_feature_columns": columns(options["dnn_feature_columns"]),
        "dnn_optimizer": options["dnn_optimizer"],
        "dnn_hidden_units": options["dnn_hidden_units"],
        "dnn_activation_fn": options["dnn_activation_fn"],
        "dnn_dropout": options["dnn_dropout"],
        "gradient_clip_norm": options["gradient_clip_norm"],
        "embedding_lr_multipliers": options["embedding_lr_multipliers"],
        "input_layer_min_slice_size": options.get("input_layer_min_slice_size"),
        "fix_global_step_increment_bug": options["fix_global_step_increment_bug"],
    }


def _all_columns(linear: Any, deep: Any) -> tuple[Any, ...]:
    found = columns(linear) + columns(deep)
    if not found:
        raise ValueError(
            "Either linear_feature_columns or dnn_feature_columns must be defined."
        )
    return found


@export("contrib.learn.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Classifier):
    """Classes from the sum of a linear and a deep model.

    Args:
      model_dir: the directory of checkpoints and event files; None for that of
        `config`, or a temporary one.
      n_classes: the number of classes; labels are from 0 to `n_classes - 1`.
      weight_column_name: the feature with each example's weight.
      linear_feature_columns: the columns of the linear model.
      linear_optimizer: its optimizer, a name, or a function that makes it; Ftrl with a
        rate of min(0.2, 1 / sqrt(columns)) if None.
      _joint_linear_weights: whether the linear columns, of ids, share one variable.
      dnn_feature_columns: the columns of the deep model.
      dnn_optimizer: its optimizer; Adagrad with a rate of 0.05 if None.
      dnn_hidden_units: the number of units of each hidden layer.
      dnn_activation_fn: the function after each hidden layer; None for none.
      dnn_dropout: the probability with which a unit is dropped while training.
      gradient_clip_norm: the maximum global norm of the gradients, a float.
      enable_centered_bias: whether to train a bias apart from the models.
      config: a `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: a function from features and labels to such.
      embedding_lr_multipliers: a dict from embedding columns to factors of the rate.
      input_layer_min_slice_size: the least size of a variable's part, in bytes.
      label_keys: the names of the classes, if the labels are texts.
      fix_global_step_increment_bug: whether a step counts once; otherwise, as ever, it
        counts once for each of the two models.

    Raises:
      ValueError: there are no columns, or fewer than 2 classes.

    Example:
      >>> estimator = tf.contrib.learn.DNNLinearCombinedClassifier(
      ...     linear_feature_columns=[crossed], dnn_feature_columns=[embedded],
      ...     dnn_hidden_units=[100, 50],
      ... )

    Source: contrib/learn/python/learn/estimators/dnn_linear_combined.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: OptimizerLike = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: OptimizerLike = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn | None = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        options = dict(locals())
        self._feature_columns = _all_columns(
            linear_feature_columns, dnn_feature_columns
        )
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            _dnn_linear_combined_model_fn, model_dir, config, _params(head, options),
            feature_engineering_fn,
        )  # fmt: skip


@export("contrib.learn.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(ScoredMetrics, Regressor):
    """Numbers from the sum of a linear and a deep model.

    Args:
      label_dimension: how many numbers an example has.
      model_dir, weight_column_name, linear_feature_columns, linear_optimizer,
        _joint_linear_weights, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
        dnn_activation_fn, dnn_dropout, gradient_clip_norm, enable_centered_bias,
        config, feature_engineering_fn, embedding_lr_multipliers,
        input_layer_min_slice_size, fix_global_step_increment_bug: as in
        `DNNLinearCombinedClassifier`.

    Example:
      >>> regressor = tf.contrib.learn.DNNLinearCombinedRegressor(
      ...     linear_feature_columns=[crossed], dnn_feature_columns=[embedded],
      ...     dnn_hidden_units=[100, 50],
      ... )

    Source: contrib/learn/python/learn/estimators/dnn_linear_combined.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: OptimizerLike = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: OptimizerLike = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn | None = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        options = dict(locals())
        self._feature_columns = _all_columns(
            linear_feature_columns, dnn_feature_columns
        )
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            _dnn_linear_combined_model_fn, model_dir, config, _params(head, options),
            feature_engineering_fn,
        )  # fmt: skip


@export("contrib.learn.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(Estimator):
    """The sum of a linear and a deep model under any head.

    Args:
      head: a `tf.contrib.learn.Head`.
      input_layer_partitioner: not implemented.
      model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights,
        dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn,
        dnn_dropout, gradient_clip_norm, config, feature_engineering_fn,
        embedding_lr_multipliers, fix_global_step_increment_bug: as in
        `DNNLinearCombinedClassifier`.

    Raises:
      NotImplementedError: `input_layer_partitioner` is given.

    Example:
      >>> estimator = tf.contrib.learn.DNNLinearCombinedEstimator(
      ...     tf.contrib.learn.poisson_regression_head(),
      ...     linear_feature_columns=[crossed],
      ... )

    Source: contrib/learn/python/learn/estimators/dnn_linear_combined.py.
    """

    def __init__(
        self,
        head: Head,
        model_dir: PathLike | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: OptimizerLike = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: OptimizerLike = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn | None = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: object = None,
    ) -> None:
        options = dict(locals())
        if input_layer_partitioner is not None:
            raise NotImplementedError(
                "DNNLinearCombinedEstimator(input_layer_partitioner=...): open a "
                "tf.variable_scope with a partitioner in a model_fn of your own"
            )
        _all_columns(linear_feature_columns, dnn_feature_columns)
        options["dnn_activation_fn"] = dnn_activation_fn or relu
        super().__init__(
            _dnn_linear_combined_model_fn, model_dir, config, _params(head, options),
            feature_engineering_fn,
        )  # fmt: skip
