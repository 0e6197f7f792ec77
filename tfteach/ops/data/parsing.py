"""Datasets of the features of batches of serialized Examples.

Source: core/kernels/data/experimental/parse_example_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.background import AUTOTUNE
from tfteach.ops.data.dataset import Dataset, DatasetOp, Running, integer
from tfteach.ops.data.elements import Element
from tfteach.ops.io.parse_example import (
    FEATURE_TYPES,
    Dense,
    Sparse,
    dense_features,
    parse_batch,
)


class ParsedExamples(Dataset):
    """The features of string vectors: components in the order of the features' names.

    A sparse feature is a vector of three variants: its indices, values and shape.
    """

    def __init__(
        self, source: Dataset, sparse: Sequence[Sparse], dense: Sequence[Dense]
    ) -> None:
        self.inputs = (source,)
        self._sparse, self._dense = list(sparse), list(dense)
        keys = [feature.key for feature in sparse]
        keys += [feature.key for feature in dense]
        self._order = sorted(range(len(keys)), key=keys.__getitem__)

    def cardinality(self) -> int:
        return self.inputs[0].cardinality()

    def elements(self, running: Running) -> Iterator[Element]:
        return map(self._parsed, self.inputs[0].elements(running))

    def _parsed(self, element: Element) -> Element:
        (records,) = element
        found = parse_batch(records.ravel().tolist(), [], self._sparse, self._dense)
        count = len(self._sparse)
        parts = [found[i * count : (i + 1) * count] for i in range(3)]
        rows = zip(*parts, strict=True)
        features = [_variants(row) for row in rows]
        features += found[3 * count :]
        return tuple([features[i] for i in self._order])


def _variants(parts: Sequence[Array]) -> Array:
    found = np.empty(3, object)
    found[:] = parts
    return found


class ParseExampleDataset(DatasetOp):
    """The features of Examples.  Source: dataset_ops.cc, ParseExampleDataset."""

    signature = (
        "input_dataset: variant, num_parallel_calls: int64, dense_defaults: *Tdense "
        "-> handle: variant"
    )
    Tdense_allowed = FEATURE_TYPES
    sparse_types_allowed = FEATURE_TYPES
    sparse_keys: tuple[str, ...]
    dense_keys: tuple[str, ...]
    sparse_types: tuple[DType, ...]
    Tdense: tuple[DType, ...]
    dense_shapes: tuple[Shape, ...]
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    sloppy: bool = False
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"num_parallel_calls": 0}

    def dataset(
        self, context: KernelContext, source: Dataset, calls: Any, *defaults: Array
    ) -> Dataset:
        if integer(calls) < 1 and integer(calls) != AUTOTUNE:
            raise invalid_argument("num_parallel_calls must be greater than zero.")
        keys = [key.encode() for key in self.sparse_keys]
        sparse = [Sparse(*row) for row in zip(keys, self.sparse_types, strict=True)]
        keys = [key.encode() for key in self.dense_keys]
        dense = dense_features(keys, self.Tdense, self.dense_shapes, defaults)
        return ParsedExamples(source, sparse, dense)
