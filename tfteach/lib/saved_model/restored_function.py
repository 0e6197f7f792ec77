"""Functions of a loaded SavedModel: each call chooses among the traces there are.

Source: python/saved_model/function_deserialization.py (API and messages).
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shallow_nest import flatten_up_to
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_spec import TypeSpec
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.function import PolymorphicFunction
from tfteach.lib.functions.function_spec import FunctionSpec
from tfteach.lib.saved_model.structure_coder import StructureCoder
from tfteach.variables.resource import BaseResourceVariable


class RestoredFunction(PolymorphicFunction):
    """A function of a loaded SavedModel, which has the traces that were saved.

    Args:
      function_spec: the parameters.
      concrete_functions: the traces.

    Attributes:
      concrete_functions: the traces.
    """

    def __init__(
        self,
        function_spec: FunctionSpec,
        concrete_functions: Sequence[ConcreteFunction],
    ) -> None:
        self.concrete_functions = list(concrete_functions)
        defaults = function_spec.fullargspec.kwonlydefaults or {}

        def restored_function_body(*args: Any, **kwargs: Any) -> Any:
            return _call_matching(self.concrete_functions, args, kwargs, defaults)

        body: Any = restored_function_body
        body.__signature__ = _signature(function_spec.fullargspec)
        super().__init__(body, body.__name__, autograph=False)
        self._spec = function_spec

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        return self.concrete_functions


def recreate_function(
    saved_function: Any, concrete_functions: Mapping[str, ConcreteFunction]
) -> RestoredFunction:
    """The function that a SavedFunction describes.

    Args:
      saved_function: the SavedFunction.
      concrete_functions: the traces by their names in the SavedModel.
    """
    spec = _function_spec(saved_function.function_spec)
    traces = [concrete_functions[name] for name in saved_function.concrete_functions]
    return RestoredFunction(spec, traces)


def setup_bare_concrete_function(
    saved: Any, concrete_functions: Mapping[str, ConcreteFunction]
) -> ConcreteFunction:
    """The trace that a SavedBareConcreteFunction describes, with its arguments' names.

    Args:
      saved: the SavedBareConcreteFunction.
      concrete_functions: the traces by their names in the SavedModel.
    """
    found = concrete_functions[saved.concrete_function_name]
    found._arg_keywords = list(saved.argument_keywords)
    found._num_positional_args = int(saved.allowed_positional_arguments)
    return found


def _function_spec(proto: Any) -> FunctionSpec:
    """The parameters of a FunctionSpec proto, without `self`.

    What was a method uses the tensors that it captured, whatever it is bound to.
    """
    coder = StructureCoder()
    saved = coder.decode_proto(proto.fullargspec)
    args = list(saved.args)
    if proto.is_method:
        if not args:
            raise NotImplementedError(
                "Missing support to deserialize a method function without a named "
                "'self' argument."
            )
        args = args[1:]
    spec = inspect.FullArgSpec(
        args,
        saved.varargs,
        saved.varkw,
        saved.defaults,
        list(saved.kwonlyargs),
        saved.kwonlydefaults,
        saved.annotations,
    )
    signature = coder.decode_proto(proto.input_signature)
    return FunctionSpec(spec, is_method=False, input_signature=signature)


def _signature(spec: inspect.FullArgSpec) -> inspect.Signature:
    """The parameters as `inspect.signature` returns them."""
    kinds = inspect.Parameter
    first = len(spec.args) - len(spec.defaults or ())
    found = [
        kinds(
            name,
            kinds.POSITIONAL_OR_KEYWORD,
            default=kinds.empty if i < first else (spec.defaults or ())[i - first],
        )
        for i, name in enumerate(spec.args)
    ]
    if spec.varargs:
        found.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    defaults = spec.kwonlydefaults or {}
    found += [
        kinds(name, kinds.KEYWORD_ONLY, default=defaults.get(name, kinds.empty))
        for name in spec.kwonlyargs
    ]
    if spec.varkw:
        found.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(found)


# ---- calls


def _call_matching(
    functions: Sequence[ConcreteFunction],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    keyword_defaults: Mapping[str, Any],
) -> Any:
    """Call the first trace that the arguments match.

    Raises:
      ValueError: they match none.
    """
    # TensorFlow 2 saves traces with the defaults of keyword-only parameters spelled
    # out, 1.15 as they were called.
    ways = [kwargs]
    if not keyword_defaults.keys() <= kwargs.keys():
        ways.append({**keyword_defaults, **kwargs})
    # A trace for just these values is preferred to one for Tensors made of them.
    for allow_conversion in (False, True):
        for function, keywords in itertools.product(functions, ways):
            if _is_callable_with(function, (args, keywords), allow_conversion):
                return _call(function, (args, keywords))
    options = [
        f"Option {number}:\n  {_described(*function.structured_input_signature)}"
        for number, function in enumerate(functions, 1)
    ]
    raise ValueError(
        "Could not find matching function to call loaded from the SavedModel. Got:\n"
        f"  {_described(args, kwargs)}\n\nExpected these arguments to match one of the "
        f"following {len(options)} option(s):\n\n" + "\n\n".join(options)
    )


def _described(args: Sequence[Any], kwargs: Any) -> str:
    lines = "\n    * ".join(map(str, args))
    return (
        f"Positional arguments ({len(args)} total):\n    * {lines}\n"
        f"  Keyword arguments: {kwargs}"
    )


def _call(function: ConcreteFunction, inputs: Any) -> Any:
    signature = function.structured_input_signature
    tensors: list[Any] = []
    parts = flatten_up_to(signature, inputs)
    for part, spec in zip(parts, nest.flatten(signature), strict=True):
        if isinstance(spec, TensorSpec):
            tensors.append(convert(part, preferred_dtype=spec.dtype))
        elif isinstance(spec, TypeSpec):
            tensors += nest.flatten(part, expand_composites=True)
    result = function.call_flat(tensors)
    return None if isinstance(result, Operation) else result


def _is_callable_with(
    function: ConcreteFunction, inputs: Any, allow_conversion: bool
) -> bool:
    signature = function.structured_input_signature
    try:
        parts = flatten_up_to(signature, inputs)
        # Nothing may be left over.
        repacked = nest.pack_sequence_as(signature, parts)
        nest.assert_same_structure(inputs, repacked, check_types=False)
    except (TypeError, ValueError):
        return False
    pairs = zip(parts, nest.flatten(signature), strict=True)
    return all(_matches(part, spec, allow_conversion) for part, spec in pairs)


def _matches(value: Any, spec: Any, allow_conversion: bool) -> bool:
    if isinstance(spec, TensorSpec):
        if allow_conversion:
            value = _as_spec(value, spec.dtype)
        if not isinstance(value, Tensor | BaseResourceVariable | TensorSpec):
            return False
        return value.dtype == spec.dtype and spec.shape.is_compatible_with(value.shape)
    if isinstance(spec, TypeSpec):
        return spec.is_compatible_with(value)
    if isinstance(value, Tensor | BaseResourceVariable):
        return value is spec
    return bool(value == spec)


def _as_spec(value: Any, hint: Any) -> TensorSpec | None:
    """The type and shape of a value as a Tensor; None if it cannot be one."""
    try:
        with FuncGraph("guess_conversion").as_default():
            made = convert(value, preferred_dtype=hint)
    except (TypeError, ValueError):
        return None
    return TensorSpec(made.shape, made.dtype)
