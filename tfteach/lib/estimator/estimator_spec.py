"""`tf.estimator.EstimatorSpec`: what a model function returns.

Source: tensorflow_estimator/python/estimator/model_fn.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.nest import flatten
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Fetches, Nested
from tfteach.lib.estimator.export_outputs import export_outputs_of
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.scaffold import Scaffold
from tfteach.ops.core.identity_reshape import reshape


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    export_outputs: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    evaluation_hooks: Any
    prediction_hooks: Any


@export("estimator.EstimatorSpec")
class EstimatorSpec(_Fields):
    """The ops of a model, as its function returns them.

    Args:
      mode: a `tf.estimator.ModeKeys`: TRAIN requires `loss` and `train_op`, EVAL
        `loss`, PREDICT `predictions`.
      predictions: a Tensor, or a dict of names to Tensors.
      loss: a scalar, or a Tensor [1].
      train_op: an operation or a Tensor.
      eval_metric_ops: a dict of names to (value, update op), as `tf.metrics` return
        them.
      export_outputs: a dict of signatures to `tf.estimator.export.ExportOutput`s;
        None for the predictions.
      training_chief_hooks: hooks of the chief's training.
      training_hooks: hooks of the training.
      scaffold: a Scaffold.
      evaluation_hooks: hooks of the evaluation.
      prediction_hooks: hooks of predictions.

    Raises:
      ValueError: something is missing, or of another graph; the loss is no scalar.
      TypeError: something is of a wrong type.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     prediction = tf.layers.dense(features["x"], 1)[:, 0]
      ...     loss = tf.losses.mean_squared_error(labels, prediction)
      ...     train = tf.train.AdamOptimizer().minimize(
      ...         loss, tf.train.get_global_step()
      ...     )
      ...     return tf.estimator.EstimatorSpec(mode, prediction, loss, train)

    Source: tensorflow_estimator/python/estimator/model_fn.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Nested[Tensor] | None = None,
        loss: Tensor | None = None,
        train_op: Fetches = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Iterable[SessionRunHook] | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ) -> EstimatorSpec:
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if train_op is not None:
            _check_element(train_op, "train_op")
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        metrics = _checked_metrics(eval_metric_ops)
        lists = [
            _checked_hooks(hooks)
            for hooks in (
                training_chief_hooks,
                training_hooks,
                evaluation_hooks,
                prediction_hooks,
            )
        ]
        if mode == ModeKeys.PREDICT:
            export_outputs = export_outputs_of(export_outputs, predictions)
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            metrics,
            export_outputs,
            lists[0],
            lists[1],
            scaffold,
            lists[2],
            lists[3],
        )

    def _replace(self, **changes: Any) -> EstimatorSpec:
        """A copy with other fields; the mode stays.

        Raises:
          ValueError: the mode would change.
        """
        if changes.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **changes})


def _check_element(value: Any, name: str) -> None:
    element = getattr(value, "_as_graph_element", lambda: value)()
    if not isinstance(element, Tensor | Operation):
        raise TypeError(f"{name} must be Operation or Tensor, given: {value}")
    _check_graph(element, name)


def _check_tensor(value: Any, name: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be Tensor, given: {value}")


def _check_graph(value: Any, name: str, key: str = "") -> None:
    graph = get_default_graph()
    if not graph.is_eager and value.graph is not graph:
        shown = f"{key}: {value.name}" if key else value.name
        raise ValueError(
            f'{name} with "{shown}" must be from the default graph. Possible causes '
            "of this error include: \n\n1) "
            f"{name} was created outside the context of the default graph.\n\n2) "
            "The object passed through to EstimatorSpec was not created in the most "
            'recent call to "model_fn".'
        )


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    _check_tensor(loss, "loss")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with([]):
        loss = reshape(loss, [])
    _check_graph(loss, "loss")
    return loss


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if isinstance(predictions, Mapping):
        for key, value in predictions.items():
            _check_tensor(value, f"predictions[{key}]")
            _check_graph(value, "prediction values", key)
    else:
        _check_tensor(predictions, "predictions")
        _check_graph(predictions, "prediction values")
    return predictions


def _checked_metrics(metrics: Any) -> Any:
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, pair in metrics.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, "
                f"given: {pair} for key: {key}"
            )
        for element in flatten(pair):
            _check_element(element, "eval_metric_ops")
    return metrics


def _checked_hooks(hooks: Iterable[Any] | None) -> Sequence[SessionRunHook]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(
                f"All hooks must be SessionRunHook instances, given: {hook}"
            )
    return found
