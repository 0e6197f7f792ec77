"""The body of a SymbolicGradient node: a function's ops, and `tf.gradients` of them.

Source: core/common_runtime/function.cc (SymbolicGradientHelper).
"""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.gradients import gradients
from tfteach.control.context_protos import (
    cond_from_proto,
    cond_proto,
    while_from_proto,
    while_proto,
)
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import c_name
from tfteach.framework.errors import InternalError, invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, body_rule, defined_in
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.import_graph_def import import_graph
from tfteach.framework.indexed_slices import IndexedSlices, quietly
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.functions.calls import SymbolicGradient

_CONTEXTS: tuple[tuple[str, Any, Any], ...] = (
    (GraphKeys.COND_CONTEXT, cond_proto, cond_from_proto),
    (GraphKeys.WHILE_CONTEXT, while_proto, while_from_proto),
)


@body_rule(SymbolicGradient)
def gradient_body(op: Operation) -> Body:
    """The body for the function that the node's attribute names."""
    spec: Any = op.spec
    function: Function = spec.f
    graph = op.graph
    defined = defined_in(graph, function, op)
    if defined.gradient_name:
        own = graph.functions[defined.gradient_name]
        body = own.body(Function(own.name))
        _check_results(op, body)
        return body
    with graph.lock:
        known = defined.gradient_bodies
        if function not in known:
            known[function] = _differentiated(defined.body(function), graph)
        return known[function]


def _check_results(op: Operation, body: Body) -> None:
    """Refuse a gradient's function that does not return a gradient per argument."""
    wanted = [tensor.dtype.base_dtype for tensor in op.outputs]
    found = [tensor.dtype.base_dtype for tensor in body.outputs]
    if len(wanted) != len(found):
        raise invalid_argument(
            f"SymGrad expects to return {len(wanted)} tensor(s), but get {len(found)} "
            "tensor(s) instead."
        ).at(op)
    for i, (dtype, other) in enumerate(zip(wanted, found, strict=True)):
        if dtype is not other:
            raise InternalError(
                None,
                None,
                f"Output {i} of type {c_name(other)} does not match declared output "
                f"type {c_name(dtype)} for node {op.name}",
            ).at(op)


def _differentiated(forward: Body, outer: Graph) -> Body:
    graph = FuncGraph(f"{forward.name}_grad", outer, outer.functions)
    inputs = [
        graph.add_input(t.dtype.base_dtype, t.static_shape) for t in forward.inputs
    ]
    weights = [
        graph.add_input(t.dtype.base_dtype, t.static_shape) for t in forward.outputs
    ]
    with graph.as_default():
        outputs = copied(forward, graph, inputs)
        pairs = [
            (y, w)
            for y, w in zip(outputs, weights, strict=True)
            if y.dtype.is_floating or y.dtype.is_complex
        ]
        xs = [tensor for tensor in inputs if tensor.dtype.is_numpy_compatible]
        grads = gradients(
            [y for y, _ in pairs], xs, [w for _, w in pairs], name="gradients"
        )
        by_input = dict(zip(xs, grads, strict=True))
        graph.outputs = [_dense(by_input.get(x), x) for x in inputs]
    return graph.as_body()


def _dense(grad: Any, x: Tensor) -> Tensor:
    if grad is None:
        return zeros_like(x) if x.dtype.is_numpy_compatible else x
    if isinstance(grad, IndexedSlices):
        with quietly():
            return convert(grad)
    found: Tensor = grad
    return found


def copied(body: Body, graph: Graph, inputs: list[Tensor]) -> list[Tensor]:
    """Copy a body's ops into a graph.

    Args:
      body: the body.
      graph: the default graph, whose library has the functions that it calls.
      inputs: the tensors that replace its placeholders.

    Returns:
      The tensors that its outputs have become.
    """
    graph_def = body.graph.as_graph_def()
    graph_def.ClearField("library")
    if body.graph.has_control_flow:
        return _copied_with_contexts(body, graph, graph_def, inputs)
    arguments = {t.op.name: x for t, x in zip(body.inputs, inputs, strict=True)}
    kept = [node for node in graph_def.node if node.name not in arguments]
    used = {text.partition(":")[0] for node in kept for text in node.input}
    for text in {text for node in kept for text in node.input if text[:1] == "^"}:
        if text[1:] in arguments:
            for node in kept:
                node.input[:] = [other for other in node.input if other != text]
    del graph_def.node[:]
    graph_def.node.extend(kept)
    mapped = {f"{n}:0": x for n, x in arguments.items() if n in used}
    own = [t for t in body.outputs if t.op.name not in arguments]
    with graph.as_default():
        found = import_graph(graph_def, mapped, [t.name for t in own], name="body")
    made: dict[Tensor, Any] = dict(zip(own, found or (), strict=True))
    made.update(zip(body.inputs, inputs, strict=True))
    return [made[tensor] for tensor in body.outputs]


def _copied_with_contexts(
    body: Body, graph: Graph, graph_def: Any, inputs: list[Tensor]
) -> list[Tensor]:
    """Like `copied`, with the contexts of branches and loops, which gradients need.

    The arguments become Identity ops, so that all names of the contexts exist.
    """
    arguments = {t.op.name: x for t, x in zip(body.inputs, inputs, strict=True)}
    outer = {f"{name}/argument:0": x for name, x in arguments.items()}
    for node in graph_def.node:
        if node.name in arguments:
            dtype = node.attr["dtype"].type
            node.op = "Identity"
            node.attr.clear()
            node.attr["T"].type = dtype
            node.input.append(f"{node.name}/argument")
    names = [t.name for t in body.outputs]
    with graph.as_default():
        found: Any = import_graph(graph_def, outer, names, name="body")
        for key, to_proto, from_proto in _CONTEXTS:
            for context in body.graph.get_collection(key):
                from_proto(to_proto(context), "body")
    return list(found or ())
