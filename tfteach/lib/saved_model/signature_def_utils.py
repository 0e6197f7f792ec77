"""SignatureDefs: the inputs and outputs that a server offers under a name.

Source: python/saved_model/signature_def_utils_impl.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.framework.dtypes import float32, string
from tfteach.framework.errors import NotFoundError
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graphdef.meta_graph import prepended
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import Proto, TensorLike
from tfteach.lib.saved_model import signature_constants as names
from tfteach.lib.saved_model.utils import build_tensor_info

_STRING, _FLOAT = string.as_datatype_enum, float32.as_datatype_enum


@export(
    "saved_model.build_signature_def",
    "saved_model.signature_def_utils.build_signature_def",
)
def build_signature_def(
    inputs: Mapping[str, Proto] | None = None,
    outputs: Mapping[str, Proto] | None = None,
    method_name: str | None = None,
) -> Proto:
    """A SignatureDef proto.

    Args:
      inputs: a dict from names to TensorInfos (see `build_tensor_info`).
      outputs: likewise.
      method_name: the kind of request, such as
        `tf.saved_model.signature_constants.PREDICT_METHOD_NAME`.

    Example:
      >>> info = tf.saved_model.build_tensor_info(tf.placeholder(tf.float32, name="x"))
      >>> signature = tf.saved_model.build_signature_def(inputs={"x": info})

    Source: python/saved_model/signature_def_utils_impl.py.
    """
    found = pool.message("SignatureDef")()
    for target, given in ((found.inputs, inputs), (found.outputs, outputs)):
        for name, info in (given or {}).items():
            target[name].MergeFromString(info.SerializeToString())
    if method_name is not None:
        found.method_name = method_name
    return found


def _examples(kind: str, examples: Any) -> Proto:
    """The TensorInfo of the serialized `tf.train.Example`s of a request."""
    if examples is None:
        raise ValueError(f"{kind} examples cannot be None.")
    if not isinstance(examples, Tensor) or examples.dtype != string:
        raise ValueError(f"{kind} examples must be a string Tensor.")
    return build_tensor_info(examples)


@export(
    "saved_model.regression_signature_def",
    "saved_model.signature_def_utils.regression_signature_def",
)
def regression_signature_def(examples: TensorLike, predictions: TensorLike) -> Proto:
    """The SignatureDef of a regression for TensorFlow Serving.

    Args:
      examples: a Tensor of strings, serialized `tf.train.Example`s.
      predictions: a Tensor of float32.

    Raises:
      ValueError: an argument is None or has another type.

    Example:
      >>> x = tf.placeholder(tf.string, [None])
      >>> y = tf.string_to_number(x)
      >>> signature = tf.saved_model.regression_signature_def(x, y)

    Source: python/saved_model/signature_def_utils_impl.py.
    """
    info = _examples("Regression", examples)
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    output = build_tensor_info(predictions)
    if output.dtype != _FLOAT:
        raise ValueError("Regression output must be a float Tensor.")
    return build_signature_def(
        {names.REGRESS_INPUTS: info},
        {names.REGRESS_OUTPUTS: output},
        names.REGRESS_METHOD_NAME,
    )


@export(
    "saved_model.classification_signature_def",
    "saved_model.signature_def_utils.classification_signature_def",
)
def classification_signature_def(
    examples: TensorLike, classes: TensorLike | None, scores: TensorLike | None
) -> Proto:
    """The SignatureDef of a classification for TensorFlow Serving.

    Args:
      examples: a Tensor of strings, serialized `tf.train.Example`s.
      classes: a Tensor of strings, or None.
      scores: a Tensor of float32, or None.

    Raises:
      ValueError: `examples`, or both outputs, are None, or a type is wrong.

    Example:
      >>> x = tf.placeholder(tf.string, [None])
      >>> y = tf.string_to_number(x)
      >>> signature = tf.saved_model.classification_signature_def(x, None, y)

    Source: python/saved_model/signature_def_utils_impl.py.
    """
    info = _examples("Classification", examples)
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    for name, given, kind, text in (
        (names.CLASSIFY_OUTPUT_CLASSES, classes, _STRING, "string"),
        (names.CLASSIFY_OUTPUT_SCORES, scores, _FLOAT, "float"),
    ):
        if given is not None:
            outputs[name] = build_tensor_info(given)
            if outputs[name].dtype != kind:
                raise ValueError(f"Classification {name} must be a {text} Tensor.")
    return build_signature_def(
        {names.CLASSIFY_INPUTS: info}, outputs, names.CLASSIFY_METHOD_NAME
    )


@export(
    "saved_model.predict_signature_def",
    "saved_model.signature_def_utils.predict_signature_def",
)
def predict_signature_def(
    inputs: Mapping[str, TensorLike], outputs: Mapping[str, TensorLike]
) -> Proto:
    """The SignatureDef of a prediction: any inputs and outputs.

    Args:
      inputs: a dict from names to Tensors.
      outputs: likewise.

    Raises:
      ValueError: one of them is empty or None.

    Example:
      >>> x = tf.placeholder(tf.float32, [None])
      >>> signature = tf.saved_model.predict_signature_def({"x": x}, {"y": x * 2})

    Source: python/saved_model/signature_def_utils_impl.py.
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(
        {name: build_tensor_info(tensor) for name, tensor in inputs.items()},
        {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
        names.PREDICT_METHOD_NAME,
    )


@export(
    "saved_model.is_valid_signature",
    "saved_model.signature_def_utils.is_valid_signature",
)
def is_valid_signature(signature_def: Proto | None) -> bool:
    """Whether TensorFlow Serving can serve a SignatureDef.

    Args:
      signature_def: a SignatureDef, or None.

    Example:
      >>> tf.saved_model.is_valid_signature(tf.saved_model.build_signature_def())
      False

    Source: python/saved_model/signature_def_utils_impl.py.
    """
    if signature_def is None:
        return False
    found = signature_def
    inputs = {name: info.dtype for name, info in found.inputs.items()}
    outputs = {name: info.dtype for name, info in found.outputs.items()}
    if found.method_name == names.PREDICT_METHOD_NAME:
        return bool(inputs and outputs)
    if found.method_name == names.REGRESS_METHOD_NAME:
        return inputs == {names.REGRESS_INPUTS: _STRING} and outputs == {
            names.REGRESS_OUTPUTS: _FLOAT
        }
    if found.method_name == names.CLASSIFY_METHOD_NAME:
        wanted = {
            names.CLASSIFY_OUTPUT_CLASSES: _STRING,
            names.CLASSIFY_OUTPUT_SCORES: _FLOAT,
        }
        return (
            inputs == {names.CLASSIFY_INPUTS: _STRING}
            and bool(outputs)
            and outputs.items() <= wanted.items()
        )
    return False


def element_of_signature(
    signature_def: Proto, key: str, scope: str | None
) -> Tensor | Operation:
    """The operation or Tensor that an internal signature, such as of an init op, names.

    Raises:
      NotFoundError: the graph has no such element.
    """
    name = prepended(signature_def.outputs[key].name, scope)
    try:
        return get_default_graph().as_graph_element(name)
    except (KeyError, ValueError):
        raise NotFoundError(
            None,
            None,
            f"The {key} could not be found in the graph: it is '{name}', which is no "
            "operation or Tensor there",
        ) from None
