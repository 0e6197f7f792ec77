"""Initial values that depend on other variables: read from their initial values.

Source: python/ops/variables.py, _try_guard_against_uninitialized_dependencies.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.build import create
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.control_flow_ops import NextIteration, RefSwitch, Switch
from tfteach.ops.state.ref_variables import IsVariableInitialized
from tfteach.ops.state.resource_variables import ReadVariableOp, VarIsInitializedOp
from tfteach.variables.base import Variable

_GUARDED = (IsVariableInitialized, VarIsInitializedOp, ReadVariableOp)


class _Searched:
    """Cached ancestor searches in a graph: the ancestors of an op do not change.

    Initial values may depend on each other, so searches overlap.

    Attributes:
      uses_variables: by op, whether it has a variable among its ancestors.
      unchanged: ops that need no copy, since none of their ancestors is an unguarded
          variable.
      variables: by collection, the number of indexed items, and these by name.
    """

    def __init__(self) -> None:
        self.uses_variables: dict[Operation, bool] = {}
        self.unchanged: set[Operation] = set()
        self.variables: dict[str, tuple[int, dict[str, Any]]] = {}


def _searched(graph: Graph) -> _Searched:
    found = graph.collection_list(("__guarded_initial_values",))
    if not found:
        found.append(_Searched())
    result: _Searched = found[0]
    return result


def guarded(scope: str, value: Tensor) -> Tensor:
    """`value` computed from the initialized values of the variables it depends on.

    So one run can initialize all variables, in any order: the ops between a variable
    and `value` are copied, with the variable replaced by its `initialized_value()`.
    """
    searched = _searched(value.graph)
    if not _uses_variables(value.op, searched):
        return value
    return _copied(scope, value, searched)


def _uses_variables(op: Operation, searched: _Searched) -> bool:
    """Whether `op` has a variable among its ancestors, which have no cycle."""
    known = searched.uses_variables
    seen: set[Operation] = set()
    stack = [op]
    found = False
    while stack:
        ancestor = stack.pop()
        if ancestor in seen:
            continue
        if ancestor in known:
            found = found or known[ancestor]
            continue
        seen.add(ancestor)
        if isinstance(ancestor.spec, NextIteration):
            return False  # a loop: TF leaves these unchanged
        found = found or ancestor.spec.returns_handle
        stack += [tensor.op for tensor in ancestor.inputs]
        stack += ancestor.control_inputs
    known[op] = found
    if not found:
        known.update(dict.fromkeys(seen, False))
    return found


def _copied(scope: str, value: Tensor, searched: _Searched) -> Tensor:
    unchanged = searched.unchanged
    copies: dict[Operation, Operation] = {}
    stack = [value.op]
    while stack:
        op = stack[-1]
        if op not in copies and op not in unchanged:
            is_variable = op.spec.returns_handle
            is_end = is_variable or isinstance(op.spec, _GUARDED)
            sources = [] if is_end else [tensor.op for tensor in op.inputs]
            waiting = [o for o in sources if o not in copies and o not in unchanged]
            if waiting:
                stack.append(waiting[0])
                continue
            if is_variable:
                variable = _variable_of(op, searched)
                copies[op] = op if variable is None else variable.initialized_value().op
            elif all(o in unchanged for o in sources):
                unchanged.add(op)
            else:
                copies[op] = _copy(scope, op, copies)
        stack.pop()
    return copies.get(value.op, value.op).outputs[value.value_index]


def _copy(scope: str, op: Operation, copies: dict[Operation, Operation]) -> Operation:
    inputs = tuple(copies.get(t.op, t.op).outputs[t.value_index] for t in op.inputs)
    if inputs == op.inputs:
        return op
    spec = Switch() if isinstance(op.spec, RefSwitch) else op.spec
    new = create(op.graph, spec, inputs, f"{op.name}_{scope[:-1]}")
    if op.extra_attrs:
        new.extra_attrs = {**(new.extra_attrs or {}), **op.extra_attrs}
    return new


def _variable_of(op: Operation, searched: _Searched) -> Any:
    """The Variable with this op, if it is in a collection of variables."""
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        collection = op.graph.collection_list(key)
        count, by_name = searched.variables.get(key, (0, {}))
        if count > len(collection):
            count, by_name = 0, {}
        for variable in collection[count:]:
            if isinstance(variable, Variable):
                by_name.setdefault(variable.name, variable)
        searched.variables[key] = len(collection), by_name
        found = by_name.get(op.name, by_name.get(op.name + ":0"))
        if found is not None:
            return found
    return None
