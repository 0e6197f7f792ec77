"""Sparse tensors serialized to strings, and parsed.

Source: core/ops/sparse_ops.cc, core/kernels/serialize_sparse_op.cc,
deserialize_sparse_string_op.cc; python/ops/sparse_ops.py.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, c_name, dtypes_of, int64, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos.tensor_proto import make_ndarray
from tfteach.framework.protos.wire_format import chunk, read_varint, varint
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.sparse.coo_arrays import check_ordered
from tfteach.ops.sparse.sparse_dense_math import as_sparse, parts_of
from tfteach.ops.sparse.sparse_shape import SparseShapeOp

_FORMS = dtypes_of("string variant")


def serialized(array: Any, dtype: DType) -> bytes:
    """A serialized TensorProto with the elements as its content."""
    sizes = b""
    for size in array.shape:
        field = b"\x08" + varint(size) if size else b""
        sizes += chunk(b"\x12", field)
    if dtype is string:
        elements = array.ravel().tolist()
        content = b"".join(varint(len(e)) for e in elements) + b"".join(elements)
    else:
        content = np.ascontiguousarray(array).tobytes()
    found = b"\x08" + varint(dtype.as_datatype_enum) + chunk(b"\x12", sizes)
    return found + chunk(b"\x22", content) if content else found


def parsed(data: bytes) -> Any:
    """The array of a serialized TensorProto.

    Raises:
      InvalidArgumentError: it is invalid.
    """
    from tfteach.framework.protos import TensorProto

    try:
        proto = TensorProto.FromString(data)
        if proto.dtype != string.as_datatype_enum or not proto.tensor_content:
            return make_ndarray(proto)
        shape = [dim.size for dim in proto.tensor_shape.dim]
        return _strings(proto.tensor_content, shape)
    except Exception as error:  # protobuf's exception depends on the implementation
        raise invalid_argument("Could not parse serialized proto") from error


def _strings(content: bytes, shape: list[int]) -> Any:
    sizes, at = [], 0
    for _ in range(math.prod(shape)):
        size, at = read_varint(content, at)
        sizes.append(size)
    found = np.empty(len(sizes), object)
    for i, size in enumerate(sizes):
        found[i] = content[at : at + size]
        at += size
    return found.reshape(shape)


class _SerializeOp(SparseShapeOp, abstract=True):
    signature = (
        "sparse_indices: int64, sparse_values: T, sparse_shape: int64 "
        "-> serialized_sparse: out_type"
    )
    out_type: DType = string
    out_type_allowed = _FORMS

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None] * 3

    def _entry(self, indices: Any, values: Any, size: Any) -> list[Any]:
        if self.out_type is not string:  # variants are the arrays themselves
            return [indices, values, size]
        dtype = as_dtype(values.dtype) if values.dtype != object else string
        return [
            serialized(indices, int64),
            serialized(values, dtype),
            serialized(size, int64),
        ]


class SerializeSparse(_SerializeOp):
    """Serialize indices, values and shape.  Source: sparse_ops.cc."""

    def infer_shape(self, indices: Shape, values: Shape, size: Shape) -> Shape:
        shapes.with_rank(indices, 2)
        shapes.with_rank(values, 1)
        shapes.with_rank(size, 1)
        return (3,)

    def compute(self, xp: ArrayModule, indices: Array, values: Array, size: Any) -> Any:
        return _as_rows([self._entry(indices, values, size)])[0]


class SerializeManySparse(_SerializeOp):
    """Serialize each row of a sparse tensor.

    Source: sparse_ops.cc, SerializeManySparse.
    """

    def infer_shape(self, indices: Shape, values: Shape, size: Shape) -> Shape:
        shapes.with_rank(indices, 2)
        shapes.with_rank(values, 1)
        shapes.with_rank(size, 1)
        return (None, 3)

    def compute(self, xp: ArrayModule, indices: Array, values: Array, size: Any) -> Any:
        if len(size) <= 1:
            raise invalid_argument(
                f"Rank of input SparseTensor should be > 1, but saw rank: {len(size)}"
            )
        check_ordered(xp, indices, size)
        bounds = np.searchsorted(indices[:, 0], np.arange(int(size[0]) + 1))
        return _as_rows([
            self._entry(indices[i:j, 1:], values[i:j], size[1:])
            for i, j in pairwise(bounds)
        ])  # fmt: skip


def _as_rows(rows: list[list[Any]]) -> Any:
    found = np.empty((len(rows), 3), object)
    for i, row in enumerate(rows):
        for j, part in enumerate(row):
            found[i, j] = part
    return found


class DeserializeSparse(SparseShapeOp, MultiOutputOp):
    """Serialized sparse tensors, stacked.  Source: sparse_ops.cc."""

    signature = (
        "serialized_sparse: Tserialized -> sparse_indices: int64, "
        "sparse_values: dtype, sparse_shape: int64"
    )
    dtype: DType
    Tserialized = _FORMS
    Tserialized_default = string

    def infer_shape(self, serialized: Shape) -> list[Shape]:
        shapes.with_rank_at_least(serialized, 1)
        _check_width(serialized)
        return [(None, None), (None,), (None,)]

    def compute(self, xp: ArrayModule, serialized: Array) -> Any:
        shown = shapes.text(serialized.shape)
        if not serialized.ndim:
            raise invalid_argument(
                f"Serialized sparse should have non-zero rank {shown}"
            )
        return _joined(serialized, self.dtype, serialized.ndim > 1)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None]


class DeserializeManySparse(SparseShapeOp, MultiOutputOp):
    """Serialized sparse tensors, stacked.  Source: sparse_ops.cc."""

    signature = (
        "serialized_sparse: string -> sparse_indices: int64, "
        "sparse_values: dtype, sparse_shape: int64"
    )
    dtype: DType

    def infer_shape(self, serialized: Shape) -> list[Shape]:
        _check_width(shapes.with_rank(serialized, 2))
        return [(None, None), (None,), (None,)]

    def compute(self, xp: ArrayModule, serialized: Array) -> Any:
        if serialized.ndim == 1:  # TensorFlow treats it as one row
            serialized = serialized[None]
        return _joined(serialized, self.dtype, True)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None]


def _check_width(serialized: Shape) -> None:
    if serialized is not None and serialized[-1] not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {serialized[-1]}")


def _joined(serialized: Any, dtype: DType, is_stacked: bool) -> Any:
    """Indices, values and shape of all; indices start with the tensor's index."""
    shown = shapes.text(serialized.shape)
    if serialized.shape[-1] != 3:
        raise invalid_argument(
            f"Serialized sparse should have 3 as the last dimension {shown}"
        )
    if not serialized.size:
        raise invalid_argument(
            "Serialized sparse should have at least 1 serialized tensor, but has a "
            f"zero dimension {shown}"
        )
    outer = serialized.shape[:-1]
    indices: list[Any] = []
    values: list[Any] = []
    sizes: list[Any] = []
    for number, row in enumerate(serialized.reshape(-1, 3).tolist()):
        places, elements, size = _checked(row, number, dtype)
        if sizes and len(size) != len(sizes[0]):
            raise invalid_argument(
                "Inconsistent shape across SparseTensors: rank prior to SparseTensor"
                f"[{number}] was: {len(sizes[0])} but rank of SparseTensor[{number}] "
                f"is: {len(size)}"
            )
        before = np.array(np.unravel_index(number, outer), np.int64)
        before = np.broadcast_to(before, (len(places), len(outer)))
        indices.append(np.concatenate([before, places], axis=1))
        values.append(elements)
        sizes.append(size)
    largest = np.max(sizes, axis=0).astype(np.int64)
    if not is_stacked:
        return indices[0], values[0], largest
    whole = np.concatenate([np.array(outer, np.int64), largest])
    return np.concatenate(indices), np.concatenate(values), whole


def _checked(row: list[Any], number: int, dtype: DType) -> tuple[Any, Any, Any]:
    places, elements, size = (
        parsed(bytes(part)) if isinstance(part, bytes) else part for part in row
    )
    kind = string if elements.dtype == object else as_dtype(elements.dtype)
    which = f"SparseTensor[{number}]"
    for part, what, array, rank in (  # TensorFlow numbers the third part 1, too
        (0, "represent an index matrix but received shape", places, 2),
        (1, "represent a values vector but received shape", elements, 1),
        (1, "be a shape vector but its shape is", size, 1),
    ):
        if array.ndim != rank:
            raise invalid_argument(
                f"Expected serialized_sparse[{number}, {part}] to {what} "
                f"{shapes.text(array.shape)}"
            )
    if kind is not dtype:
        raise invalid_argument(
            f"Requested SparseTensor of type {c_name(dtype)} but {which}.values.dtype()"
            f" == {c_name(kind)}"
        )
    for what, ours, given in (
        (
            f"row counts of {which}.indices and {which}.values to match",
            len(places),
            len(elements),
        ),
        (
            f"column counts of {which}.indices to match size of {which}.shape",
            places.shape[1],
            len(size),
        ),
    ):
        if ours != given:
            raise invalid_argument(
                f"Expected {what} but they do not: {ours} vs. {given}"
            )
    return places, elements, size


# ---- functions


@export("serialize_sparse", "io.serialize_sparse")
def serialize_sparse(
    sp_input: SparseTensorLike, name: str | None = None, out_type: DTypeLike = string
) -> Tensor:
    """A SparseTensor as three strings: its indices, values and shape.

    Args:
      sp_input: a SparseTensor.
      name: the op's name.
      out_type: tf.string, or tf.variant for arrays that only datasets can use.

    Returns:
      A Tensor [3] of serialized TensorProtos, or of variants.

    Raises:
      TypeError: `sp_input` is not a SparseTensor.

    Source: SerializeSparse in core/ops/sparse_ops.cc.
    """
    parts = parts_of(as_sparse(sp_input))
    return SerializeSparse(as_dtype(out_type))(*parts, name=name)


@export("serialize_many_sparse", "io.serialize_many_sparse")
def serialize_many_sparse(
    sp_input: SparseTensorLike, name: str | None = None, out_type: DTypeLike = string
) -> Tensor:
    """Each row of a SparseTensor as three strings: its indices, values and shape.

    Args:
      sp_input: a SparseTensor [rows, ...] of rank 2 or more, with ordered indices.
      name: the op's name.
      out_type: tf.string, or tf.variant for arrays that only datasets can use.

    Returns:
      A Tensor [rows, 3] of serialized TensorProtos, or of variants.

    Raises:
      TypeError: `sp_input` is not a SparseTensor.
      tf.errors.InvalidArgumentError: in a run, indices are out of order or bounds.

    Example:
      >>> rows = tf.serialize_many_sparse(tf.sparse.from_dense([[1, 0], [0, 2]]))
      >>> back = tf.deserialize_many_sparse(rows, tf.int32)

    Source: SerializeManySparse in core/ops/sparse_ops.cc.
    """
    parts = parts_of(as_sparse(sp_input))
    return SerializeManySparse(as_dtype(out_type))(*parts, name=name)


@export("deserialize_many_sparse", "io.deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Serialized sparse tensors, stacked along a new first axis.

    Args:
      serialized_sparse: a string Tensor [count, 3].
      dtype: the type of their values.
      rank: the rank of the result, if it should be known statically.
      name: the op's name.

    Returns:
      A SparseTensor [count, ...]; its sizes are the maxima of theirs.

    Raises:
      tf.errors.InvalidArgumentError: in a run, types or ranks differ, or a string is
        not a serialized tensor.

    Source: DeserializeManySparse in core/ops/sparse_ops.cc.
    """
    op = DeserializeManySparse(as_dtype(dtype))
    return _with_rank(op(serialized_sparse, name=name), rank)


def deserialize_sparse(
    serialized_sparse: Any,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Serialized sparse tensors, stacked along new first axes.

    Args:
      serialized_sparse: a string Tensor [..., 3].
      dtype: the type of their values.
      rank: the rank of the result, if it should be known statically.
      name: the op's name.

    Returns:
      A SparseTensor [..., their axes]; its sizes are the maxima of theirs.

    Raises:
      tf.errors.InvalidArgumentError: in a run, types or ranks differ, or a string is
        not a serialized tensor.

    Source: DeserializeSparse in core/ops/sparse_ops.cc.
    """
    op = DeserializeSparse(as_dtype(dtype))
    return _with_rank(op(serialized_sparse, name=name), rank)


def _with_rank(parts: list[Tensor], rank: int | None) -> SparseTensor:
    indices, values, size = parts
    indices.set_shape([None, rank])
    size.set_shape([rank])
    return SparseTensor(indices, values, size)
