"""From an `Op` and its inputs to a node: convert, check types, infer, name, append.

Conversion is in `input_conversion.py`; types and shapes, with their checks, in
`shape_inference.py`.
Source: python/framework/op_def_library.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework import op as op_module
from tfteach.framework.call_origin import user_frame
from tfteach.framework.control_flow_context import check_inputs
from tfteach.framework.defaults import default_graph
from tfteach.framework.graph import Graph
from tfteach.framework.input_conversion import convert_inputs
from tfteach.framework.op import Op
from tfteach.framework.operation import (
    Operation,
    Tensor,
)
from tfteach.framework.recording import record, tapes
from tfteach.framework.scope import (
    graph_of,
    is_valid_name,
    name_text,
    open_name_scope,
)
from tfteach.framework.scope_state import ScopeState
from tfteach.framework.shape_inference import infer


def build(graph: Graph, op: Op, values: tuple[Any, ...], name: str | None) -> Any:
    """Add a node of type `op`; see `Op.__call__`.

    Args:
      graph: the default graph; that of the inputs, if they have another, gets the node.
      op, values, name: as for `Op.__call__`.
    """
    for value in values:
        if type(value) is not Tensor or value.op.graph is not graph:
            # Also values that the body of a function captures.
            return _build_converting(op, values, name)
    if op._has_lists:  # and no input is a tensor
        return _build_converting(op, values, name)
    if name is None:
        name = type(op).op_type
    elif type(name) is not str or not name:
        name = name_text(name)
        if not name:
            return _build_converting(op, values, name)
    if name[-1] == "/":
        return _result(op, create(graph, op, values, name[:-1]))
    scopes = graph.scopes
    prefix = scopes.name
    if not is_valid_name(name, prefix != ""):
        raise ValueError(f"'{name}' is not a valid scope name")
    if graph.finalized:
        graph._check_not_finalized()
    name = graph.unique(f"{prefix}/{name}" if prefix else name)
    return _result(op, create(graph, op, values, name, None, None, scopes.state))


def _result(op: Op, node: Operation) -> Any:
    outputs, declared = node.outputs, type(op).outputs
    if len(outputs) == 1 and not declared[0].is_sequence:
        return outputs[0]
    # A py_func without results must still run; an empty list of parts must not.
    is_list = outputs or (declared and not op.is_stateful)
    return list(outputs) if is_list else node


def _build_converting(op: Op, values: tuple[Any, ...], name: str | None) -> Any:
    """The general case: some inputs are not tensors, or belong to another graph."""
    cls = type(op)
    if len(values) != len(cls.inputs):
        raise TypeError(
            f"{cls.op_type} takes {len(cls.inputs)} inputs "
            f"({', '.join(a.name for a in cls.inputs)}), got {len(values)}"
        )
    flat: list[Any] = []
    for value, arg in zip(values, cls.inputs, strict=True):
        flat += (
            value if arg.is_sequence and isinstance(value, list | tuple) else [value]
        )
    graph = graph_of(flat)
    name = cls.op_type if name is None else name
    with default_graph(graph), open_name_scope(graph, name) as scope:
        inputs = tuple(convert_inputs(op, values))
        node = create(graph, op, inputs, scope[:-1])
    return _result(op, node)


def create(
    graph: Graph,
    op: Op,
    inputs: tuple[Tensor, ...],
    name: str,
    device: str | None = None,
    control_inputs: list[Operation] | None = None,
    scopes: ScopeState | None = None,
) -> Operation:
    """Append a node with exactly this name; the inputs are tensors of `graph`.

    `device` and `control_inputs`, if given, replace those of the open scopes; `scopes`
    are those of this thread.
    """
    if graph.finalized:
        graph._check_not_finalized()
    if graph.building_function:
        inputs = graph.captured(inputs)
    output_dtypes, output_shapes = infer(op, inputs, name)
    if op.calls_function:
        output_shapes = op.called_shapes(graph, inputs) or output_shapes
    if not name:
        raise ValueError("'' is not a valid node name")
    node = Operation.__new__(Operation)
    node.graph, node.name, node.spec, node.inputs = graph, name, op, inputs
    node.outputs = [
        Tensor(node, i, dtype, output_shapes[i])
        for i, dtype in enumerate(output_dtypes)
    ]
    node.extra_attrs = None
    node.control_flow_context = None
    node._origin = user_frame()
    if scopes is None:
        scopes = graph.scopes.state
    if scopes.control and control_inputs is None:
        node.control_inputs = scopes.control_inputs_for({t.op for t in inputs})
        for scope in scopes.control:
            scope.add(node)
    else:
        node.control_inputs = control_inputs or []
    if (
        scopes.attrs or scopes.gradient_overrides or scopes.container
        or scopes.kernel_labels
    ):  # fmt: skip
        _apply_attr_scopes(node, scopes)
    fixed = scopes.fixed_device if device is None else device
    node.device = scopes.device_of(node) if fixed is None else fixed
    refs = type(op)._ref_inputs
    if refs and device is None:
        _colocate_with_refs(node, refs, scopes.colocation)
    elif scopes.colocation:
        _colocate(node, scopes.colocation)
    if graph.has_control_flow:
        _append_in_context(graph, node)
    else:
        graph.append(node)
    if tapes.active:
        record(node)
    return node


def _append_in_context(graph: Graph, node: Operation) -> None:
    """Append a node that may belong to a branch or loop, or use values of one."""
    context = graph.control_flow_context
    node.control_flow_context = context
    check_inputs(node)
    if context is None:
        graph.append(node)
        return
    # The ops that carry values in are created after the node, in its name scope, as in
    # TF; observers are notified once the node's inputs are final.
    graph.append(node, announce=False)
    # TF creates constants and calls of functions without a name scope.
    if node.spec.holds_value or node.type in graph.functions:
        context.add_op(node)
    else:
        with open_name_scope(graph, node.name + "/"):
            context.add_op(node)
    graph.announce(node)


def _apply_attr_scopes(node: Operation, scopes: ScopeState) -> None:
    extra = dict(scopes.attrs)
    label = scopes.kernel_labels.get(node.type)
    if label is not None:
        extra["_kernel"] = label
    override = scopes.gradient_overrides.get(node.type)
    if override is not None:
        extra["_gradient_op_type"] = override
    if extra:
        node.extra_attrs = extra
    if scopes.container and getattr(node.spec, "container", None) == "":
        node.spec = node.spec.replace(container=scopes.container)


def _colocate(node: Operation, others: Iterable[Operation]) -> None:
    groups: set[bytes] = set()
    for other in others:
        groups.update(other.colocation_groups())
        if other.device:
            node.device = other.device
    node.extra_attrs = {**(node.extra_attrs or {}), "_class": sorted(groups)}


def _colocate_with_refs(
    node: Operation, refs: tuple[int, ...], others: tuple[Operation, ...]
) -> None:
    """Colocate an op that has a reference input with the variable."""
    args = type(node.spec).inputs
    variables = (
        [t.op for t in node.inputs]
        if any(args[i].is_sequence for i in refs)
        else [node.inputs[i].op for i in refs]
    )
    node.device = ""
    _colocate(node, [*reversed(variables), *others])


op_module.build = build
