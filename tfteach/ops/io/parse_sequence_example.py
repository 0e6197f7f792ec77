"""Serialized SequenceExamples as tensors.

Source: core/ops/parsing_ops.cc, core/kernels/example_parsing_ops.cc,
core/util/example_proto_fast_parsing.cc (checks and messages).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from google.protobuf.message import DecodeError

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, c_name, string
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.io.nested_lists import joined, longest, pairs, triples
from tfteach.ops.io.parse_example import FEATURE_TYPES, sparse_shapes
from tfteach.ops.text.byte_string_arrays import strings

_LISTS = {"float32": "float_list", "int64": "int64_list", "string": "bytes_list"}


class _WrongKind(Exception):
    """A feature has values of another type."""


def _values(feature: Any, dtype: DType, must_be_set: bool) -> Any:
    """The values of a Feature message as an array.

    Raises:
      _WrongKind: they have another type, or there is none.
    """
    kind = feature.WhichOneof("kind")
    if kind is None and not must_be_set:
        return np.zeros(0, dtype.numpy_dtype)
    if kind != _LISTS[dtype.name]:
        raise _WrongKind
    found = getattr(feature, kind).value
    if dtype is string:
        return strings(list(found), (len(found),))
    return np.array(found, dtype.numpy_dtype)


class _SequenceOp(MultiOutputOp, abstract=True):
    """What the two ops have in common: the parts of their output."""

    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False
    context_sparse_types_allowed = FEATURE_TYPES
    feature_list_dense_types_allowed = FEATURE_TYPES
    feature_list_sparse_types_allowed = FEATURE_TYPES
    minimum: ClassVar[dict[str, int]] = {
        "Ncontext_sparse": 0, "Ncontext_dense": 0, "Nfeature_list_sparse": 0,
        "Nfeature_list_dense": 0,
    }  # fmt: skip

    def _shapes(self, batch: tuple[int | None, ...]) -> list[Shape]:
        own: Any = self
        for name, kind in (
            ("Ncontext_sparse", "context_sparse_types"),
            ("Ncontext_dense", "context_dense_shapes"),
            ("Nfeature_list_sparse", "feature_list_sparse_types"),
            ("Nfeature_list_dense", "feature_list_dense_shapes"),
        ):
            if getattr(own, name) != len(getattr(own, kind)):
                raise ValueError(
                    f"{name} is {getattr(own, name)}, but there are "
                    f"{len(getattr(own, kind))} {kind}"
                )
        rank = len(batch)
        return [
            *sparse_shapes(own.context_sparse_types, rank + 1),
            *(None if s is None else (*batch, *s) for s in own.context_dense_shapes),
            *sparse_shapes(own.feature_list_sparse_types, rank + 2),
            *(
                None if s is None else (*batch, None, *s)
                for s in own.feature_list_dense_shapes
            ),
        ]


class ParseSingleSequenceExample(_SequenceOp):
    """One SequenceExample as tensors.

    Source: core/ops/parsing_ops.cc, ParseSingleSequenceExample.
    """

    signature = (
        "serialized: string, feature_list_dense_missing_assumed_empty: string, "
        "context_sparse_keys: Ncontext_sparse*string, "
        "context_dense_keys: Ncontext_dense*string, "
        "feature_list_sparse_keys: Nfeature_list_sparse*string, "
        "feature_list_dense_keys: Nfeature_list_dense*string, "
        "context_dense_defaults: *Tcontext_dense, debug_name: string -> "
        "context_sparse_indices: Ncontext_sparse*int64, "
        "context_sparse_values: *context_sparse_types, "
        "context_sparse_shapes: Ncontext_sparse*int64, "
        "context_dense_values: *Tcontext_dense, "
        "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
        "feature_list_sparse_values: *feature_list_sparse_types, "
        "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
        "feature_list_dense_values: *feature_list_dense_types"
    )
    Tcontext_dense_allowed = FEATURE_TYPES
    Ncontext_sparse: int = 0
    Ncontext_dense: int = 0
    Nfeature_list_sparse: int = 0
    Nfeature_list_dense: int = 0
    context_sparse_types: tuple[DType, ...] = ()
    Tcontext_dense: tuple[DType, ...] = ()
    feature_list_dense_types: tuple[DType, ...] = ()
    context_dense_shapes: tuple[Shape, ...] = ()
    feature_list_sparse_types: tuple[DType, ...] = ()
    feature_list_dense_shapes: tuple[Shape, ...] = ()

    def infer_shape(
        self, serialized: Shape, missing: Shape, *rest: Any, **_: Any
    ) -> list[Shape]:
        shapes.with_rank(serialized, 0)
        return self._shapes(())

    def compute(
        self, xp: ArrayModule, serialized: Array, assumed_empty: Array, *rest: Array
    ) -> tuple[Any, ...]:
        from tfteach.framework.protos import SequenceExample

        if serialized.ndim:
            raise invalid_argument(
                "Expected serialized to be a scalar, got shape: "
                f"{shapes.text(serialized.shape)}"
            )
        message: Any = SequenceExample()
        data = serialized.item()
        try:
            message.ParseFromString(data)
        except DecodeError:
            raise invalid_argument(
                "Could not parse example input, value: "
                f"'{data.decode('utf-8', 'replace')}'"
            ) from None
        groups, at = [], 0
        for count in (
            self.Ncontext_sparse, self.Ncontext_dense, self.Nfeature_list_sparse,
            self.Nfeature_list_dense,
        ):  # fmt: skip
            groups.append([key.item().decode() for key in rest[at : at + count]])
            at += count
        sparse, dense, sparse_lists, dense_lists = groups
        name = rest[-1].item().decode("utf-8", "replace") if rest[-1].size else ""
        reader = _Single(message, f"Name: {name}, ")
        context = [
            reader.dense(*row)
            for row in zip(
                dense, self.Tcontext_dense, self.context_dense_shapes, rest[at:-1],
                strict=True,
            )
        ]  # fmt: skip
        flat = [
            reader.sparse(*row)
            for row in zip(sparse, self.context_sparse_types, strict=True)
        ]
        empty = {key.decode() for key in assumed_empty.reshape(-1).tolist()}
        lists = [
            reader.dense_list(key, dtype, tuple(shape or ()), key in empty)
            for key, dtype, shape in zip(
                dense_lists,
                self.feature_list_dense_types,
                self.feature_list_dense_shapes,
                strict=True,
            )
        ]
        ragged = [
            reader.sparse_list(*row)
            for row in zip(sparse_lists, self.feature_list_sparse_types, strict=True)
        ]
        return (
            *(np.arange(len(values))[:, None] for values in flat),
            *flat,
            *(np.array([len(values)]) for values in flat),
            *context,
            *(pairs(parts) for parts in ragged),
            *(
                joined(parts, dtype)
                for parts, dtype in zip(
                    ragged, self.feature_list_sparse_types, strict=True
                )
            ),
            *(np.array([len(parts), longest(parts)]) for parts in ragged),
            *lists,
        )


class _Single:
    """Reads the features of one SequenceExample; its errors begin with `start`."""

    def __init__(self, message: Any, start: str) -> None:
        self.context = message.context.feature
        self.lists = message.feature_lists.feature_list
        self.start = start

    def _refuse_kind(self, what: str, dtype: DType, feature: Any) -> OpError:
        return invalid_argument(
            f"{self.start}{what}.  Data types don't match. Expected type: "
            f"{c_name(dtype)}  Feature is: {feature}"
        )

    def _check_count(
        self, key: str, index: int, dtype: DType, count: int, shape: tuple[Any, ...]
    ) -> None:
        if count != math.prod(shape):
            raise invalid_argument(
                f"{self.start}Key: {key}, Index: {index}.  Number of {c_name(dtype)} "
                f"values != expected.  values size: {count} but output shape: "
                f"{shapes.text(shape)}"
            )

    def dense(self, key: str, dtype: DType, shape: Any, default: Array) -> Any:
        """A dense feature of the context."""
        if key not in self.context:
            if not default.size:
                raise invalid_argument(
                    f"{self.start}Context feature '{key}' is required but could not be "
                    "found."
                )
            return default.copy()
        feature = self.context[key]
        try:
            values = _values(feature, dtype, must_be_set=True)
        except _WrongKind:
            raise self._refuse_kind(f"Context feature: {key}", dtype, feature) from None
        self._check_count(key, 0, dtype, len(values), shape)
        return values.reshape(shape)

    def sparse(self, key: str, dtype: DType) -> Any:
        """The values of a sparse feature of the context."""
        if key not in self.context:
            return np.zeros(0, dtype.numpy_dtype)
        feature = self.context[key]
        try:
            return _values(feature, dtype, must_be_set=False)
        except _WrongKind:
            raise self._refuse_kind(f"Context feature: {key}", dtype, feature) from None

    def dense_list(
        self, key: str, dtype: DType, shape: tuple[Any, ...], may_be_missing: bool
    ) -> Any:
        """A list of dense features."""
        if key not in self.lists and not may_be_missing:
            raise invalid_argument(
                f"{self.start}Feature list '{key}' is required but could not be found."
                "  Did you mean to include it in "
                "feature_list_dense_missing_assumed_empty or "
                "feature_list_dense_defaults?"
            )
        features = self.lists[key].feature if key in self.lists else ()
        parts = []
        for i, feature in enumerate(features):
            try:
                values = _values(feature, dtype, must_be_set=True)
            except _WrongKind:
                raise self._refuse_kind(
                    f"Feature list: {key}, Index: {i}", dtype, feature
                ) from None
            self._check_count(key, i, dtype, len(values), shape)
            parts.append(values)
        return joined(parts, dtype).reshape(len(parts), *shape)

    def sparse_list(self, key: str, dtype: DType) -> list[Any]:
        """The values of each part of a list of sparse features."""
        features = self.lists[key].feature if key in self.lists else ()
        parts = []
        for i, feature in enumerate(features):
            try:
                parts.append(_values(feature, dtype, must_be_set=False))
            except _WrongKind:
                raise self._refuse_kind(
                    f"Feature List: {key}, Index: {i}", dtype, feature
                ) from None
        return parts


class ParseSequenceExample(_SequenceOp):
    """A batch of SequenceExamples as tensors.

    Source: core/ops/parsing_ops.cc, ParseSequenceExample.
    """

    signature = (
        "serialized: string, debug_name: string, "
        "context_dense_defaults: *Tcontext_dense -> "
        "context_sparse_indices: Ncontext_sparse*int64, "
        "context_sparse_values: *context_sparse_types, "
        "context_sparse_shapes: Ncontext_sparse*int64, "
        "context_dense_values: *Tcontext_dense, "
        "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
        "feature_list_sparse_values: *feature_list_sparse_types, "
        "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
        "feature_list_dense_values: *feature_list_dense_types, "
        "feature_list_dense_lengths: Nfeature_list_dense*int64"
    )
    Tcontext_dense_allowed = FEATURE_TYPES
    feature_list_dense_missing_assumed_empty: tuple[str, ...]
    context_sparse_keys: tuple[str, ...]
    context_dense_keys: tuple[str, ...]
    feature_list_sparse_keys: tuple[str, ...]
    feature_list_dense_keys: tuple[str, ...]
    Ncontext_sparse: int = 0
    Ncontext_dense: int = 0
    Nfeature_list_sparse: int = 0
    Nfeature_list_dense: int = 0
    context_sparse_types: tuple[DType, ...] = ()
    Tcontext_dense: tuple[DType, ...] = ()
    feature_list_dense_types: tuple[DType, ...] = ()
    context_dense_shapes: tuple[Shape, ...] = ()
    feature_list_sparse_types: tuple[DType, ...] = ()
    feature_list_dense_shapes: tuple[Shape, ...] = ()

    def infer_shape(
        self, serialized: Shape, debug_name: Shape, context_dense_defaults: list[Shape]
    ) -> list[Shape]:
        (count,) = shapes.with_rank(serialized, 1)
        shapes.with_rank(debug_name, 1)
        lengths: list[Shape] = [(count,)] * self.Nfeature_list_dense
        return [*self._shapes((count,)), *lengths]

    def compute(
        self, xp: ArrayModule, serialized: Array, debug_name: Array, *defaults: Array
    ) -> tuple[Any, ...]:
        if serialized.ndim != 1:
            raise invalid_argument(
                "Expected serialized to be a vector, got shape: "
                f"{shapes.text(serialized.shape)}"
            )
        names = [name.decode("utf-8", "replace") for name in debug_name.tolist()]
        reader = _Batch(serialized.tolist(), names)
        flat = [
            reader.sparse(*row)
            for row in zip(
                self.context_sparse_keys, self.context_sparse_types, strict=True
            )
        ]
        context = [
            reader.dense(*row)
            for row in zip(
                self.context_dense_keys, self.Tcontext_dense,
                self.context_dense_shapes, defaults, strict=True,
            )
        ]  # fmt: skip
        ragged = [
            reader.sparse_list(*row)
            for row in zip(
                self.feature_list_sparse_keys,
                self.feature_list_sparse_types,
                strict=True,
            )
        ]
        empty = self.feature_list_dense_missing_assumed_empty
        lists = [
            reader.dense_list(key, dtype, tuple(shape or ()), key in empty)
            for key, dtype, shape in zip(
                self.feature_list_dense_keys,
                self.feature_list_dense_types,
                self.feature_list_dense_shapes,
                strict=True,
            )
        ]
        count = len(serialized)
        return (
            *(pairs(parts) for parts in flat),
            *(
                joined(parts, dtype)
                for parts, dtype in zip(flat, self.context_sparse_types, strict=True)
            ),
            *(np.array([count, longest(parts)]) for parts in flat),
            *context,
            *(triples(steps) for steps in ragged),
            *(
                joined([part for parts in steps for part in parts], dtype)
                for steps, dtype in zip(
                    ragged, self.feature_list_sparse_types, strict=True
                )
            ),
            *(
                np.array([count, longest(steps), max(map(longest, steps), default=0)])
                for steps in ragged
            ),
            *(values for values, _ in lists),
            *(lengths for _, lengths in lists),
        )


class _Batch:
    """Reads features of many SequenceExamples.

    Raises:
      InvalidArgumentError: one is none.
    """

    def __init__(self, records: list[bytes], names: list[str]) -> None:
        from tfteach.framework.protos import SequenceExample

        self.names = names or ["<unknown>"] * len(records)
        self.messages: list[Any] = []
        for name, record in zip(self.names, records, strict=True):
            message: Any = SequenceExample()
            try:
                message.ParseFromString(record)
            except DecodeError:
                raise invalid_argument(
                    f"Invalid protocol message input, example id: {name}"
                ) from None
            self.messages.append(message)

    def sparse(self, key: str, dtype: DType) -> list[Any]:
        """The values of a sparse feature of each context."""
        found = []
        for name, message in zip(self.names, self.messages, strict=True):
            features = message.context.feature
            if key not in features:
                found.append(np.zeros(0, dtype.numpy_dtype))
                continue
            try:
                found.append(_values(features[key], dtype, must_be_set=False))
            except _WrongKind:
                raise invalid_argument(
                    f"Error in context feature {key} in example {name}"
                ) from None
        return found

    def dense(self, key: str, dtype: DType, shape: Any, default: Array) -> Any:
        """A dense feature of all contexts."""
        size = math.prod(shape)
        parts = self.sparse(key, dtype)
        if default.size:
            parts = [
                part if key in message.context.feature else default.reshape(-1)
                for part, message in zip(parts, self.messages, strict=True)
            ]
        found, expected = sum(map(len, parts)), size * len(parts)
        if found != expected or any(len(part) != size for part in parts):
            raise invalid_argument(
                f"Inconsistent number of elements for feature {key}: {found} vs "
                f"{expected}"
            )
        return joined(parts, dtype).reshape(len(parts), *shape)

    def sparse_list(self, key: str, dtype: DType) -> list[list[Any]]:
        """The values of each step of each list."""
        found = []
        for name, message in zip(self.names, self.messages, strict=True):
            lists = message.feature_lists.feature_list
            features = lists[key].feature if key in lists else ()
            try:
                found.append(
                    [_values(part, dtype, must_be_set=False) for part in features]
                )
            except _WrongKind:
                raise invalid_argument(
                    f"Error in sequence feature {key} in example {name}"
                ) from None
        return found

    def dense_list(
        self, key: str, dtype: DType, shape: tuple[Any, ...], may_be_missing: bool
    ) -> tuple[Any, Any]:
        """A list of dense features, padded with zeros; and the lengths."""
        for name, message in zip(self.names, self.messages, strict=True):
            if key not in message.feature_lists.feature_list and not may_be_missing:
                raise invalid_argument(f"Missing feature {key} in example {name}")
        steps = self.sparse_list(key, dtype)
        for name, parts in zip(self.names, steps, strict=True):
            if any(len(part) != math.prod(shape) for part in parts):
                raise invalid_argument(
                    f"Unexpected number of elements in feature {key}, example {name}"
                )
        result = np.zeros((len(steps), longest(steps), *shape), dtype.numpy_dtype)
        if dtype is string:
            result[...] = b""
        for row, parts in enumerate(steps):
            if parts:
                result[row, : len(parts)] = np.stack(parts).reshape(-1, *shape)
        return result, np.array([len(parts) for parts in steps], np.int64)
