"""`tf.function`: a Python function whose calls run traces of it.

Source: python/eager/def_function.py, function.py (API and messages).
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from time import perf_counter
from typing import Any

from tfteach.control.branch import cond
from tfteach.framework import nest
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.scope import open_init_scope
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Nested, Structure
from tfteach.lib.functions.argument_signature import UnknownArgument
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.first_call_variables import FirstCall, Initializers
from tfteach.lib.functions.function_spec import (
    Arguments,
    FunctionSpec,
    name_of,
    validate_signature,
)
from tfteach.lib.functions.lift_to_graph import UnliftableError, lift_to_graph
from tfteach.lib.functions.methods import bound_method
from tfteach.lib.functions.observed_calls import (
    Call,
    Observers,
    observe_calls,
    run_observed,
)
from tfteach.lib.functions.traced_code import converted, unconverted
from tfteach.lib.functions.traced_function import TracedFunction
from tfteach.ops.math.compare import logical_and
from tfteach.ops.state.resource_variables import VarIsInitializedOp
from tfteach.variables.creation import final_creator_scope

__all__ = ["Call", "PolymorphicFunction", "function", "observe_calls"]

ONLY_FIRST_CALL = (
    "tf.function-decorated function tried to create variables on non-first call."
)
_GONE = """A tf.Variable created inside your tf.function has been garbage-collected. \
Your code needs to keep Python references to variables created inside `tf.function`s.

A common way to raise this error is to create and return a variable only referenced \
inside your function:

@tf.function
def f():
  v = tf.Variable(1.0)
  return v

v = f()  # Crashes with this error message!

A function decorated with tf.function returns the value of the variable, and not the \
variable itself. Create the variable outside the function and capture it instead."""


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


class PolymorphicFunction:
    """A Python function with a trace for each kind of arguments; see `tf.function`.

    The first trace may create variables; the others must use these.

    Args:
      python_function: the function.
      name: the name of its traces.
      input_signature, autograph, experimental_autograph_options,
      experimental_relax_shapes: as for `tf.function`.

    Attributes:
      experimental_relax_shapes: as given.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Any = None,
        autograph: bool = True,
        experimental_autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
    ) -> None:
        self._python_function = python_function
        self._spec = FunctionSpec.from_function_and_signature(
            python_function, input_signature
        )
        self._autograph = autograph
        self._autograph_options = experimental_autograph_options
        self.experimental_relax_shapes = experimental_relax_shapes
        self._name = name
        self._lock = threading.RLock()
        self._first: TracedFunction | None = None  # which may create variables
        self._later: TracedFunction | None = None  # which may not
        self._ready: TracedFunction | None = None  # the one that calls use from now on
        self._creation = FirstCall()
        self._methods: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function, updated=())

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
        if self._ready is None:
            return [] if self._first is None else self._first.traces
        return self._ready.traces

    def __get__(self, instance: Any, owner: Any) -> Any:
        """A method: its own function for each object."""
        if instance is None:
            return self
        found = self._methods.get(instance)
        if found is None:
            method = bound_method(instance, self._python_function)
            found = self._methods[instance] = self._again(method)
        return found

    def __deepcopy__(self, memo: Any) -> PolymorphicFunction:
        return self._again(self._python_function)

    def __copy__(self) -> PolymorphicFunction:
        copied = object.__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __reduce__(self) -> Any:
        raise TypeError(
            f"cannot pickle the tf.function {self._name!r}: pickle the Python function,"
            " and decorate it where it is loaded"
        )

    def _again(self, python_function: Callable[..., Any]) -> PolymorphicFunction:
        """A function of the same kind, without traces."""
        return PolymorphicFunction(
            python_function,
            self._name,
            self._spec.input_signature,
            self._autograph,
            self._autograph_options,
            self.experimental_relax_shapes,
        )

    def _decorate(self, decorator: Callable[..., Any]) -> None:
        """Decorate the Python function in place.

        Raises:
          ValueError: it has been traced.
        """
        if self._first is not None:
            raise ValueError(
                "Functions cannot be decorated after they have been traced."
            )
        self._python_function = decorator(self._python_function)
        self._spec = FunctionSpec.from_function_and_signature(
            self._python_function, self._spec.input_signature
        )

    # ---- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the trace for these arguments, made if there is none yet."""
        if _Eagerly.is_on:
            return self._python_function(*args, **kwargs)
        ready = self._ready
        if ready is None:
            return self._first_call(args, kwargs)
        return ready.call(args, kwargs, self)

    def _first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with self._lock:
            if self._ready is not None or self._first is not None:
                # Another thread was faster, or it calls itself while it is traced.
                usable = self._ready or self._first
                assert usable is not None
                return usable.call(args, kwargs, self)
            began_s = perf_counter()
            concrete = self._initialize(args, kwargs)
            tracing_s = perf_counter() - began_s
            assert self._ready is not None
            if self._creation.variables:
                try:
                    _initialize_variables(self._creation.initializers)
                except UnliftableError:
                    return self._initialize_while_calling(args, kwargs, concrete)
                if Observers.all:
                    return self._ready.call_observed(args, kwargs, self, tracing_s)
                return self._ready.call(args, kwargs, self)
        arguments = self._spec.canonicalize_function_inputs(*args, **kwargs)
        return run_observed(Call(self, arguments, concrete, True, tracing_s, False, []))

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments; TensorSpecs stand for Tensors.

        Raises:
          ValueError: the arguments do not fit the `input_signature`.
          UnliftableError: initial values of variables depend on the arguments.
        """
        if self._ready is None:
            with self._lock:
                if self._first is None:
                    self._initialize(args, kwargs)
                    _initialize_variables(self._creation.initializers)
        usable = self._ready or self._first
        assert usable is not None
        return usable.get_concrete_function(*args, **kwargs)

    def get_initialization_function(
        self, *args: Any, **kwargs: Any
    ) -> ConcreteFunction:
        """A function that assigns the initial values of the variables.

        Args:
          *args, **kwargs: the arguments of a first call.

        Raises:
          RuntimeError: the function has been called or traced.
          UnliftableError: the initial values depend on the arguments.
        """
        with self._lock:
            if self._first is not None:
                raise RuntimeError(
                    "get_initialization_function cannot be called after the function "
                    "has been used"
                )
            self._initialize(args, kwargs)
            initializers = self._creation.initializers

        def initialize_variables() -> None:
            for variable, value in initializers:
                copies = lift_to_graph([value], get_default_graph())
                variable.assign(copies[value])

        return TracedFunction(
            initialize_variables, "initialize_variables"
        ).get_concrete_function()

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        """The traces that a SavedModel has: those whose arguments it can describe."""
        if self._spec.input_signature is not None:
            self.get_concrete_function()
        signatures: list[Any] = []
        for function in (self._first, self._later):
            for concrete in [] if function is None else function.traces:
                signature = concrete.structured_input_signature
                flat = nest.flatten(signature)
                is_known = not any(isinstance(v, UnknownArgument) for v in flat)
                if is_known and not any(_same(signature, s) for s in signatures):
                    signatures.append(signature)
        return [
            self.get_concrete_function(*args, **kwargs) for args, kwargs in signatures
        ]

    # ---- the first call

    def _initialize(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> ConcreteFunction:
        """Make the first trace, which may create variables."""
        creation = self._creation
        first = self._first = self._traced_function(creation.create)
        self._later = self._traced_function(_refuse_to_create)
        try:
            if self._spec.input_signature is not None:
                arguments = Arguments(self._spec.input_signature, {})
                concrete = first.trace_of(arguments)[0]
            else:
                concrete = first.trace(args, kwargs)[1]
        except BaseException:
            if not creation.variables:  # the next call is the first one
                self._first = self._later = None
            raise
        creation.is_over = True
        self._ready = self._later if creation.variables else first
        return concrete

    def _traced_function(self, creator: Callable[..., Any]) -> TracedFunction:
        options = self._autograph_options
        return TracedFunction(
            self._python_function,
            self._name,
            # Without a reference to this object, which would be a cycle.
            conversion=functools.partial(_traceable, creator, self._autograph, options),
            experimental_relax_shapes=self.experimental_relax_shapes,
            spec=self._spec,
        )

    def _initialize_while_calling(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        first: ConcreteFunction,
    ) -> Any:
        """Call the first trace, which assigns initial values, or a later one."""
        later = self._later
        assert later is not None
        bound = self._spec.canonicalize_function_inputs(*args, **kwargs)

        def fn_with_cond(*inner_args: Any, **inner_kwargs: Any) -> Any:
            has_values: Any = True
            for reference in self._creation.variables:
                variable = reference()
                if variable is None:
                    raise ValueError(_GONE)
                is_set = VarIsInitializedOp()(variable.handle)
                has_values = logical_and(has_values, is_set)
            inner = Arguments(inner_args, inner_kwargs)
            return cond(
                has_values,
                lambda: later(*inner_args, **inner_kwargs),
                lambda: first.call_flat(inner.tensors),
            )

        function = TracedFunction(fn_with_cond, "fn_with_cond")
        return function(*bound.args, **bound.kwargs)


def _traceable(
    creator: Callable[..., Any],
    autograph: bool,
    options: Any,
    python_function: Callable[..., Any],
) -> Callable[..., Any]:
    """What is called while tracing: the converted code; `creator` creates variables."""
    if autograph:
        inner = converted(python_function, options)
    else:
        inner = unconverted(python_function)

    @functools.wraps(python_function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with final_creator_scope(creator):
            return inner(*args, **kwargs)

    return run


def _same(one: Any, other: Any) -> bool:
    """Whether two signatures are equal in structure and values."""
    try:
        nest.assert_same_structure(one, other)
    except (ValueError, TypeError):
        return False
    pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
    return all(type(a) is type(b) and a == b for a, b in pairs)


def _refuse_to_create(make: Callable[..., Any], **kwargs: Any) -> Any:
    raise ValueError(ONLY_FIRST_CALL)


def _initialize_variables(initializers: Initializers) -> None:
    """Assign initial values to the variables that have none, outside of their trace.

    Raises:
      UnliftableError: a value depends on the arguments of the trace.
    """

    def initialize_variables() -> None:
        copies: dict[Any, Any] = {}
        for variable, value in initializers:
            with open_init_scope(get_default_graph()):
                if variable.is_initialized():
                    continue
            lift_to_graph([value], get_default_graph(), op_map=copies)
            variable.assign(copies[value])

    with open_init_scope(get_default_graph()):
        function = TracedFunction(initialize_variables, "initialize_variables")
        function.get_concrete_function()()


@export("function", "contrib.eager.function")
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
      TypeError: `input_signature` holds something else than TensorSpecs.
      ValueError: (when called) it creates variables after its first call.

    Example:
      >>> @tf.function
      ... def double(x):
      ...     return x * 2.0

    Source: python/eager/def_function.py.
    """
    if experimental_compile:
        raise NotImplementedError("tf.function: experimental_compile: there is no XLA")
    if input_signature is not None:
        validate_signature(input_signature)

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
