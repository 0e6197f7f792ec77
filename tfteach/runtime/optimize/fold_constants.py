"""Compute now what every run would compute alike."""

from __future__ import annotations

import numpy as np

from tfteach.runtime.step import Change, Step, kernel_of

MAX_FOLDED_BYTES = 10 << 20  # as TF: a large constant is cheaper to compute than keep


def fold_constants(step: Step) -> None:
    """Give nodes whose inputs are all constant their value.

    Stateful ops stay, and so does a node whose kernel fails: its error belongs to the
    run.
    """
    for node in step.nodes:
        spec = node.spec
        if node.value is not None or not spec.is_foldable or spec.is_stateful:
            continue
        if len(node.op.outputs) != 1 or node.op.outputs[0].dtype.is_ref:
            continue
        if any(source.value is None for source, _ in node.inputs):
            continue
        try:
            with np.errstate(all="ignore"):
                kernel = kernel_of(spec, np)
                value = kernel(*[source.value for source, _ in node.inputs])
        except Exception:
            continue
        value = np.asarray(value)
        if value.nbytes > MAX_FOLDED_BYTES and node.inputs:
            continue
        node.value = value
        if node.inputs:
            # What the inputs waited for, the node now waits for itself.
            waited = [c for source, _ in node.inputs for c in source.control]
            if waited:
                node.control = list(dict.fromkeys([*node.control, *waited]))
            node.inputs = []
            step.log.append(
                Change("fold_constants", node.name, "all its inputs are constant")
            )
