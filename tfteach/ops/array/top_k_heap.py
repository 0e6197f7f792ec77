"""The heap in which TensorFlow's CPU kernel of TopKV2 collects the largest elements.

It determines the order of unsorted results, and the position of NaN: NaN is neither
less nor greater than another number, so comparisons with it are decided by position.
The heap algorithms are those of C++'s standard library, so the order is reproducible.
Source: core/kernels/topk_op.cc, core/lib/gtl/top_n.h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_CHUNK = 64
# Up to this size C++ sorts by insertion.
_INSERTION = 16


def top_of_row(row: Any, count: int, is_sorted: bool) -> list[int]:
    """Indices of the `count` largest elements of a vector, in TensorFlow's order.

    Args:
      row: real vector of at least `count` elements.
      count: the number of elements; at least 1.
      is_sorted: whether the results are sorted, largest first.
    """
    if count == 1:
        return [_first_largest(row)]
    if count == len(row):
        return _by_insertion(row)
    heap = _Heap(row.tolist(), count + 1)
    at, chunk = count + 1, _CHUNK
    while at < len(row):
        # Only elements greater than the heap's minimum are inserted.
        greater = row[at : at + chunk] > row[heap.places[0]]
        if greater.any():
            at += int(greater.argmax())
            heap.replace_last(at)
            at, chunk = at + 1, _CHUNK
        else:
            at, chunk = at + chunk, 2 * chunk
    return heap.sorted_places() if is_sorted else heap.places[:-1]


def _first_largest(row: Any) -> int:
    """The index of the first maximum, ignoring NaN; 0 if all are NaN."""
    if row.dtype.kind == "f" or row.dtype.kind == "V":
        row = np.where(np.isnan(row), -np.inf, row.astype(np.float64))
    return int(row.argmax())


def _by_insertion(row: Any) -> list[int]:
    """All indices, sorted by insertion; by another method for long rows with NaN."""
    if len(row) > _INSERTION:
        order = np.argsort(row[::-1], kind="stable")
        result: list[int] = (len(row) - 1 - order[::-1]).tolist()
        return result
    values, places = row.tolist(), [0]
    for place in range(1, len(values)):
        at = len(places)
        if values[place] > values[places[0]]:
            at = 0
        while at and values[place] > values[places[at - 1]]:
            at -= 1
        places.insert(at, place)
    return places


class _Heap:
    """A min-heap of indices, in which the last entry lies outside the heap."""

    def __init__(self, values: list[Any], size: int) -> None:
        self._values = values
        self.places = list(range(size))
        for root in range((size - 2) // 2, -1, -1):
            self._sift(root, size, self.places[root])
        self._pop(size)

    def replace_last(self, place: int) -> None:
        """Insert an index in place of the minimum, which becomes the last entry."""
        self.places[-1] = place
        self._pop(len(self.places))

    def sorted_places(self) -> list[int]:
        """The indices in the heap, largest element first."""
        del self.places[-1]
        for size in range(len(self.places), 1, -1):
            self._pop(size)
        return self.places

    def _precedes(self, a: int, b: int) -> bool:
        x, y = self._values[a], self._values[b]
        return bool(x > y or (not x < y and a < b))

    def _pop(self, size: int) -> None:
        """Move the root to the end."""
        last, self.places[size - 1] = self.places[size - 1], self.places[0]
        self._sift(0, size - 1, last)

    def _sift(self, hole: int, size: int, place: int) -> None:
        """Move a hole down to a leaf, then move `place` up from there."""
        places, top, child = self.places, hole, hole
        while child < (size - 1) // 2:
            child = 2 * (child + 1)
            if self._precedes(places[child], places[child - 1]):
                child -= 1
            places[hole] = places[child]
            hole = child
        if size % 2 == 0 and child == (size - 2) // 2:
            child = 2 * (child + 1)
            places[hole] = places[child - 1]
            hole = child - 1
        self._rise(hole, top, place)

    def _rise(self, hole: int, top: int, place: int) -> None:
        places = self.places
        while hole > top:
            parent = (hole - 1) // 2
            if not self._precedes(places[parent], place):
                break
            places[hole] = places[parent]
            hole = parent
        places[hole] = place
