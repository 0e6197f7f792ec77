"""What the heads of `tf.contrib.learn` share: from logits to a model's ops.

A head adds loss, training step, predictions and metrics to the logits of a model.
`single_heads.py` defines those of one output, `multi_head.py` several together.

Source: contrib/learn/python/learn/estimators/head.py.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Fetches
from tfteach.lib.contrib.layers.dense import fully_connected
from tfteach.lib.contrib.learn.head_losses import Losses
from tfteach.lib.contrib.learn.head_metrics import Metric, weighted_mean
from tfteach.lib.contrib.learn.keys import MetricKey, ModeKeys, ProblemType
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.type_aliases import HeadLabels
from tfteach.lib.training.adagrad import AdagradOptimizer
from tfteach.ops.array.tile import tile
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims, identity, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorValue
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_mean
from tfteach.ops.nn.bias_add import bias_add
from tfteach.ops.text.string_conversion import as_string
from tfteach.variables.base import Variable
from tfteach.variables.scope import variable_scope

LossFn = Callable[[Any, Tensor, Any], Losses]
TrainOpFn = Callable[[Tensor], Any]
_CENTERED_BIAS_RATE = 0.1


@export("contrib.learn.no_op_train_fn", "contrib.learn.head.no_op_train_fn")
def no_op_train_fn(loss: Tensor) -> Operation:
    """A `train_op_fn` that trains nothing: an op without effect."""
    del loss
    return no_op()


@export("contrib.learn.Head", "contrib.learn.head.Head")
class Head(abc.ABC):
    """Adds loss, training step, predictions and metrics to a model's logits.

    Source: contrib/learn/python/learn/estimators/head.py.
    """

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The number of logits of each example."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Mapping[Any, Any],
        mode: str,
        labels: HeadLabels | None = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Tensor | None = None,
        logits_input: Tensor | None = None,
        scope: str | None = None,
    ) -> ModelFnOps:
        """The ops of a model.

        Args:
          features: a dict, among them the weights if the head has such a column.
          mode: a `tf.contrib.learn.ModeKeys`.
          labels: a Tensor, or a dict of them.
          train_op_fn: a function from the loss to the training step; required in TRAIN.
          logits: float Tensor [batch, logits_dimension].
          logits_input: in place of `logits`, what a linear layer makes these of.
          scope: the variable scope.

        Raises:
          ValueError: both or none of `logits` and `logits_input` are given; shapes or
            types do not match; there is no `train_op_fn`.
        """


class SingleHead(Head):
    """A head of one output: subclasses define loss, predictions and metrics."""

    problem_type = ProblemType.UNSPECIFIED
    default_name = "head"

    def __init__(
        self,
        logits_dimension: int,
        label_name: str | None = None,
        weight_column_name: str | None = None,
        enable_centered_bias: bool = False,
        head_name: str | None = None,
    ) -> None:
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._logits_dimension = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._enable_centered_bias = enable_centered_bias
        # Programs that name a head find its summaries and metrics under this name.
        self.head_name = self._suffix = head_name

    @property
    def logits_dimension(self) -> int:
        """The number of logits of each example."""
        return self._logits_dimension

    @abc.abstractmethod
    def _losses(self, labels: Any, logits: Tensor, weights: Any) -> Losses:
        """The trained loss and the weighted average."""

    @abc.abstractmethod
    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        """The predictions by their keys."""

    def _metrics(
        self, predictions: Mapping[str, Any], labels: Any, weights: Any
    ) -> dict[str, Metric]:
        """The metrics besides the loss."""
        del predictions, labels, weights
        return {}

    def _alternatives(self, predictions: Mapping[str, Any]) -> dict[str, Any] | None:
        """The outputs of an export."""
        return dict(predictions)

    def _checked_labels(self, mode: str, labels: Any) -> Any:
        """The labels as a Tensor; None if there are none."""
        labels = labels_of(labels, self._label_name)
        if isinstance(labels, (SparseTensor, SparseTensorValue)):
            raise ValueError("SparseTensor is not supported.")
        return None if mode == ModeKeys.INFER or labels is None else convert(labels)

    def _metric_labels(self, labels: Any) -> Any:
        """The labels as the metrics compare them."""
        return labels

    def create_model_fn_ops(
        self,
        features: Mapping[Any, Any],
        mode: str,
        labels: HeadLabels | None = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Tensor | None = None,
        logits_input: Tensor | None = None,
        scope: str | None = None,
    ) -> ModelFnOps:
        """See `Head`."""
        check_mode(mode)
        values = (*features.values(), labels, logits, logits_input)
        name = self.head_name or self.default_name
        with variable_scope(scope, default_name=name, values=values):
            labels = self._checked_labels(mode, labels)
            logits = checked_logits(logits_input, logits, self.logits_dimension)
            return self._ops(features, mode, labels, train_op_fn, logits)

    def _ops(
        self,
        features: Mapping[Any, Any],
        mode: str,
        labels: Any,
        train_op_fn: TrainOpFn | None,
        logits: Tensor,
    ) -> ModelFnOps:
        bias = None
        if self._enable_centered_bias:
            bias = _centered_bias(self.logits_dimension, self._suffix)
            logits = bias_add(logits, bias)
        predictions = self._predictions(logits)
        loss = train_op = metrics = None
        if mode != ModeKeys.INFER and labels is not None:
            weights = _weights(features, self._weight_column_name)
            loss, average = self._losses(labels, logits, weights)
            with name_scope(""):
                scalar(with_suffix(MetricKey.LOSS, self._suffix), identity(average))
            if mode == ModeKeys.TRAIN:
                if train_op_fn is None:
                    raise ValueError("train_op_fn can not be None in TRAIN mode")
                batch_size = shape(logits)[0]
                train_op = self._train_op(
                    loss, labels, train_op_fn, bias, batch_size, weights
                )
            with name_scope(None, "metrics", (average, predictions, labels, weights)):
                found = {MetricKey.LOSS: _mean_of_loss(average)}
                shown = self._metric_labels(labels)
                found |= self._metrics(predictions, shown, weights)
            metrics = {with_suffix(k, self._suffix): v for k, v in found.items()}
        alternatives = self._alternatives(predictions)
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives={self._suffix: (self.problem_type, alternatives)},
        )

    def _train_op(
        self,
        loss: Tensor,
        labels: Any,
        train_op_fn: TrainOpFn,
        bias: Any,
        batch_size: Tensor,
        weights: Any,
    ) -> Fetches:
        bias_step = None
        if bias is not None:
            bias_step = self._bias_step(bias, batch_size, labels, weights)
        with name_scope(None, "train_op", (loss, labels)):
            train_op = train_op_fn(loss)
            if bias_step is not None:
                train_op = group(train_op, bias_step)
        return train_op

    def _bias_step(
        self, bias: Any, batch_size: Tensor, labels: Any, weights: Any
    ) -> Operation:
        """Train the bias alone, as if there were no other logits."""
        with name_scope(None, "centered_bias_step", (labels,)) as name:
            size = shape(bias)[0]
            logits = reshape(tile(bias, (batch_size,)), (batch_size, size))
            with name_scope(None, "centered_bias", (labels, logits)):
                both = self._losses(labels, logits, weights)
                loss = reduce_mean(both, name="training_loss")
        return AdagradOptimizer(_CENTERED_BIAS_RATE).minimize(
            loss, var_list=(bias,), name=name
        )


def with_suffix(name: str, suffix: str | None) -> str:
    """The key of a summary or metric of a named head."""
    return f"{name}/{suffix}" if suffix else name


def _mean_of_loss(loss: Tensor) -> Metric:
    return weighted_mean(loss, None)


def check_mode(mode: str) -> None:
    """Check that a head has ops for the mode.

    Raises:
      ValueError: it has not.
    """
    if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER):
        raise ValueError(f"mode={mode} unrecognized.")


def labels_of(labels: Any, name: str | None) -> Any:
    """The labels of a head: of a dictionary those under its name."""
    if not isinstance(labels, Mapping):
        return labels
    return labels[name]


def checked_logits(logits_input: Any, logits: Any, size: int) -> Tensor:
    """The logits; a linear layer of `logits_input` if they are not given."""
    if logits is not None and logits_input is not None:
        raise ValueError("Both logits and logits_input supplied.")
    if logits is not None:
        found: Tensor = convert(logits, name="logits")
        sizes = found.get_shape()
        if sizes.ndims is not None:
            Dimension(sizes[1]).assert_is_compatible_with(size)
        return found
    if logits_input is None:
        raise ValueError("Neither logits nor logits_input supplied.")
    return fully_connected(logits_input, size, activation_fn=None, scope="logits")


def _weights(features: Mapping[Any, Any], name: str | None) -> Any:
    """The column of weights as floats [batch, n]; None if there is none."""
    if not name:
        return None
    weights = features.get(name)
    if weights is None:
        raise ValueError(f"Weights {name} missing from features.")
    with name_scope(None, "weight_tensor", (weights,)):
        weights = cast(weights, float32)
        if weights.get_shape().ndims == 1:
            weights = reshape(weights, [-1, 1])
    return weights


def _centered_bias(size: int, suffix: str | None) -> Variable:
    """A trainable bias of the logits, with a summary of each number."""
    make: Any = Variable  # the metaclass makes the kind of the variable scope
    bias: Variable = make(
        zeros((size,)),
        name="centered_bias_weight",
        collections=(GraphKeys.GLOBAL_VARIABLES,),
    )
    for i in range(size):
        scalar(with_suffix(f"centered_bias/bias_{i}", suffix), bias[i])
    return bias


def classification_outputs(
    predictions: Mapping[str, Any], probabilities_key: str, label_keys: Any
) -> dict[str, Any]:
    """Probabilities, and the names of all classes for each example."""
    probabilities = predictions[probabilities_key]
    name = "_classification_output_alternatives"
    with name_scope(None, name, (probabilities,)):
        batch_size = shape(probabilities)[0]
        if label_keys:
            names = tile(
                expand_dims(label_keys, 0), [batch_size, 1], name="classes_tensor"
            )
        else:
            count = shape(probabilities)[1]
            ids = tile(expand_dims(range_of(count), 0), [batch_size, 1])
            names = as_string(ids, name="classes_tensor")
    return {"probabilities": probabilities, "classes": names}
