"""Python values as the values of eager tensors.

The rules are not those of constants in graphs: the first number of a list decides its
type, arrays are cast to a requested type, and so are numbers if they keep their kind.
Source: python/eager/pywrap_tensor.cc, python/lib/core/py_seq_tensor.cc (rules and
messages).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import DType, as_dtype, c_name
from tfteach.framework.tensor_util import equal_integers

_Array = np.ndarray[Any, Any]
# The messages of values that no type can hold.
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
_MIXED = "Can't convert Python sequence with mixed types to Tensor."
_OUT_OF_RANGE = "Can't convert Python sequence with out-of-range integer to Tensor."
_NOT_DOUBLE = (
    "Can't convert Python sequence with a value out of range for a double-precision "
    "float."
)


def eager_value(value: Any, dtype: DType | None = None) -> tuple[Any, DType]:
    """A value that is no tensor as an array or NumPy scalar, and its type.

    Args:
      value: a number or string, nested lists of them or of arrays, or an array.
      dtype: the required type, or None.

    Raises:
      TypeError: the value has another kind than `dtype`.
      ValueError: it is none of these, or the elements of a list differ in kind or size.
    """
    if dtype is not None:
        dtype = dtype.base_dtype
    kind: Any = type(value)
    if (kind is float or kind is int or kind is bool) and value:  # 0.0 equals -0.0
        return _number(value, kind, dtype)
    is_list = (kind is list or kind is tuple) and value
    if is_list and (dtype is None or dtype is dtypes.int32):
        sizes = int32_array(value)
        if sizes is not None:
            return sizes, dtypes.int32
    if _is_array(value):
        array, dtype = _from_numpy(np.asarray(value), dtype)
    else:
        array, dtype = _from_python(value, dtype)
    return _as_scalar(array), dtype


def int32_array(values: Sequence[Any]) -> _Array | None:
    """Sizes, axes and the like, without the questions that other lists need.

    Returns:
      None if there are others than plain integers that int32 holds.
    """
    for value in values:
        if type(value) is not int or not -(2**31) <= value < 2**31:
            return None
    return np.array(values, np.int32)


@functools.lru_cache(maxsize=1024)
def _number(value: Any, kind: type, dtype: DType | None) -> tuple[Any, DType]:
    """A Python number; its `kind` tells 1 from True, and from 1.0."""
    array, found = _from_python(value, dtype)
    return _as_scalar(array), found


def _as_scalar(array: _Array) -> Any:
    return array if array.ndim or array.dtype.hasobject else array[()]


def _is_array(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return True
    if isinstance(value, list | tuple | str | bytes | type):
        return False
    return callable(getattr(value, "__array__", None))


# ---- arrays


def _from_numpy(array: _Array, dtype: DType | None) -> tuple[_Array, DType]:
    if dtype in (None, dtypes.string) and array.dtype.kind in "OSU":
        return _strings_of(array), dtypes.string
    if dtype is None:
        try:
            dtype = as_dtype(array.dtype)
        except TypeError:
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: "
                f"{array.dtype})."
            ) from None
    elif dtype is dtypes.string and array.size:
        _refuse_object(array.reshape(-1)[0].item())
    return np.array(_castable(array, dtype), dtype.numpy_dtype, order="C"), dtype


def _castable(array: _Array, dtype: DType) -> _Array:
    """An array that NumPy casts to the type without a warning, whatever it loses."""
    if array.dtype.kind == "c" and not dtype.is_complex:
        return array.real
    if array.dtype.kind == "S":
        array = array.astype(np.str_)
    if array.dtype.kind == "U" and dtype.is_bool:
        return array.astype(np.int64)
    return array


def _strings_of(array: _Array) -> _Array:
    found = np.empty(array.size, object)
    for i, item in enumerate(array.reshape(-1).tolist()):
        if not isinstance(item, str | bytes):
            _refuse_object(item)
        found[i] = item.encode() if isinstance(item, str) else item
    return found.reshape(array.shape)


def _refuse_object(item: Any) -> NoReturn:
    raise ValueError(
        "Failed to convert a NumPy array to a Tensor (Unsupported object type "
        f"{type(item).__name__})."
    )


# ---- numbers, strings, and lists of them


def _from_python(value: Any, dtype: DType | None) -> tuple[_Array, DType]:
    sizes, first = _first_element(value)
    if 0 in sizes:
        dtype = dtype or dtypes.float32
        return np.empty(sizes, dtype.numpy_dtype), dtype
    inferred = _inferred_dtype(first)
    if inferred is dtypes.string:
        array, found = _strings(value, sizes), inferred
    else:
        array, found = _numbers(_checked(value, sizes, inferred), inferred, dtype)
    if dtype is None or found is dtype:
        return array, found
    if not _keeps_kind(found, dtype):
        raise TypeError(
            f"Cannot convert {value!r} to EagerTensor of dtype {c_name(dtype)}"
        )
    with np.errstate(all="ignore"):  # integers wrap around
        return array.astype(dtype.numpy_dtype), dtype


def _first_element(value: Any) -> tuple[list[int], Any]:
    """The sizes along first elements, and the first number; None behind a size 0."""
    sizes: list[int] = []
    while not isinstance(value, str | bytes | np.generic | dict | type):
        if isinstance(value, np.ndarray) and not value.ndim:
            return sizes, value[()]
        if not hasattr(value, "__getitem__"):
            break
        try:
            sizes.append(len(value))
        except TypeError as error:  # of a tensor: in lists, tf.stack takes them
            raise ValueError(f"TypeError: {error}") from None
        if not sizes[-1]:
            return sizes, None
        value = next(iter(value))
    return sizes, value


_KINDS: tuple[tuple[Any, DType], ...] = (
    (str | bytes, dtypes.string),
    (np.float64, dtypes.float64),
    (np.float16, dtypes.float16),
    (float | np.floating, dtypes.float32),
    (bool | np.bool_, dtypes.bool_),
    (int | np.integer | Dimension, dtypes.int64),
    (complex | np.complexfloating, dtypes.complex128),
)


def _inferred_dtype(first: Any) -> DType:
    if type(first) is float:  # np.float64 is a float, too
        return dtypes.float32
    for kinds, dtype in _KINDS:
        if isinstance(first, kinds):
            return dtype
    raise ValueError(
        f"Attempt to convert a value ({first!r}) with an unsupported type "
        f"({type(first)!r}) to a Tensor."
    )


# The types that numbers of several kinds may have at once.
_FLOATS = (dtypes.float32, dtypes.float64, dtypes.float16)
_INTEGERS = (dtypes.int32, dtypes.int64, dtypes.uint64)


def _numbers(
    array: _Array, inferred: DType, wanted: DType | None
) -> tuple[_Array, DType]:
    """Numbers in the wanted type if each of them has it, else in a wide one."""
    kind = array.dtype.kind
    if kind in "biufO" and wanted in _FLOATS:
        with np.errstate(over="ignore"):
            return array.astype(wanted.numpy_dtype), wanted
    if kind == "u" and wanted is dtypes.uint64:
        return array, wanted
    if inferred is dtypes.bool_ and wanted in _INTEGERS and kind in "bi":
        return array.astype(wanted.numpy_dtype), wanted
    if inferred is dtypes.int64:
        if kind == "i":
            return _integers(array) if wanted is None else (array, inferred)
        if kind in "uO":
            raise ValueError(_OUT_OF_RANGE)
        inferred = dtypes.float32
    if inferred is dtypes.bool_ or inferred is dtypes.complex128:
        if kind != ("b" if inferred is dtypes.bool_ else "c"):
            raise ValueError(_MIXED)
        return array, inferred
    if kind not in "biuf":
        raise ValueError(_MIXED)
    if inferred is dtypes.float32 and wanted is not None:
        inferred = dtypes.float64
    with np.errstate(over="ignore"):
        found = array.astype(inferred.numpy_dtype)
    if np.isinf(found).any() and not np.array_equal(np.isinf(found), np.isinf(array)):
        raise ValueError(_NOT_DOUBLE)
    return found, inferred


def _integers(array: _Array) -> tuple[_Array, DType]:
    """int32 if all fit, else int64."""
    narrow = array.astype(np.int32)
    if equal_integers(narrow, array):
        return narrow, dtypes.int32
    return array, dtypes.int64


def _keeps_kind(found: DType, wanted: DType) -> bool:
    """Whether a cast between the types is no surprise."""
    if wanted.is_integer:
        return found.is_integer
    if wanted.is_floating:
        return found.is_floating or found.is_integer
    if wanted.is_complex:
        return found.is_complex or found.is_floating or found.is_integer
    return wanted.is_quantized and found.is_integer


def _checked(value: Any, sizes: list[int], inferred: DType) -> _Array:
    """Numbers in lists as an array of the type that NumPy finds.

    Raises:
      ValueError: the lists differ in length or depth, or hold other things.
    """
    try:
        array = np.array(value)
        if array.dtype == object:  # Dimensions, or large numbers
            is_real = inferred in _FLOATS
            array = np.array(value, np.float64 if is_real else np.int64)
    except OverflowError:
        return np.array(value, object)
    except (ValueError, TypeError):
        array = np.empty(0)
    is_sound = list(array.shape) == sizes and array.dtype.kind in "biufc"
    if not is_sound or inferred is dtypes.complex128:
        leaves: list[Any] = []
        _leaves(value, sizes, leaves)
        if not all(isinstance(x, complex | np.complexfloating) for x in leaves):
            raise ValueError(_MIXED)
    return array


def _strings(value: Any, sizes: list[int]) -> _Array:
    leaves: list[Any] = []
    _leaves(value, sizes, leaves)
    array = np.empty(len(leaves), object)
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, np.ndarray) and not leaf.ndim:
            leaf = leaf[()]
        if not isinstance(leaf, str | bytes):
            raise ValueError(_MIXED)
        array[i] = leaf.encode() if isinstance(leaf, str) else bytes(leaf)
    return array.reshape(sizes)


def _leaves(value: Any, sizes: list[int], found: list[Any]) -> None:
    """Collect what is as deep as the first element.

    Raises:
      ValueError: a list differs in length, or ends at another depth.
    """
    if not sizes:
        found.append(value)
        return
    try:
        items = list(value)
    except TypeError:
        items = []
    if len(items) != sizes[0]:
        raise ValueError(_RAGGED)
    for item in items:
        _leaves(item, sizes[1:], found)
