"""`tf.function`: a Python function whose calls run traces of it.

Source: python/eager/def_function.py, function.py (API and messages).
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from tfteach.framework import nest
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Nested, Structure
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.function_spec import (
    Arguments,
    FunctionSpec,
    name_of,
    relaxed,
    trace_key,
)
from tfteach.lib.functions.trace import traced
from tfteach.variables.creation import variable_creator_scope

ONLY_FIRST_CALL = (
    "tf.function-decorated function tried to create variables on non-first call."
)


class Call(NamedTuple):
    """A call of a traced function, for those who watch it trace.

    Attributes:
      function: what was called.
      arguments: with what.
      concrete: the trace that ran.
      is_new: whether it was made for this call.
    """

    function: PolymorphicFunction
    arguments: Arguments
    concrete: ConcreteFunction
    is_new: bool


class _Eagerly:
    """Whether calls run the Python functions instead of traces."""

    is_on = False


@export("config.experimental_run_functions_eagerly")
def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """Run the Python code of `tf.function`s at each call, for debugging.

    Args:
      run_eagerly: True to run it, False to run the traces again.

    Example:
      >>> tf.config.experimental_run_functions_eagerly(True)

    Source: python/eager/def_function.py.
    """
    _Eagerly.is_on = bool(run_eagerly)


_observers: tuple[Callable[[Call], Any], ...] = ()


def observe_calls(callback: Callable[[Call], Any]) -> Callable[[], None]:
    """Call `callback` for each call of a traced function; returns what ends that."""
    global _observers
    _observers = (*_observers, callback)

    def stop() -> None:
        global _observers
        _observers = tuple(o for o in _observers if o is not callback)

    return stop


class PolymorphicFunction:
    """A Python function with a trace for each kind of arguments; see `tf.function`.

    Args:
      python_function: the function.
      name: the name of its traces.
      input_signature, autograph, experimental_autograph_options,
      experimental_relax_shapes: as for `tf.function`.
      creates_variables: whether every trace may create variables (`tfe.defun`), or the
        first only (`tf.function`).
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Any = None,
        autograph: bool = True,
        experimental_autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
        creates_variables: bool = False,
    ) -> None:
        self._python_function = python_function
        self._spec = FunctionSpec(python_function, input_signature)
        self._autograph = autograph
        self._autograph_options = experimental_autograph_options
        self._relaxes = experimental_relax_shapes
        self._creates_variables = creates_variables
        self._name = name
        self._lock = threading.RLock()
        self._traces: dict[Hashable, ConcreteFunction] = {}
        self._shapes: dict[Hashable, list[Shape]] = {}  # of relaxed traces
        self._has_variables = False  # whether its first call is over
        self._made: list[Any] = []  # the variables that it made
        self._methods: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function, updated=())
        self._options = {
            "input_signature": input_signature,
            "autograph": autograph,
            "experimental_autograph_options": experimental_autograph_options,
            "experimental_relax_shapes": experimental_relax_shapes,
            "creates_variables": creates_variables,
        }

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function."""
        return self._python_function

    @property
    def function_spec(self) -> FunctionSpec:
        """Its parameters."""
        return self._spec

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The TensorSpecs that it was given, or None."""
        return self._spec.input_signature

    @property
    def traces(self) -> list[ConcreteFunction]:
        """The traces made so far, in order."""
        return list(self._traces.values())

    def __get__(self, instance: Any, owner: Any) -> Any:
        """A method: its own function for each object."""
        if instance is None:
            return self
        found = self._methods.get(instance)
        if found is None:
            method = _method_of(instance, self._python_function)
            found = type(self)(method, self._name, **self._options)
            self._methods[instance] = found
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the trace for these arguments, made if there is none yet."""
        if _Eagerly.is_on:
            return self._python_function(*args, **kwargs)
        arguments = self._spec.bound(args, kwargs)
        concrete, is_new = self._trace(arguments)
        for observer in _observers:
            observer(Call(self, arguments, concrete, is_new))
        return concrete.call_flat(arguments.tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments; TensorSpecs stand for Tensors.

        Raises:
          ValueError: the arguments do not fit the `input_signature`.
        """
        signature = self._spec.input_signature
        if signature is not None and not args and not kwargs:
            return self._trace(Arguments(signature, {}))[0]
        if signature is not None:
            given = nest.flatten((args, kwargs))
            if any(isinstance(value, TensorSpec) for value in given):
                return self._trace(Arguments(signature, {}))[0]
        return self._trace(self._spec.bound(args, kwargs))[0]

    # ---- traces

    def _trace(self, arguments: Arguments) -> tuple[ConcreteFunction, bool]:
        """The trace for some arguments, and whether it is new."""
        wanted = self._spec.to_trace(arguments)
        key = trace_key(wanted)
        found = self._traces.get(key)
        if found is not None:
            return found, False
        with self._lock:
            found = self._traces.get(key)
            if found is not None:
                return found, False
            if self._relaxes and self._spec.input_signature is None:
                return self._relaxed(key, wanted)
            found = self._traces[key] = self._traced(wanted)
            return found, True

    def _relaxed(
        self, key: Hashable, arguments: Arguments
    ) -> tuple[ConcreteFunction, bool]:
        """The second trace for arguments that differ only in shapes fits them all."""
        tensors = arguments.tensors
        shapes = [t.static_shape for t in tensors]
        general = trace_key(_with_shapes(arguments, [None] * len(tensors)))
        known = self._shapes.get(general)
        self._shapes[general] = shapes if known is None else relaxed(known, shapes)
        if known is None:
            found = self._traces[key] = self._traced(arguments)
            return found, True
        wanted = _with_shapes(arguments, self._shapes[general])
        relaxed_key = trace_key(wanted)
        if relaxed_key not in self._traces:
            self._traces[relaxed_key] = self._traced(wanted)
            return self._traces[relaxed_key], True
        return self._traces[relaxed_key], False

    def _traced(self, arguments: Arguments) -> ConcreteFunction:
        """Trace; the first call may create variables, and then traces once more."""
        if self._creates_variables:
            return self._traced_once(arguments, self._create_and_keep)
        if self._has_variables:
            return self._traced_once(arguments, _refuse_to_create)
        before = len(self._made)
        concrete = self._traced_once(arguments, self._create_and_keep)
        self._has_variables = True
        if len(self._made) > before:
            # They exist now: the trace must work without creating any.
            concrete = self._traced_once(arguments, _refuse_to_create)
        return concrete

    def _create_and_keep(self, make: Callable[..., Any], **kwargs: Any) -> Any:
        made = make(**kwargs)
        self._made.append(weakref.ref(made))
        return made

    def _traced_once(
        self, arguments: Arguments, creator: Callable[..., Any]
    ) -> ConcreteFunction:
        function = self._python_function
        if self._autograph:
            function = converted(function, self._autograph_options)

        @functools.wraps(self._python_function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with variable_creator_scope(creator):
                return function(*args, **kwargs)

        graph = traced(
            self._name, run, arguments.args, arguments.kwargs, self._spec.arg_names
        )
        return ConcreteFunction(graph)


def _method_of(instance: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function bound to an object, which it does not keep alive."""
    reference = weakref.ref(instance)

    @functools.wraps(function)
    def method(*args: Any, **kwargs: Any) -> Any:
        return function(reference(), *args, **kwargs)

    _, *rest = inspect.signature(function).parameters.values()
    method.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]
    return method


def _with_shapes(arguments: Arguments, shapes: list[Shape]) -> Arguments:
    """Arguments with TensorSpecs of other shapes for the Tensors."""
    left = iter(shapes)

    def spec(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        return TensorSpec(next(left), value.dtype)

    made: Any = nest.map_structure(spec, tuple(arguments), expand_composites=True)
    return Arguments(*made)


def _refuse_to_create(make: Callable[..., Any], **kwargs: Any) -> Any:
    raise ValueError(ONLY_FIRST_CALL)


def converted(function: Callable[..., Any], options: Any) -> Callable[..., Any]:
    """The function with Python's control flow as ops, by AutoGraph."""
    return function


@export("function")
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Nested[TensorSpec] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Structure = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Callable[..., Structure]:
    """Make a Python function run as a graph: its calls trace it once and run the trace.

    A trace is made for each combination of the types and shapes of Tensors, and of the
    values of other arguments. Python code that is no op, such as `print`, runs only
    while tracing.

    Args:
      func: the function; None for use as a decorator with arguments.
      input_signature: TensorSpecs, nested as the arguments: one trace for all calls.
      autograph: whether Python's `if`, `while` and `for` over Tensors become ops.
      experimental_autograph_options: for AutoGraph.
      experimental_relax_shapes: trace once more with unknown sizes, instead of once for
        each shape.
      experimental_compile: must not be true: there is no XLA.

    Returns:
      A callable with `get_concrete_function(...)` and `python_function`.

    Raises:
      ValueError: (when called) it creates variables after its first call.

    Example:
      >>> @tf.function
      ... def double(x):
      ...     return x * 2.0

    Source: python/eager/def_function.py.
    """
    if experimental_compile:
        raise NotImplementedError("tf.function: experimental_compile: there is no XLA")

    def decorated(inner: Callable[..., Any]) -> PolymorphicFunction:
        return PolymorphicFunction(
            inner,
            name_of(inner),
            input_signature,
            autograph,
            experimental_autograph_options,
            experimental_relax_shapes,
        )

    return decorated if func is None else decorated(func)


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Nested[TensorSpec] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Structure = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """`tf.function`, as it was before; each trace may create variables."""

    def decorated(inner: Callable[..., Any]) -> PolymorphicFunction:
        return PolymorphicFunction(
            inner,
            name_of(inner),
            input_signature,
            autograph,
            experimental_autograph_options,
            experimental_relax_shapes,
            creates_variables=True,
        )

    return decorated if func is None else decorated(func)
