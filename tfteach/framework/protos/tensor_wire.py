"""Arrays as TensorProto in protobuf's wire format, without copies in between.

A message of a cluster is mostly the bytes of its tensors.  They are written as pieces
that refer to the arrays, which one `b"".join` copies into the message, and read as
views of the message.
Source: core/framework/tensor.proto.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype, string
from tfteach.framework.protos.tensor_proto import make_ndarray
from tfteach.framework.protos.wire_format import chunk, read_varint, varint

Piece = bytes | memoryview
_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5  # wire types


def tensor_pieces(value: Any, dtype: DType) -> list[Piece]:
    """The pieces of an array's TensorProto.

    Args:
      value: an array or a NumPy scalar; bytes, or an array of them, for strings.
      dtype: its type.
    """
    array = np.asarray(value)
    head = b"\x08" + varint(dtype.base_dtype.as_datatype_enum)
    sizes = (chunk(b"\x12", b"\x08" + varint(size)) for size in array.shape)
    head += chunk(b"\x12", b"".join(sizes))
    if dtype.base_dtype is string:
        if array.dtype.kind == "S":  # a single bytes object: NumPy drops trailing zeros
            array = np.array(value, object)
        return [head, *(chunk(b"\x42", _text(item)) for item in array.reshape(-1))]
    if not array.size:
        return [head]
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    content = memoryview(data)  # type: ignore[arg-type]  # NumPy's stubs for 3.11
    return [head, b"\x22" + varint(content.nbytes), content]


def _text(item: Any) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode()


def message_size(pieces: list[Piece]) -> int:
    """The number of bytes of some pieces."""
    return sum(len(piece) for piece in pieces)


def nested(tag: bytes, pieces: list[Piece]) -> list[Piece]:
    """A length-delimited field that holds these pieces."""
    return [tag + varint(message_size(pieces)), *pieces]


def fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: number, and an int or a view of its bytes.

    Raises:
      ValueError: it is no message.
    """
    at, end = 0, len(message)
    try:
        while at < end:
            key, at = read_varint(message, at)
            kind = key & 7
            if kind == _VARINT:
                value, at = read_varint(message, at)
                yield key >> 3, value
                continue
            if kind == _LENGTH:
                size, at = read_varint(message, at)
            elif kind in (_FIXED_64, _FIXED_32):
                size = 8 if kind == _FIXED_64 else 4
            else:
                raise ValueError(f"a field has the unknown wire type {kind}")
            if at + size > end:
                raise IndexError("a field is longer than its message")
            yield key >> 3, message[at : at + size]
            at += size
    except IndexError as error:
        raise ValueError(f"malformed message: {error}") from None


def octets(value: Any) -> bytes:
    """The bytes of a field that should have some.

    Raises:
      ValueError: it holds a number.
    """
    if not isinstance(value, memoryview):
        raise ValueError("a field holds a number instead of bytes")
    return value.tobytes()


def read_tensor(message: memoryview) -> Any:
    """The array of an encoded TensorProto: its own copy, which can be written to.

    Raises:
      ValueError: the message is malformed.
      TypeError: the type cannot be an array.
    """
    from tfteach.framework.protos import TensorProto

    small = []
    content: memoryview | None = None
    for number, value in fields(message):
        if number == 4:
            content = memoryview(value)
        else:
            small.append((number, value))
    if content is None or not len(content):
        return np.array(make_ndarray(TensorProto.FromString(bytes(message))))
    shape: tuple[int, ...] = ()
    dtype = None
    for number, value in small:
        if number == 1:
            dtype = as_dtype(value)
        elif number == 2:
            shape = tuple(_size(dim) for field, dim in fields(value) if field == 2)
    if dtype is None:
        raise ValueError("malformed tensor: bytes without a type")
    if dtype is string:
        return _strings(content, math.prod(shape)).reshape(shape)
    found = np.frombuffer(content, dtype.numpy_dtype)  # ValueError: not whole elements
    return found.reshape(shape).copy()


def _strings(content: memoryview, count: int) -> Any:
    """The strings that servers of TensorFlow write: all lengths, then all bytes."""
    sizes, at = [], 0
    try:
        for _ in range(count):
            size, at = read_varint(content, at)
            sizes.append(size)
    except IndexError as error:
        raise ValueError(f"malformed strings: {error}") from None
    if at + sum(sizes) != len(content):
        raise ValueError("malformed strings: their lengths are not those of the bytes")
    found = np.empty(count, object)
    for i, size in enumerate(sizes):
        found[i] = bytes(content[at : at + size])
        at += size
    return found


def _size(dimension: memoryview) -> int:
    size: int = next((value for field, value in fields(dimension) if field == 1), 0)
    if size >> 63:
        raise ValueError(f"malformed shape: a dimension is {size - (1 << 64)}")
    return size
