"""Conversion of an op's attributes, as a caller wrote them, to the right types.

Source: python/eager/execute.py (`make_int`, `make_bool`, ...; order and messages).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.function_attribute import as_function
from tfteach.framework.shape import Shape, as_shape

# (name of the attribute, value) -> value
AttributeConverter = Callable[[str, Any], Any]


def as_int(name: str, value: Any) -> int:
    """An int; floats are truncated.  Raises: TypeError: `value` is not a number."""
    if type(value) is int:
        return value
    if not isinstance(value, str):
        try:
            return int(value)
        except (ValueError, TypeError):
            pass
    raise TypeError(f"Expected int for argument '{name}' not {value!r}.")


def as_float(name: str, value: Any) -> float:
    """A real number.  Raises: TypeError: `value` is not one."""
    if isinstance(value, numbers.Real | np.integer | np.floating):
        return float(value)
    raise TypeError(f"Expected float for argument '{name}' not {value!r}.")


def as_bool(name: str, value: Any) -> bool:
    """True or False.  Raises: TypeError: `value` is neither, but 1 or a NumPy bool."""
    if isinstance(value, bool):
        return value
    raise TypeError(f"Expected bool for argument '{name}' not {value!r}.")


def as_text(name: str, value: Any) -> str:
    """A string.  Raises: TypeError: `value` is not one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    raise TypeError(f"Expected string for argument '{name}' not {value!r}.")


def dtype_attribute(name: str, value: Any) -> DType:
    """An element type.  Raises: TypeError, with TF's message: `value` is not one."""
    try:
        return as_dtype(value).base_dtype
    except TypeError:
        raise TypeError(
            f"Expected DataType for argument '{name}' not {value!r}."
        ) from None


def shape_attribute(name: str, value: Any) -> Shape:
    """A static shape.  Raises: TypeError or ValueError: `value` is not one."""
    try:
        return as_shape(value)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"Error converting {name} to a TensorShape: {error}.") from None


def list_of(element: AttributeConverter) -> AttributeConverter:
    """The converter of a list of such values, to a tuple."""

    def convert(name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise TypeError(f"Expected list for '{name}' argument, not {value!r}.")
        return tuple(element(name, item) for item in value)

    return convert


# By the annotation of an op's field.
CONVERTERS: dict[str, AttributeConverter] = {
    "bool": as_bool,
    "int": as_int,
    "float": as_float,
    "str": as_text,
    "DType": dtype_attribute,
    "Shape": shape_attribute,
    "tuple[int, ...]": list_of(as_int),
    "tuple[float, ...]": list_of(as_float),
    "tuple[bool, ...]": list_of(as_bool),
    "tuple[str, ...]": list_of(as_text),
    "tuple[DType, ...]": list_of(dtype_attribute),
    "tuple[Shape, ...]": list_of(shape_attribute),
    "Function": as_function,
    "tuple[Function, ...]": list_of(as_function),
}
