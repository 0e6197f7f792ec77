"""Gradients of calls of functions: a function's own, or a SymbolicGradient node.

Source: python/ops/gradients_util.py (_SymGrad), core/common_runtime/function.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import FunctionCall
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Gradient
from tfteach.ops.functions.calls import (
    PartitionedCall,
    RemoteCall,
    StatefulPartitionedCall,
    SymbolicGradient,
)

CALLS = (FunctionCall, PartitionedCall, StatefulPartitionedCall, RemoteCall)


def is_call(op: Operation) -> bool:
    """Whether the node calls one function, once."""
    return isinstance(op.spec, CALLS)


def python_gradient(op: Operation) -> Callable[..., Any] | None:
    """The Python function that differentiates a call of a function, if it has one."""
    spec: Any = op.spec
    name = (
        op.type
        if isinstance(spec, FunctionCall)
        else getattr(spec, "f", Function("")).name
    )
    defined: Any = op.graph.functions.get(name)
    found: Callable[..., Any] | None = getattr(defined, "python_gradient", None)
    return found


@gradient_of(*CALLS)
def call_gradient(op: Operation, *grads: Tensor) -> list[Gradient]:
    """By the function's Python gradient; else a node that differentiates its body."""
    own = python_gradient(op)
    if own is not None:
        found = own(op, *grads)
        return list(found) if isinstance(found, list | tuple) else [found]
    spec: Any = op.spec
    name = op.type if isinstance(spec, FunctionCall) else spec.f.name
    attrs = op.node_def.attr
    values = tuple((key, attrs[key].SerializeToString()) for key in sorted(attrs))
    inputs = [*op.inputs, *grads]
    outputs = tuple(t.dtype.base_dtype for t in op.inputs)
    kinds = tuple(t.dtype.base_dtype for t in inputs)
    made = SymbolicGradient(Tin=kinds, Tout=outputs, f=Function(name, values))
    return list(made(inputs))
