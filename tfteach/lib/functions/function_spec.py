"""The arguments of a traced function: bound to its parameters, checked, as a key.

Source: python/eager/function.py, FunctionSpec (messages).
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.tensor_spec import TensorSpec


class Arguments(NamedTuple):
    """The arguments of one call, with Tensors in place of arrays.

    Attributes:
      args: the positional ones, with default values.
      kwargs: those by name only.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def tensors(self) -> list[Tensor]:
        """The Tensors in them, in order."""
        flat = nest.flatten((self.args, self.kwargs), expand_composites=True)
        return [value for value in flat if isinstance(value, Tensor)]


class FunctionSpec:
    """The parameters of a Python function.

    Args:
      python_function: the function.
      input_signature: TensorSpecs of its arguments, nested as these are; or None.

    Raises:
      TypeError: the signature holds something else.
      ValueError: the function has parameters that the signature cannot describe.
    """

    def __init__(
        self, python_function: Callable[..., Any], input_signature: Any = None
    ) -> None:
        self._function = python_function
        # A partial's own arguments stand in its signature.
        self._signature = inspect.signature(python_function)
        parameters = self._signature.parameters.values()
        kind = inspect.Parameter
        positional = kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD
        self.arg_names = [p.name for p in parameters if p.kind in positional]
        self._defaults = {
            p.name: p.default for p in parameters if p.default is not kind.empty
        }
        self.input_signature = self._checked(input_signature)
        self.flat_input_signature: list[Any] | None = None
        if self.input_signature is not None:
            self.flat_input_signature = nest.flatten(self.input_signature)

    def _checked(self, signature: Any) -> tuple[Any, ...] | None:
        if signature is None:
            return None
        parameters = self._signature.parameters.values()
        if any(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters):
            raise ValueError(
                "Cannot define a TensorFlow function from a Python function with "
                "keyword-only arguments when input_signature is provided."
            )
        if not isinstance(signature, tuple | list):
            raise TypeError(
                "input_signature must be either a tuple or a list, received "
                f"{type(signature)}"
            )
        if any(not isinstance(spec, TensorSpec) for spec in nest.flatten(signature)):
            raise TypeError(
                "Invalid input_signature; input_signature must be a possibly nested "
                "sequence of TensorSpec objects."
            )
        return tuple(signature)

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Arguments:
        """The arguments of a call, by position where they can be.

        Raises:
          TypeError: they do not fit the parameters.
          ValueError: they do not fit the `input_signature`.
        """
        if self.input_signature is not None:
            return self._bound_to_signature(args, kwargs)
        positional, left = list(args), dict(kwargs)
        for name in self.arg_names[len(args) :]:
            if name in left:
                positional.append(left.pop(name))
            elif name in self._defaults:
                positional.append(self._defaults[name])
            else:
                break
        given: Any = nest.map_structure(_as_tensor, (tuple(positional), left))
        return Arguments(*given)

    def _bound_to_signature(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Arguments:
        signature = self.input_signature
        assert signature is not None
        given = [*args]
        for name in self.arg_names[len(args) :]:
            if name in kwargs:
                given.append(kwargs[name])
        if len(given) > len(signature):
            raise TypeError(
                "When input_signature is provided, only pass arguments covered by it. "
                f"Received {len(given)} argument(s)."
            )
        try:
            flat = nest.flatten_up_to(signature, tuple(given), check_types=False)
        except (ValueError, TypeError):
            raise ValueError(
                "Structure of Python function inputs does not match input_signature:\n"
                + _listed(given, signature)
            ) from None
        tensors = []
        for value, spec in zip(flat, self.flat_input_signature or (), strict=True):
            try:
                tensor = convert(value, spec.dtype)
            except (TypeError, ValueError):
                tensor = None
            if tensor is None or not spec.is_compatible_with(tensor):
                raise ValueError(
                    "Python inputs incompatible with input_signature:\n"
                    + _listed(given, signature)
                )
            tensors.append(tensor)
        return Arguments(tuple(nest.pack_sequence_as(signature, tensors)), {})

    def to_trace(self, arguments: Arguments) -> Arguments:
        """What a trace is made for: the signature, if there is one."""
        if self.input_signature is None:
            return arguments
        return Arguments(self.input_signature, {})


def _listed(given: Sequence[Any], signature: Sequence[Any]) -> str:
    values = ",\n    ".join(map(str, given))
    specs = ",\n    ".join(map(str, signature))
    return f"  inputs: (\n    {values})\n  input_signature: (\n    {specs})"


def _as_tensor(value: Any) -> Any:
    """Arrays become Tensors: a call passes them, a trace does not depend on them."""
    return convert(value) if isinstance(value, np.ndarray) else value


# ---- keys of the traces


def trace_key(arguments: Arguments) -> Hashable:
    """What a trace depends on: types and shapes of Tensors, Python values, the graph.

    Raises:
      TypeError: an argument is neither a Tensor nor hashable.
    """
    graph = get_default_graph()
    where = None if graph.is_eager else id(graph)
    device = graph.scopes.state.fixed_device if graph.is_eager else ""
    key = _key(arguments.args), _key(arguments.kwargs), where, device
    return key


def _key(value: Any) -> Hashable:
    if isinstance(value, Tensor):
        return "T", value.dtype, value.static_shape
    if isinstance(value, TensorSpec):
        return "T", value.dtype, TensorShape(value.shape).dims_or_none
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(map(_key, value))
    if isinstance(value, Mapping):
        return "dict", tuple((k, _key(value[k])) for k in sorted(value, key=str))
    if isinstance(value, bool | int | float | complex | str | bytes):
        return type(value).__name__, value
    try:
        hash(value)
    except TypeError:
        raise ValueError(
            "Arguments to a tf.function must be Tensors, or hashable Python objects, "
            f"or nested structures of these. Got {value!r} of type {type(value)}."
        ) from None
    try:
        return "ref", weakref.ref(value)
    except TypeError:
        return type(value).__name__, value


def relaxed(shapes: Sequence[Shape], more: Sequence[Shape]) -> list[Shape]:
    """The most specific shapes that both include."""
    return [_common(a, b) for a, b in zip(shapes, more, strict=True)]


def _common(one: Shape, other: Shape) -> Shape:
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else None for a, b in zip(one, other, strict=True))


def name_of(python_function: Callable[..., Any]) -> str:
    """The name of a Python function, also of a partial one or an object."""
    if isinstance(python_function, functools.partial):
        return name_of(python_function.func)
    found = getattr(python_function, "__name__", None)
    return str(found or type(python_function).__name__)
