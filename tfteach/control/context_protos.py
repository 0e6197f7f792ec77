"""Contexts of branches and loops converted to protos and back, for MetaGraphs.

Source: python/ops/control_flow_ops.py (to_proto, from_proto), control_flow.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfteach.control.branch import CondContext
from tfteach.control.loop import WhileContext
from tfteach.framework.control_flow_context import ControlFlowContext, is_loop_enter
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.meta_graph import (
    ProtoFunctions,
    is_exported,
    register_proto_functions,
    stripped,
)
from tfteach.framework.operation import Tensor
from tfteach.framework.protos import pool


def cond_proto(context: CondContext, export_scope: str | None = None) -> Any:
    """The CondContextDef of a branch; None if it is not inside `export_scope`."""
    if not is_exported(context.name, export_scope):
        return None
    found = pool.message("CondContextDef")(
        context_name=stripped(context.name, export_scope),
        pred_name=_name(context.pred, export_scope),
        pivot_name=_name(context.pivot, export_scope),
        branch=context.branch,
        values_def=_values_proto(context, export_scope),
    )
    _add_nested(context, found, export_scope)
    return found


def while_proto(context: WhileContext, export_scope: str | None = None) -> Any:
    """The WhileContextDef of a loop; None if it is not inside `export_scope`."""
    if not is_exported(context.name, export_scope):
        return None
    found = pool.message("WhileContextDef")(
        context_name=stripped(context.name, export_scope),
        parallel_iterations=context.parallel_iterations,
        back_prop=context.back_prop,
        swap_memory=context.swap_memory,
        pivot_for_pred_name=_name(context.pivot_for_pred, export_scope),
        pivot_for_body_name=_name(context.pivot_for_body, export_scope),
        pivot_name=_name(context.pivot, export_scope),
        maximum_iterations_name=_name(context.maximum_iterations, export_scope),
        loop_exit_names=[_name(t, export_scope) for t in context.loop_exits],
        loop_enter_names=[_name(t, export_scope) for t in context.loop_enters],
        values_def=_values_proto(context, export_scope),
    )
    _add_nested(context, found, export_scope)
    return found


def _name(tensor: Tensor | None, scope: str | None) -> str:
    return "" if tensor is None else stripped(tensor.name, scope)


def _values_proto(context: ControlFlowContext, scope: str | None) -> Any:
    names = sorted(t.name for t in context.values)
    found = pool.message("ValuesDef")(values=[stripped(n, scope) for n in names])
    for outside, inside in context.external_values.items():
        found.external_values[_name(outside, scope)] = _name(inside, scope)
    return found


def _add_nested(context: ControlFlowContext, proto: Any, scope: str | None) -> None:
    # TensorFlow keeps the scope in nested contexts' names, and cannot import them.
    for nested in context.nested_contexts:
        made = proto.nested_contexts.add()
        if isinstance(nested, WhileContext):
            made.while_ctxt.CopyFrom(while_proto(nested, scope))
        elif isinstance(nested, CondContext):
            made.cond_ctxt.CopyFrom(cond_proto(nested, scope))


# ---- from protos


class _Names:
    """The graph's elements by their names in a proto."""

    def __init__(self, graph: Graph, scope: str | None) -> None:
        self.graph = graph
        self.prefix = f"{scope.rstrip('/')}/" if scope else ""

    def tensor(self, name: str) -> Tensor:
        return self.graph.get_tensor_by_name(self.prefix + name)

    def optional(self, name: str) -> Tensor | None:
        return self.tensor(name) if name else None


def cond_from_proto(proto: Any, import_scope: str | None = None) -> CondContext:
    """The branch of a CondContextDef; its nodes must already exist."""
    names = _Names(get_default_graph(), import_scope)
    context = CondContext.__new__(CondContext)
    _restore(context, proto, names)
    context.pred = names.tensor(proto.pred_name)
    context.pivot = names.tensor(proto.pivot_name)
    context.branch = proto.branch
    if proto.branch not in (0, 1):
        raise ValueError(
            f"The branch '{proto.context_name}' has the number {proto.branch}; it must "
            "be 0 or 1"
        )
    _restore_nested(context, proto, import_scope)
    return context


def while_from_proto(proto: Any, import_scope: str | None = None) -> WhileContext:
    """The loop of a WhileContextDef; its nodes must already exist."""
    names = _Names(get_default_graph(), import_scope)
    context = WhileContext.__new__(WhileContext)
    _restore(context, proto, names)
    context.maximum_iterations = names.optional(proto.maximum_iterations_name)
    context.parallel_iterations = proto.parallel_iterations
    context.back_prop, context.swap_memory = proto.back_prop, proto.swap_memory
    context.grad_state = None
    if not (proto.pivot_name and proto.pivot_for_pred_name):
        raise ValueError(f"The loop '{proto.context_name}' has no pivot")
    context.pivot = names.tensor(proto.pivot_name)
    context.pivot_for_pred = names.optional(proto.pivot_for_pred_name)
    context.pivot_for_body = names.optional(proto.pivot_for_body_name)
    context.loop_enters = [names.tensor(name) for name in proto.loop_enter_names]
    context.loop_exits = [names.tensor(name) for name in proto.loop_exit_names]
    for tensor in context.loop_exits:
        tensor.op.control_flow_context = context
    if names.prefix:  # the loop's frame is named like the loop
        for op in {tensor.op for tensor in context.values}:
            if is_loop_enter(op):
                op.spec = op.spec.replace(frame_name=context.name)
    _restore_nested(context, proto, import_scope)
    return context


def _restore(context: ControlFlowContext, proto: Any, names: _Names) -> None:
    """Restore the fields shared by both kinds of context, and assign their ops."""
    graph = names.graph
    context.graph, context.name = graph, names.prefix + proto.context_name
    context.outer_context = graph.control_flow_context
    context.nested_contexts = []
    context._entered = []
    context.values = {names.tensor(name) for name in proto.values_def.values}
    outside = proto.values_def.external_values
    context.external_values = {
        names.tensor(name): names.tensor(outside[name]) for name in sorted(outside)
    }
    graph.has_control_flow = True
    for op in _inner_ops(context):
        op.control_flow_context = context


def _inner_ops(context: ControlFlowContext) -> Iterator[Any]:
    """The ops of a restored context: those of its values that are created inside."""
    for tensor in context.values - context.external_values.keys():
        yield tensor.op


def _restore_nested(
    context: ControlFlowContext, proto: Any, import_scope: str | None
) -> None:
    with context:
        for nested in proto.nested_contexts:
            which = nested.WhichOneof("ctxt")
            if which == "cond_ctxt":
                inner: Any = cond_from_proto(nested.cond_ctxt, import_scope)
            elif which == "while_ctxt":
                inner = while_from_proto(nested.while_ctxt, import_scope)
            else:
                raise ValueError(
                    f"The context '{proto.context_name}' has a nested context that is "
                    "neither a cond nor a while"
                )
            context.nested_contexts.append(inner)


register_proto_functions(
    [GraphKeys.COND_CONTEXT],
    ProtoFunctions("CondContextDef", cond_proto, cond_from_proto),
)
register_proto_functions(
    [GraphKeys.WHILE_CONTEXT],
    ProtoFunctions("WhileContextDef", while_proto, while_from_proto),
)
