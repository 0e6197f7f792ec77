"""`TracedFunction`: a Python function with its traces, by the arguments of calls.

Source: python/eager/function.py, Function (API and messages).
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from time import perf_counter
from typing import Any

from tfteach.framework import nest
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.function_spec import NO_KEYWORDS, Arguments, FunctionSpec
from tfteach.lib.functions.methods import bound_method
from tfteach.lib.functions.observed_calls import Call, Observers, run_observed
from tfteach.lib.functions.trace import traced
from tfteach.lib.functions.trace_key import (
    PLAIN,
    argument_key,
    context_key,
    covers,
    encoded,
    relaxed,
)
from tfteach.lib.functions.traced_graph import TracedGraph

Conversion = Callable[[Callable[..., Any]], Callable[..., Any]]


class TracedFunction:
    """A Python function with a trace for each kind of arguments; see `tfe.defun`.

    Args:
      python_function: the function.
      name: the name of its traces.
      input_signature: TensorSpecs of its arguments, or None.
      attributes: attributes of its functions in a graph's library.
      conversion: what becomes of the Python code before it is traced, such as
        AutoGraph's conversion.
      experimental_relax_shapes: see `tf.function`.
      spec: the parameters, if they are not those of `python_function`.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Any = None,
        attributes: Mapping[str, Any] | None = None,
        conversion: Conversion | None = None,
        experimental_relax_shapes: bool = False,
        spec: FunctionSpec | None = None,
    ) -> None:
        self._python_function = python_function
        if spec is None:
            spec = FunctionSpec.from_function_and_signature(
                python_function, input_signature
            )
        self._spec = spec
        self._name = name
        self._attributes = dict(attributes or {})
        self._conversion = conversion
        self._relaxes = experimental_relax_shapes and spec.input_signature is None
        self._lock = threading.RLock()
        self._traces: dict[Hashable, ConcreteFunction] = {}
        self._missed: set[Hashable] = set()  # contexts that have a trace
        # By arguments without sizes: the common shapes, and the trace for these.
        self._relaxed: dict[Hashable, tuple[Sequence[Any], ConcreteFunction]] = {}
        # Traces of eager calls with Tensors and plain values by position only.
        self._quick: dict[tuple[Any, ...], ConcreteFunction] = {}
        self._tracing: dict[Hashable, int] = {}  # keys -> the threads that trace them
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
    def flat_input_signature(self) -> tuple[Any, ...] | None:
        """The TensorSpecs in a row, or None."""
        return self._spec.flat_input_signature

    @property
    def traces(self) -> list[ConcreteFunction]:
        """The traces made so far, in order."""
        found = [
            *self._traces.values(),
            *(trace for _, trace in self._relaxed.values()),
        ]
        return list(dict.fromkeys(found))

    def __get__(self, instance: Any, owner: Any) -> Any:
        """A method: its own function for each object."""
        if instance is None:
            return self
        found = self._methods.get(instance)
        if found is None:
            found = self._methods[instance] = TracedFunction(
                bound_method(instance, self._python_function),
                self._name,
                self._spec.input_signature,
                self._attributes,
                self._conversion,
                self._relaxes,
            )
        return found

    def __deepcopy__(self, memo: Any) -> TracedFunction:
        return TracedFunction(
            self._python_function,
            self._name,
            self._spec.input_signature,
            self._attributes,
            self._conversion,
            self._relaxes,
        )

    def __reduce__(self) -> Any:
        raise TypeError(
            f"cannot pickle the traced function {self._name!r}: pickle the Python "
            "function, and trace it where it is loaded"
        )

    # ---- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the trace for these arguments, made if there is none yet."""
        return self.call(args, kwargs, self)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any], called: Any) -> Any:
        """Call the trace for some arguments.

        Args:
          args, kwargs: the arguments.
          called: what the program called, for observers.
        """
        if Observers.all:
            return self.call_observed(args, kwargs, called)
        if not kwargs and get_default_graph().is_eager:
            found = self._quickly(args)
            if found is not None:
                return found[0].run(found[1])
        arguments, concrete, _ = self.trace(args, kwargs)
        tensors = arguments.tensors
        result = concrete.call_flat(tensors)
        if not kwargs and not self._relaxes:
            self._remember(args, tensors, concrete)
        return result

    def call_observed(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        called: Any,
        creation_s: float = 0.0,
    ) -> Any:
        """`call`, reported to those who watch.

        Args:
          args, kwargs, called: as for `call`.
          creation_s: the seconds that a trace took which created variables.
        """
        began_s = perf_counter()
        arguments, concrete, is_new = self.trace(args, kwargs)
        tracing_s = creation_s + (perf_counter() - began_s if is_new else 0.0)
        made = creation_s > 0
        return run_observed(
            Call(called, arguments, concrete, is_new, tracing_s, made, [])
        )

    def _quickly(
        self, args: tuple[Any, ...]
    ) -> tuple[ConcreteFunction, list[Tensor]] | None:
        """The trace of an earlier call like this one, and the Tensors to pass."""
        key, tensors = _quick_key(args)
        concrete = self._quick.get(key) if key is not None else None
        return None if concrete is None else (concrete, tensors)

    def _remember(
        self, args: tuple[Any, ...], passed: Sequence[Any], concrete: ConcreteFunction
    ) -> None:
        """Let calls like this one find their trace without binding of arguments."""
        if not get_default_graph().is_eager:
            return
        key, tensors = _quick_key(args)
        is_same = len(tensors) == len(passed) and all(
            one is other for one, other in zip(tensors, passed, strict=True)
        )
        if key is not None and is_same:
            self._quick[key] = concrete

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments; TensorSpecs stand for Tensors.

        Raises:
          ValueError: the arguments do not fit the `input_signature`.
        """
        if self._spec.input_signature is not None:
            self._check_signature(args, kwargs)
            args, kwargs = self._spec.input_signature, {}
            arguments = Arguments(args, kwargs)
            concrete = self.trace_of(arguments)[0]
        else:
            concrete = self.trace(args, kwargs)[1]
        concrete.name_arguments()
        return concrete

    def _check_signature(self, args: tuple[Any, ...], kwargs: Any) -> None:
        """Check the arguments of `get_concrete_function`; none are fine, too."""
        signature, specs = self._spec.input_signature, self._spec.flat_input_signature
        if kwargs:
            raise ValueError(NO_KEYWORDS)
        if not args:
            return
        try:
            nest.assert_same_structure(signature, args, expand_composites=True)
        except (ValueError, TypeError):
            raise ValueError(
                "Structure of Python function inputs does not match input_signature."
            ) from None
        flat = nest.flatten(args, expand_composites=True)
        if any(not isinstance(value, Tensor | TensorSpec) for value in flat):
            raise ValueError(
                "When input_signature is provided, all inputs to the Python function "
                "must be Tensors or tf.TensorSpec objects."
            )
        pairs = zip(specs or (), flat, strict=True)
        if any(not spec.is_compatible_with(value) for spec, value in pairs):
            raise ValueError(
                "Python inputs incompatible with input_signature: inputs "
                f"({args}), input_signature ({signature})"
            )

    # ---- traces

    def trace(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Arguments, ConcreteFunction, bool]:
        """The bound arguments, the trace for them, and whether it is new."""
        arguments = self._spec.canonicalize_function_inputs(*args, **kwargs)
        return arguments, *self.trace_of(arguments)

    def trace_of(self, arguments: Arguments) -> tuple[ConcreteFunction, bool]:
        """The trace for bound arguments, and whether it is new."""
        if self._spec.input_signature is not None:
            arguments = Arguments(self._spec.input_signature, {})
            key: Hashable = None
        else:
            key = argument_key(*arguments)
        context = context_key()
        key = key, context
        found = self._traces.get(key)
        if found is not None:
            return found, False
        with self._lock:
            found = self._traces.get(key)
            if found is not None:
                return found, False
            if self._relaxes and context in self._missed:
                return self._trace_relaxed(arguments, context)
            self._missed.add(context)
            found = self._traces[key] = self._traced(arguments, key)
            return found, True

    def _trace_relaxed(
        self, arguments: Arguments, context: Hashable
    ) -> tuple[ConcreteFunction, bool]:
        """A trace that fits all arguments so far which differ only in sizes."""
        key = encoded(tuple(arguments), ranks_only=True), context
        flat = nest.flatten(tuple(arguments), expand_composites=True)
        shapes = [
            TensorShape(v.shape) if isinstance(v, Tensor | TensorSpec) else None
            for v in flat
        ]
        if key in self._relaxed:
            general, concrete = self._relaxed[key]
            if covers(general, shapes):
                return concrete, False
            shapes = relaxed(general, shapes)
        concrete = self._traced(arguments, key, shapes)
        self._relaxed[key] = shapes, concrete
        return concrete, True

    def _traced(
        self, arguments: Arguments, key: Hashable, shapes: Sequence[Any] | None = None
    ) -> ConcreteFunction:
        if self._tracing.get(key) == threading.get_ident():
            raise RecursionError(
                f"The traced function {self._name!r} calls itself with arguments of "
                "the same kind: a graph cannot contain itself. Use tf.while_loop, or "
                "recursion over Python values."
            )
        function = self._python_function
        if self._conversion is not None:
            function = self._conversion(function)
        self._tracing[key] = threading.get_ident()
        try:
            graph = traced(
                TracedGraph(self._name),
                function,
                arguments.args,
                arguments.kwargs,
                self._spec.names(len(arguments.args)),
                shapes,
            )
        finally:
            del self._tracing[key]
        return ConcreteFunction(graph, self._attributes)


def _quick_key(
    args: tuple[Any, ...],
) -> tuple[tuple[Any, ...] | None, list[Tensor]]:
    """A key of positional Tensors and plain values, and the Tensors; None for others.

    Two calls with the same key have the same trace.
    """
    key: list[Any] = []
    tensors: list[Tensor] = []
    for value in args:
        if type(value) is EagerTensor:
            key.append((value.dtype, getattr(value.value, "shape", ())))
            tensors.append(value)
        elif type(value) in PLAIN:
            key.append(value)
        else:
            return None, tensors
    return tuple(key), tensors
