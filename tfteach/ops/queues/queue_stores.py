"""How queues store their elements: in order, padded, shuffled, by priority.

Source: core/kernels/fifo_queue.cc, padding_fifo_queue.cc, random_shuffle_queue_op.cc,
priority_queue.cc.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.shape import Shape
from tfteach.ops.queues.queue_attempts import (
    Element,
    Progress,
    Queue,
    _DequeueMany,
)
from tfteach.ops.random.philox import Stream


class FIFOStore(Queue):
    """Elements in the order in which they came.

    Rows that were enqueued together stay together as one block until they are dequeued:
    a batch that is exactly a block costs no copy.
    """

    kind = kind_of_batches = "FIFOQueue"

    def __init__(
        self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape], capacity: int
    ) -> None:
        super().__init__(name, dtypes, shapes, capacity)
        # (components, first row, last row + 1); single elements have no rows: 0, 0
        self.blocks: deque[tuple[Element, int, int]] = deque()
        self._size = 0

    @property
    def size(self) -> int:
        return self._size

    def push(self, element: Element) -> None:
        self.blocks.append((element, 0, 0))
        self._size += 1

    def push_rows(self, rows: Sequence[Any], start: int, stop: int) -> None:
        self.blocks.append((tuple(rows), start, stop))
        self._size += stop - start

    def pop(self) -> Element:
        components, start, stop = self.blocks[0]
        if not stop:
            self.blocks.popleft()
            self._size -= 1
            return components
        element = tuple(_row(component, start) for component in components)
        self._drop(start + 1)
        self._size -= 1
        return element

    def _drop(self, start: int) -> None:
        """The first block begins at `start` from now on."""
        components, _, stop = self.blocks.popleft()
        if start < stop:
            self.blocks.appendleft((components, start, stop))

    def pop_many(self, count: int) -> list[Any]:
        taken: list[tuple[Element, int, int]] = []
        while count:
            components, start, stop = self.blocks[0]
            length = (stop - start) or 1
            if length <= count:
                taken.append(self.blocks.popleft())
            else:
                length = count
                taken.append((components, start, start + count))
                self._drop(start + count)
            count -= length
            self._size -= length
        return taken

    def restore(self, taken: list[Any]) -> None:
        self.blocks.extendleft(reversed(taken))
        self._size += sum((stop - start) or 1 for _, start, stop in taken)

    def batch(self, taken: list[Any], count: int) -> Element:
        if len(taken) == 1 and taken[0][2]:
            components, start, stop = taken[0]
            if start == 0 and stop == len(components[0]):
                whole: Element = components
                return whole
            return tuple(component[start:stop].copy() for component in components)
        found = []
        for i, dtype in enumerate(self.dtype_of_components):
            shape = self.shapes[i] or ()
            rows = np.empty((count, *(n or 0 for n in shape)), dtype)
            at = 0
            for components, start, stop in taken:
                if stop:
                    rows[at : at + stop - start] = components[i][start:stop]
                    at += stop - start
                else:
                    rows[at, ...] = components[i]
                    at += 1
            found.append(rows)
        return tuple(found)


def _row(component: Any, index: int) -> Any:
    """A copy of a row: the rest of the block must not live as long."""
    row = component[index]
    return row.copy() if isinstance(row, np.ndarray) else row


class PaddingStore(FIFOStore):
    """Elements in order, whose sizes may differ: batches are padded with zeros."""

    kind = "FIFOQueue"
    kind_of_batches = "PaddingFIFOQueue"

    def batch(self, taken: list[Any], count: int) -> Element:
        if len(taken) == 1 and taken[0][2]:
            return super().batch(taken, count)
        return tuple(
            _padded(taken, i, count, dtype)
            for i, dtype in enumerate(self.dtype_of_components)
        )


def _padded(
    taken: Sequence[tuple[Element, int, int]], i: int, count: int, dtype: np.dtype[Any]
) -> Any:
    """Component `i` as rows of one array, as large as the largest in each axis."""
    parts = [
        components[i][start:stop] if stop else np.array([components[i]], dtype)
        for components, start, stop in taken
    ]
    largest = tuple(map(max, zip(*(part.shape[1:] for part in parts), strict=True)))
    if all(part.shape[1:] == largest for part in parts):
        return np.concatenate(parts)
    rows = np.zeros((count, *largest), dtype)
    if dtype.hasobject:
        rows.fill(b"")
    at = 0
    for part in parts:
        end = at + len(part)
        rows[(slice(at, end), *map(slice, part.shape[1:]))] = part
        at = end
    return rows


class _RowPool:
    """Rows of equal shapes in one array for each component, by the number of a slot."""

    def __init__(
        self, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[np.dtype[Any]]
    ) -> None:
        self._arrays = [
            np.empty((0, *shape), dtype)
            for shape, dtype in zip(shapes, dtypes, strict=True)
        ]
        self._size = 0
        self._free: list[int] = []

    def store(self, rows: Sequence[Any], start: int, stop: int) -> list[int]:
        """Copy the rows; returns their slots."""
        count = stop - start
        if count > len(self._free):
            self._grow(count)
        slots = self._free[-count:]
        del self._free[-count:]
        # Slots that lie one after the other are a slice, which is faster.
        first, last = slots[0], slots[-1]
        place: Any = slots
        if last - first == count - 1 and slots == [*range(first, last + 1)]:
            place = slice(first, last + 1)
        for array, component in zip(self._arrays, rows, strict=True):
            array[place] = component[start:stop]
        return slots

    def _grow(self, count: int) -> None:
        more = max(count, self._size)
        for i, array in enumerate(self._arrays):
            larger = np.empty((self._size + more, *array.shape[1:]), array.dtype)
            larger[: self._size] = array
            self._arrays[i] = larger
        self._free[:0] = range(self._size, self._size + more)
        self._size += more

    def row(self, slot: int) -> Element:
        """A copy of a row, whose slot is free then."""
        self._free.append(slot)
        return tuple(_row(array, slot) for array in self._arrays)

    def rows(self, slots: list[int]) -> Element:
        """A copy of rows, whose slots are free then."""
        found = tuple(array.take(slots, 0) for array in self._arrays)
        self.release(slots)
        return found

    def release(self, slots: list[int]) -> None:
        self._free += slots


class ShuffleStore(Queue):
    """Elements that leave in random order.

    Attributes:
      min_after_dequeue: so many elements remain, until the queue is closed.
      seeds: of the random numbers, as the op names them.
    """

    kind = kind_of_batches = "RandomShuffleQueue"

    def __init__(
        self,
        name: str,
        dtypes: Sequence[DType],
        shapes: Sequence[Shape],
        capacity: int,
        min_after_dequeue: int,
        seeds: tuple[int, int],
    ) -> None:
        super().__init__(name, dtypes, shapes, capacity)
        self.min_after_dequeue, self.seeds = min_after_dequeue, seeds
        self._stream = Stream(*seeds)
        self._words: list[int] = []  # drawn and not used yet, the next one last
        # Elements that came one by one, and the slots of those that came in rows.
        self.elements: list[Element | int] = []
        self._pool: _RowPool | None = None

    @property
    def size(self) -> int:
        return len(self.elements)

    def available(self) -> int:
        kept = 0 if self.is_closed else self.min_after_dequeue
        return len(self.elements) - kept

    def push(self, element: Element) -> None:
        self.elements.append(element)

    def push_rows(self, rows: Sequence[Any], start: int, stop: int) -> None:
        if not self.shapes:  # the rows of the next enqueue may have other shapes
            for i in range(start, stop):
                self.elements.append(tuple(_row(component, i) for component in rows))
            return
        if self._pool is None:
            sizes = [row.shape[1:] for row in rows]
            self._pool = _RowPool(sizes, self.dtype_of_components)
        self.elements += self._pool.store(rows, start, stop)

    def pop(self) -> Element:
        found = self.pop_many(1)[0]
        if isinstance(found, int):
            assert self._pool is not None
            return self._pool.row(found)
        element: Element = found
        return element

    def pop_many(self, count: int) -> list[Any]:
        words, elements = self._words, self.elements
        found = []
        for _ in range(count):
            if not words:
                words += self._stream.reserve(64).blocks(64).ravel().tolist()[::-1]
            index = words.pop() % len(elements)
            found.append(elements[index])
            elements[index] = elements[-1]
            elements.pop()
        return found

    def batch(self, taken: list[Any], count: int) -> Element:
        pool = self._pool
        if pool is None:
            return super().batch(taken, count)
        if all(type(found) is int for found in taken):
            return pool.rows(taken)
        return super().batch(
            [pool.row(found) if type(found) is int else found for found in taken], count
        )

    def restore(self, taken: list[Any]) -> None:
        self.elements += reversed(taken)

    def forget(self, taken: list[Any]) -> None:
        if self._pool is not None:
            self._pool.release([found for found in taken if type(found) is int])


class _PriorityMany(_DequeueMany):
    """Takes no element before all are there; a closed queue loses those it takes."""

    def advance(self) -> Progress:
        queue = self.queue
        while self.left:
            if queue.size < self.left and not queue.is_closed:
                return Progress.NONE
            if not queue.size or (queue.size < self.left and not self.allows_fewer):
                kind = queue.kind_of_batches
                self.error = queue.empty_error(self.left, queue.size, kind)
                return Progress.DONE
            self.taken += queue.pop_many(1)
            self.left -= 1
        self.result = queue.batch(self.taken, self.count)
        return Progress.DONE


class PriorityStore(Queue):
    """Elements whose first component is an int64; the smallest leaves first.

    Equal ones leave in the order of C++'s `std::priority_queue`, a binary heap.
    """

    kind = kind_of_batches = "PriorityQueue"
    attempt_at_many = _PriorityMany

    def __init__(
        self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape], capacity: int
    ) -> None:
        super().__init__(name, dtypes, shapes, capacity)
        self.heap: list[tuple[int, Element]] = []

    @property
    def size(self) -> int:
        return len(self.heap)

    def push(self, element: Element) -> None:
        self.heap.append((int(element[0]), element))
        _sift_up(self.heap, len(self.heap) - 1, self.heap[-1])

    def push_rows(self, rows: Sequence[Any], start: int, stop: int) -> None:
        for i in range(start, stop):
            self.push(tuple(_row(component, i) for component in rows))

    def pop(self) -> Element:
        heap = self.heap
        first, last = heap[0], heap.pop()
        if not heap:
            return first[1]
        hole, count = 0, len(heap)
        # The hole sinks to a leaf along the smaller children, then the last one rises.
        while 2 * hole + 2 < count:
            left, right = 2 * hole + 1, 2 * hole + 2
            child = left if heap[left][0] < heap[right][0] else right
            heap[hole] = heap[child]
            hole = child
        if 2 * hole + 2 == count:
            heap[hole] = heap[2 * hole + 1]
            hole = 2 * hole + 1
        _sift_up(heap, hole, last)
        return first[1]

    def restore(self, taken: list[Any]) -> None:
        for element in taken:
            self.push(element)


def _sift_up(heap: list[Any], hole: int, item: tuple[int, Element]) -> None:
    while hole:
        parent = (hole - 1) // 2
        if heap[parent][0] <= item[0]:
            break
        heap[hole] = heap[parent]
        hole = parent
    heap[hole] = item
