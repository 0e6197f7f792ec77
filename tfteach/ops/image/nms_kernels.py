"""Non-maximum suppression in NumPy: the selection of boxes.

The box with the highest score is selected, boxes that overlap it too much are dropped,
and so on.  TensorFlow takes candidates from a C++ heap, whose order is visible for
equal scores, hence the same heap here.  Without equal scores the remaining boxes are
compared in blocks.

Source: core/kernels/non_max_suppression_op.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
_SMALL_PART = 16  # arrays of this size are sorted by insertion
_LEAST_AT_ONCE, _MOST_AT_ONCE = 32, 256  # boxes compared with one another

# (candidates, selected boxes: one index or several) -> their overlaps
Similarity = Callable[[Any, Any], Array]


class Limits(NamedTuple):
    """Limits that end the selection."""

    size: int  # maximum number of boxes; negative: no limit
    similarity: Any  # boxes at least this similar are covered
    score: Any  # candidates need a higher score
    sigma: Any = 0.0  # of soft suppression; 0: none


class Chosen(NamedTuple):
    """The selected boxes' indices, and their scores, reduced by soft suppression."""

    indices: Array
    scores: Array


def overlap_of(boxes: Array) -> Similarity:
    """Intersection over union of boxes [n, 4], given by any two opposite corners."""
    wide = boxes.astype(np.float32, copy=False)
    low = np.minimum(wide[:, :2], wide[:, 2:]).T.copy()
    high = np.maximum(wide[:, :2], wide[:, 2:]).T.copy()
    areas = (high[0] - low[0]) * (high[1] - low[1])

    def overlap(a: Any, b: Any) -> Array:
        shared: Any = np.float32(1)
        for lows, highs in zip(low, high, strict=True):
            side = np.minimum(highs[a], highs[b]) - np.maximum(lows[a], lows[b])
            shared = shared * np.maximum(side, 0)
        both = areas[a] + areas[b] - shared
        is_real = (areas[a] > 0) & (areas[b] > 0)
        result: Array = np.divide(shared, both, out=np.zeros_like(both), where=is_real)
        return result

    return overlap


def select(similarity: Similarity, scores: Array, limits: Limits) -> Chosen:
    """The boxes of NonMaxSuppression, best first.

    Args:
      similarity: the similarity of pairs of boxes.
      scores: [boxes].
      limits: the stopping conditions; a similarity equal to the limit suppresses.
    """
    candidates = np.flatnonzero(scores > limits.score)
    if not limits.sigma > 0:
        limit = np.asarray(limits.similarity).astype(scores.dtype)

        def covers(alike: Array) -> Array:
            return ~(alike.astype(scores.dtype, copy=False) < limit)

        order = candidates[np.argsort(-scores[candidates])]
        found, seen = _traverse(similarity, order, limits.size, covers)
        # TensorFlow reinserts a selected box, and relies on it suppressing itself.
        drops_itself = covers(similarity(found, found)).all()
        if drops_itself and _are_distinct(scores[order[: seen + 1]]):
            return Chosen(found.astype(np.int32), scores[found])
    return _by_heap(similarity, candidates, scores, limits)


def _are_distinct(ordered: Array) -> bool:
    return bool(np.all(ordered[1:] != ordered[:-1]))


def _traverse(
    similarity: Similarity, order: Array, size: int, covers: Callable[[Array], Array]
) -> tuple[Array, int]:
    """Hard suppression of boxes in the given order.

    Boxes are processed in blocks, compared with those selected before and one another.

    Args:
      similarity: the similarity of pairs of boxes.
      order: indices of boxes, best first.
      size: the maximum number of results; negative: no limit.
      covers: whether a similarity suppresses a box.

    Returns:
      The indices, and the number of entries of `order` that were processed.
    """
    if size < 0:
        size = len(order)
    found = np.zeros(min(size, len(order)), np.intp)
    count = 0
    at_once = min(max(size, _LEAST_AT_ONCE), _MOST_AT_ONCE)
    for start in range(0, len(order) if size else 0, at_once):
        places = np.arange(start, min(start + at_once, len(order)))
        if count:
            before = similarity(order[places][:, None], found[:count])
            places = places[~covers(before).any(axis=1)]
        boxes = order[places]
        covered = covers(similarity(boxes[:, None], boxes))
        free = np.ones(len(boxes), bool)
        for i in range(len(boxes)):
            if free[i]:
                found[count] = boxes[i]
                count += 1
                if count == size:
                    return found, int(places[i]) + 1
                free &= ~covered[:, i]
    return found[:count], len(order)


def _by_heap(
    similarity: Similarity, candidates: Array, scores: Array, limits: Limits
) -> Chosen:
    """Select candidates one by one: for equal scores, and for soft suppression."""
    heap = _Heap()
    for i in candidates.tolist():
        heap.push((scores[i], i, 0))
    size = limits.size if limits.size >= 0 else np.inf
    number = scores.dtype.type
    scale = number(-0.5 / limits.sigma) if limits.sigma > 0 else number(0)
    limit = number(limits.similarity)
    indices: list[int] = []
    final: list[Any] = []
    while heap.items and len(indices) < size:
        original, i, begin = heap.pop()
        # The latest first: a box is compared with each selected one only once.
        latest = np.array(indices[begin:][::-1], np.intp)
        score = original
        if latest.size:
            alike = similarity(i, latest).astype(scores.dtype, copy=False)
            score, covered = _faded(original, alike, limit, scale, limits.score)
            if covered:
                continue
        seen = len(indices)
        if score == original:
            indices.append(i)
            final.append(score)
        if score > limits.score:
            heap.push((score, i, seen))
    return Chosen(np.array(indices, np.int32), np.array(final, scores.dtype))


def _faded(score: Any, alike: Array, limit: Any, scale: Any, least: Any) -> Any:
    """A score reduced by selected boxes, and whether one of them covers the box."""
    weights = np.where(alike <= limit, np.exp(scale * alike * alike), 0)
    faded = np.multiply.accumulate(
        np.concatenate([[score], weights]).astype(alike.dtype)
    )[1:]
    # The loop ends at a box that covers this one, or where the score is too low.
    covers = alike >= limit
    ends = np.flatnonzero(covers | (faded <= least))
    if ends.size:
        return faded[ends[0]], bool(covers[ends[0]])
    return faded[-1], False


class _Heap:
    """C++'s `std::priority_queue` of tuples, by their first item, the largest first.

    Python's heapq returns equal items in a different order.
    """

    def __init__(self) -> None:
        self.items: list[Any] = []

    def push(self, item: Any) -> None:
        self.items.append(item)
        self._rise(len(self.items) - 1, item)

    def pop(self) -> Any:
        items = self.items
        top, item = items[0], items.pop()
        if items:
            hole = self._sink()
            items[hole] = item
            self._rise(hole, item)
        return top

    def _rise(self, hole: int, item: Any) -> None:
        """Move `item` up from position `hole`, past all smaller parents."""
        items = self.items
        while hole and items[(hole - 1) // 2][0] < item[0]:
            items[hole] = items[(hole - 1) // 2]
            hole = (hole - 1) // 2
        items[hole] = item

    def _sink(self) -> int:
        """Move the larger children up from the root; returns the vacated position."""
        items = self.items
        size, hole = len(items), 0
        while 2 * hole + 2 < size:
            child = 2 * hole + 2
            if items[child][0] < items[child - 1][0]:
                child -= 1
            items[hole] = items[child]
            hole = child
        if 2 * hole + 2 == size:
            items[hole] = items[size - 1]
            hole = size - 1
        return hole


# ---- all classes of a batch


def per_class(boxes: Array, scores: Array, limits: Limits) -> Array:
    """One class's boxes in CombinedNonMaxSuppression, best first.

    Here a similarity equal to the limit does not suppress.
    """
    candidates = np.flatnonzero(scores > limits.score)
    kept = scores[candidates]
    overlap = overlap_of(boxes)

    def covers(alike: Array) -> Array:
        result: Array = alike > limits.similarity
        return result

    order = candidates[np.argsort(-kept)]
    found, seen = _traverse(overlap, order, limits.size, covers)
    if not _are_distinct(scores[order[: seen + 1]]):
        order = candidates[sorted_order(kept)]
        found, _ = _traverse(overlap, order, limits.size, covers)
    return found


def sorted_order(scores: Array) -> Array:
    """The order in which C++'s `std::sort` sorts these scores, the largest first.

    Equal scores end up as in GNU's introsort: parts of more than 16 are partitioned at
    the median of three, the rest is sorted by insertion, which is stable.
    """
    if len(scores) <= _SMALL_PART or np.unique(scores).size == scores.size:
        return np.argsort(-scores, kind="stable")
    order = list(range(len(scores)))
    values = scores.tolist()
    parts = [(0, len(order))]
    while parts:
        first, last = parts.pop()
        while last - first > _SMALL_PART:
            cut = _divide(order, values, first, last)
            parts.append((cut, last))
            last = cut
    return np.array(sorted(order, key=lambda i: -values[i]), np.intp)


def _divide(order: list[int], values: list[float], first: int, last: int) -> int:
    """Partition by a median, larger elements first; returns the start of the rest."""

    def swap(i: int, j: int) -> None:
        order[i], order[j] = order[j], order[i]

    def value(i: int) -> float:
        return values[order[i]]

    three = first + 1, first + (last - first) // 2, last - 1
    a, b, c = (value(i) for i in three)
    if a > b:
        median = 1 if b > c else 2 if a > c else 0
    else:
        median = 0 if a > c else 2 if b > c else 1
    swap(first, three[median])
    pivot = value(first)
    low, high = first + 1, last
    while True:
        while value(low) > pivot:
            low += 1
        high -= 1
        while pivot > value(high):
            high -= 1
        if low >= high:
            return low
        swap(low, high)
        low += 1
