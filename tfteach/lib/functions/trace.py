"""Tracing: the graph of what a Python function does with placeholders.

Source: python/framework/func_graph.py (names and messages).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tfteach.control.automatic_control import in_order
from tfteach.framework import nest
from tfteach.framework.operation import Tensor
from tfteach.framework.recording import tapes
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.lib.functions.argument_signature import signature_of
from tfteach.lib.functions.returned_values import converted, flow_or_tensor, marked
from tfteach.lib.functions.traced_graph import TracedGraph
from tfteach.variables.resource import BaseResourceVariable
from tfteach.variables.scope.get_variable import get_variable_scope

_MUTATED = (
    "Function to be traced should not modify structure of input arguments. Check if "
    "your function has list and dictionary operations that alter input arguments, such "
    "as `list.pop`, `list.append`"
)
_numbers = itertools.count()


def numbered(name: str) -> str:
    """The name of a function in a library, which no other function has."""
    return f"{name}_{next(_numbers)}"


def traced(
    graph: TracedGraph,
    python_function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    arg_names: Sequence[str] | None,
    flat_shapes: Sequence[TensorShape | None] | None = None,
    operation_value: Tensor | None = None,
) -> TracedGraph:
    """Trace a call of a Python function.

    Args:
      graph: the graph to trace into.
      python_function: called once, with placeholders for Tensors.
      args, kwargs: the arguments; Tensors and TensorSpecs become placeholders.
      arg_names: the names of the positional arguments; None for unnamed placeholders.
      flat_shapes: the shapes of the placeholders, in place of those of the Tensors;
        None for what is no Tensor.
      operation_value: what to return, after it has run, for an Operation that the
        function returns.

    Returns:
      The graph, with its inputs and outputs.

    Raises:
      TypeError: the function returns something that is no Tensor.
      ValueError: it changes lists or dicts among its arguments.
    """
    names = [None] * len(args) if arg_names is None else arg_names
    shapes = itertools.repeat(None) if flat_shapes is None else iter(flat_shapes)
    with graph.as_default(), _with_resource_variables():
        inner = _placeholders(tuple(args), args, names, graph, shapes)
        keys = sorted(kwargs)
        values = [kwargs[key] for key in keys]
        inner_kwargs = _placeholders(dict(kwargs), values, keys, graph, shapes)
        graph.structured_input_signature = (
            signature_of(inner, arg_names), signature_of(inner_kwargs)
        )  # fmt: skip
        passed = nest.flatten((inner, inner_kwargs), expand_composites=True)
        before = nest.pack_sequence_as((inner, inner_kwargs), passed, True)
        # The tapes around it see what the graphs around this one capture for it.
        saved, tapes.active = tapes.active, (*tapes.active, graph)
        try:
            results = python_function(*inner, **inner_kwargs)
            results = _converted(graph, results, python_function, operation_value)
        finally:
            tapes.active = saved
        _check_unchanged(before, (inner, inner_kwargs))
        _set_inputs(graph, passed)
        graph.structured_outputs = results
        flat = nest.flatten(results, expand_composites=True)
        graph.outputs = [
            graph.capture(flow_or_tensor(value)) for value in flat if value is not None
        ]
        if graph.orders_effects:
            graph.control_outputs = in_order(graph)
    del results
    graph.forget_results_of_assignments()
    for tensor in graph.returned:
        tensor.op.control_inputs = list(graph.control_outputs)
    return graph


@contextmanager
def _with_resource_variables() -> Iterator[None]:
    """Variables that `tf.get_variable` makes are resource variables."""
    scope = get_variable_scope()
    before = scope.use_resource
    scope.set_use_resource(True)
    try:
        yield
    finally:
        scope.set_use_resource(before)


# ---- arguments


def is_tensor_argument(value: Any) -> bool:
    """Whether a call passes the value, instead of the trace depending on it."""
    return isinstance(value, Tensor | TensorSpec)


def _placeholders(
    structure: Any,
    values: Sequence[Any],
    names: Sequence[str | None],
    graph: TracedGraph,
    shapes: Iterator[TensorShape | None],
) -> Any:
    """The arguments with placeholders for Tensors, nested as `structure`."""
    found: list[Any] = []
    for value, name in zip(values, names, strict=True):
        flat = nest.flatten(value, expand_composites=True)
        _check_spec_names(flat)
        for leaf in flat:
            shape = next(shapes)
            if is_tensor_argument(leaf):
                found.append(_placeholder(leaf, name, shape, graph))
            else:
                if isinstance(leaf, BaseResourceVariable):
                    graph.add_variable_argument(leaf, name)
                found.append(leaf)
    return nest.pack_sequence_as(structure, found, expand_composites=True)


def _check_spec_names(flat: Sequence[Any]) -> None:
    specs = [value for value in flat if isinstance(value, TensorSpec)]
    named = [spec for spec in specs if spec.name]
    if named and len(named) < len(specs):
        raise ValueError(
            "If specifying TensorSpec names for nested structures, either zero or all "
            "names have to be specified."
        )


def _placeholder(
    leaf: Any, name: str | None, shape: TensorShape | None, graph: TracedGraph
) -> Tensor:
    own = leaf.name if isinstance(leaf, TensorSpec) else None
    requested = own or name
    return graph.add_argument(
        leaf.dtype.base_dtype, leaf.shape if shape is None else shape, requested
    )


def _set_inputs(graph: TracedGraph, passed: Sequence[Any]) -> None:
    """The arguments, with the handles of variables among them, before the captures."""
    inputs: list[Tensor] = []
    variables: list[Any] = []
    for value in passed:
        if isinstance(value, Tensor):
            inputs.append(value)
        elif isinstance(value, BaseResourceVariable):
            placeholder = graph.pop_capture(value.handle)
            if placeholder is not None:
                inputs.append(placeholder)
                variables.append(value)
    graph.forget_variables(variables)
    graph.inputs = [*inputs, *graph.captures.values()]


def _check_unchanged(before: Any, after: Any) -> None:
    """Raise ValueError if a function has changed a structure that it was given."""
    try:
        nest.assert_same_structure(before, after, expand_composites=True)
    except ValueError:
        raise ValueError(_MUTATED) from None
    pairs = zip(
        nest.flatten(before, expand_composites=True),
        nest.flatten(after, expand_composites=True),
        strict=True,
    )
    if any(one is not other for one, other in pairs):
        raise ValueError(_MUTATED)


# ---- results


def _converted(
    graph: TracedGraph,
    results: Any,
    python_function: Callable[..., Any],
    operation_value: Tensor | None,
) -> Any:
    """The results as Tensors of the graph, each marked as one that is returned."""

    def convert_one(value: Any) -> Any:
        if value is None:
            return None
        tensor = converted(value, python_function, operation_value)
        return marked(tensor, graph.returned) if graph.orders_effects else tensor

    return nest.map_structure(convert_one, results)
