"""The outputs of an exported model: `tf.estimator.export.PredictOutput` and the like.

Source: tensorflow_estimator/python/estimator/export/{export_output,export}.py.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Proto
from tfteach.lib.saved_model import signature_constants as constants
from tfteach.lib.saved_model.signature_def_utils import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)


@export("estimator.export.ExportOutput")
class ExportOutput(abc.ABC):
    """An output of an exported model, of which a SignatureDef is made.

    Source: tensorflow_estimator/python/estimator/export/export_output.py.
    """

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> Proto:
        """The SignatureDef.

        Args:
          receiver_tensors: the inputs by their names.
        """


def output_name(key: Any) -> Any:
    """The name of an output, whose key may be a tuple of strings."""
    return "/".join(key) if isinstance(key, tuple) else key


def _single_text(receiver_tensors: Mapping[str, Tensor], kind: str) -> Tensor:
    found = list(receiver_tensors.values())
    if len(found) != 1 or found[0].dtype.base_dtype.name != "string":
        raise ValueError(
            f"{kind} input must be a single string Tensor; got {receiver_tensors}"
        )
    return found[0]


@export("estimator.export.ClassificationOutput")
class ClassificationOutput(ExportOutput):
    """Scores and classes; the input is a string Tensor of serialized Examples.

    Args:
      scores: a float Tensor [batch, classes], or None.
      classes: a string Tensor [batch, classes], or None.

    Raises:
      ValueError: both are None, or of other types.

    Source: tensorflow_estimator/python/estimator/export/export_output.py.
    """

    def __init__(
        self, scores: Tensor | None = None, classes: Tensor | None = None
    ) -> None:
        if scores is not None and not (
            isinstance(scores, Tensor) and scores.dtype.is_floating
        ):
            raise ValueError(
                f"Classification scores must be a float32 Tensor; got {scores}"
            )
        if classes is not None and not (
            isinstance(classes, Tensor) and classes.dtype.base_dtype.name == "string"
        ):
            raise ValueError(
                f"Classification classes must be a string Tensor; got {classes}"
            )
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Tensor | None:
        """The scores, or None."""
        return self._scores

    @property
    def classes(self) -> Tensor | None:
        """The classes, or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> Proto:
        """The SignatureDef; the only input must be of strings."""
        examples = _single_text(receiver_tensors, "Classification")
        return classification_signature_def(examples, self._classes, self._scores)


@export("estimator.export.RegressionOutput")
class RegressionOutput(ExportOutput):
    """A number; the input is a string Tensor of serialized Examples.

    Args:
      value: a float Tensor [batch].

    Raises:
      ValueError: it is none.

    Source: tensorflow_estimator/python/estimator/export/export_output.py.
    """

    def __init__(self, value: Tensor) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(
                f"Regression output value must be a float32 Tensor; got {value}"
            )
        self._value = value

    @property
    def value(self) -> Tensor:
        """The number."""
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> Proto:
        """The SignatureDef; the only input must be of strings."""
        examples = _single_text(receiver_tensors, "Regression")
        return regression_signature_def(examples, self._value)


@export("estimator.export.PredictOutput")
class PredictOutput(ExportOutput):
    """Any outputs.

    Args:
      outputs: a dict of names to Tensors, or one Tensor, whose name is "output".  The
        strings of a name that is a tuple are joined by "/".

    Raises:
      ValueError: a name is no string, or a value no Tensor.

    Source: tensorflow_estimator/python/estimator/export/export_output.py.
    """

    def __init__(self, outputs: Tensor | Mapping[str, Tensor]) -> None:
        given = outputs if isinstance(outputs, Mapping) else {"output": outputs}
        self._outputs: dict[str, Tensor] = {}
        for key, value in given.items():
            name = output_name(key)
            if not isinstance(name, str):
                raise ValueError(f"Prediction output key must be a string; got {name}.")
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"Prediction output value must be a Tensor; got {value}."
                )
            self._outputs[name] = value

    @property
    def outputs(self) -> dict[str, Tensor]:
        """The outputs by name."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> Proto:
        """The SignatureDef."""
        return predict_signature_def(dict(receiver_tensors), self._outputs)


def export_outputs_of(given: Any, predictions: Any) -> dict[str, Any]:
    """A spec's export outputs with a default one; its predictions if it has none.

    Raises:
      TypeError: they are no dict of ExportOutputs.
      ValueError: there are several, and none is the default.
    """
    default = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if given is None:
        return {default: PredictOutput(predictions)}
    if not isinstance(given, dict):
        raise TypeError(f"export_outputs must be dict, given: {given}")
    for value in given.values():
        if not isinstance(value, ExportOutput):
            raise TypeError(
                f"Values in export_outputs must be ExportOutput objects. Given: {given}"
            )
    if len(given) == 1:
        return {**given, default: next(iter(given.values()))}
    if default not in given:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as "
            "the default.  Do this by naming one of them with "
            "signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return given


def signatures_of(
    receiver_tensors: Mapping[str, Tensor],
    outputs: Mapping[str, ExportOutput],
    alternatives: Mapping[str, Any] | None,
) -> dict[str, Proto]:
    """The SignatureDefs of all outputs; those that cannot be served are logged."""
    found: dict[str, Any] = {}
    excluded: dict[str, str] = {}
    for key, output in outputs.items():
        try:
            found[key or "None"] = output.as_signature_def(receiver_tensors)
        except ValueError as error:
            excluded[key or "None"] = str(error)
    for other, tensors in (alternatives or {}).items():
        named = tensors if isinstance(tensors, Mapping) else {"input": tensors}
        for key, output in outputs.items():
            try:
                found[f"{other}:{key or 'None'}"] = output.as_signature_def(named)
            except ValueError as error:
                excluded[f"{other}:{key or 'None'}"] = str(error)
    _log(found, excluded)
    return found


def _log(found: Mapping[str, Any], excluded: Mapping[str, str]) -> None:
    for kind, method in (
        ("Classify", constants.CLASSIFY_METHOD_NAME),
        ("Regress", constants.REGRESS_METHOD_NAME),
        ("Predict", constants.PREDICT_METHOD_NAME),
        ("Train", "tensorflow/supervised/training"),
        ("Eval", "tensorflow/supervised/eval"),
    ):
        names = [key for key, value in found.items() if value.method_name == method]
        get_logger().info(f"Signatures INCLUDED in export for {kind}: {names or None}")
    if excluded:
        get_logger().info(
            "Signatures EXCLUDED from export because they cannot be be served via "
            "TensorFlow Serving APIs:"
        )
        for key, reason in excluded.items():
            get_logger().info(f"'{key}' : {reason}")
    if not found:
        get_logger().warning("Export includes no signatures!")
    elif constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in found:
        get_logger().warning("Export includes no default signature!")
