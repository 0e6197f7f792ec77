"""Type and shape inference: an op's output types and static shapes, or errors.

Results for given input types and shapes are cached on the op, so that building
many like nodes is fast.
Source: python/framework/op_def_library.py,
core/framework/shape_inference.cc (messages).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import (
    check_rank,
    check_sizes,
    constant_shape,
    folded_value,
    handle_shape,
)
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import OpError
from tfteach.framework.input_conversion import REFUSALS, TypeRefusals
from tfteach.framework.list_elements import list_elements
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.signature import Arg

_MAX_REMEMBERED = 512
# Messages that TensorFlow's shape functions raise before they read the values.
_WITHOUT_VALUES = ("Shapes must be equal rank", "Expected list with", "Trying to read")
_MOST_SHOWN = 256  # numbers of a constant in a message


def infer(
    op: Op, inputs: tuple[Tensor, ...], name: str
) -> tuple[list[DType], list[Shape]]:
    """The types and static shapes of the outputs.

    Raises:
      TypeError: an input has a type that the op does not accept.
      ValueError: the shapes can never be valid.
    """
    if not op._by_shape_only:
        output_dtypes, _ = _check_types(op, inputs)
        return output_dtypes, _infer_shapes(op, inputs, output_dtypes, name)
    key = tuple([(t.dtype.as_datatype_enum, t._shape) for t in inputs])
    known = op._inferred.get(key)
    if known is None:
        output_dtypes, _ = _check_types(op, inputs)
        known = output_dtypes, _infer_shapes(op, inputs, output_dtypes, name)
        if len(op._inferred) >= _MAX_REMEMBERED:
            op._inferred.clear()
        op._inferred[key] = known
    return known


def bind_types(
    op: Op, inputs: tuple[Tensor, ...], refusals: TypeRefusals = REFUSALS
) -> dict[str, Any]:
    """The type and number attributes determined by the inputs.

    Args:
      op: the op.
      inputs: its inputs, flat.
      refusals: raises for types that the op does not accept.
    """
    return _check_types(op, inputs, refusals)[1]


def _check_types(
    op: Op, inputs: tuple[Tensor, ...], refusals: TypeRefusals = REFUSALS
) -> tuple[list[DType], dict[str, Any]]:
    cls = type(op)
    bound: dict[str, Any] = {}
    bound_by: dict[str, str] = {}
    position = 0
    for arg in cls.inputs:
        count = _count(op, arg, bound, len(inputs) - position)
        first = position
        position += count
        group = inputs[first:position]
        if arg.is_list:
            bound[arg.type_attr] = tuple(t.dtype.base_dtype for t in group)
            continue
        if arg.number_attr:
            bound[arg.number_attr] = count
        for i, tensor in enumerate(group, first):
            dtype = tensor.dtype.base_dtype
            expected = arg.dtype or bound.get(
                arg.type_attr,
                getattr(op, arg.type_attr, None)
                if arg.type_attr in cls.fields
                else None,
            )
            if expected is None:
                refusals.check_allowed(op, arg, dtype)
                bound[arg.type_attr], bound_by[arg.type_attr] = dtype, arg.name
            elif dtype is not expected:
                refusals.refuse_dtype(op, arg, i, tensor, expected, bound_by)
            if arg.is_ref and not tensor.dtype.is_ref:
                raise TypeError(
                    f"'{cls.op_type}' Op requires that input '{arg.name}' be a mutable "
                    "tensor (e.g.: a tf.Variable)"
                )
    if position != len(inputs):
        raise ValueError(f"{cls.op_type} takes {position} inputs, got {len(inputs)}")
    for field in cls.fields:
        if field in _type_attrs(cls):
            own = Arg(field, type_attr=field)
            refusals.check_allowed(op, own, getattr(op, field))
        elif field in _list_attrs(cls):
            for dtype in getattr(op, field):
                refusals.check_allowed(op, Arg(field, type_attr=field), dtype)
    return op.output_dtypes(bound), bound


def _type_attrs(cls: type[Op]) -> set[str]:
    return {a.type_attr for a in cls.outputs if a.type_attr and not a.is_list}


def _list_attrs(cls: type[Op]) -> set[str]:
    return {a.type_attr for a in cls.outputs if a.is_list}


def _count(op: Op, arg: Arg, bound: dict[str, Any], left: int) -> int:
    """The number of remaining inputs that belong to `arg`."""
    if not arg.is_sequence:
        return 1
    if arg.number_attr in bound:
        return int(bound[arg.number_attr])
    if arg.number_attr and arg.number_attr in op.fields:
        return int(getattr(op, arg.number_attr))
    if arg.is_list and arg.type_attr in op.fields:
        return len(getattr(op, arg.type_attr))
    # The sequence consumes the inputs not needed by later arguments.
    args = type(op).inputs
    after = args[args.index(arg) + 1 :]
    sequences = [a for a in after if a.is_sequence]
    same = [a for a in sequences if a.number_attr and a.number_attr == arg.number_attr]
    if len(same) != len(sequences):
        raise ValueError(f"{op.op_type}: cannot tell its input lists apart")
    return (left - (len(after) - len(same))) // (1 + len(same))


def _infer_shapes(
    op: Op, inputs: tuple[Tensor, ...], output_dtypes: list[DType], name: str
) -> list[Shape]:
    op.check_attributes()
    cls = type(op)
    args: list[Any] = []
    flat = iter(inputs)
    for i, arg in enumerate(cls.inputs if op.by_shape else ()):
        if arg.name not in op.by_shape or arg.name in op.ranks:
            continue
        shape = inputs[i]._shape
        if shape is not None and len(shape) != 1:
            message = f"Shape must be rank 1 but is rank {len(shape)}"
            raise _located(op, inputs, name, message)
    if op.ranks:
        _check_ranks(op, inputs, name)
    simple = op._by_shape_only and not any(arg.is_sequence for arg in cls.inputs)
    if simple:
        args = [t._shape for t in inputs]
    else:
        bound = bind_types(op, inputs)
        for arg in cls.inputs:
            if arg.is_sequence:
                count = bound.get(arg.number_attr)
                count = len(bound[arg.type_attr]) if count is None else count
                args.append([_view(op, arg, next(flat)) for _ in range(count)])
            else:
                args.append(_view(op, arg, next(flat)))
    try:
        found = op.infer_shape(*args)
    except (ValueError, OpError) as error:
        raise _located(op, inputs, name, str(error)) from None
    except (TypeError, IndexError, ZeroDivisionError, OverflowError) as error:
        # TF's shape functions have only one class of error.
        message = f"Shapes or values that do not fit ({error})"
        raise _located(op, inputs, name, message) from error
    if len(cls.outputs) == 1 and not cls.outputs[0].is_sequence:
        return [found]
    if found is None:
        return [None] * len(output_dtypes)
    return list(found)


def _check_ranks(op: Op, inputs: tuple[Tensor, ...], name: str) -> None:
    args = type(op).inputs
    for i, arg in enumerate(args):
        if arg.name not in op.ranks:
            continue
        # After the only list of inputs that these ops may have, count from the end.
        is_after = any(a.is_sequence for a in args[:i])
        shape = inputs[i - len(args) if is_after else i]._shape
        allowed = op.ranks[arg.name]
        allowed = (allowed,) if isinstance(allowed, int) else allowed
        if shape is not None and len(shape) not in allowed:
            most = "at most rank" if len(allowed) > 1 else "rank"
            message = f"Shape must be {most} {allowed[-1]} but is rank {len(shape)}"
            raise _located(op, inputs, name, message)


def _located(op: Op, inputs: tuple[Tensor, ...], name: str, message: str) -> ValueError:
    texts = ", ".join(shapes.text(t._shape) for t in inputs)
    return ValueError(
        f"{message} for '{name}' (op: '{op.op_type}') with input shapes: {texts}"
        f"{_computed_inputs(op, inputs, message)}."
    )


def _computed_inputs(op: Op, inputs: tuple[Tensor, ...], error: str) -> str:
    """The constants used by the inference, as listed in TF's messages."""
    # Ranks are checked before values are requested.
    by_axis = error.startswith("Shape must be at least rank")
    by_axis = by_axis and not error.startswith("Shape must be at least rank 1 ")
    if error.startswith("Shape must be") and not by_axis:
        return ""
    if error.startswith(_WITHOUT_VALUES):
        return ""
    values: list[str] = []
    partial: list[str] = []
    args = type(op).inputs
    sequence = next((i for i, arg in enumerate(args) if arg.is_sequence), len(args))
    for i, tensor in enumerate(inputs):
        # After the only list of inputs that these ops may have, count from the end.
        arg = args[i if i <= sequence else max(sequence, i - len(inputs) + len(args))]
        if arg.name in op.by_shape:
            shape = constant_shape(tensor)
            if shape is not None:
                partial.append(f"input[{i}] = {shapes.text(shape)}")
        elif arg.name in op.by_value + op.by_value_or_shape and not arg.is_sequence:
            value = folded_value(tensor)
            if value is not None:
                values.append(f"input[{i}] = <{_elements(value)}>")
    found = ""
    if values:
        found += " and with computed input tensors: " + ", ".join(values)
    if partial:
        found += " and with input tensors computed as partial shapes: "
        found += ",".join(partial)
    return found


def _elements(value: np.ndarray[Any, Any]) -> str:
    """ "1 2" for a vector, "[1 2][3 4]" for a matrix; the first of many numbers."""
    if value.size > _MOST_SHOWN or not value.size:
        first = value.flat[:_MOST_SHOWN]
        return " ".join(map(str, first.tolist())) + ("..." if value.size else "")
    if value.ndim > 1:
        return "".join(f"[{_elements(row)}]" for row in value)
    return " ".join(map(str, value.ravel().tolist()))


def _view(op: Op, arg: Arg, tensor: Tensor) -> Any:
    """The argument of `infer_shape` for one input tensor."""
    if arg.name in op.by_value_or_shape:
        value = folded_value(tensor)
        return tensor._shape if value is None else value
    if arg.name in op.by_value:
        value = folded_value(tensor)
        if value is None and arg.name in op.by_shape:
            return constant_shape(tensor)
        if arg.name in op.by_shape:
            check_rank(value.size)
            check_sizes(value.reshape(-1).tolist())
        return value
    if arg.name in op.by_shape:
        return constant_shape(tensor)
    if arg.name in op.by_type:
        return tensor._shape, tensor.dtype.base_dtype
    if arg.name in op.by_handle:
        return handle_shape(tensor)
    if arg.name in op.by_list:
        return tensor._shape, list_elements(tensor)
    return tensor._shape
