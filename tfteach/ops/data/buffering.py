"""Elements prepared by a thread.

Source: core/kernels/data/prefetch_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.background import AUTOTUNE, Background
from tfteach.ops.data.dataset import Dataset, DatasetOp, Running, integer
from tfteach.ops.data.elements import Element, Rows
from tfteach.ops.data.file_cache import CachedInFile
from tfteach.ops.data.selection import OfOne

_AUTOTUNED_SIZE = 2
_CANCELLED = "PrefetchDatasetOp::Dataset::Iterator::GetNext"


class Prefetched(OfOne):
    """The elements of a dataset, prepared ahead.

    Rows of arrays need no preparation.
    """

    def __init__(self, source: Dataset, size: int) -> None:
        self.inputs = (source,)
        self.size = size

    def rows(self, running: Running) -> Rows:
        return self.inputs[0].rows(running)

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0]
        elements = source.elements(running)
        if self.size == 0 or source.table is not None:
            return elements
        size = _AUTOTUNED_SIZE if self.size == AUTOTUNE else self.size
        return Background(elements, running, size, cancelled_message=_CANCELLED)


class PrefetchDataset(DatasetOp):
    """Elements prepared ahead.  Source: dataset_ops.cc, PrefetchDataset."""

    signature = "input_dataset: variant, buffer_size: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    slack_period: int = 0
    legacy_autotune: bool = True
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"buffer_size": 0}

    def dataset(self, context: KernelContext, source: Dataset, size: Any) -> Dataset:
        count = integer(size)
        if count < AUTOTUNE:
            raise invalid_argument(
                "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning"
            )
        return Prefetched(source, count)


class Cached(OfOne):
    """The elements of the first complete epoch, kept in memory."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)
        # The elements or the row numbers of an epoch, once there was a complete one.
        self._complete: list[Any] = []

    def rows(self, running: Running) -> Rows:
        return RecordedRows(self.inputs[0], self._complete, running)

    def elements(self, running: Running) -> Iterator[Element]:
        if self.table is not None:
            return super().elements(running)
        if self._complete:
            return iter(self._complete[0])
        return _Recording(self.inputs[0].elements(running), self._complete)


class RecordedRows(Rows):
    """Row numbers, recorded in the first epoch."""

    def __init__(self, source: Dataset, complete: list[Any], running: Running) -> None:
        self._complete = complete
        self._rows = None if complete else source.rows(running)
        self._parts: list[Array] = []
        self._at = 0

    def take(self, count: int) -> Array:
        if self._rows is None:
            found = self._complete[0][self._at : self._at + count]
            self._at += len(found)
            return found  # type: ignore[no-any-return]
        found = self._rows.take(count)
        if len(found):
            self._parts.append(found)
        elif not self._complete:
            empty = [np.empty(0, np.int64)]
            self._complete.append(np.concatenate(self._parts or empty))
        return found


class _Recording:
    def __init__(
        self, source: Iterator[Element], complete: list[list[Element]]
    ) -> None:
        self._source, self._complete = source, complete
        self._found: list[Element] = []

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        for element in self._source:
            self._found.append(element)
            return element
        if not self._complete:
            self._complete.append(self._found)
        raise StopIteration


class CacheDataset(DatasetOp):
    """The elements of the first epoch.  Source: dataset_ops.cc, CacheDataset."""

    signature = "input_dataset: variant, filename: string -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"filename": 0}
    uses_files: ClassVar[bool] = True

    def dataset(
        self, context: KernelContext, source: Dataset, filename: Any
    ) -> Dataset:
        path = np.asarray(filename, object).item().decode("utf-8", "surrogateescape")
        return CachedInFile(source, path) if path else Cached(source)
