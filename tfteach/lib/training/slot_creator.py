"""Slots: variables that an optimizer creates for each variable of the model.

Adam's slot of `w` is named `w/Adam`, and colocated with `w`.
Source: python/training/slot_creator.py.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from tfteach.framework.operation import Tensor
from tfteach.framework.replicas import colocated_variables
from tfteach.framework.type_aliases import DTypeLike, Initializer
from tfteach.ops.core import shape_ops
from tfteach.ops.core.fill import zeros
from tfteach.variables.base import SaveSliceInfo, Variable
from tfteach.variables.initializers import Zeros
from tfteach.variables.ref import RefVariable
from tfteach.variables.resource import BaseResourceVariable
from tfteach.variables.scope import get_variable, get_variable_scope, variable_scope


def create_slot(primary: Any, val: Any, name: str, is_beside: bool = True) -> Tensor:
    """A slot of `primary` initialized to the Tensor `val`."""
    validate = val.shape.is_fully_defined()
    scope = f"{_name_of(primary)}/{name}"
    with variable_scope(None, scope), _beside(primary, is_beside):
        result: Tensor = _slot(primary, val, None, None, validate)
        return result


def create_slot_with_initializer(
    primary: Any,
    initializer: Initializer | None,
    shape: Any,
    dtype: DTypeLike,
    name: str,
    is_beside: bool = True,
) -> Tensor:
    """A slot of `primary` of the given shape and type.

    Args:
      primary: the variable.
      initializer: an initializer such as `tf.zeros_initializer()`, or a Tensor.
      shape: the slot's TensorShape.
      dtype: its element type.
      name: its name, below `primary`'s name.
      is_beside: whether it is colocated with `primary`.
    """
    validate = shape.is_fully_defined()
    scope = f"{_name_of(primary)}/{name}"
    with variable_scope(None, scope), _beside(primary, is_beside):
        result: Tensor = _slot(primary, initializer, shape, dtype, validate)
        return result


def create_zeros_slot(
    primary: Any, name: str, dtype: DTypeLike | None = None, is_beside: bool = True
) -> Tensor:
    """A slot of `primary` initialized to zeros; colocated with it if `is_beside`."""
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, Zeros(), shape, dtype, name, is_beside
        )
    is_variable = isinstance(primary, Variable)
    sizes = shape_ops.shape(primary.initialized_value() if is_variable else primary)
    return create_slot(primary, zeros(sizes, dtype=dtype), name, is_beside)


def _name_of(primary: Any) -> str:
    is_variable = isinstance(primary, Variable)
    name: str = primary._shared_name if is_variable else primary.op.name
    return name


def _beside(primary: Any, is_beside: bool) -> Any:
    return colocated_variables(primary) if is_beside else nullcontext()


def _slot(
    primary: Any, val: Any, shape: Any, dtype: DTypeLike | None, validate: bool
) -> Any:
    scope = get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    use_resource = None
    if isinstance(primary, BaseResourceVariable):
        use_resource = True
    elif isinstance(primary, RefVariable):
        use_resource = False
    try:
        slot = get_variable(
            "",
            initializer=val,
            trainable=False,
            use_resource=use_resource,
            shape=shape if callable(val) else None,
            dtype=dtype,
            validate_shape=validate,
        )
    finally:
        scope.set_partitioner(partitioner)
    info = getattr(primary, "_save_slice_info", None)
    if info is not None:  # the name of the variable that this is a partition of
        # As many letters as the prefix has: in another scope, the name does not begin
        # with it, and TensorFlow's checkpoints have what is left.
        kind = slot._shared_name[len(primary._shared_name) + 1 :]
        whole = f"{info.full_name}/{kind}"
        slot._set_save_slice_info(
            SaveSliceInfo(
                whole, info.full_shape[:], info.var_offset[:], info.var_shape[:]
            )
        )
    return slot
