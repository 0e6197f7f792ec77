"""Conversion of an op's arguments, as a caller wrote them, to tensors.

Source: python/framework/op_def_library.py (order of conversions, messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType
from tfteach.framework.graph import Graph
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.signature import Arg


def check_choice(op_type: str, name: str, value: Any, allowed: Sequence[str]) -> None:
    """Reject a string attribute as TF does."""
    if not isinstance(value, str):
        raise TypeError(f"Expected string for argument '{name}' not {value!r}.")
    if value not in allowed:
        choices = ", ".join(f'"{choice}"' for choice in allowed)
        raise ValueError(
            f"Attr '{name}' of '{op_type}' Op passed string '{value}' not in: "
            f"{choices}."
        )


def convert_inputs(op: Op, values: tuple[Any, ...]) -> list[Tensor]:
    cls = type(op)
    bound: dict[str, Any] = {}
    for name in cls.fields:
        bound[name] = getattr(op, name)
    bound_by: dict[str, str] = {}
    tensors: list[Tensor] = []
    for arg, value in zip(cls.inputs, values, strict=True):
        if arg.is_sequence:
            if not isinstance(value, list | tuple):
                raise TypeError(
                    f"Expected list for '{arg.name}' argument to '{cls.op_type}' Op, "
                    f"not {value!r}."
                )
            found = _convert_list(cls, arg, list(value), bound)
            check_length(cls, arg, len(found), bound, bound_by)
        else:
            found = [_convert_one(cls, arg, value, bound, bound_by)]
        if not arg.is_list and arg.type_attr and found and arg.type_attr not in bound:
            bound[arg.type_attr] = found[0].dtype.base_dtype
            bound_by[arg.type_attr] = arg.name
        tensors += found
    return tensors


def _convert_list(
    cls: type[Op], arg: Arg, values: list[Any], bound: dict[str, Any]
) -> list[Tensor]:
    dtype = arg.dtype
    if arg.number_attr and dtype is None:
        tensors = (v.dtype.base_dtype for v in values if isinstance(v, Tensor))
        dtype = bound.get(arg.type_attr) or next(tensors, None)
    given = None if arg.is_ref else dtype
    try:
        found = [
            convert(v, given, f"{arg.name}_{i}", as_ref=arg.is_ref)
            for i, v in enumerate(values)
        ]
    except (TypeError, ValueError):
        _refuse_list(cls, arg, values, bound)
    if arg.number_attr and len({t.dtype.base_dtype for t in found}) > 1:
        _refuse_list(cls, arg, values, bound)
    if arg.is_list:
        for tensor in found:
            check_allowed(cls, arg, tensor.dtype.base_dtype)
    return found


def check_length(
    cls: type[Op],
    arg: Arg,
    length: int,
    bound: dict[str, Any],
    bound_by: dict[str, str],
) -> None:
    """Reject lists that are too short, or whose length differs from earlier ones."""
    attribute = arg.number_attr
    if arg.is_list:
        if length < cls.minimum.get(arg.type_attr, 0):
            raise ValueError(
                f"Attr '{arg.type_attr}' of '{cls.op_type}' Op passed list of length "
                f"{length} less than minimum {cls.minimum[arg.type_attr]}."
            )
        return
    prefix = f"List argument '{arg.name}' to '{cls.op_type}' Op with length {length} "
    if attribute in bound:
        if length != bound[attribute]:
            other = f"of argument '{bound_by.get(attribute, attribute)}'"
            raise ValueError(f"{prefix}must match length {bound[attribute]} {other}.")
        return
    bound[attribute], bound_by[attribute] = length, arg.name
    least = cls.minimum.get(attribute, 1)
    if length < least:
        raise ValueError(f"{prefix}shorter than minimum length {least}.")


def _refuse_list(
    cls: type[Op], arg: Arg, values: list[Any], bound: dict[str, Any]
) -> NoReturn:
    observed = []
    for value in values:
        try:
            observed.append(convert(value).dtype.base_dtype.name)
        except (TypeError, ValueError):
            observed.append("<NOT CONVERTIBLE TO TENSOR>")
    prefix = (
        f"Tensors in list passed to '{arg.name}' of '{cls.op_type}' Op have types "
        f"[{', '.join(observed)}] that do"
    )
    if arg.is_list:
        prefix = prefix.removesuffix(" do")
        message = f"{prefix} are invalid. Tensors: {values!r}"
    elif arg.dtype is not None:
        message = f"{prefix} not match expected type {arg.dtype.name}."
    elif arg.type_attr in bound:
        inferred = bound[arg.type_attr].name
        message = f"{prefix} not match type {inferred} inferred from earlier arguments."
    else:
        message = f"{prefix}n't all match."
    raise TypeError(message) from None


def _convert_one(
    cls: type[Op],
    arg: Arg,
    value: Any,
    bound: dict[str, Any],
    bound_by: dict[str, str],
) -> Tensor:
    dtype = arg.dtype or bound.get(arg.type_attr)
    hint = getattr(cls, arg.type_attr + "_default", None) if arg.type_attr else None
    try:
        tensor = convert(
            value, None if arg.is_ref else dtype, arg.name, hint, as_ref=arg.is_ref
        )
    except TypeError as error:
        if dtype is None:
            raise
        _check_bound(cls, arg, dtype, bound_by)
        raise TypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op "
            f"'{cls.op_type}', got {value!r} of type '{type(value).__name__}' instead. "
            f"Error: {error}"
        ) from None
    except ValueError:
        # A tensor of another type: name both arguments in the error.
        try:
            tensor = convert(value, None, arg.name)
        except ValueError as error:
            raise ValueError(
                f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}"
            ) from None
        if dtype is None or dtype.is_compatible_with(tensor.dtype):
            raise
        refuse_dtype(cls, arg, tensor, dtype, bound_by)
    if arg.is_ref and not tensor.dtype.is_ref:
        raise TypeError(
            f"'{cls.op_type}' Op requires that input '{arg.name}' be a mutable tensor "
            "(e.g.: a tf.Variable)"
        )
    if arg.is_ref and dtype is not None and tensor.dtype.base_dtype is not dtype:
        refuse_dtype(cls, arg, tensor, dtype, bound_by)
    return tensor


def _check_bound(
    cls: type[Op], arg: Arg, dtype: DType, bound_by: dict[str, str]
) -> None:
    """Reject an earlier argument's type before one that differs from it."""
    if arg.type_attr in bound_by:
        check_allowed(cls, Arg(bound_by[arg.type_attr], None, arg.type_attr), dtype)


def check_allowed(cls: type[Op], arg: Arg, dtype: DType) -> None:
    """Raise TypeError if the op does not accept this type there."""
    allowed = cls.allowed_types(arg.type_attr)
    if allowed is not None and dtype not in allowed:
        names = ", ".join(d.name for d in allowed)
        raise TypeError(
            f"Value passed to parameter '{arg.name}' has DataType {dtype.name} not in "
            f"list of allowed values: {names}"
        )


def refuse_dtype(
    cls: type[Op], arg: Arg, tensor: Tensor, dtype: DType, bound_by: dict[str, str]
) -> NoReturn:
    _check_bound(cls, arg, dtype, bound_by)
    prefix = f"Input '{arg.name}' of '{cls.op_type}' Op has type "
    if arg.type_attr in bound_by:
        raise TypeError(
            f"{prefix}{tensor.dtype.base_dtype.name} that does not match type "
            f"{dtype.name} of argument '{bound_by[arg.type_attr]}'."
        )
    raise TypeError(
        f"{prefix}{tensor.dtype.base_dtype.name} that does not match expected type of "
        f"{dtype.name}."
    )


class TypeRefusals:
    """Raises for inputs of types that an op does not accept, when a graph is built."""

    def check_allowed(self, op: Op, arg: Arg, dtype: DType) -> None:
        """Raise unless the op accepts the type there."""
        check_allowed(type(op), arg, dtype)

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
        refuse_dtype(type(op), arg, tensor, expected, bound_by)


REFUSALS = TypeRefusals()


def list_dtypes(values: Sequence[Any]) -> tuple[DType, ...]:
    """The types of the tensors that values would be converted to.

    Nothing is added to the default graph: the op that converts them names them.
    """
    found = []
    for value in values:
        if isinstance(value, Tensor):
            tensor = value
        else:
            with Graph().as_default():
                tensor = convert(value, as_ref=True)
        found.append(tensor.dtype.base_dtype)
    return tuple(found)
