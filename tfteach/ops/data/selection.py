"""Datasets of some elements of others: take, skip, repeat, shard, concatenate, zip.

Source: core/kernels/data/{take,skip,repeat,shard,concatenate,zip}_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.dataset import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Dataset,
    DatasetOp,
    Running,
    integer,
)
from tfteach.ops.data.elements import Element, Rows

_DRAWN_AT_ONCE = 1 << 12


class OfOne(Dataset):
    """A transformation that selects or reorders the elements of one dataset."""

    @property
    def table(self) -> list[Array] | None:
        return self.inputs[0].table

    def cardinality(self) -> int:
        return self.inputs[0].cardinality()


# ---- take and skip


class TakenRows(Rows):
    """The first rows."""

    def __init__(self, rows: Rows, count: int) -> None:
        self._rows, self._left = rows, count

    def take(self, count: int) -> Array:
        found = self._rows.take(min(count, self._left))
        self._left -= len(found)
        return found


class TakenElements:
    """The first elements; errors are not counted, and end nothing.

    `itertools.islice` ends with an error.
    """

    def __init__(self, source: Iterator[Element], count: int) -> None:
        self._next, self._left = source.__next__, count

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if not self._left:
            self._next = iter(()).__next__  # frees its threads and files
        found = self._next()
        self._left -= 1
        return found


class SkippedElements:
    """All but the first elements; errors are not counted, and end nothing."""

    def __init__(self, source: Iterator[Element], count: int) -> None:
        self._next, self._left = source.__next__, count

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while self._left:
            self._next()
            self._left -= 1
        return self._next()


class ShardElements:
    """Every n-th element; errors are not counted, and end nothing."""

    def __init__(self, source: Iterator[Element], index: int, count: int) -> None:
        self._next, self._skip, self._count = source.__next__, index, count

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while self._skip:
            self._next()
            self._skip -= 1
        found = self._next()
        self._skip = self._count - 1
        return found


class Taken(OfOne):
    """The first elements; all for a negative count."""

    def __init__(self, source: Dataset, count: int) -> None:
        self.inputs, self.count = (source,), count

    def cardinality(self) -> int:
        found = self.inputs[0].cardinality()
        if found == UNKNOWN_CARDINALITY:
            return found
        if self.count < 0:
            return INFINITE_CARDINALITY  # also of a finite dataset, in TensorFlow
        return self.count if found < 0 else min(found, self.count)

    def rows(self, running: Running) -> Rows:
        rows = self.inputs[0].rows(running)
        return rows if self.count < 0 else TakenRows(rows, self.count)

    def elements(self, running: Running) -> Iterator[Element]:
        if self.table is not None:
            return super().elements(running)
        elements = self.inputs[0].elements(running)
        return elements if self.count < 0 else TakenElements(elements, self.count)


class Skipped(OfOne):
    """All but the first elements; none for a negative count."""

    def __init__(self, source: Dataset, count: int) -> None:
        self.inputs, self.count = (source,), count

    def cardinality(self) -> int:
        found = self.inputs[0].cardinality()
        if found < 0:
            return found
        return 0 if self.count < 0 else max(0, found - self.count)

    def rows(self, running: Running) -> Rows:
        rows = self.inputs[0].rows(running)
        if self.count < 0:
            return TakenRows(rows, 0)
        left = self.count
        while left:
            passed = len(rows.take(min(left, _DRAWN_AT_ONCE)))
            left -= passed
            if not passed:
                break
        return rows

    def elements(self, running: Running) -> Iterator[Element]:
        if self.count < 0:
            return iter(())
        if self.table is not None:
            return super().elements(running)
        return SkippedElements(self.inputs[0].elements(running), self.count)


# ---- repeat


class RepeatedRows(Rows):
    """The rows of several epochs.

    As in TensorFlow, the next epoch begins where one ends, also after the last: a
    generator of seeds counts it.
    """

    def __init__(self, source: Dataset, count: int, running: Running) -> None:
        self._left = count
        self._begin = partial(source.rows, running)
        self._rows = self._begin() if count else None
        self._is_new = True

    def take(self, count: int) -> Array:
        parts: list[Array] = []
        while count and self._left:
            assert self._rows is not None
            part = self._rows.take(count)
            if len(part):
                self._is_new = False
                parts.append(part)
                count -= len(part)
            elif self._left < 0 and self._is_new:
                self._left = 0  # an empty dataset, repeated forever
            else:
                self._rows, self._is_new = self._begin(), True
                self._left -= self._left > 0
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


class RepeatedElements:
    """The elements of several epochs; see `RepeatedRows`."""

    def __init__(self, source: Dataset, count: int, running: Running) -> None:
        self._left = count
        self._begin = partial(source.elements, running)
        self._elements = self._begin() if count else iter(())
        self._is_new = True

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while self._left:
            for element in self._elements:
                self._is_new = False
                return element
            if self._left < 0 and self._is_new:
                self._left = 0
            else:
                self._elements, self._is_new = self._begin(), True
                self._left -= self._left > 0
        raise StopIteration


class Repeated(OfOne):
    """Several epochs; endless for a negative count."""

    def __init__(self, source: Dataset, count: int) -> None:
        self.inputs, self.count = (source,), count

    def cardinality(self) -> int:
        return repeated_cardinality(self.inputs[0], self.count)

    def rows(self, running: Running) -> Rows:
        return RepeatedRows(self.inputs[0], self.count, running)

    def elements(self, running: Running) -> Iterator[Element]:
        if self.table is not None:
            return super().elements(running)
        return RepeatedElements(self.inputs[0], self.count, running)


def repeated_cardinality(source: Dataset, count: int) -> int:
    """The number of elements in some epochs; endless ones for a negative count."""
    found = source.cardinality()
    if found == 0 or count == 0:
        return 0
    if count < 0:
        return INFINITE_CARDINALITY
    return found if found < 0 else found * count


# ---- shard


class ShardRows(Rows):
    """Every n-th row."""

    def __init__(self, rows: Rows, count: int, index: int) -> None:
        self._rows, self._count = rows, count
        self._skip = index

    def take(self, count: int) -> Array:
        found = self._rows.take(self._skip + (count - 1) * self._count + 1)
        picked = found[self._skip :: self._count]
        self._skip = self._count - 1
        return picked


class Shard(OfOne):
    """Every n-th element."""

    def __init__(self, source: Dataset, count: int, index: int) -> None:
        self.inputs, self.count, self.index = (source,), count, index

    def cardinality(self) -> int:
        found = self.inputs[0].cardinality()
        if found < 0:
            return found
        return found // self.count + (self.index < found % self.count)

    def rows(self, running: Running) -> Rows:
        return ShardRows(self.inputs[0].rows(running), self.count, self.index)

    def elements(self, running: Running) -> Iterator[Element]:
        if self.table is not None:
            return super().elements(running)
        elements = self.inputs[0].elements(running)
        return ShardElements(elements, self.index, self.count)


# ---- zip and concatenate


class Zipped(Dataset):
    """Elements of several datasets side by side, until the shortest ends."""

    def __init__(self, sources: tuple[Dataset, ...]) -> None:
        self.inputs = sources

    def cardinality(self) -> int:
        found = [source.cardinality() for source in self.inputs]
        if UNKNOWN_CARDINALITY in found:
            return UNKNOWN_CARDINALITY
        return min((n for n in found if n >= 0), default=INFINITE_CARDINALITY)

    def elements(self, running: Running) -> Iterator[Element]:
        iterators = [
            source.elements(running.branch(i)) for i, source in enumerate(self.inputs)
        ]
        return map(_joined, zip(*iterators, strict=False))


def _joined(row: tuple[Element, ...]) -> Element:
    return tuple(chain(*row))


class Concatenated(Dataset):
    """The elements of one dataset, then those of another."""

    def __init__(self, first: Dataset, second: Dataset) -> None:
        self.inputs = first, second

    def cardinality(self) -> int:
        found = [source.cardinality() for source in self.inputs]
        for unbounded in (INFINITE_CARDINALITY, UNKNOWN_CARDINALITY):
            if unbounded in found:
                return unbounded
        return sum(found)

    def elements(self, running: Running) -> Iterator[Element]:
        return chain.from_iterable(
            source.elements(running.branch(i)) for i, source in enumerate(self.inputs)
        )


# ---- ops


class SelectionOp(DatasetOp, abstract=True):
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"count": 0}


class TakeDataset(SelectionOp):
    """The first elements.  Source: dataset_ops.cc, TakeDataset."""

    signature = "input_dataset: variant, count: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(self, context: KernelContext, source: Dataset, count: Any) -> Dataset:
        return Taken(source, integer(count))


class SkipDataset(SelectionOp):
    """All but the first elements.  Source: dataset_ops.cc, SkipDataset."""

    signature = "input_dataset: variant, count: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(self, context: KernelContext, source: Dataset, count: Any) -> Dataset:
        return Skipped(source, integer(count))


class RepeatDataset(SelectionOp):
    """Several epochs.  Source: dataset_ops.cc, RepeatDataset."""

    signature = "input_dataset: variant, count: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(self, context: KernelContext, source: Dataset, count: Any) -> Dataset:
        return Repeated(source, integer(count))


class ShardDataset(SelectionOp):
    """Every n-th element.  Source: dataset_ops.cc, ShardDataset."""

    signature = (
        "input_dataset: variant, num_shards: int64, index: int64 -> handle: variant"
    )
    require_non_empty: bool = False
    output_types: tuple[DType, ...]  # type: ignore[misc]  # TensorFlow's order
    output_shapes: tuple[Shape, ...]  # type: ignore[misc]
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"num_shards": 0, "index": 0}

    def dataset(
        self, context: KernelContext, source: Dataset, num_shards: Any, index: Any
    ) -> Dataset:
        count, own = integer(num_shards), integer(index)
        if count <= 0:
            raise invalid_argument(
                f"Number of shards must be greater than zero (currently num_shards = "
                f"{count})."
            )
        if not 0 <= own < count:
            raise invalid_argument(
                f"Index must be between 0 and {count - 1} (currently index = {own})."
            )
        return Shard(source, count, own)


class ZipDataset(SelectionOp):
    """Elements side by side.  Source: dataset_ops.cc, ZipDataset."""

    signature = "input_datasets: N*variant -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {
        "output_types": 1, "output_shapes": 1, "N": 1,
    }  # fmt: skip
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {}

    def dataset(self, context: KernelContext, *sources: Dataset) -> Dataset:
        return Zipped(sources)


class ConcatenateDataset(SelectionOp):
    """One after the other.  Source: dataset_ops.cc, ConcatenateDataset."""

    signature = "input_dataset: variant, another_dataset: variant -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {}

    def dataset(
        self, context: KernelContext, source: Dataset, another: Dataset
    ) -> Dataset:
        return Concatenated(source, another)
