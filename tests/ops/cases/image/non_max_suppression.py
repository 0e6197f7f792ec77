"""Suppressed boxes, by loops over pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.image.non_max_suppression import (
    NonMaxSuppression,
    NonMaxSuppressionV2,
    NonMaxSuppressionV3,
    NonMaxSuppressionV4,
    NonMaxSuppressionV5,
    NonMaxSuppressionWithOverlaps,
)

RNG = np.random.default_rng(41)
F = np.float32


def shared(a: Any, b: Any) -> float:
    """Intersection by union."""
    sides = []
    areas = [1.0, 1.0]
    for axis in (0, 1):
        ends = [sorted((float(box[axis]), float(box[axis + 2]))) for box in (a, b)]
        sides.append(max(0.0, min(e[1] for e in ends) - max(e[0] for e in ends)))
        areas = [area * (e[1] - e[0]) for area, e in zip(areas, ends, strict=True)]
    inner = sides[0] * sides[1]
    return inner / (sum(areas) - inner)


def best(
    overlap: Callable[[int, int], float], scores: Any, size: int, limit: float,
    least: float = -np.inf, sigma: float = 0.0,
) -> list[tuple[int, float]]:  # fmt: skip
    """(index, score) of what remains, from the definition, one after the other."""
    left = {i: float(s) for i, s in enumerate(scores) if s > least}
    found: list[tuple[int, float]] = []
    while left and len(found) < size:
        i = max(left, key=lambda k: left[k])
        found.append((i, left.pop(i)))
        for k in list(left):
            if overlap(k, i) >= limit:
                del left[k]
            elif sigma:
                left[k] *= np.exp(-(overlap(k, i) ** 2) / (2 * sigma))
                if left[k] <= least:
                    del left[k]
    return found


def suppressed(outputs: int = 1, pad: int = 0) -> Any:
    def expected(boxes: Any, scores: Any, size: Any, *limits: Any) -> Any:
        numbers = [float(limit) for limit in limits] or [0.5]
        found = best(
            lambda i, k: shared(boxes[i], boxes[k]), scores, int(size), *numbers
        )
        filler = [(0, 0.0)] * max(0, pad - len(found))
        indices = np.int32([i for i, _ in found + filler])
        if outputs == 1:
            return indices
        count = np.int32(len(found))
        if outputs == 2:
            return indices, count
        return indices, F([score for _, score in found + filler]), count

    return expected


def by_overlaps(overlaps: Any, scores: Any, size: Any, limit: Any, least: Any) -> Any:
    found = best(lambda i, k: overlaps[i, k], scores, int(size), limit, least)
    return np.int32([i for i, _ in found])


CORNERS = RNG.uniform(size=(23, 2))
MANY = np.concatenate([CORNERS, CORNERS + RNG.uniform(0.1, 0.4, (23, 2))], 1).astype(F)
MANY[::5] = MANY[::5, [2, 1, 0, 3]]  # any two corners will do
SCORES = RNG.permutation(23).astype(F) / 23
# More than are compared with one another at once.
CROWD = RNG.uniform(size=(120, 2))
CROWD = np.concatenate([CROWD, CROWD + 0.2], axis=1).astype(F)
RANKS = RNG.permutation(120).astype(F)
OVERLAPS = RNG.uniform(size=(23, 23)).astype(F)
np.fill_diagonal(OVERLAPS, 1)
SEVEN, ALL = np.int32(7), np.int32(50)
HALF, THIRD, FIFTH, NOTHING = F(0.5), F(0.3), F(0.2), F(-np.inf)
SOFT = NonMaxSuppressionV5()
ROW = F([[i, 0, i + 0.5, 1] for i in range(9)])  # which do not overlap

CASES = [
    Case(NonMaxSuppression(), (MANY, SCORES, SEVEN), suppressed(),
         exact_shape=False),
    Case(NonMaxSuppressionV2(), (MANY, SCORES, ALL, THIRD), suppressed(),
         exact_shape=False),
    Case(NonMaxSuppressionV3(), (MANY, SCORES, ALL, THIRD, HALF), suppressed(),
         exact_shape=False),
    Case(NonMaxSuppressionV3(), (MANY[:0], SCORES[:0], ALL, THIRD, HALF),
         np.int32([]), "empty", exact_shape=False),
    # Equal scores, and boxes without an area, as real TensorFlow takes them.
    Case(NonMaxSuppressionV3(), (ROW, np.ones(9, F), ALL, HALF, NOTHING),
         np.int32([0, 2, 6, 8, 5, 7, 4, 1, 3]), "ties", exact_shape=False),
    Case(
        NonMaxSuppressionV3(), (ROW[:3] * 0, np.ones(3, F), SEVEN, HALF, NOTHING),
        np.int32([0, 1, 2, 0, 1, 2, 0]), "no-area", exact_shape=False,
    ),
    Case(
        NonMaxSuppressionV3(), (MANY, SCORES, np.int32(-1), HALF, F(0.9)),
        lambda boxes, scores, size, *limits: suppressed()(boxes, scores, 99, *limits),
        "any-size", exact_shape=False,
    ),
    Case(
        NonMaxSuppressionV3(), (CROWD, RANKS, np.int32(45), THIRD, NOTHING),
        suppressed(), "crowd", exact_shape=False,
    ),
    Case(NonMaxSuppressionV4(), (MANY, SCORES, SEVEN, THIRD, HALF), suppressed(2),
         exact_shape=False),
    Case(NonMaxSuppressionV4(True), (MANY, SCORES, ALL, THIRD, HALF),
         suppressed(2, 50), "pad", exact_shape=False),
    Case(SOFT, (MANY, SCORES, SEVEN, THIRD, HALF, F(0)), suppressed(3),
         exact_shape=False),
    Case(SOFT, (MANY, SCORES, ALL, F(0.6), FIFTH, HALF), suppressed(3), "soft",
         exact_shape=False, tolerance=1e-5),
    Case(
        NonMaxSuppressionV5(True), (MANY, SCORES, ALL, F(0.6), FIFTH, THIRD),
        suppressed(3, 50), "soft-pad", exact_shape=False, tolerance=1e-5,
    ),
    Case(NonMaxSuppressionWithOverlaps(), (OVERLAPS, SCORES, SEVEN, F(0.9), FIFTH),
         by_overlaps, exact_shape=False),
]  # fmt: skip
