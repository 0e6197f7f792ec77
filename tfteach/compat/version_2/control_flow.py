"""Branches, loops, scopes, constants and gradients, as TensorFlow 2 calls them.

Source: python/ops/control_flow_ops.py, gradients_impl.py; python/framework/ops.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfteach.autodiff.gradients import gradients
from tfteach.compat.version_2.signatures import with_parameters
from tfteach.control.branch import cond
from tfteach.control.hessians import hessians
from tfteach.control.loop import while_loop
from tfteach.framework.convert import convert_to_tensor
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.opened_scopes import RecordedNameScope
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import device
from tfteach.framework.shape import as_shape, size_of
from tfteach.framework.type_aliases import (
    DeviceLike,
    DTypeLike,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import tuple_

cond_v2 = with_parameters(cond, "pred | true_fn false_fn name", strict=True, v2="cond")
while_loop_v2 = with_parameters(
    while_loop,
    "cond body loop_vars | shape_invariants parallel_iterations back_prop swap_memory "
    "maximum_iterations name",
    return_same_structure=True,
    v2="while_loop",
)
gradients_v2 = with_parameters(
    gradients,
    "ys xs | grad_ys name gate_gradients aggregation_method stop_gradients "
    "unconnected_gradients",
    v2="gradients",
)
hessians_v2 = with_parameters(
    hessians, "ys xs | gate_gradients aggregation_method name", v2="hessians"
)
convert_to_tensor_v2 = with_parameters(
    convert_to_tensor, "value | dtype dtype_hint name", v2="convert_to_tensor"
)


@export(v2="tuple")
def tuple_v2(
    tensors: Iterable[Any],
    control_inputs: Iterable[Any] | None = None,
    name: str | None = None,
) -> list[Any]:
    """`tf.tuple`, its arguments in TensorFlow 2's order."""
    return tuple_(tensors, control_inputs=control_inputs, name=name)


@export(v2="device")
def device_v2(
    device_name: DeviceLike,
) -> Any:
    """`tf.device` without `device_name_or_function`."""
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return device(device_name)


@export(v2="name_scope")
class NameScopeV2(RecordedNameScope):
    """`tf.name_scope` without a default name and values.

    Args:
      name: the scope's name.

    Raises:
      ValueError: `name` isn't a string.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        super().__init__(name)


NameScopeV2.__name__ = NameScopeV2.__qualname__ = "name_scope"


@export(v2="constant")
def constant_v2(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    name: str = "Const",
) -> Tensor:
    """`tf.constant` of all values that `shape` asks for, or of one that is repeated.

    Raises:
      TypeError: `value` has another number of elements.
    """
    if shape is not None and not get_default_graph().is_eager:
        sizes = as_shape(shape)
        if np.size(value) not in (1, size_of(sizes)):  # type: ignore[arg-type]
            raise TypeError(f"Expected Tensor's shape: {sizes}, got {np.shape(value)}.")  # type: ignore[arg-type]
    return constant(value, dtype, shape, name)
