"""Tracing: the graph of what a Python function does with placeholders.

Source: python/framework/func_graph.py (names and messages).
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.automatic_control import in_order
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import tapes
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.sparse_tensor import SparseTensor

_numbers = itertools.count()


def numbered(name: str) -> str:
    """The name of a function in a library, which no other function has."""
    return f"{name}_{next(_numbers)}"


class TracedGraph(FuncGraph):
    """The body of a traced function.

    Attributes:
      structured_input_signature: the arguments, with specifications for Tensors.
      structured_outputs: the results as the Python function returned them.
    """

    functional_flow = True
    names_captures = False
    structured_input_signature: Any = None
    structured_outputs: Any = None

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.share_collections(self.outer_graph)
        self._read: list[weakref.ref[Any]] = []

    def record(self, op: Operation) -> None:
        """Nothing: only variables are of interest."""

    def record_more_outputs(self, op: Operation, outputs: Sequence[Tensor]) -> None:
        """Nothing: only variables are of interest."""

    def record_function(self, outputs: Any, inputs: Any, backward: Any) -> None:
        """Nothing: only variables are of interest."""

    def record_variable(self, variable: Any) -> None:
        """Remember a variable that the function reads."""
        if all(known() is not variable for known in self._read):
            self._read.append(weakref.ref(variable))

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function reads, in the order of the first reading."""
        found = (reference() for reference in self._read)
        return tuple(variable for variable in found if variable is not None)


def traced(
    name: str,
    python_function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    arg_names: Sequence[str],
) -> TracedGraph:
    """The graph of a call of a Python function.

    Args:
      name: the graph's.
      python_function: called once, with placeholders for Tensors.
      args, kwargs: the arguments; Tensors and TensorSpecs become placeholders.
      arg_names: the names of the positional arguments.

    Returns:
      The graph, with its inputs and outputs.

    Raises:
      TypeError: the function returns something that is no Tensor.
    """
    graph = TracedGraph(name)
    with graph.as_default():
        names = [*arg_names, *(f"arg{i}" for i in range(len(arg_names), len(args)))]
        inner = [_placeholders(a, n, graph) for a, n in zip(args, names, strict=False)]
        keywords = {k: _placeholders(kwargs[k], k, graph) for k in sorted(kwargs)}
        specs = [_specs(a, n) for a, n in zip(args, names, strict=False)]
        graph.structured_input_signature = (
            tuple(specs),
            {k: _specs(kwargs[k], k) for k in sorted(kwargs)},
        )
        # The tapes around it see what the graphs around this one capture for it.
        saved, tapes.active = tapes.active, (*tapes.active, graph)
        try:
            results = python_function(*inner, **keywords)
        finally:
            tapes.active = saved
        _set_results(graph, results, python_function)
    return graph


def is_tensor_argument(value: Any) -> bool:
    """Whether a call passes the value, instead of the trace depending on it."""
    return isinstance(value, Tensor | TensorSpec)


def _placeholders(argument: Any, name: str, graph: TracedGraph) -> Any:
    def placeholder(value: Any) -> Any:
        if not is_tensor_argument(value):
            return value
        own = value.name if isinstance(value, TensorSpec) else None
        return graph.add_input(value.dtype.base_dtype, value.shape, own or name)

    return nest.map_structure(placeholder, argument, expand_composites=True)


def _specs(argument: Any, name: str) -> Any:
    def spec(value: Any) -> Any:
        if not is_tensor_argument(value):
            return value
        own = value.name if isinstance(value, TensorSpec) else None
        return TensorSpec(value.shape, value.dtype.base_dtype, own or name)

    return nest.map_structure(spec, argument, expand_composites=True)


def _set_results(
    graph: TracedGraph, results: Any, python_function: Callable[..., Any]
) -> None:
    """The outputs, which wait for all effects, in the order of the program."""
    if isinstance(results, Operation):
        with graph.control_dependencies([results]):
            results = constant(0, int32)
    flat = nest.flatten(results, expand_composites=True)
    values = [v if v is None else _converted(v, python_function) for v in flat]
    effects = in_order(graph)
    made: list[Any] = []
    for value in values:
        made.append(None if value is None else identity(value))
        if value is not None:
            made[-1].op.control_inputs = list(effects)
    graph.structured_outputs = nest.pack_sequence_as(results, made, True)
    graph.outputs = [tensor for tensor in made if tensor is not None]


def _converted(value: Any, python_function: Callable[..., Any]) -> Tensor:
    if isinstance(value, IndexedSlices | SparseTensor):
        return value  # type: ignore[return-value]
    try:
        return convert(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.contrib.eager.defun, Python functions must "
            f"return zero or more Tensors; in compilation of {python_function}, found "
            f"return value of type {type(value)}, which is not a Tensor."
        ) from None
