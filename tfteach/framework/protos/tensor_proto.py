"""Conversion of arrays to TensorProto and back, with TF's choice of fields.

Source: python/framework/tensor_util.py, core/framework/tensor.proto.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype, bfloat16, string
from tfteach.framework.protos.attr_value import check_full_shape
from tfteach.framework.protos.wire_format import read_varint

# Type -> the repeated field that holds its values.
_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val",
    "uint8": "int_val", "int16": "int_val", "int8": "int_val", "uint16": "int_val",
    "string": "string_val", "complex64": "scomplex_val", "int64": "int64_val",
    "bool": "bool_val", "complex128": "dcomplex_val", "float16": "half_val",
    "bfloat16": "half_val", "uint32": "uint32_val", "uint64": "uint64_val",
    "qint8": "int_val", "quint8": "int_val", "qint32": "int_val",
    "qint16": "int_val", "quint16": "int_val",
}  # fmt: skip

# Types that TF always writes element by element.
_NEVER_BYTES = frozenset(
    ("string", "bool", "complex64", "complex128", "float16", "bfloat16", "uint16")
)

_MAX_RANK = 64  # NumPy's
_MAX_BYTES = 2**63 - 1  # of an array, even if it repeats one value
_MAX_FILLED_BYTES = 1 << 31  # the maximum size of a GraphDef


def make_tensor_proto(
    value: Any,
    dtype: DType | None = None,
    as_list: bool = False,
    given: int | None = None,
) -> Any:
    """An array as a TensorProto (its first `given` elements, if the rest repeats).

    A constant that repeats one value (an array with zero strides) is stored as that
    single value, arrays of several elements as their bytes (in the typed field if
    `as_list`), single elements in the typed field.
    """
    from tfteach.framework.protos import TensorProto

    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    dtype = as_dtype(array.dtype) if dtype is None else dtype
    proto = TensorProto(dtype=dtype.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    is_fill = array.size > 1 and not any(array.strides)
    in_bytes = dtype.name not in _NEVER_BYTES
    if array.size > 1 and in_bytes and not (is_fill or as_list or given):
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        proto.tensor_content = little.tobytes()
        return proto
    flat = array.reshape(-1)[: 1 if is_fill else given]
    field = getattr(proto, _FIELDS[dtype.name])
    if dtype is string:
        field.extend(v if isinstance(v, bytes) else str(v).encode() for v in flat)
    elif dtype.is_complex:
        field.extend(part for v in flat for part in (float(v.real), float(v.imag)))
    elif dtype.name in ("float16", "bfloat16"):
        field.extend(flat.view(np.uint16).tolist())
    elif dtype.is_quantized:
        field.extend(v[0] for v in flat.tolist())
    else:
        field.extend(flat.tolist())
    return proto


def make_ndarray(proto: Any) -> np.ndarray[Any, Any]:
    """The array that a TensorProto holds (strings as an object array of bytes).

    Raises:
      ValueError: the bytes or values do not match the shape, or the array would exceed
        NumPy's limits.
      TypeError: the type cannot be an array.
    """
    dtype = as_dtype(proto.dtype)
    if dtype.name not in _FIELDS:
        raise TypeError(f"Unsupported tensor type: {dtype.name}")
    check_full_shape(proto.tensor_shape)
    shape = tuple(d.size for d in proto.tensor_shape.dim)
    size_bytes = math.prod(shape) * dtype.numpy_dtype.itemsize
    if len(shape) > _MAX_RANK:
        raise ValueError(
            f"TensorProto of rank {len(shape)}: arrays have at most {_MAX_RANK} "
            "dimensions here"
        )
    if size_bytes > _MAX_BYTES:
        raise ValueError(
            f"TensorProto of type {dtype.name} and shape {list(shape)} is too large: "
            f"{size_bytes} bytes"
        )
    if proto.tensor_content:
        return _from_content(proto.tensor_content, dtype, shape)
    flat = _values(proto, dtype)[: math.prod(shape)]
    return _filled(flat, dtype, shape)


def _from_content(
    content: bytes, dtype: DType, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    if dtype is string:
        return _strings_from_content(content, shape)
    kind = dtype.numpy_dtype.newbyteorder("<")
    size_bytes = math.prod(shape) * kind.itemsize
    if len(content) != size_bytes:
        raise ValueError(
            f"TensorProto of type {dtype.name} and shape {list(shape)} needs "
            f"{size_bytes} bytes, got {len(content)}"
        )
    array = np.frombuffer(content, kind).astype(dtype.numpy_dtype)
    return array.reshape(shape)


def _strings_from_content(
    content: bytes, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """Strings as TensorFlow's C++ writes them: all lengths, then all bytes."""
    at, sizes = 0, []
    try:
        for _ in range(math.prod(shape)):
            size, at = read_varint(content, at)
            sizes.append(size)
    except IndexError:
        sizes.append(len(content))  # too long for what is left
    if at + sum(sizes) != len(content):
        raise ValueError(
            f"TensorProto of type string and shape {list(shape)}: {len(content)} bytes "
            "of tensor_content are not the lengths and characters of so many strings"
        )
    array = np.empty(len(sizes), object)
    for i, size in enumerate(sizes):
        array[i] = content[at : at + size]
        at += size
    return array.reshape(shape)


def _values(proto: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """The values of the typed field, truncated to the type's size as in TF's C++."""
    values = list(getattr(proto, _FIELDS[dtype.name]))
    flat: np.ndarray[Any, Any]
    if dtype is string:
        flat = np.empty(len(values), object)
        flat[:] = values
    elif dtype.is_complex:
        whole = values[: len(values) // 2 * 2]
        pairs = np.array(whole, dtype.real_dtype.numpy_dtype).reshape(-1, 2)
        flat = (pairs[:, 0] + 1j * pairs[:, 1]).astype(dtype.numpy_dtype)
    elif dtype.name == "float16" or dtype is bfloat16:
        flat = np.array(values, np.int64).astype(np.uint16).view(dtype.numpy_dtype)
    elif dtype.is_quantized:
        stored = dtype.numpy_dtype.fields[dtype.name][0]  # type: ignore[index]
        flat = np.array(values, np.int64).astype(stored).view(dtype.numpy_dtype)
    else:
        flat = np.array(values).astype(dtype.numpy_dtype)
    return flat


def _filled(
    flat: np.ndarray[Any, Any], dtype: DType, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """An array of this shape; the last value is repeated to fill it."""
    size = math.prod(shape)
    if len(flat) == size:
        return flat.reshape(shape)
    if len(flat) == 0:  # an empty list of values denotes zeros
        fill: Any = b"" if dtype is string else 0
        flat = np.full(1, fill, dtype.numpy_dtype)
    if len(flat) == 1:
        return np.broadcast_to(flat.reshape(()), shape)
    if size * dtype.numpy_dtype.itemsize > _MAX_FILLED_BYTES:
        raise ValueError(
            f"TensorProto of type {dtype.name} and shape {list(shape)} gives "
            f"{len(flat)} of {size} values, too many to fill up with the last"
        )
    return np.concatenate([flat, np.repeat(flat[-1:], size - len(flat))]).reshape(shape)
