"""Serialized Examples as tensors.

Source: core/ops/parsing_ops.cc, core/kernels/example_parsing_ops.cc,
core/util/example_proto_fast_parsing.cc (checks and messages).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, c_name, dtypes_of
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.io.example_wire import (
    BYTES,
    FLOATS,
    INTS,
    MALFORMED,
    NO_KIND,
    UNSUPPORTED,
    Column,
    Layout,
    Malformed,
    Span,
    columns_of,
    layout_of,
    values_of,
)

FEATURE_TYPES = dtypes_of("float32 int64 string")
KIND_OF = {"float32": FLOATS, "int64": INTS, "string": BYTES}
_TYPE_NAMES = {FLOATS: "float", INTS: "int64", BYTES: "string"}


class Dense(NamedTuple):
    """A dense feature.

    Attributes:
      key: its name.
      dtype: its type.
      shape: that of one record's values.
      default: the values of records that lack it; for a variable length the padding.
    """

    key: bytes
    dtype: DType
    shape: tuple[int | None, ...]
    default: Array

    @property
    def is_variable(self) -> bool:
        return bool(self.shape) and self.shape[0] is None

    @property
    def stride(self) -> int:
        """The number of values along the variable axis, or of all."""
        rest = self.shape[1:] if self.is_variable else self.shape
        return math.prod(size or 0 for size in rest)


class Sparse(NamedTuple):
    """A feature whose lists have any length."""

    key: bytes
    dtype: DType


def dense_features(
    keys: Sequence[bytes], types: Sequence[DType], sizes: Any, defaults: Sequence[Array]
) -> list[Dense]:
    """The dense features of an op, whose defaults are checked.

    Raises:
      InvalidArgumentError: a default does not fit.
    """
    found = []
    for d, (key, dtype, shape) in enumerate(zip(keys, types, sizes, strict=True)):
        default = defaults[d]
        feature = Dense(key, dtype, tuple(shape or ()), default)
        if feature.is_variable and default.size != 1:
            raise invalid_argument(
                f"dense_shape[{d}] is a variable length shape: {shapes.text(shape)}, "
                f"therefore def_value[{d}] must contain a single element ( the padding "
                f"element). But its shape is: {shapes.text(default.shape)}"
            )
        if not feature.is_variable and default.size and default.shape != feature.shape:
            raise invalid_argument(
                f"def_value[{d}].shape() == {shapes.text(default.shape)} is not "
                f"compatible with dense_shapes_[{d}] == {shapes.text(shape)}"
            )
        found.append(feature)
    return found


class ParseExample(MultiOutputOp):
    """Examples as tensors.  Source: core/ops/parsing_ops.cc, ParseExample."""

    signature = (
        "serialized: string, names: string, sparse_keys: Nsparse*string, "
        "dense_keys: Ndense*string, dense_defaults: *Tdense -> "
        "sparse_indices: Nsparse*int64, sparse_values: *sparse_types, "
        "sparse_shapes: Nsparse*int64, dense_values: *Tdense"
    )
    Tdense_allowed = FEATURE_TYPES
    sparse_types_allowed = FEATURE_TYPES
    Nsparse: int
    Ndense: int
    sparse_types: tuple[DType, ...]
    Tdense: tuple[DType, ...]
    dense_shapes: tuple[Shape, ...]

    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False  # so that static shapes are TensorFlow's
    minimum: ClassVar[dict[str, int]] = {"Nsparse": 0, "Ndense": 0}

    def infer_shape(
        self,
        serialized: Shape,
        names: Shape,
        sparse_keys: list[Shape],
        dense_keys: list[Shape],
        dense_defaults: list[Shape],
    ) -> list[Shape]:
        (count,) = shapes.with_rank(serialized, 1)
        shapes.with_rank(names, 1)
        return [
            *sparse_shapes(self.sparse_types, 2),
            *(None if s is None else (count, *s) for s in self.dense_shapes),
        ]

    def compute(
        self, xp: ArrayModule, serialized: Array, names: Array, *rest: Array
    ) -> tuple[Any, ...]:
        if serialized.ndim != 1:
            raise invalid_argument(
                "Expected serialized to be a vector, got shape: "
                f"{shapes.text(serialized.shape)}"
            )
        if names.size and len(names) != len(serialized):
            raise invalid_argument(
                "Expected len(names) == len(serialized), but got: "
                f"{len(names)} vs. {len(serialized)}"
            )
        keys = [key.item() for key in rest[: len(self.sparse_types)]]
        sparse = [Sparse(*pair) for pair in zip(keys, self.sparse_types, strict=True)]
        rest = rest[len(sparse) :]
        keys = [key.item() for key in rest[: self.Ndense]]
        dense = dense_features(
            keys, self.Tdense, self.dense_shapes, rest[self.Ndense :]
        )
        return parse_batch(serialized.tolist(), names.tolist(), sparse, dense)


def sparse_shapes(types: Sequence[DType], rank: int) -> list[Shape]:
    """The static shapes of indices, values and shapes of sparse outputs."""
    count = len(types)
    return [(None, rank)] * count + [(None,)] * count + [(rank,)] * count


def parse_batch(
    records: list[bytes], names: list[bytes], sparse: list[Sparse], dense: list[Dense]
) -> tuple[Any, ...]:
    """The outputs of ParseExample."""
    try:
        keys = [*(one.key for one in sparse), *(one.key for one in dense)]
        columns = columns_of(records, keys)
        indices, values, sizes = [], [], []
        for feature, column in zip(sparse, columns, strict=False):
            parts = _sparse(feature, column)
            indices.append(parts[0])
            values.append(parts[1])
            sizes.append(parts[2])
        found = [
            _dense(feature, column)
            for feature, column in zip(dense, columns[len(sparse) :], strict=True)
        ]
    except (Malformed, _Unfit):
        raise _batch_error(records, names, sparse, dense) from None
    return (*indices, *values, *sizes, *found)


class _Unfit(Exception):
    """Some record has other values than a feature takes."""


def _sparse(feature: Sparse, column: Column) -> tuple[Any, Any, Any]:
    """Indices, values and shape of a sparse feature."""
    kinds, counts, values = column
    wanted = KIND_OF[feature.dtype.name]
    if not ((kinds == wanted) | (kinds == NO_KIND)).all():
        raise _Unfit
    indices = np.empty((len(values), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    indices[:, 1] = np.arange(len(values)) - np.repeat(starts, counts)
    size = np.array([len(counts), counts.max(initial=0)], np.int64)
    return indices, values.astype(feature.dtype.numpy_dtype, copy=False), size


def _dense(feature: Dense, column: Column) -> Any:
    """The values of a dense feature in all records."""
    kinds, counts, values = column
    is_there = kinds == KIND_OF[feature.dtype.name]
    if not (is_there | (kinds == NO_KIND)).all():
        raise _Unfit
    dtype, stride = feature.dtype.numpy_dtype, feature.stride
    if feature.is_variable:
        return _padded(feature, counts, values.astype(dtype, copy=False))
    if (counts[is_there] != stride).any():
        raise _Unfit
    shape: Any = (len(counts), *feature.shape)
    if is_there.all():
        return values.astype(dtype, copy=False).reshape(shape)
    if not feature.default.size:
        raise _Unfit
    result = np.empty(shape, dtype)
    result[:] = feature.default
    result[is_there] = values.reshape(-1, *feature.shape)
    return result


def _padded(feature: Dense, counts: Any, values: Any) -> Any:
    """Lists of several lengths as one array, filled up with the padding."""
    stride = feature.stride
    if stride and (counts % stride).any():
        raise _Unfit
    most = int(counts.max(initial=0))
    flat = np.empty((len(counts), most), values.dtype)
    flat[:] = feature.default.reshape(-1)[0]
    flat[np.arange(most) < counts[:, None]] = values
    steps = most // stride if stride else 0
    return flat.reshape(len(counts), steps, *feature.shape[1:])


# ---- errors: the first one that TensorFlow would meet


def _batch_error(
    records: list[bytes], names: list[bytes], sparse: list[Sparse], dense: list[Dense]
) -> OpError:
    for i, record in enumerate(records):
        name = names[i].decode("utf-8", "replace") if names else "<unknown>"
        layout = layout_or_error(record)
        for key in reversed(layout.features):
            start = f"Name: {name}, Key: {printed(key)}, Index: {i}. "
            check_kinds(start, layout, key, sparse, dense)
            if any(key == one.key for one in sparse) or any(
                key == one.key for one in dense
            ):
                count = len(values_or_error(record, layout.features[key], start))
            for feature in dense:
                if feature.key == key:
                    check_count(start, feature, count)
        for feature in dense:
            span = layout.features.get(feature.key)
            check_presence(f"Name: {name}, ", feature, span)
    return invalid_argument("The Examples differ in their types")


def printed(key: bytes) -> str:
    """A key in a message."""
    return key.decode("utf-8", "replace")


def layout_or_error(record: bytes) -> Layout:
    try:
        return layout_of(record)
    except ValueError:
        raise unreadable(record) from None


def unreadable(record: bytes) -> OpError:
    return invalid_argument(
        f"Could not parse example input, value: '{record.decode('utf-8', 'replace')}'"
    )


def values_or_error(record: bytes, span: Span, start: str) -> Any:
    try:
        return values_of(record, span)
    except ValueError:
        raise invalid_argument(f"{start} Can't parse serialized Example.") from None


def check_kinds(
    start: str,
    layout: Layout,
    key: bytes,
    sparse: Sequence[Sparse],
    dense: Sequence[Dense],
) -> None:
    kind = layout.features[key].kind
    if kind in (MALFORMED, UNSUPPORTED):
        if key not in [*(one.key for one in sparse), *(one.key for one in dense)]:
            return
        if kind == UNSUPPORTED:
            raise invalid_argument("Unsupported datatype.")
        raise invalid_argument(f"{start} Can't parse serialized Example.")
    found = _TYPE_NAMES.get(kind)
    for feature in dense:
        if feature.key == key and KIND_OF[feature.dtype.name] != kind != NO_KIND:
            raise invalid_argument(
                f"{start} Data types don't match. Data type: {found} but expected "
                f"type: {c_name(feature.dtype)}"
            )
    for one in sparse:
        if one.key == key and KIND_OF[one.dtype.name] != kind != NO_KIND:
            raise invalid_argument(
                f"{start} Data types don't match. Expected type: {c_name(one.dtype)}, "
                f"Actual type: {found}"
            )


def check_count(start: str, feature: Dense, count: int) -> None:
    stride = feature.stride
    values = "bytes" if feature.dtype.name == "string" else c_name(feature.dtype)
    if feature.is_variable and stride and count % stride:
        raise invalid_argument(
            f"{start} Number of {values} values is not a multiple of "
            f"stride length. Saw {count} values but output shape is: "
            f"{shapes.text(feature.shape)}"
        )
    if not feature.is_variable and count != stride:
        raise invalid_argument(
            f"{start} Number of {values} values != expected.  Values "
            f"size: {count} but output shape: {shapes.text(feature.shape)}"
        )


def check_presence(start: str, feature: Dense, span: Span | None) -> None:
    is_there = span is not None and span.kind != NO_KIND
    if not is_there and not feature.is_variable and not feature.default.size:
        raise invalid_argument(
            f"{start}Feature: {printed(feature.key)} (data type: "
            f"{c_name(feature.dtype)}) is required but could not be found."
        )
