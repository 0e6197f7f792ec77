"""Compute now what every run would compute alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.engine.optimize.simplify_arithmetic import simplify_arithmetic
from tfteach.engine.plan.step import (
    Change,
    Node,
    Step,
    checking_shapes,
    keeping_strings,
    kernel_of,
)

MAX_FOLDED_BYTES = 10 << 20  # as TF: a large constant is cheaper to compute than keep


def fold_constants(step: Step, calls_python: bool = True) -> None:
    """Give nodes whose inputs are all constant their values.

    Stateful ops stay, and so does a node whose kernel fails: its error belongs to the
    run.

    Args:
      step: to change.
      calls_python: whether to call the program's own functions (stateless py_funcs).
    """
    for node in step.nodes:
        inputs = [edge.constant for edge in node.inputs]
        if node.values is None and not any(value is None for value in inputs):
            fold(node, inputs, step, "all its inputs are constant", calls_python)
    if not step.has_control_flow:
        simplify_arithmetic(step)


def fold(
    node: Node, inputs: list[Any], step: Step, reason: str, calls_python: bool = False
) -> None:
    """Give a node the values that its kernel has for `inputs`, if that is allowed."""
    values = folded(node, inputs, calls_python)
    if values is None:
        return
    node.values = values
    if node.inputs:
        # The node inherits the control inputs of its folded inputs.
        waited = [c for source, _ in node.inputs for c in source.control]
        if waited:
            node.control = list(dict.fromkeys([*node.control, *waited]))
        node.inputs = []
        step.log.append(Change("fold_constants", node.name, reason))


def folded(
    node: Node, inputs: list[Any], calls_python: bool = False
) -> tuple[Any, ...] | None:
    """The values that the node's kernel has for `inputs`; None to leave it to runs."""
    spec = node.spec
    if not spec.is_foldable or spec.is_stateful:
        return None
    if spec.calls_python and not calls_python:
        return None
    if any(tensor.dtype.is_ref for tensor in node.op.outputs) or not node.op.outputs:
        return None
    try:
        with np.errstate(all="ignore"):
            sizes = [value.shape for value in inputs]
            kernel = checking_shapes(spec, kernel_of(spec, np), sizes)
            kernel = keeping_strings(kernel, node.op.outputs)
            result = kernel(*inputs)
    except Exception:
        return None
    results = (result,) if len(node.op.outputs) == 1 else result
    values = tuple(np.asarray(value) for value in results)
    if node.inputs and sum(value.nbytes for value in values) > MAX_FOLDED_BYTES:
        return None
    return values
