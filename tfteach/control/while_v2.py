"""`tf.while_loop` as a While node with functions.  Source: python/ops/while_v2.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.control_flow_v2 import (
    FlowGraph,
    added,
    after_captures,
    built,
    function_name,
    lowered,
    types_of,
)
from tfteach.control.tensor_array import arrays_again, flow_of
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape, compatible, is_within
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity, squeeze
from tfteach.ops.functions.control_flow import While
from tfteach.ops.math.compare import LogicalAnd


def while_v2(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any,
    parallel_iterations: int,
    maximum_iterations: Any,
    name: str | None,
    return_same_structure: bool,
) -> Any:
    """`tf.while_loop` as one node; see there for the arguments."""
    originals = nest.flatten(loop_vars, expand_composites=True)
    flat = [convert(flow_of(value)) for value in originals]
    with name_scope(name, "while") as scope:
        most = -1 if maximum_iterations is None else maximum_iterations
        limit = convert(most, name="maximum_iterations")
        if limit._shape != ():
            raise ValueError(
                f"maximum_iterations must be a scalar, saw shape: {limit.shape}"
            )
        counter = constant(0, dtype=limit.dtype, name="loop_counter")
        shapes = _shapes(flat, shape_invariants)
        test = FlowGraph(function_name(scope, "cond"))
        step = FlowGraph(function_name(scope, "body"))
        values = _arguments(test, [counter, limit, *flat], [None, None, *shapes])

        def repacked(tensors: Sequence[Tensor]) -> Any:
            again = arrays_again(originals, list(tensors))
            return nest.pack_sequence_as(loop_vars, again, expand_composites=True)

        def tested() -> Tensor:
            packed = nest.pack_sequence_as(
                loop_vars, values[2:], expand_composites=True
            )
            goes_on: Tensor = convert(cond(*packed))
            if goes_on.static_shape != ():
                goes_on = squeeze(goes_on)
            if maximum_iterations is None:
                return goes_on
            return LogicalAnd()(values[0] < values[1], goes_on)

        built(test, tested)
        inner = _arguments(step, [counter, limit, *flat], [None, None, *shapes])

        def stepped() -> list[Any]:
            for tensor in test.external_captures:
                step.capture(tensor)
            packed = repacked(inner[2:])
            found = body(*packed)
            if not nest.is_sequence(found) or len(found) != len(loop_vars):
                found = [found]
            nest.assert_same_structure(
                list(found), list(loop_vars), expand_composites=True
            )
            flat_found = nest.flatten(list(found), expand_composites=True)
            tensors = [convert(flow_of(value)) for value in flat_found]
            return [inner[0] + 1, inner[1], *tensors]

        built(step, stepped, inner[0])
        _check_shapes(step.outputs[2:], flat, shapes)
        for tensor in step.external_captures:
            test.capture(tensor)
        step.outputs = [*step.outputs, *step.internal_captures]
        inputs = [counter, limit, *flat, *step.external_captures]
        outputs = [(), (), *shapes, *[t.static_shape for t in step.external_captures]]
        node = While(
            T=types_of(inputs),
            cond=added(test),
            body=added(step),
            output_shapes=tuple(outputs),
            parallel_iterations=parallel_iterations,
        )
        with after_captures([test, step]):
            made = node(inputs, name=scope)
        op: Operation = made[0].op
        lowered(op)
        op.extra_attrs = {**(op.extra_attrs or {}), "_num_original_outputs": len(made)}
        found = [identity(tensor) for tensor in made][2 : 2 + len(flat)]
        result = repacked(found)
        if return_same_structure or len(result) != 1:
            return result
        return result[0]


def _shapes(flat: Sequence[Tensor], invariants: Any) -> list[Any]:
    """The static shape that each loop variable has in all iterations."""
    if invariants is None:
        return [tensor.static_shape for tensor in flat]
    given = [TensorShape(shape).dims_or_none for shape in nest.flatten(invariants)]
    for tensor, shape in zip(flat, given, strict=True):
        if not compatible(tensor.static_shape, shape):
            raise ValueError(
                f"The shape invariant specified for {tensor.name} is not compatible "
                "with the initial shape of the loop variable. It enters the loop with "
                f"shape {tensor.shape}, but the specified shape invariant is "
                f"{TensorShape(shape)}."
            )
    return given


def _arguments(
    graph: FlowGraph, tensors: Sequence[Tensor], shapes: Sequence[Any]
) -> list[Tensor]:
    """A placeholder for each loop variable; the first two keep their names."""
    found = []
    for i, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
        name = tensor.op.name if i < 2 else None
        kept = tensor.static_shape if i < 2 else shape
        found.append(graph.add_input(tensor.dtype.base_dtype, kept, name))
    return found


def _check_shapes(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], shapes: Sequence[Any]
) -> None:
    for output, tensor, shape in zip(outputs, inputs, shapes, strict=True):
        if output.dtype.base_dtype is not tensor.dtype.base_dtype:
            raise TypeError(
                f"Loop var {tensor.name} enters the loop with type "
                f"{tensor.dtype.base_dtype!s} but has type "
                f"{output.dtype.base_dtype!s} after 1 iteration. Loop vars must "
                "keep their types: cast the value in the body."
            )
        if not is_within(output.static_shape, shape):
            raise ValueError(
                f"Input tensor '{tensor.name}' enters the loop with shape "
                f"{TensorShape(shape)}, but has shape {output.shape} after one "
                "iteration. To allow the shape to vary across iterations, use the "
                "`shape_invariants` argument of tf.while_loop to specify a "
                "less-specific shape."
            )
