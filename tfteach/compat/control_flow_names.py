"""Names of `tensorflow.python.ops.control_flow_ops` that are not public.

Each function accepts Tensors, references of variables, SparseTensors and IndexedSlices.
Source: python/ops/control_flow_ops.py (API and names).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.core.control_flow_ops import (
    Enter,
    Exit,
    Merge,
    NextIteration,
    RefEnter,
    RefExit,
    RefIdentity,
    RefMerge,
    RefNextIteration,
    RefSwitch,
    Switch,
)
from tfteach.ops.core.identity_reshape import Identity


def _components(data: Any) -> list[Tensor] | None:
    """The tensors of a SparseTensor or of IndexedSlices; None for other values."""
    flat = nest.flatten(data, expand_composites=True)
    return None if len(flat) == 1 and flat[0] is data else flat


def _mapped(
    data: Any, plain: Any, reference: Any, name: str | None, use_ref: bool = True
) -> Any:
    """Ops of `plain`, or `reference` for variables, of each of the value's tensors."""
    parts = _components(data)
    if parts is not None:
        found = [_mapped(part, plain, reference, None, use_ref) for part in parts]
        return nest.pack_sequence_as(data, found, expand_composites=True)
    tensor = convert(data, as_ref=True)
    kind = reference if tensor.dtype.is_ref and use_ref else plain
    return kind(tensor, name=name)


def identity_or_ref(data: Any, name: str | None = None) -> Any:
    """The same value; of a variable's reference a reference."""
    return _mapped(data, Identity(), RefIdentity(), name)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """The value in the loop's next iteration."""
    return _mapped(data, NextIteration(), RefNextIteration(), name)


def exit(data: Any, name: str | None = None) -> Any:
    """The value outside of the loop."""
    return _mapped(data, Exit(), RefExit(), name)


def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """The value in a loop.

    Args:
      data: the value.
      frame_name: the loop's name.
      is_constant: whether it is the same in all iterations.
      parallel_iterations: of the loop.
      use_ref: whether a variable's reference stays one.
      use_input_shape: whether the static shape is known in the loop.
      name: the op's name, of a Tensor.

    Returns:
      A value of the same kind.
    """
    attrs = frame_name, is_constant, parallel_iterations
    found = _mapped(data, Enter(*attrs), RefEnter(*attrs), name, use_ref)
    for tensor in nest.flatten(found, expand_composites=True):
        if use_input_shape:
            tensor.set_shape(tensor.op.inputs[0].shape)
    return found


def switch(
    data: Any, pred: Any, dtype: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """`data` as (value alive if `pred` is false, value alive if it is true)."""
    with name_scope(name, "Switch", [data, pred]) as scope:
        parts = _components(data)
        if parts is None:
            value = convert(data, dtype, "data")
            false, true = Switch()(value, convert(pred, None, "pred"), name=scope)
            return false, true
        choice = convert(pred, None, "pred")
        pairs = [Switch()(part, choice, name="Switch") for part in parts]
        first, second = (
            nest.pack_sequence_as(data, [pair[i] for pair in pairs], True)
            for i in range(2)
        )
        return first, second


def switch_ref_or_tensor(
    data: Any, pred: Any, name: str | None = "Switch"
) -> tuple[Any, Any]:
    """`switch` that hands on a variable's reference, colocated with `data`."""
    value = data if _components(data) else convert(data, as_ref=True, name="data")
    first = getattr(value, "values", value)
    with get_default_graph().colocate_with(first, ignore_existing=True):
        if isinstance(value, Tensor) and value.dtype.is_ref:
            false, true = RefSwitch()(value, pred, name=name)
            return false, true
        return switch(value, pred, name=name)


class MergeOutput(NamedTuple):
    """The result of `merge`."""

    output: Any
    value_index: Any


def merge(inputs: Any, name: str | None = None) -> Any:
    """The live one of several values, and its index.

    Raises:
      ValueError: one of the inputs is None; they are of different kinds.
    """
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with name_scope(name, "Merge", inputs) as scope:
        parts = [_components(value) for value in inputs]
        if all(part is None for part in parts):
            values = [convert(value, as_ref=True) for value in inputs]
            are_refs = all(value.dtype.is_ref for value in values)
            kind: Callable[..., Any] = RefMerge() if are_refs else Merge()
            return MergeOutput(*kind(values, name=scope))
        if any(part is None for part in parts):
            raise ValueError(
                "The two structures don't have the same nested structure. Merge takes "
                f"values of one kind, got {inputs}"
            )
        for value in inputs[1:]:
            nest.assert_same_structure(inputs[0], value, expand_composites=True)
        found = [
            Merge()(list(column), name="Merge")
            for column in zip(*[part or () for part in parts], strict=True)
        ]
        merged = [pair[0] for pair in found]
        whole = nest.pack_sequence_as(inputs[0], merged, expand_composites=True)
        return whole, found[0][1]
