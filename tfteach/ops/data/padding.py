"""Batches of elements of different shapes: padded, or as sparse tensors.

Source: core/kernels/data/padded_batch_dataset_op.cc,
experimental/dense_to_sparse_batch_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import (
    DataLossError,
    invalid_argument,
)
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.batching import batch_count, checked_batch_size
from tfteach.ops.data.dataset import Dataset, DatasetOp, Running
from tfteach.ops.data.elements import Element


class PaddedBatches(Dataset):
    """Consecutive elements, padded to common shapes and stacked.

    Args:
      source: a dataset.
      size: the number of elements in a batch.
      sizes: for each component its padded sizes; -1 for the largest in the batch.
      values: for each component the value to pad with.
      drops: whether to omit a smaller batch at the end.
    """

    def __init__(
        self,
        source: Dataset,
        size: int,
        sizes: Sequence[list[int]],
        values: Sequence[Any],
        drops: bool,
    ) -> None:
        self.inputs = (source,)
        self.size, self.sizes, self.values, self.drops = size, sizes, values, drops

    def cardinality(self) -> int:
        return batch_count(self.inputs[0], self.size, self.drops)

    def elements(self, running: Running) -> Iterator[Element]:
        return PaddedElements(self, self.inputs[0].elements(running))


class PaddedElements:
    """Draws and pads a batch at a time."""

    def __init__(self, batches: PaddedBatches, source: Iterator[Element]) -> None:
        self._batches, self._source = batches, source

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        batches = self._batches
        found = list(islice(self._source, batches.size))
        if not found or (batches.drops and len(found) < batches.size):
            raise StopIteration
        columns = zip(*found, strict=True)
        triples = zip(columns, batches.sizes, batches.values, strict=True)
        return tuple(padded(i, *triple) for i, triple in enumerate(triples))


def padded(number: int, items: Sequence[Any], sizes: list[int], value: Any) -> Any:
    """Items of one component, padded and stacked.

    Raises:
      InvalidArgumentError: an item has another rank.
      DataLossError: an item is larger than a padded size.
    """
    for item in items:
        if len(item.shape) != len(sizes):
            raise invalid_argument(
                "All elements in a batch must have the same rank as the padded shape "
                f"for component{number}: expected rank {len(sizes)} but got element "
                f"with rank {len(item.shape)}"
            )
    whole = []
    for axis, size in enumerate(sizes):
        largest = max(item.shape[axis] for item in items)
        if 0 <= size < largest:
            raise DataLossError(
                None, None, "Attempted to pad to a smaller size than the input element."
            )
        whole.append(largest if size < 0 else size)
    shape = len(items), *whole
    made: Array = np.full(shape, _scalar(value), items[0].dtype)
    for i, item in enumerate(items):
        place: Any = (i, *map(slice, item.shape))
        made[place] = _scalar(item) if not sizes else item
    return made


def _scalar(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    return value.item() if dtype is not None and dtype.hasobject else value


class SparseBatches(Dataset):
    """Consecutive elements as a sparse tensor."""

    def __init__(self, source: Dataset, size: int, row: list[int]) -> None:
        self.inputs = (source,)
        self.size, self.row = size, row

    def cardinality(self) -> int:
        return batch_count(self.inputs[0], self.size, False)

    def elements(self, running: Running) -> Iterator[Element]:
        return SparseElements(self, self.inputs[0].elements(running))


class SparseElements:
    """Draws a batch at a time."""

    def __init__(self, batches: SparseBatches, source: Iterator[Element]) -> None:
        self._batches, self._source = batches, source

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        batches = self._batches
        found = [row[0] for row in islice(self._source, batches.size)]
        if not found:
            raise StopIteration
        rank, row_text = len(batches.row), shapes.text(tuple(batches.row))
        places, values = [], []
        for i, array in enumerate(found):
            if array.ndim != rank:
                raise invalid_argument(
                    f"Input element had shape ({shapes.text(array.shape)}) that is "
                    f"incompatible with the row shape ({row_text})."
                )
            for size, most in zip(array.shape, batches.row, strict=True):
                if 0 <= most < size:
                    raise DataLossError(
                        None,
                        None,
                        f"Input element had shape ({shapes.text(array.shape)}) that is "
                        f"larger than the row shape ({row_text}).",
                    )
            index = np.indices(array.shape).reshape(rank, -1).T
            first = np.full((len(index), 1), i)
            places.append(np.concatenate([first, index], axis=1))
            values.append(array.ravel())
        largest = np.max([array.shape for array in found], axis=0)
        known = np.array(batches.row, np.int64)
        sizes = np.where(known < 0, largest, known)
        parts = np.empty(3, object)
        parts[0] = np.concatenate(places).astype(np.int64)
        parts[1] = np.concatenate(values)
        parts[2] = np.concatenate([[len(found)], sizes]).astype(np.int64)
        return (parts,)


# ---- ops


class PaddedBatchDatasetV2(DatasetOp):
    """Padded batches.  Source: dataset_ops.cc, PaddedBatchDatasetV2."""

    signature = (
        "input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
        "padding_values: *Toutput_types, drop_remainder: bool -> handle: variant"
    )
    parallel_copy: bool = False
    Toutput_types: tuple[DType, ...]  # type: ignore[misc]  # TensorFlow's order
    output_shapes: tuple[Shape, ...]  # type: ignore[misc]
    N: int  # type: ignore[misc]
    minimum: ClassVar[Mapping[str, int]] = {
        "Toutput_types": 1, "output_shapes": 1, "N": 1,
    }  # fmt: skip

    def dataset(
        self, context: KernelContext, source: Dataset, size: Any, *given: Any
    ) -> Dataset:
        *rest, drops = given
        return _padded_batches(source, size, rest, bool(drops))


class PaddedBatchDataset(DatasetOp):
    """Padded batches, with what remains at the end.  Source: PaddedBatchDataset."""

    signature = (
        "input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
        "padding_values: *Toutput_types -> handle: variant"
    )
    Toutput_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    N: int
    minimum: ClassVar[Mapping[str, int]] = {
        "Toutput_types": 1, "output_shapes": 1, "N": 1,
    }  # fmt: skip

    def dataset(
        self, context: KernelContext, source: Dataset, size: Any, *given: Any
    ) -> Dataset:
        return _padded_batches(source, size, list(given), False)


def _padded_batches(
    source: Dataset, size: Any, given: list[Array], drops: bool
) -> Dataset:
    count = len(given) // 2
    sizes = [array.tolist() for array in given[:count]]
    for padded_size in (n for shape in sizes for n in shape):
        if padded_size < -1:
            raise invalid_argument(f"Dimension {padded_size} must be >= -1")
    return PaddedBatches(source, checked_batch_size(size), sizes, given[count:], drops)


class DenseToSparseBatchDataset(DatasetOp):
    """Batches as sparse tensors.  Source: DenseToSparseBatchDataset."""

    signature = (
        "input_dataset: variant, batch_size: int64, row_shape: int64 -> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, size: Any, row_shape: Array
    ) -> Dataset:
        return SparseBatches(source, checked_batch_size(size), row_shape.tolist())
