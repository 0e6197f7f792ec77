"""Conversion of an op's arguments to tensors with values, and the errors of types.

A type that several inputs share is that of the first tensor among them, if there is
one; Python numbers and arrays follow it.
Source: python/eager/pywrap_tfe_src.cc, core/common_runtime/eager/ (rules, messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from tfteach.framework.convert import convert, with_value
from tfteach.framework.dtypes import DType, c_name, int32
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.eager_values import int32_array
from tfteach.framework.errors import InvalidArgumentError, NotFoundError
from tfteach.framework.input_conversion import TypeRefusals, check_length
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.signature import Arg


def convert_eager_inputs(op: Op, values: tuple[Any, ...]) -> list[EagerTensor]:
    """The op's inputs, flat; tensors are passed on, of whatever type.

    Raises:
      TypeError: a value does not fit the type of its parameter, or is a tensor of a
        graph; a list is required.
      ValueError: a value cannot be a tensor; a list is too short.
      RuntimeError: the op updates a variable without a resource.
    """
    cls = type(op)
    groups: Sequence[Sequence[Any]] = [(value,) for value in values]
    if cls._has_lists or cls._ref_inputs:
        groups = _checked_groups(op, values)
    tensors: list[Any] = []
    found: dict[str, DType] = {}
    for arg, group in zip(cls.inputs, groups, strict=True):
        for value in group:
            if type(value) is EagerTensor:
                tensors.append(value)
                continue
            dtype, shared = arg.dtype, arg.type_attr
            if dtype is None and not arg.is_list:
                dtype = _shared_dtype(op, shared, groups) or found.get(shared)
            tensor = _converted(cls, arg, value, dtype)
            found.setdefault(shared, tensor.dtype)
            tensors.append(tensor)
    return tensors


def _checked_groups(op: Op, values: tuple[Any, ...]) -> list[list[Any]]:
    """The values of each argument, whose lists are as long as the op requires."""
    cls = type(op)
    types: dict[str, Any] = {name: getattr(op, name) for name in cls.fields}
    counted_by: dict[str, str] = {}
    groups = []
    for arg, value in zip(cls.inputs, values, strict=True):
        if arg.is_ref:
            raise RuntimeError(
                f"{cls.op_type} op does not support eager execution. Arg "
                f"'{arg.name}' is a ref."
            )
        group = [value]
        if arg.is_sequence:
            if not isinstance(value, list | tuple):
                raise TypeError(
                    f"Expected list for '{arg.name}' argument to '{cls.op_type}' Op, "
                    f"not {value!r}."
                )
            group = list(value)
            check_length(cls, arg, len(group), types, counted_by)
        groups.append(group)
    return groups


def _shared_dtype(
    op: Op, attribute: str, groups: Sequence[Sequence[Any]]
) -> DType | None:
    """The type that an attribute states, or the first tensor among its arguments."""
    cls = type(op)
    found: DType | None = None
    if attribute in cls.fields:
        found = getattr(op, attribute)
    if found is not None:
        return found
    for arg, group in zip(cls.inputs, groups, strict=True):
        if arg.type_attr == attribute and not arg.is_list:
            for value in group:
                if isinstance(value, EagerTensor) or hasattr(value, "handle"):
                    found = value.dtype.base_dtype
                    return found
    return None


def _converted(cls: type[Op], arg: Arg, value: Any, dtype: DType | None) -> Any:
    hint = None
    if isinstance(value, list | tuple):
        if dtype is None:
            hint = getattr(cls, f"{arg.type_attr}_default", None)
        # int32 stays on the host, whatever the device is.
        if (dtype or hint) is int32 and (sizes := int32_array(value)) is not None:
            return EagerTensor(sizes, int32)
    try:
        tensor = convert(value, dtype, arg.name, hint)
    except ValueError:
        if not isinstance(getattr(value, "dtype", None), DType):
            raise
        tensor = convert(value, None, arg.name)  # whose type the op refuses
    return with_value(tensor)


class EagerRefusals(TypeRefusals):
    """Raises for inputs of types that an op does not accept, when it runs.

    Args:
      name: the name that the caller gave the op, or None.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name

    def check_allowed(self, op: Op, arg: Arg, dtype: DType) -> None:
        """Raise unless there is a kernel."""
        allowed = op.allowed_types(arg.type_attr)
        if allowed is None or dtype in allowed:
            return
        known = ", ".join(map(c_name, allowed))
        raise NotFoundError(
            None,
            None,
            f"Could not find valid device for node.\nNode:{{{{node {op.op_type}}}}}\n"
            f"All kernels registered for op {op.op_type} :\n"
            f"  device='CPU'; {arg.type_attr} in [{known}], not {c_name(dtype)}"
            f"{self._suffix(op)}",
        )

    def refuse_dtype(
        self,
        op: Op,
        arg: Arg,
        position: int,
        tensor: Tensor,
        expected: DType,
        bound_by: dict[str, str],
    ) -> NoReturn:
        """Raise for an input of another type than its parameter or earlier inputs."""
        raise InvalidArgumentError(
            None,
            None,
            f"cannot compute {op.op_type} as input #{position}(zero-based) was "
            f"expected to be a {c_name(expected)} tensor but is a "
            f"{c_name(tensor.dtype)} tensor{self._suffix(op)}",
        )

    def _suffix(self, op: Op) -> str:
        name = f" name: {self.name}" if self.name else ""
        return f" [Op:{op.op_type}]{name}"
