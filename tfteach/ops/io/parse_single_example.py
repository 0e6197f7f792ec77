"""One serialized Example as tensors.

Source: core/ops/parsing_ops.cc, core/kernels/example_parsing_ops.cc,
core/util/example_proto_fast_parsing.cc (checks and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import InvalidArgumentError, OpError, invalid_argument
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.io.example_wire import NO_KIND, values_of
from tfteach.ops.io.jit_examples import find_features, list_of_record
from tfteach.ops.io.parse_example import (
    FEATURE_TYPES,
    KIND_OF,
    Dense,
    Sparse,
    check_count,
    check_kinds,
    check_presence,
    dense_features,
    layout_or_error,
    printed,
    sparse_shapes,
    values_or_error,
)
from tfteach.ops.text.byte_string_arrays import strings


class ParseSingleExample(MultiOutputOp):
    """One Example as tensors.  Source: parsing_ops.cc, ParseSingleExample."""

    signature = (
        "serialized: string, dense_defaults: *Tdense -> "
        "sparse_indices: num_sparse*int64, sparse_values: *sparse_types, "
        "sparse_shapes: num_sparse*int64, dense_values: *Tdense"
    )
    Tdense_allowed = FEATURE_TYPES
    sparse_types_allowed = FEATURE_TYPES
    num_sparse: int
    sparse_keys: tuple[str, ...]
    dense_keys: tuple[str, ...]
    sparse_types: tuple[DType, ...]
    Tdense: tuple[DType, ...]
    dense_shapes: tuple[Shape, ...]

    on_gpu: ClassVar[bool] = False
    minimum: ClassVar[dict[str, int]] = {"num_sparse": 0}

    def infer_shape(
        self, serialized: Shape, dense_defaults: list[Shape]
    ) -> list[Shape]:
        shapes.with_rank(serialized, 0)
        if not self.num_sparse == len(self.sparse_keys) == len(self.sparse_types):
            raise ValueError(
                f"num_sparse is {self.num_sparse}, but there are "
                f"{len(self.sparse_keys)} sparse_keys and {len(self.sparse_types)} "
                "sparse_types"
            )
        return [*sparse_shapes(self.sparse_types, 1), *self.dense_shapes]

    def compute(
        self, xp: ArrayModule, serialized: Array, *defaults: Array
    ) -> tuple[Any, ...]:
        return self._parser(defaults).parse(serialized)

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Callable[..., Any] | None:
        if any(value is None for value in values[1:]):
            return None
        try:
            parser = self._parser(values[1:])
        except OpError:  # each run reports it
            return None
        if 3 * self.num_sparse + len(self.dense_keys) == 1:  # returned bare
            return lambda serialized, *_: parser.parse(serialized)[0]
        return lambda serialized, *_: parser.parse(serialized)

    def _parser(self, defaults: Sequence[Array]) -> _Parser:
        keys = [key.encode() for key in self.sparse_keys]
        sparse = [Sparse(*pair) for pair in zip(keys, self.sparse_types, strict=True)]
        keys = [key.encode() for key in self.dense_keys]
        dense = dense_features(keys, self.Tdense, self.dense_shapes, defaults)
        return _Parser(sparse, dense)


class _Parser:
    """Parses Examples with some features."""

    def __init__(self, sparse: list[Sparse], dense: list[Dense]) -> None:
        self._sparse, self._dense = sparse, dense
        keys = [*(one.key for one in sparse), *(one.key for one in dense)]
        self._keys = tuple(dict.fromkeys(keys))
        # index of the key, kind, and the feature
        self._of_sparse = [(self._keys.index(f.key), _kind(f), f) for f in sparse]
        self._of_dense = [
            (self._keys.index(f.key), _kind(f), f, f.is_variable, f.stride)
            for f in dense
        ]

    def parse(self, serialized: Array) -> tuple[Any, ...]:
        """The outputs of the op."""
        if serialized.ndim:
            raise invalid_argument(
                "Expected serialized to be a scalar, got shape: "
                f"{shapes.text(serialized.shape)}"
            )
        record = serialized.item()
        lists = self._lists(record)
        found = []
        for index, wanted, one in self._of_sparse:
            kind, values = lists[index]
            if kind == NO_KIND:
                values = np.zeros(0, one.dtype.numpy_dtype)
            elif kind != wanted:
                raise self._error(record)
            found.append(_array(values))
        outputs = []
        for index, wanted, feature, is_variable, stride in self._of_dense:
            kind, values = lists[index]
            if kind == NO_KIND:
                check_presence("", feature, None)
                outputs.append(_missing(feature))
                continue
            if kind != wanted:
                raise self._error(record)
            shape = feature.shape
            if is_variable:
                steps = len(values) // stride if stride else 0
                shape, stride = (steps, *shape[1:]), steps * stride
            if len(values) != stride:
                raise self._error(record)
            outputs.append(_array(values).reshape(shape))
        return (
            *(np.arange(len(values))[:, None] for values in found),
            *found,
            *(np.array([len(values)]) for values in found),
            *outputs,
        )

    def _lists(self, record: bytes) -> list[tuple[int, Any]]:
        """The kind and the values of each key's feature; (NO_KIND, None) without one.

        Raises:
          InvalidArgumentError: the record is no Example.
        """
        found = find_features([record], self._keys)
        if found is not None:
            lists: list[tuple[int, Any]] = []
            for key, row in enumerate(found.rows[0].tolist()):
                values = list_of_record(found, key, row) if row[0] else None
                if row[0] and values is None:
                    break
                lists.append((row[0], values))
            else:
                return lists
        features = layout_or_error(record).features
        lists = []
        for name in self._keys:
            span = features.get(name)
            if span is None or span.kind == NO_KIND:
                lists.append((NO_KIND, None))
            else:
                try:
                    values = values_of(record, span)
                except ValueError:
                    raise self._error(record) from None
                if not isinstance(values, list):  # a copy: a record is not writable
                    values = values.astype(values.dtype.newbyteorder("="))
                lists.append((span.kind, values))
        return lists

    def _error(self, record: bytes) -> OpError:
        layout = layout_or_error(record)
        wanted = {feature.key: feature for feature in self._dense}
        for key in reversed(layout.features):
            start = f"Key: {printed(key)}. "
            check_kinds(start, layout, key, self._sparse, self._dense)
            if key not in self._keys:
                continue
            values = values_or_error(record, layout.features[key], start)
            if key in wanted:
                try:
                    check_count(start, wanted[key], len(values))
                except InvalidArgumentError:
                    raise invalid_argument(
                        f"{start} Can't parse serialized Example."
                    ) from None
        return invalid_argument("The Example has other types")


def _kind(feature: Sparse | Dense) -> int:
    return KIND_OF[feature.dtype.name]


def _array(values: Any) -> Any:
    return strings(values, (len(values),)) if isinstance(values, list) else values


def _missing(feature: Dense) -> Any:
    if feature.is_variable:
        shape = (0, *feature.shape[1:])
        return np.zeros(shape, feature.dtype.numpy_dtype)
    return feature.default.copy()
