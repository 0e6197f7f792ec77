"""Copies of tensors, and of all that they are computed from, in another graph.

Source: python/eager/lift_to_graph.py, python/ops/op_selector.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, MutableMapping, Sequence
from typing import Any

from tfteach.framework.defaults import default_graph
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.graph_def import PRODUCER, node_def
from tfteach.framework.graphdef.import_graph_def import import_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.ops.core.placeholder import placeholder

Copies = MutableMapping[Any, Any]


class UnliftableError(Exception):
    """A tensor depends on an argument of the function that it is in."""


def lift_to_graph(
    tensors: Sequence[Tensor | Operation],
    graph: Graph,
    sources: Iterable[Tensor] | None = None,
    disallowed_placeholders: Collection[Operation] | None = None,
    add_sources: bool = False,
    handle_captures: bool = False,
    base_graph: Graph | None = None,
    op_map: Copies | None = None,
) -> Copies:
    """Copy tensors to a graph, with the ops that they depend on.

    Args:
      tensors: of one graph; or Operations.
      graph: the graph to copy them to.
      sources: tensors where the copying ends: in the copy they are placeholders.
      disallowed_placeholders: the placeholders that the tensors must not depend on; all
        if None.
      add_sources: whether they may depend on any placeholder; it then is a source.
      handle_captures: whether a placeholder of a captured tensor is to capture that
        tensor in the copy, too.
      base_graph: the graph of the tensors, if not that of the first.
      op_map: what has been copied before.

    Returns:
      The copies of ops and tensors, by the originals; `op_map`, if given.

    Raises:
      UnliftableError: they depend on a placeholder that is not allowed.
    """
    copies: Copies = {} if op_map is None else op_map
    base = tensors[0].graph if base_graph is None else base_graph
    given = list(sources or ())
    ends = list(given)
    reached = {tensor.op for tensor in given}
    for tensor in tensors:
        for op in _new_ops(_op_of(tensor), reached):
            is_placeholder = op.spec.must_be_fed
            if disallowed_placeholders is None:
                is_refused = is_placeholder and not add_sources
            else:
                is_refused = op in disallowed_placeholders
            if is_refused:
                raise UnliftableError(
                    f"Unable to lift tensor {tensor!r} because it depends transitively "
                    f"on placeholder {op!r} via at least one path, e.g.: "
                    f"{_path(op, tensor, given)}"
                )
            if is_placeholder:
                ends += op.outputs
    captures: dict[Tensor, Tensor] = {}
    if isinstance(base, FuncGraph):
        captures = {inner: outer for outer, inner in base.captures.items()}
    first = [t for t in captures if any(t is end for end in ends)]
    with default_graph(graph), graph.control_dependencies(None):
        for end in dict.fromkeys([*first, *ends]):
            if end not in copies:
                outer = captures.get(end) if handle_captures else None
                _copy_source(end, graph, outer, copies)
    end_ops = {tensor.op for tensor in ends}
    body = [
        op
        for op in base.operations
        if op in reached and op not in end_ops and op not in copies
    ]
    _copy(body, graph, copies)
    return copies


def _op_of(tensor: Tensor | Operation) -> Operation:
    return tensor if isinstance(tensor, Operation) else tensor.op


def _new_ops(start: Operation, reached: set[Operation]) -> Iterator[Operation]:
    """The ops that an op depends on, without those reached before."""
    left = [start]
    while left:
        op = left.pop()
        if op not in reached:
            reached.add(op)
            yield op
            left += _inputs(op)


def _inputs(op: Operation) -> list[Operation]:
    return [*(tensor.op for tensor in op.inputs), *op.control_inputs]


def _path(
    start: Operation, tensor: Tensor | Operation, sources: Sequence[Tensor]
) -> str:
    """One path from a tensor back to an op, as text."""
    stops = {source.op for source in sources}
    user: dict[Operation, Operation | None] = {_op_of(tensor): None}
    left = [_op_of(tensor)]
    while left:
        op = left.pop()
        if op is start:
            break
        for other in _inputs(op):
            if other not in user and other not in stops:
                user[other] = op
                left.append(other)
    path: list[str] = []
    at: Operation | None = start
    while at is not None:
        path.append(f"{at.name} ({at.type})")
        at = user.get(at)
    return " <- ".join(reversed(path))


def _copy_source(
    source: Tensor, graph: Graph, outer: Tensor | None, copies: Copies
) -> None:
    """A placeholder for a source; or the capture of the outer tensor it stands for."""
    name = source.op.name
    if outer is not None:
        made = graph.capture(outer, name)
    else:
        with graph.device(source.op.device):
            made = placeholder(source.dtype.base_dtype, source.shape, name)
        behind = source.op.graph.captured_from(source)
        if behind is not None and isinstance(graph, FuncGraph):
            graph.stands_for(made, behind)
    copies[source] = made
    if type(made) is not EagerTensor:
        copies[source.op] = made.op


def _copy(body: Sequence[Operation], graph: Graph, copies: Copies) -> None:
    """Import the nodes of some ops; what they read besides is copied already."""
    if not body:
        return
    graph_def = pool.message("GraphDef")()
    graph_def.versions.producer = PRODUCER
    mapped: dict[str, Tensor] = {}
    here = set(body)
    for op in body:
        node = graph_def.node.add()
        node.CopyFrom(node_def(op))
        node.attr.pop("_class", None)
        for tensor in op.inputs:
            if tensor.op not in here:
                mapped[f"{tensor.op.name}:{tensor.value_index}"] = copies[tensor]
        controls = [o for o in op.control_inputs if o in here]
        node.input[:] = [i for i in node.input if not i.startswith("^")]
        node.input.extend(f"^{op.name}" for op in controls)
        function = op.graph.functions
        for name in function:
            graph.add_function(function[name])
    names = [op.name for op in body]
    with default_graph(graph):
        made: Any = import_graph(
            graph_def, mapped, names, name="", keeps_scope_names=True
        )
    for op, copy in zip(body, made, strict=True):
        copy._origin = op._origin
        copies[op] = copy
        for tensor, copied in zip(op.outputs, copy.outputs, strict=True):
            copies[tensor] = copied
            copied.set_shape(tensor.shape)
        for other in op.control_inputs:
            if other not in here and copies[other] is not copy:
                copy._add_control_input(copies[other])
