"""Branches, loops, scopes, constants and gradients, as TensorFlow 2 calls them.

Source: python/ops/control_flow_ops.py, gradients_impl.py; python/framework/ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tfteach.autodiff.gradients import UnconnectedGradients, gradients
from tfteach.control.branch import Branch, cond
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
    Gradient,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import tuple_


@export(v2="cond")
def cond_v2(
    pred: TensorLike,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
) -> Any:
    """`tf.cond` without `strict`, `fn1`, `fn2`."""
    return cond(pred, true_fn, false_fn, strict=True, name=name)


@export(v2="while_loop")
def while_loop_v2(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """`tf.while_loop` without `return_same_structure`."""
    return while_loop(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        swap_memory,
        maximum_iterations=maximum_iterations,
        name=name,
        return_same_structure=True,
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


@export(v2="gradients")
def gradients_v2(
    ys: TensorLike,
    xs: TensorLike,
    grad_ys: TensorLike | None = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: TensorLike | None = None,
    unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Gradient]:
    """`tf.gradients` without `colocate_gradients_with_ops`."""
    return gradients(
        ys,
        xs,
        grad_ys,
        name,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        stop_gradients=stop_gradients,
        unconnected_gradients=unconnected_gradients,
    )


@export(v2="hessians")
def hessians_v2(
    ys: TensorLike,
    xs: TensorLike,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    name: str = "hessians",
) -> list[Tensor]:
    """`tf.hessians` without `colocate_gradients_with_ops`."""
    return hessians(
        ys,
        xs,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        name=name,
    )


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


@export(v2="convert_to_tensor")
def convert_to_tensor_v2(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.convert_to_tensor` without `preferred_dtype`."""
    return convert_to_tensor(value, dtype, dtype_hint=dtype_hint, name=name)
