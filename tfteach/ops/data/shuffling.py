"""Shuffled datasets, in TensorFlow's order for the same seeds.

A buffer is a ring; each output is drawn from the oldest epoch in it, and the element at
the front of that epoch moves into the gap.
Source: core/kernels/data/shuffle_dataset_op.cc.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import FailedPreconditionError, invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, Gradient, KernelContext
from tfteach.ops.data.dataset import Dataset, DatasetOp, Running, integer
from tfteach.ops.data.elements import Element, Rows
from tfteach.ops.data.selection import OfOne, repeated_cardinality
from tfteach.ops.data.sources import RandomWords, seeds_or_none

_MOST_EPOCHS = 3  # in a buffer
_BLOCK = 1 << 10
_END = object()


class RowNumbers:
    """Row numbers one at a time or in blocks."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._ahead: list[int] = []
        self._at = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self._at == len(self._ahead):
            self._ahead, self._at = self._rows.take(_BLOCK).tolist(), 0
            if not self._ahead:
                raise StopIteration
        self._at += 1
        return self._ahead[self._at - 1]

    def take(self, count: int) -> list[int]:
        """Up to `count` numbers; none at the end."""
        if self._at == len(self._ahead):
            return self._rows.take(count).tolist()  # type: ignore[no-any-return]
        found = self._ahead[self._at : self._at + count]
        self._at += len(found)
        return found


class Shuffle(Rows):
    """The shuffled items of one or several epochs.

    Args:
      source: returns the iterator over an epoch's items.
      size: of the buffer.
      seeds: of the order.
      epochs: how many; endless for -1.
    """

    def __init__(
        self, source: Any, size: int, seeds: tuple[int, int], epochs: int = 1
    ) -> None:
        self._source = source
        self._size = size
        self._left = epochs
        self._words = RandomWords(*seeds)
        self._buffer: list[Any] = []
        self._count = 0
        self._items: Any = None
        self._is_first = True  # no element of any epoch was read
        # [start, end) of each epoch's items in the buffer, modulo its size.
        self._epochs: deque[list[int]] = deque([[0, 0]])

    @property
    def buffered(self) -> tuple[int, int]:
        """The number of elements in the buffer, and the most there may be."""
        return self._count, self._size

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._fill()
        return self._draw()

    def _fill(self) -> None:
        buffer, size = self._buffer, self._size
        epochs = self._epochs
        if self._items is None and self._is_first and self._left:
            self._items = self._source()
        while self._items is not None and self._count < size:
            item = next(self._items, _END)
            if item is _END:
                self._end_epoch()
                continue
            self._is_first = False
            last = epochs[-1]
            if last[1] < size:
                buffer.append(item)
            else:
                buffer[last[1] % size] = item
            last[1] += 1
            self._count += 1
            if len(epochs) > _MOST_EPOCHS:
                break

    def _end_epoch(self) -> None:
        if self._left > 0:
            self._left -= 1
        elif self._is_first:  # an empty dataset, repeated forever
            self._left, self._items = 0, None
            return
        # As in TensorFlow also after the last epoch: a generator of seeds counts it.
        items = self._source()
        self._items = items if self._left else None
        if self._left:
            end = self._epochs[-1][1]
            self._epochs.append([end, end])

    def _draw(self) -> Any:
        if not self._count:
            raise StopIteration
        epochs, buffer, size = self._epochs, self._buffer, self._size
        while epochs[0][0] == epochs[0][1]:
            epochs.popleft()
        first = epochs[0]
        start, end = first
        index = (start + next(self._words) % (end - start)) % size
        item = buffer[index]
        buffer[index] = buffer[start % size]
        buffer[start % size] = None
        first[0] += 1
        self._count -= 1
        return item

    def take(self, count: int) -> Array:
        found: list[Any] = []
        while len(found) < count:
            self._fill()
            if not self._count:
                break
            block = self._block(count - len(found))
            found += block or [self._draw()]
        return np.array(found, np.int64)

    def _block(self, count: int) -> list[Any]:
        """Draw up to `count` items at once, while nothing but the ring moves."""
        epochs, size = self._epochs, self._size
        if self._items is not None and self._count < size:
            return []
        while epochs[0][0] == epochs[0][1]:
            epochs.popleft()
        start, end = epochs[0]
        if len(epochs) == 1:  # full, or at the end
            count = count if self._items is not None else min(count, end - start)
        else:
            count = min(count, end - start)
        if count < 2:
            return []
        # Each output but the last is followed by reading one item.
        new: list[Any] = []
        if self._items is not None:
            new = self._items.take(count - 1)
            if not new:
                return []
            count = len(new) + 1
        steps = np.arange(count)
        sizes = end - start - steps if len(epochs) > 1 or not new else end - start
        places = (self._words.take(count) % sizes + start + steps) % size
        buffer = self._buffer
        found: list[Any] = []
        add = found.append
        front = start % size
        for place, item in zip(places.tolist(), new, strict=False):
            add(buffer[place])
            buffer[place] = buffer[front]
            buffer[front] = item
            front += 1
            if front == size:
                front = 0
        for place in places[len(new) :].tolist():
            add(buffer[place])
            buffer[place] = buffer[front]
            front += 1
            if front == size:
                front = 0
        epochs[0][0] += count
        epochs[-1][1] += len(new)
        self._count += len(new) - count
        return found


class Shuffled(OfOne):
    """Shuffled elements.

    Args:
      source: a dataset.
      size: of the buffer.
      seeds: two seeds; None for random ones.
      reshuffles: whether each epoch has another order.
      epochs: the number of epochs that are shuffled together.
    """

    def __init__(
        self,
        source: Dataset,
        size: int,
        seeds: tuple[int, int] | None,
        reshuffles: bool,
        epochs: int = 1,
    ) -> None:
        self.inputs = (source,)
        self.size, self.seeds, self.reshuffles = size, seeds, reshuffles
        self.epochs = epochs

    def cardinality(self) -> int:
        return repeated_cardinality(self.inputs[0], self.epochs)

    def _seeds(self, running: Running) -> tuple[int, int]:
        seeds = self.seeds or running.random_seeds(self)
        if not self.reshuffles:
            return seeds
        words = running.once(self, "seeds", lambda: RandomWords(*seeds))
        return next(words), next(words)

    def rows(self, running: Running) -> Rows:
        source = self.inputs[0]
        return Shuffle(
            lambda: RowNumbers(source.rows(running)),
            self.size,
            self._seeds(running),
            self.epochs,
        )

    def elements(self, running: Running) -> Iterator[Element]:
        if self.table is not None:
            return super().elements(running)
        source = self.inputs[0]
        seeds = self._seeds(running)
        return Shuffle(lambda: source.elements(running), self.size, seeds, self.epochs)


class SeedGenerator:
    """The resource behind an `AnonymousRandomSeedGenerator`: seeds in sequence.

    Args:
      seeds: that determine the sequence.
    """

    shape: ClassVar[tuple[int, ...]] = ()

    def __init__(self, seeds: tuple[int, int]) -> None:
        self._words = RandomWords(*seeds)
        self._lock = threading.Lock()

    def seeds(self) -> tuple[int, int]:
        """The seeds of the next iterator."""
        with self._lock:
            return next(self._words), next(self._words)


class ShuffledAnew(Shuffled):
    """Shuffled elements, in another order for each iterator that begins.

    Rows are drawn in blocks: where two iterators over several epochs take turns, the
    one begins its next epoch, and gets seeds, earlier than in TensorFlow.

    Args:
      source: a dataset.
      size: of the buffer.
      generator: of the seeds of iterators.
    """

    def __init__(self, source: Dataset, size: int, generator: SeedGenerator) -> None:
        super().__init__(source, size, None, reshuffles=False)
        self._generator = generator

    def _seeds(self, running: Running) -> tuple[int, int]:
        return self._generator.seeds()

    def check_stateless(self) -> None:
        raise FailedPreconditionError(
            None,
            None,
            f"ShuffleDatasetOp({self.size})::ReshufflingDataset depends on random seed "
            "generator resource.",
        )


# ---- ops


def _checked_size(buffer_size: Any) -> int:
    size = integer(buffer_size)
    if size <= 0:
        raise invalid_argument("buffer_size must be greater than zero.")
    return size


class ShuffleDataset(DatasetOp):
    """Shuffled elements.  Source: dataset_ops.cc, ShuffleDataset."""

    signature = (
        "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64 "
        "-> handle: variant"
    )
    reshuffle_each_iteration: bool = True
    output_types: tuple[DType, ...]  # type: ignore[misc]  # TensorFlow's order
    output_shapes: tuple[Shape, ...]  # type: ignore[misc]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {
        "buffer_size": 0, "seed": 0, "seed2": 0,
    }  # fmt: skip

    def dataset(
        self, context: KernelContext, source: Dataset, size: Any, *seeds: Any
    ) -> Dataset:
        return Shuffled(
            source,
            _checked_size(size),
            seeds_or_none(*seeds),
            self.reshuffle_each_iteration,
        )


class ShuffleDatasetV2(DatasetOp):
    """Shuffled elements, by a generator's seeds.  Source: ShuffleDatasetV2."""

    signature = (
        "input_dataset: variant, buffer_size: int64, seed_generator: resource "
        "-> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {
        "buffer_size": 0, "seed_generator": 0,
    }  # fmt: skip
    is_stateful: ClassVar[bool] = True

    def dataset(
        self, context: KernelContext, source: Dataset, size: Any, generator: Any
    ) -> Dataset:
        return ShuffledAnew(source, _checked_size(size), generator)


class AnonymousRandomSeedGenerator(StatefulOp, MultiOutputOp):
    """A generator of seeds.  Source: AnonymousRandomSeedGenerator.

    It ends with the last dataset that has it: `deleter` is the generator, too.
    """

    signature = "seed: int64, seed2: int64 -> handle: resource, deleter: variant"
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, seed: Shape, seed2: Shape) -> list[Shape]:
        return [(), ()]

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, None]

    def compute(self, context: KernelContext, *seeds: Any) -> list[SeedGenerator]:
        found = seeds_or_none(*seeds)
        generator = SeedGenerator(found or (secrets.randbits(64), secrets.randbits(64)))
        return [generator, generator]


class DeleteRandomSeedGenerator(StatefulOp, NoOutputOp):
    """No effect: a generator ends with its dataset.

    Source: dataset_ops.cc, DeleteRandomSeedGenerator.
    """

    signature = "handle: resource, deleter: variant ->"
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, handle: Shape, deleter: Shape) -> list[Shape]:
        return []

    def compute(self, context: KernelContext, *inputs: Any) -> Any:
        return ()


class ShuffleAndRepeatDataset(DatasetOp):
    """Shuffled elements of several epochs.  Source: ShuffleAndRepeatDataset."""

    signature = (
        "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, "
        "count: int64 -> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {
        "buffer_size": 0, "seed": 0, "seed2": 0, "count": 0,
    }  # fmt: skip

    def dataset(
        self,
        context: KernelContext,
        source: Dataset,
        size: Any,
        seed: Any,
        seed2: Any,
        count: Any,
    ) -> Dataset:
        seeds = seeds_or_none(seed, seed2)
        return Shuffled(source, _checked_size(size), seeds, False, integer(count))
