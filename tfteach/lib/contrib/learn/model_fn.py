"""`tf.contrib.learn.ModelFnOps`: what an older model function returns.

Source: contrib/learn/python/learn/estimators/model_fn.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Fetches, Nested
from tfteach.lib.contrib.learn.keys import (
    MetricKey,
    ModeKeys,
    PredictionKey,
    ProblemType,
)
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.lib.training.scaffold import Scaffold
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.sparse_tensor import convert_to_tensor_or_sparse_tensor

_NO_IDS = "classes is %s, Servo inference will not have class ids."


class _Fields(NamedTuple):
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    output_alternatives: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    mode: Any


@export("contrib.learn.ModelFnOps")
class ModelFnOps(_Fields):
    """The ops of a model, as a function for `tf.contrib.learn.Estimator` returns them.

    Args:
      mode: a `tf.contrib.learn.ModeKeys`: TRAIN requires `loss` and `train_op`, EVAL
        `loss` and `predictions`, INFER `predictions`.
      predictions: a Tensor or SparseTensor, or a dict of names to these.
      loss: a scalar, or a Tensor [1].
      train_op: an operation or a Tensor.
      eval_metric_ops: a dict of names to (value, update op).
      output_alternatives: for exports, a dict of names to (`ProblemType`, dict of
        Tensors).
      training_chief_hooks, training_hooks: lists of hooks.
      scaffold: a `tf.train.Scaffold`.

    Raises:
      ValueError: something is missing, of another graph, or the loss is no scalar.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     prediction = tf.contrib.layers.linear(features, 1)
      ...     loss = tf.losses.mean_squared_error(labels, prediction)
      ...     step = tf.train.get_global_step()
      ...     train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD")
      ...     return tf.contrib.learn.ModelFnOps(mode, prediction, loss, train)

    Source: contrib/learn/python/learn/estimators/model_fn.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Nested[Tensor] | None = None,
        loss: Tensor | None = None,
        train_op: Fetches = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        output_alternatives: Mapping[str | None, Any] | None = None,
        training_chief_hooks: list[Any] | None = None,
        training_hooks: list[Any] | None = None,
        scaffold: Scaffold | None = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        graph = get_default_graph()
        if train_op is None:
            if mode == ModeKeys.TRAIN:
                raise ValueError("Missing train_op.")
        else:
            element = graph.as_graph_element(train_op)
            train_op = element.op if isinstance(element, Tensor) else element
            _check_graph(train_op, "train_op")
        if loss is None:
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                raise ValueError("Missing loss.")
        else:
            loss = _checked_loss(loss)
        if predictions is None:
            if mode in (ModeKeys.INFER, ModeKeys.EVAL):
                raise ValueError("Missing predictions.")
        else:
            predictions = _checked_predictions(predictions)
        return super().__new__(
            cls,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops={} if eval_metric_ops is None else eval_metric_ops,
            output_alternatives=output_alternatives,
            training_chief_hooks=_checked_hooks(training_chief_hooks),
            training_hooks=_checked_hooks(training_hooks),
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(
        self, default_serving_output_alternative_key: str | None = None
    ) -> EstimatorSpec:
        """The same ops for `tf.estimator.Estimator`.

        Args:
          default_serving_output_alternative_key: which of several alternatives an
            export serves by default.
        """
        outputs: dict[Any, ExportOutput] | None = None
        if self.output_alternatives:
            outputs = {
                key: _export_output(problem, tensors)
                for key, (problem, tensors) in self.output_alternatives.items()
            }
            if len(outputs) > 1:
                chosen = outputs[default_serving_output_alternative_key]
                outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = chosen
        elif self.mode == ModeKeys.INFER:
            outputs = {
                DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(self.predictions)
            }
        if outputs and len(outputs) == 1 and self.mode == ModeKeys.INFER:
            (only,) = outputs.values()
            outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = only
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            # The loss is a metric of every tf.estimator.Estimator.
            eval_metric_ops={
                key: metric
                for key, metric in core_metrics(self.eval_metric_ops).items()
                if key != MetricKey.LOSS
            },
            export_outputs=outputs,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def core_metrics(metrics: Mapping[Any, Any] | None) -> dict[str, Any]:
    """Metrics by texts: parts of a tuple joined by "/"."""
    return {
        "/".join(key) if isinstance(key, tuple) else key: value
        for key, value in (metrics or {}).items()
    }


def _export_output(problem: int, tensors: Mapping[str, Tensor]) -> ExportOutput:
    """What an export serves of one head.

    Raises:
      ValueError: there is no such problem, or Tensors that it needs are missing.
    """
    scores = tensors.get(PredictionKey.SCORES)
    if scores is None:
        scores = tensors.get(PredictionKey.PROBABILITIES)
    if problem == ProblemType.LINEAR_REGRESSION:
        return RegressionOutput(scores)  # type: ignore[arg-type] # it checks
    if problem in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        classes = tensors.get(PredictionKey.CLASSES)
        # Serving returns labels as strings: ids of classes are left out.
        if classes is None:
            get_logger().warning(_NO_IDS, "None")
        elif classes.dtype.base_dtype != string:
            get_logger().warning(_NO_IDS, "not string")
            classes = None
        return ClassificationOutput(scores, classes)
    if problem != ProblemType.UNSPECIFIED:
        raise ValueError(f"Unknown problem_type={problem}")
    return PredictOutput(dict(tensors))


def _check_graph(value: Any, what: str) -> None:
    if value.graph is not get_default_graph():
        raise ValueError(f"{what} must be from the default graph.")


def _checked_loss(loss: Any) -> Tensor:
    loss = convert(loss)
    if loss.get_shape().num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    if not loss.get_shape().is_compatible_with([]):
        loss = reshape(loss, [])
    _check_graph(loss, "loss")
    found: Tensor = loss
    return found


def _checked_predictions(predictions: Any) -> Any:
    if isinstance(predictions, Mapping):
        predictions = {
            key: convert_to_tensor_or_sparse_tensor(value)
            for key, value in predictions.items()
        }
        for value in predictions.values():
            _check_graph(value, "predictions")
        return predictions
    predictions = convert_to_tensor_or_sparse_tensor(predictions)
    _check_graph(predictions, "predictions")
    return predictions


def _checked_hooks(hooks: Any) -> list[Any]:
    return [] if hooks is None else hooks
