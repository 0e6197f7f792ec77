"""Conversion of Python values to arrays, as in TensorFlow.

Source: python/framework/tensor_util.py (`make_tensor_proto`; rules and messages).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import DType, as_dtype, string, uint64
from tfteach.framework.operation import Tensor


def as_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """A Python value converted to an array as in TF.

    Python ints become int32 (int64 when they do not fit), floats float32, strings
    bytes; the types of NumPy values are preserved.

    Raises:
      TypeError: the value does not match `dtype`, or cannot be an array.
      ValueError: it is None, or contains lists of different lengths.
      OverflowError: a number is too large for any integer type.
    """
    if value is None:
        raise ValueError("None values not supported.")
    kind = type(value)
    if kind is float and (dtype is None or dtype.is_floating):
        numpy_dtype = np.float32 if dtype is None else dtype.numpy_dtype
        if abs(value) < 60_000:  # in the range of every float type
            return np.array(value, numpy_dtype)
        with np.errstate(over="ignore"):  # infinity, without a warning
            return np.array(value, numpy_dtype)
    if isinstance(value, np.ndarray | np.generic):
        return _from_numpy(np.asarray(value), dtype)
    if _is_array_like(value):
        if isinstance(value, type):
            raise ValueError(f"invalid __array_struct__: {value!r} is a type")
        return _from_numpy(np.asarray(value), dtype)
    if dtype is not None:
        _check_elements(value, dtype)
        if dtype.is_quantized:  # a tuple is a single number
            return np.array(value, dtype.numpy_dtype)
    if dtype is string or (dtype is None and _is_text(value)):
        return _strings(value)
    array = _dense(value, dtype)
    if dtype is not None:
        # Integers wrap around on overflow, as in TF.
        return array.astype(dtype.numpy_dtype)
    if array.dtype == object or array.dtype.kind in "USMm":
        raise _not_convertible(value)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64:
        narrow = array.astype(np.int32)
        if equal_integers(narrow, array):  # all of them fit
            return narrow
    as_dtype(array.dtype)
    return array


def equal_integers(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """Whether two integer arrays of one shape are equal."""
    if x.size < 32:  # lists cost less than ufuncs: indices of slices, shapes
        return bool(x.tolist() == y.tolist())
    return bool(np.array_equal(x, y))


def _is_array_like(value: Any) -> bool:
    if isinstance(value, list | tuple | int | str | bytes | Tensor):
        return False
    if isinstance(value, bytearray | memoryview):
        return True
    return callable(getattr(value, "__array__", None))


def _from_numpy(
    array: np.ndarray[Any, Any], dtype: DType | None
) -> np.ndarray[Any, Any]:
    if dtype is None:
        dtype = as_dtype(array.dtype)
    if dtype is string:
        if array.dtype.kind in "US":  # a list without rows would lose the other sizes
            return _strings(array.tolist()).reshape(array.shape)
        return _strings(array)
    # A copy: the graph must not change with the caller's array.
    return np.array(array, dtype.numpy_dtype, order="C")


def _dense(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """Numbers in lists as an array; if a type is given, they are in its range."""
    wide = dtype is not None and (dtype.is_floating or dtype.is_complex)
    try:
        array = np.array(value, dtype.numpy_dtype if dtype and wide else None)
        if dtype is not None and dtype.is_integer and array.dtype.kind in "Ou":
            array = _whole_numbers(value, dtype)
    except NotImplementedError:  # from Tensor.__array__
        raise TypeError("List of Tensors when single Tensor expected") from None
    except ValueError:
        found, wanted = _common_sizes(value), _sizes_of_first(value)
        if found == wanted and dtype is None:
            raise _not_convertible(value) from None
        raise _ragged(value, found, wanted) from None
    found, wanted = list(array.shape), _sizes_of_first(value)
    if found != wanted:
        raise _ragged(value, found, wanted)
    return array


def _whole_numbers(value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """Numbers that NumPy does not convert to int64: `Dimension`s, and large ones."""
    try:
        return np.array(value, np.uint64 if dtype is uint64 else np.int64)
    except OverflowError:
        raise OverflowError(
            f"Python int too large to convert to C long: {value!r}"
        ) from None


def _not_convertible(value: Any) -> TypeError:
    return TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: "
        f"{value!r}. Consider casting elements to a supported type."
    )


def _ragged(value: Any, found: list[int], wanted: list[int]) -> ValueError:
    return ValueError(
        f"Argument must be a dense tensor: {value!r} - got shape {found}, but wanted "
        f"{wanted}."
    )


# ---- lists in lists


def _sizes_of_first(value: Any) -> list[int]:
    """The lengths of the list, of its first element, and so on."""
    sizes: list[int] = []
    while isinstance(value, list | tuple):
        sizes.append(len(value))
        if not value:
            break
        value = value[0]
    return sizes


def _common_sizes(value: Any) -> list[int]:
    """The sizes, as far as they are the same everywhere."""
    if not isinstance(value, list | tuple):
        return list(np.shape(value)) if isinstance(value, np.ndarray) else []
    if not value:
        return [0]
    sizes = [_common_sizes(item) for item in value]
    common = sizes[0]
    for other in sizes[1:]:
        same = [a == b for a, b in zip(common, other, strict=False)]
        common = common[: same.index(False) if False in same else len(same)]
    return [len(value), *common]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple | range):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _is_text(value: Any) -> bool:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return isinstance(value, str | bytes)


_REAL = (numbers.Real, np.integer, np.floating)
_ACCEPTED: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("is_bool", (bool,)),
    ("is_integer", (numbers.Integral, np.integer, Dimension)),
    ("is_floating", _REAL),
    ("is_complex", (numbers.Complex, np.number)),
)


def _check_elements(value: Any, dtype: DType) -> None:
    """TF's rule: a Python value must be of the required kind; none is truncated."""
    if dtype.is_quantized:
        _check_quantized(value, dtype)
        return
    if dtype is string:
        accepted: tuple[type, ...] = (str, bytes)
    else:
        accepted = next((t for flag, t in _ACCEPTED if getattr(dtype, flag)), ())
    for leaf in _leaves(value):
        # A Python bool is an int, in TF as in Python.
        if not isinstance(leaf, accepted):
            kind = f"'{type(leaf).__name__}'"
            if isinstance(leaf, Tensor):
                kind = "containing Tensors"
            raise TypeError(
                f"Expected {dtype.name}, got {leaf!r} of type {kind} instead."
            )


def _check_quantized(value: Any, dtype: DType) -> None:
    """A number is a tuple of one int; lists are axes."""
    if isinstance(value, list):
        for item in value:
            _check_quantized(item, dtype)
        return
    found = value if isinstance(value, tuple) else (object,)
    for leaf in found:
        if not isinstance(leaf, numbers.Integral | np.integer):
            raise TypeError(
                f"Expected {dtype.name}, got {value!r} of type "
                f"'{type(value).__name__}' instead: write (3,) for 3."
            )


def _strings(value: Any) -> np.ndarray[Any, Any]:
    """Strings as an object array of bytes (text in UTF-8)."""
    if isinstance(value, np.ndarray):
        leaves, sizes = value.reshape(-1).tolist(), list(value.shape)
    else:
        leaves, sizes = list(_leaves(value)), _common_sizes(value)
        wanted = _sizes_of_first(value)
        if sizes != wanted or math.prod(sizes) != len(leaves):
            raise _ragged(value, sizes, wanted)
    array = np.empty(len(leaves), object)
    for i, leaf in enumerate(leaves):
        if not isinstance(leaf, str | bytes):
            raise TypeError(
                f"Expected string, got {leaf!r} of type '{type(leaf).__name__}' "
                "instead."
            )
        array[i] = leaf.encode() if isinstance(leaf, str) else leaf
    return array.reshape(sizes)
