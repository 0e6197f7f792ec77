"""`tf.cond` and `tf.switch_case` as If and Case nodes with functions.

Source: python/ops/cond_v2.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tfteach.control.control_flow_v2 import (
    FlowGraph,
    added,
    after_captures,
    built,
    function_name,
    is_stateful,
    lowered,
    match_inputs,
    packed,
    shapes_of,
    types_of,
)
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.core.identity_reshape import identity, squeeze
from tfteach.ops.functions.control_flow import Case, If, StatelessIf


def cond_v2(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    name: str | None = "cond",
) -> Any:
    """`tf.cond` as one node; see `tf.cond` for the arguments.

    Returns:
      Tensors in the structure that the functions return; lists of one stay lists.
    """
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond", "cond", [pred]) as scope:
        choice = convert(pred)
        if choice.static_shape != ():
            choice = squeeze(choice)
        structures, graphs = [], []
        for suffix, function in (("true", true_fn), ("false", false_fn)):
            graph = FlowGraph(function_name(scope, suffix))
            structures.append(built(graph, function, choice))
            graphs.append(graph)
        _check_same(structures, graphs, ("true_fn", "false_fn"), "tf.cond")
        inputs = match_inputs(graphs)
        kind: Any = If if any(map(is_stateful, graphs)) else StatelessIf
        names = [added(graph) for graph in graphs]
        made = kind(
            Tin=types_of(inputs),
            Tout=types_of(graphs[0].outputs),
            then_branch=names[0],
            else_branch=names[1],
            output_shapes=shapes_of(graphs),
        )
        with after_captures(graphs):
            op = _node(made(choice, inputs, name=scope))
        return _results(op, structures[0])


def switch_case_v2(
    index: Tensor, functions: Sequence[Callable[[], Any]], name: str
) -> Any:
    """`tf.switch_case` as one node."""
    with name_scope(name), name_scope("indexed_case") as scope:
        structures, graphs = [], []
        for i, function in enumerate(functions):
            graph = FlowGraph(function_name(scope, f"branch{i}"))
            structures.append(built(graph, function, index))
            graphs.append(graph)
        names = [f"branches[{i}]" for i in range(len(graphs))]
        _check_same(structures, graphs, names, "tf.switch_case")
        inputs = match_inputs(graphs)
        made = Case(
            Tin=types_of(inputs),
            Tout=types_of(graphs[0].outputs),
            branches=tuple(added(graph) for graph in graphs),
            output_shapes=shapes_of(graphs),
        )
        with after_captures(graphs):
            op = _node(made(index, inputs, name=scope))
        return _results(op, structures[0])


def _node(made: Any) -> Operation:
    if isinstance(made, Operation):
        return made
    found: Operation = (made[0] if isinstance(made, list) else made).op
    return found


def _results(op: Operation, structure: Any) -> Any:
    lowered(op)
    if not op.outputs:
        return op
    return packed(structure, [identity(tensor) for tensor in op.outputs])


def _check_same(
    structures: Sequence[Any],
    graphs: Sequence[FlowGraph],
    names: Sequence[str],
    caller: str,
) -> None:
    """Check that all branches return the same structure and types.

    Raises:
      TypeError: they do not.
      ValueError: a branch returns None where another returns a Tensor.
    """
    kind = "cond" if caller == "tf.cond" else "case"
    outputs = graphs[0].outputs
    for i, (structure, graph) in enumerate(zip(structures, graphs, strict=True)):
        try:
            nest.assert_same_structure(structures[0], structure, expand_composites=True)
        except (ValueError, TypeError) as error:
            _refuse(structures, names, i, caller, error)
        if len(graph.outputs) != len(outputs):
            raise ValueError(
                f"Lengths of branch outputs of {kind} must match.\n"
                f"len(graphs[0].outputs): {len(outputs)}\n"
                f"len(graphs[{i}].outputs): {len(graph.outputs)}\n"
            )
        if _places_of_none(structure) != _places_of_none(structures[0]):
            raise ValueError("Mismatch in element count")
        for ours, other in zip(outputs, graph.outputs, strict=True):
            if types_of([ours]) != types_of([other]):
                different = f"{ours} and {other} have different types"
                _refuse(structures, names, i, caller, different)


def _places_of_none(structure: Any) -> list[int]:
    flat = nest.flatten(structure, expand_composites=True)
    return [i for i, value in enumerate(flat) if value is None]


def _refuse(
    structures: Sequence[Any],
    names: Sequence[str],
    i: int,
    caller: str,
    details: Any,
) -> NoReturn:
    raise TypeError(
        f"{names[0]} and {names[i]} arguments to {caller} must have the same number, "
        "type, and overall structure of return values.\n\n"
        f"{names[0]} output: {structures[0]}\n{names[i]} output: {structures[i]}\n\n"
        f"Error details:\n{details}"
    ) from None
