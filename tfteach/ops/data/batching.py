"""Batches.

Source: core/kernels/data/batch_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.data.background import AUTOTUNE
from tfteach.ops.data.dataset import (
    BoundFunction,
    Dataset,
    DatasetOp,
    DrawBlock,
    Running,
    integer,
)
from tfteach.ops.data.elements import Element, draw_all, stacked
from tfteach.ops.data.mapping import ParallelMapped


def batches_of(dataset: Dataset, running: Running, is_fused: bool = False) -> DrawBlock:
    """A function that returns the next `count` elements, stacked.

    It returns fewer at the end, and then None.
    """
    table = dataset.table
    if table is None:
        blocks = dataset.blocks(running)
        if blocks is not None:
            return blocks
        iterator = dataset.elements(running)

        def collected(count: int) -> Element | None:
            found = list(islice(iterator, count))
            return stacked(found) if found else None

        def computed_at_once(count: int) -> Element | None:
            found = draw_all(iterator, count)
            return stacked(found, True) if found else None

        return computed_at_once if is_fused else collected
    rows = dataset.rows(running)
    columns = table

    def gathered(count: int) -> Element | None:
        numbers = rows.take(count)
        if not len(numbers):
            return None
        return tuple([array.take(numbers, 0) for array in columns])

    return gathered


class Batched(Dataset):
    """Consecutive elements, stacked."""

    def __init__(self, source: Dataset, size: int, drops_remainder: bool) -> None:
        self.inputs = (source,)
        self.size, self.drops_remainder = size, drops_remainder
        self.is_fused = False  # with `map` before it

    def cardinality(self) -> int:
        return batch_count(self.inputs[0], self.size, self.drops_remainder)

    def elements(self, running: Running) -> Iterator[Element]:
        draw = batches_of(self.inputs[0], running, self.is_fused)
        return Batches(draw, self.size, self.drops_remainder)


def batch_count(source: Dataset, size: int, drops_remainder: bool) -> int:
    """The number of batches."""
    count = source.cardinality()
    if count < 0:
        return count
    return count // size if drops_remainder else -(-count // size)


class Batches:
    """Draws blocks of elements until the source ends."""

    def __init__(
        self,
        draw: DrawBlock,
        size: int,
        drops_remainder: bool,
    ) -> None:
        self._draw, self._size = draw, size
        self._least = size if drops_remainder else 1

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        found = self._draw(self._size)
        if found is None or len(found[0]) < self._least:
            raise StopIteration
        return found


class BatchDatasetV2(DatasetOp):
    """Consecutive elements, stacked.  Source: dataset_ops.cc, BatchDatasetV2."""

    signature = (
        "input_dataset: variant, batch_size: int64, drop_remainder: bool "
        "-> handle: variant"
    )
    parallel_copy: bool = False
    output_types: tuple[DType, ...]  # type: ignore[misc]  # TensorFlow's order
    output_shapes: tuple[Shape, ...]  # type: ignore[misc]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {
        "batch_size": 0, "drop_remainder": 0,
    }  # fmt: skip

    def dataset(
        self, context: KernelContext, source: Dataset, size: Any, drops: Any
    ) -> Dataset:
        return Batched(source, checked_batch_size(size), bool(drops))


class BatchDataset(DatasetOp):
    """The same, with what remains at the end.  Source: dataset_ops.cc, BatchDataset."""

    signature = "input_dataset: variant, batch_size: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"batch_size": 0}

    def dataset(self, context: KernelContext, source: Dataset, size: Any) -> Dataset:
        return Batched(source, checked_batch_size(size), False)


def checked_batch_size(size: Any) -> int:
    """The size of batches.

    Raises:
      InvalidArgumentError: it is not positive.
    """
    found = integer(size)
    if found <= 0:
        raise invalid_argument("Batch size must be greater than zero.")
    return found


class MapAndBatchDataset(DatasetOp):
    """Batches of a function's results.  Source: MapAndBatchDataset."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, batch_size: int64, "
        "num_parallel_calls: int64, drop_remainder: bool -> handle: variant"
    )
    f: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    preserve_cardinality: bool = False
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *arguments: Any
    ) -> Dataset:
        *captured, size, calls, drops = arguments
        count = checked_batch_size(size)
        if int(calls) < 1 and int(calls) != AUTOTUNE:
            raise invalid_argument("num_parallel_calls must be greater than zero.")
        function = BoundFunction(context, self.f, captured)
        keeps = self.preserve_cardinality
        mapped = ParallelMapped(source, function, keeps, int(calls))
        batched = Batched(mapped, count, bool(drops))
        batched.is_fused = True
        return batched
