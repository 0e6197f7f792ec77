"""The signatures of a SavedModel of objects: functions that return dicts of Tensors.

Source: python/saved_model/signature_serialization.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.operation import Tensor
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.function import PolymorphicFunction
from tfteach.lib.functions.traced_function import TracedFunction
from tfteach.lib.saved_model.restored_objects import SignatureMap
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)

# The attribute of a loaded model with its signatures.
SIGNATURES = "signatures"
# A method that is the signature if none is given, such as of a Keras model.
_DEFAULT = "_default_save_signature"


def function_to_export(functions: Mapping[str, Any]) -> Any:
    """The one function of an object that can be its signature, or None.

    Args:
      functions: its functions by name.
    """
    if _DEFAULT in functions:
        return functions[_DEFAULT]
    traces = [_trace_of(function) for function in functions.values()]
    possible = [trace for trace in traces if trace is not None and _is_valid(trace)]
    return possible[0] if len(possible) == 1 else None


def _trace_of(function: Any) -> ConcreteFunction | None:
    """The only trace of a function; None if its arguments decide."""
    if isinstance(function, PolymorphicFunction | TracedFunction):
        if function.input_signature is None:
            return None
        return function.get_concrete_function()
    return function if isinstance(function, ConcreteFunction) else None


def _is_valid(function: ConcreteFunction) -> bool:
    if not function.outputs:
        return False
    try:
        _named_outputs(function.structured_outputs, "unused", "unused")
    except ValueError:
        return False
    return True


def canonicalize_signatures(signatures: Any) -> dict[str, ConcreteFunction]:
    """The signatures as functions with named arguments and results.

    Args:
      signatures: a function, a dict of functions by name, or None.

    Raises:
      ValueError: one is no function that has a single trace, or has nested results.
    """
    if signatures is None:
        return {}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {key: _signature(key, function) for key, function in signatures.items()}


def _signature(key: str, function: Any) -> ConcreteFunction:
    trace = _trace_of(function)
    if trace is None:
        raise ValueError(
            "Expected a TensorFlow function to generate a signature for, but got "
            f"{function}. Only `tf.functions` with an input signature or concrete "
            "functions can be used as a signature."
        )

    def signature_wrapper(**kwargs: Any) -> Any:
        results = trace(**kwargs)
        return _named_outputs(results, trace.name.decode(), key)

    wrapper = PolymorphicFunction(signature_wrapper, signature_wrapper.__name__)
    keywords = trace._arg_keywords or []
    specs = {
        keyword: TensorSpec(tensor.shape, tensor.dtype, keyword)
        for keyword, tensor in zip(keywords, trace.inputs, strict=False)
    }
    made = wrapper.get_concrete_function(**specs)
    # In a SignatureDef the arguments have no order: one can be passed by position.
    made._num_positional_args = 1 if len(keywords) == 1 else 0
    return made


def _named_outputs(outputs: Any, function_name: str, key: str) -> Mapping[str, Any]:
    """The results of a function by name.

    Raises:
      ValueError: they are nested, or no Tensors.
    """
    if isinstance(outputs, Mapping):
        for name, value in outputs.items():
            if not isinstance(value, Tensor | TensorSpec):
                raise ValueError(
                    f"Got a dictionary containing non-Tensor value {value} for key "
                    f"{name} in the output of the function {function_name} used to "
                    "generate a SavedModel signature. Dictionaries outputs for "
                    "functions used as signatures should have one Tensor output per "
                    "string key."
                )
        return outputs
    items = outputs if isinstance(outputs, Sequence) else [outputs]
    if any(nest.is_nested(item) for item in items):
        raise ValueError(
            f"Got non-flat outputs '{outputs}' from '{function_name}' for SavedModel "
            f"signature '{key}'. Signatures have one Tensor per output, so to have "
            "predictable names Python functions used to generate these signatures "
            "should avoid outputting Tensors in nested structures."
        )
    return {f"output_{i}": item for i, item in enumerate(items)}


def create_signature_map(signatures: Mapping[str, Any]) -> SignatureMap:
    """The object that holds the signatures of a model."""
    made = SignatureMap()
    for name, function in signatures.items():
        made._add_signature(name, function)
    return made
