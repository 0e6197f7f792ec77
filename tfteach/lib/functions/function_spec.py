"""The parameters of a Python function that is traced, and how calls bind to them.

Source: python/eager/function.py, FunctionSpec (API and messages).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.operation import Tensor
from tfteach.framework.shallow_nest import flatten_up_to
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.variables.resource import BaseResourceVariable

NO_KEYWORDS = (
    "Cannot define a TensorFlow function from a Python function with keyword arguments "
    "when input_signature is provided."
)
_ONLY_COVERED = (
    "When input_signature is provided, only pass arguments covered by it. Received "
)


class Arguments(NamedTuple):
    """The arguments of one call, with Tensors in place of arrays.

    Attributes:
      args: the positional ones, with default values.
      kwargs: those by name only.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def tensors(self) -> list[Any]:
        """The Tensors and resource variables in them, in order."""
        flat = nest.flatten((self.args, self.kwargs), expand_composites=True)
        return [v for v in flat if isinstance(v, Tensor | BaseResourceVariable)]


def validate_signature(signature: Any) -> None:
    """Check that an `input_signature` consists of TensorSpecs.

    Raises:
      TypeError: it does not.
    """
    flat = nest.flatten(signature, expand_composites=True)
    if any(not isinstance(spec, TensorSpec) for spec in flat):
        raise TypeError(
            f"Invalid input_signature {signature}; input_signature must be a possibly "
            "nested sequence of TensorSpec objects."
        )


class FunctionSpec:
    """The parameters of a Python function.

    Args:
      fullargspec: an `inspect.FullArgSpec`.
      is_method: whether the first parameter is bound already.
      args_to_prepend, kwargs_to_include: ignored, as in TensorFlow.
      input_signature: TensorSpecs of its arguments, nested as these are; or None.
      name: the function's, for messages.

    Attributes:
      arg_names: the parameters that accept arguments by position.
      vararg_name: the parameter of further ones, or None.
      flat_input_signature: the TensorSpecs in a row; None without a signature.

    Raises:
      TypeError: the signature is no tuple or list.
      ValueError: the function has parameters that the signature cannot describe.
    """

    def __init__(
        self,
        fullargspec: inspect.FullArgSpec,
        is_method: bool,
        args_to_prepend: Any = (),
        kwargs_to_include: Any = (),
        input_signature: Any = None,
        name: str = "function",
    ) -> None:
        self.fullargspec = fullargspec
        self.is_method = is_method
        self._name = name
        self.arg_names = fullargspec.args[1:] if is_method else fullargspec.args
        self.vararg_name = fullargspec.varargs
        defaults = tuple(fullargspec.defaults or ())
        first = len(self.arg_names) - len(defaults)
        self._defaults = {first + i: value for i, value in enumerate(defaults)}
        self._positions = {name: i for i, name in enumerate(self.arg_names)}
        self.input_signature: tuple[Any, ...] | None = None
        self.flat_input_signature: tuple[Any, ...] | None = None
        if input_signature is None:
            return
        if fullargspec.kwonlyargs:
            raise ValueError(NO_KEYWORDS)
        if not isinstance(input_signature, tuple | list):
            raise TypeError(
                "input_signature must be either a tuple or a list, received "
                f"{type(input_signature)}"
            )
        self.input_signature = tuple(input_signature)
        flat = nest.flatten(input_signature, expand_composites=True)
        self.flat_input_signature = tuple(flat)

    @staticmethod
    def from_function_and_signature(
        python_function: Callable[..., Any], input_signature: Any
    ) -> FunctionSpec:
        """The parameters of a function."""
        is_method = inspect.ismethod(python_function)
        name = name_of(python_function)
        spec = _full_arg_spec(python_function)
        return FunctionSpec(spec, is_method, input_signature=input_signature, name=name)

    def names(self, count: int) -> list[str]:
        """The names of the first positional arguments."""
        more = count - len(self.arg_names)
        extra = [f"{self.vararg_name}_{i}" for i in range(more)]
        return [*self.arg_names[:count], *extra]

    def canonicalize_function_inputs(self, *args: Any, **kwargs: Any) -> Arguments:
        """The arguments of a call, by position where they can be.

        Raises:
          AssertionError, TypeError: they do not fit the parameters.
          ValueError: they do not fit the `input_signature`.
        """
        if self.input_signature is not None:
            self._check_covered(args, kwargs)
        if kwargs:
            args = self._with_keywords(args, kwargs)
        elif self._defaults:
            args = self._with_defaults(args)
        if self.input_signature is not None:
            return Arguments(self._as_signature(args), {})
        if kwargs:
            args, kwargs = _without_arrays((args, kwargs))
        else:
            args = _without_arrays(args)
        return Arguments(args, kwargs)

    def _check_covered(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        assert self.input_signature is not None
        if len(args) > len(self.input_signature):
            raise TypeError(f"{_ONLY_COVERED}{len(args)} argument(s).")
        for name in kwargs:
            position = self._positions.get(name)
            if position is None:
                raise TypeError(f"Function got an unexpected keyword argument {name}")
            if position >= len(self.input_signature):
                raise TypeError(f"{_ONLY_COVERED}argument {name}.")

    def _with_defaults(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        positions = sorted(self._defaults)
        if positions[0] > len(args):
            raise AssertionError(
                f"Not enough arguments ({args}, {positions}, {self.arg_names})"
            )
        return args + tuple(self._defaults[i] for i in positions if i >= len(args))

    def _with_keywords(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The positional arguments; leaves the others in `kwargs`."""
        found = {i: v for i, v in self._defaults.items() if i >= len(args)}
        for name in [*kwargs]:
            position = self._positions.get(name)
            if position is None:
                continue
            if position < len(args):
                raise TypeError(
                    f"{self._name}() got multiple values for argument {name!r}"
                )
            found[position] = kwargs.pop(name)
        for i, position in enumerate(sorted(found), len(args)):
            if position != i:
                raise TypeError(
                    f"{self._name}() missing 1 required positional argument: "
                    f"{self.arg_names[i]!r}"
                )
        return (*args, *(found[i] for i in sorted(found)))

    def _as_signature(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Tensors that fit the signature."""
        signature, specs = self.input_signature, self.flat_input_signature
        assert signature is not None
        assert specs is not None
        try:
            given = args[: len(signature)]
            parts = flatten_up_to(signature, given)
            leaves = zip(nest.flatten(signature), parts, strict=True)
            flat = [v for spec, part in leaves for v in _components(spec, part)]
            pairs = list(zip(flat, specs, strict=True))
        except ValueError:
            raise ValueError(
                "Structure of Python function inputs does not match input_signature:\n"
                + _listed(args, signature)
            ) from None
        tensors = []
        for value, spec in pairs:
            try:
                tensors.append(convert(value, preferred_dtype=spec.dtype))
            except (TypeError, ValueError):
                raise ValueError(
                    "When input_signature is provided, all inputs to the Python "
                    "function must be convertible to tensors:\n"
                    + _listed(args, signature)
                ) from None
        if not all(map(TensorSpec.is_compatible_with, specs, tensors)):
            raise ValueError(
                "Python inputs incompatible with input_signature:\n"
                + _listed(args, signature)
            )
        return tuple(nest.pack_sequence_as(signature, tensors, True))


def _full_arg_spec(python_function: Callable[..., Any]) -> inspect.FullArgSpec:
    """The parameters that calls can bind; a partial's own arguments are bound."""
    if not callable(python_function):
        raise TypeError("unsupported callable")
    if isinstance(python_function, functools.partial):
        found = inspect.getfullargspec(python_function)
        return found._replace(kwonlyargs=[], kwonlydefaults={})
    spec = getattr(python_function, "function_spec", None)
    if isinstance(spec, FunctionSpec):  # of another traced function
        return spec.fullargspec._replace(args=spec.arg_names)
    is_plain = inspect.isroutine(python_function) or inspect.isclass(python_function)
    if not is_plain and not hasattr(python_function, "__signature__"):
        call = type(python_function).__call__  # of an object
        found = inspect.getfullargspec(call)
        return found._replace(args=found.args[1:])
    return inspect.getfullargspec(python_function)


def _components(spec: Any, value: Any) -> list[Any]:
    """What is passed for a value: the tensors of one that consists of tensors."""
    is_tensor = isinstance(spec, TensorSpec)
    return [value] if is_tensor else nest.flatten(value, expand_composites=True)


def _listed(given: Sequence[Any], signature: Sequence[Any]) -> str:
    values = ",\n    ".join(map(str, given))
    specs = ",\n    ".join(map(str, signature))
    return f"  inputs: (\n    {values})\n  input_signature: (\n    {specs})"


def _without_arrays(structure: Any) -> Any:
    """Arrays become Tensors: a call passes them, a trace does not depend on them."""
    flat = nest.flatten(structure)
    if not any(type(value) is np.ndarray for value in flat):
        return structure
    tensors = [convert(v) if type(v) is np.ndarray else v for v in flat]
    return nest.pack_sequence_as(structure, tensors)


def name_of(python_function: Callable[..., Any]) -> str:
    """The name of a Python function; "function" of what has none."""
    return str(getattr(python_function, "__name__", "function"))
