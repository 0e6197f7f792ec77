"""The outputs of a model that is exported to be trained or evaluated.

Source: tensorflow_estimator/python/estimator/export/export_output.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import Nested, Proto
from tfteach.lib.estimator.export_outputs import ExportOutput, output_name
from tfteach.lib.saved_model.signature_def_utils import build_signature_def
from tfteach.lib.saved_model.utils import build_tensor_info
from tfteach.ops.core.constant import constant

_LOSS, _PREDICTIONS, _METRICS = "loss", "predictions", "metrics"


class SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of a model that learns from labels.

    Args:
      loss: a Tensor, or a dict of names to Tensors.
      predictions: a Tensor, a dict of names to Tensors, or None.
      metrics: a dict of names to (value, update op), as `tf.metrics` return them.

    Raises:
      ValueError: a name is no string, or something is no Tensor.

    Source: tensorflow_estimator/python/estimator/export/export_output.py.
    """

    method_name: ClassVar[str]

    def __init__(
        self,
        loss: Tensor | Mapping[Any, Tensor] | None = None,
        predictions: Nested[Tensor] | None = None,
        metrics: Mapping[Any, Any] | None = None,
    ) -> None:
        self._loss = None if loss is None else _named(loss, _LOSS)
        self._predictions = (
            None if predictions is None else _named(predictions, _PREDICTIONS)
        )
        self._metrics = None if metrics is None else _named_metrics(metrics)

    @property
    def loss(self) -> dict[str, Tensor] | None:
        """The loss by name, or None."""
        return self._loss

    @property
    def predictions(self) -> dict[str, Tensor] | None:
        """The predictions by name, or None."""
        return self._predictions

    @property
    def metrics(self) -> dict[str, Tensor] | None:
        """The values and updates of the metrics by name, or None."""
        return self._metrics

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> Proto:
        """The SignatureDef.

        Args:
          receiver_tensors: the inputs by their names.
        """
        outputs: dict[str, Tensor] = {}
        for part in (self._loss, self._predictions, self._metrics):
            outputs.update(part or {})
        return build_signature_def(
            {key: build_tensor_info(value) for key, value in receiver_tensors.items()},
            {key: build_tensor_info(value) for key, value in outputs.items()},
            self.method_name,
        )


class TrainOutput(SupervisedOutput):
    """The outputs of a model that is exported to be trained on."""

    method_name = "tensorflow/supervised/training"


class EvalOutput(SupervisedOutput):
    """The outputs of a model that is exported to be evaluated."""

    method_name = "tensorflow/supervised/eval"


def _named(given: Any, kind: str) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for key, value in (given if isinstance(given, Mapping) else {kind: given}).items():
        name = _prefixed(key, kind)
        if not isinstance(value, Tensor):
            raise ValueError(f"{kind} output value must be a Tensor; got {value}.")
        found[name] = value
    return found


def _prefixed(key: Any, kind: str) -> str:
    name = output_name(key)
    if not isinstance(name, str):
        raise ValueError(f"{kind} output key must be a string; got {name}.")
    return name if name.startswith(kind) else f"{kind}/{name}"


def _named_metrics(metrics: Mapping[Any, Any]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for key, (value, update) in metrics.items():
        name = _prefixed(key, _METRICS)
        value_name, update_name = f"{name}/value", f"{name}/update_op"
        if not isinstance(value, Tensor):
            raise ValueError(f"{name} output value must be a Tensor; got {value}.")
        if not isinstance(update, Tensor | Operation):
            raise ValueError(
                f"{name} update_op must be a Tensor or Operation; got {update}."
            )
        found[value_name] = value
        found[update_name] = _fetchable(update)
    return found


def _fetchable(update: Tensor | Operation) -> Tensor:
    """A signature's outputs are Tensors, so an operation becomes an empty one."""
    if isinstance(update, Tensor):
        return update
    with control_dependencies([update]):
        return constant([], name="metric_op_wrapper")
