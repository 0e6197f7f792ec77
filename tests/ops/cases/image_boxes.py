"""Boxes: plain loops over pixels and pairs; random crops as TensorFlow drew them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.image.bounding_boxes import (
    DrawBoundingBoxes,
    DrawBoundingBoxesV2,
    SampleDistortedBoundingBox,
    SampleDistortedBoundingBoxV2,
)
from tfteach.ops.image.combined_non_max_suppression import CombinedNonMaxSuppression
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


# ---- drawing

COLOURS = [
    (1, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0.5, 0, 0.5),
    (0.5, 0.5, 0), (0.5, 0, 0), (0, 0, 0.5), (0, 1, 1), (1, 0, 1),
]  # fmt: skip


def drawn(images: Any, boxes: Any, colours: Any = COLOURS) -> Any:
    found = images.copy()
    height, width, depth = images.shape[1:]
    for image, rows in zip(found, boxes, strict=True):
        for i, (top, left, bottom, right) in enumerate(rows):
            top, bottom = (int(F(n) * F(height - 1)) for n in (top, bottom))
            left, right = (int(F(n) * F(width - 1)) for n in (left, right))
            for y in range(height):
                for x in range(width):
                    inside = top <= y <= bottom and left <= x <= right
                    if inside and (y in (top, bottom) or x in (left, right)):
                        image[y, x] = colours[i % len(colours)][:depth]
    return found


IMAGES = RNG.normal(size=(2, 7, 9, 3)).astype(F)
BOXES = F(
    [[[0.1, 0.2, 0.5, 0.9], [-0.5, -0.2, 0.5, 0.3], [0.4, 0.4, 1.4, 1.6],
      [1.3, 1.3, 1.8, 1.8]] + [[0.05 * i, 0.1, 0.9, 0.6] for i in range(8)],
     [[0.5, 0.2, 0.1, 0.9], [-0.1, -0.1, 2, 2], [-1, -1, -0.5, -0.5],
      [0.6, 0.6, 0.6, 0.6]] + [[0.05 * i, 0.2, 0.8, 0.9] for i in range(8)]]
)  # fmt: skip
TWO = F([[1, 2, 3, 4], [5, 6, 7, 8]])

# ---- suppression


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
SIX = np.repeat(F([[0, 0, 1, 1], [0, 2, 1, 3]]), [4, 2], axis=0)
ROW = F([[i, 0, i + 0.5, 1] for i in range(9)])  # which do not overlap


def combined(
    boxes: Any, scores: Any, own: Any, whole: Any, limit: Any, least: Any
) -> Any:
    size = int(whole)
    outputs: list[Any] = [[], [], [], []]
    for rows, grades in zip(boxes, scores, strict=True):
        found = []
        for kind in range(grades.shape[1]):
            of = rows[:, kind % rows.shape[1]]
            chosen = best(
                lambda i, k, of=of: shared(of[i], of[k]),  # type: ignore[misc]
                grades[:, kind], int(own), np.nextafter(limit, F(1)), least,
            )  # fmt: skip
            found += [(score, kind, np.clip(of[i], 0, 1)) for i, score in chosen]
        found = sorted(found, key=lambda row: -row[0])[:size]
        count = len(found)
        filler = [(0.0, 0, np.zeros(4))] * (size - count)
        for part, column in zip(
            (1, 2, 0), zip(*found + filler, strict=True), strict=True
        ):
            outputs[part].append(column)
        outputs[3].append(count)
    return (*(F(part) for part in outputs[:3]), np.int32(outputs[3]))


PER_CLASS = RNG.uniform(size=(2, 8, 3, 2))
PER_CLASS = np.concatenate(
    [PER_CLASS - 0.1, PER_CLASS + RNG.uniform(0.1, 0.5, (2, 8, 3, 2))], axis=-1
).astype(F)
GRADES = (RNG.permutation(48).astype(F) / 48).reshape(2, 8, 3)

# ---- random crops

OBJECTS = F([[[0.1, 0.2, 0.7, 0.8], [0, 0, 0.3, 0.3]]])


def crop(
    op: Any,
    size: Any,
    least: Any,
    place: Any,
    extent: Any,
    id: str = "",
    boxes: Any = OBJECTS,
) -> Case:
    """What seed 3 and a second seed drew in TensorFlow."""
    size = np.int32(size) if isinstance(size, list) else size
    start = np.array([*place, 0], size.dtype)
    end = np.array([*extent, -1], size.dtype)
    corners = np.concatenate([start[:2], (start + end)[:2]])
    box = corners / size[[0, 1, 0, 1]]
    inputs = (size, boxes) if least is None else (size, boxes, F(least))
    return Case(op, inputs, (start, end, F(box).reshape(1, 1, 4)), id)


HARD = {"aspect_ratio_range": (0.2, 3.0), "area_range": (0.1, 0.6)}
SAMPLE = SampleDistortedBoundingBoxV2

CASES = [
    Case(DrawBoundingBoxes(), (IMAGES, BOXES), drawn),
    Case(
        DrawBoundingBoxes(), (IMAGES[..., :1], BOXES[:, :3]),
        lambda images, boxes: drawn(images, boxes, [(1,)]), "grey",
    ),
    Case(DrawBoundingBoxes(), (IMAGES, BOXES[:, :0]), IMAGES, "none"),
    Case(
        DrawBoundingBoxes(), (IMAGES[:1].astype(np.float16), BOXES[:1]), drawn, "half"
    ),
    Case(DrawBoundingBoxesV2(), (IMAGES, BOXES, TWO), drawn),
    Case(
        DrawBoundingBoxesV2(), (IMAGES[..., :1], BOXES, TWO), drawn, "grey"
    ),
    Case(
        DrawBoundingBoxesV2(), (IMAGES, BOXES, TWO[:0]),
        lambda images, boxes, _: drawn(images, boxes), "no-colours",
    ),
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
    Case(
        CombinedNonMaxSuppression(),
        (PER_CLASS, GRADES, np.int32(3), np.int32(7), FIFTH, F(0.1)), combined,
        tolerance=1e-5,
    ),
    Case(
        CombinedNonMaxSuppression(),
        (PER_CLASS[:, :, :1], GRADES, np.int32(4), np.int32(30), HALF, HALF), combined,
        "one-box",
    ),
    Case(
        CombinedNonMaxSuppression(pad_per_class=True),
        (PER_CLASS[:, :, :1], GRADES, np.int32(2), np.int32(30), HALF, HALF),
        lambda boxes, scores, own, whole, *limits: combined(
            boxes, scores, own, 6, *limits), "pad",
    ),
    crop(SampleDistortedBoundingBox(3, 4), [40, 50, 3], None, (5, 12), (28, 36)),
    crop(SAMPLE(3, 3), [97, 82, 3], 0.25, (14, 7), (72, 63)),
    crop(SAMPLE(3, 1, **HARD), [390, 431, 3], 0.9, (24, 25), (334, 301), "hard"),
    crop(SAMPLE(3, 4), np.int64([100, 60, 3]), 0.1, (1, 6), (37, 39), "int64"),
    crop(
        SAMPLE(3, 4, area_range=(0.05, 0.1)), [40, 50, 3], 1, (0, 0), (40, 50), "never"
    ),
    crop(
        SAMPLE(3, 4, use_image_if_no_bounding_boxes=True), [40, 50, 3], 0.1,
        (5, 12), (28, 36), "no-objects", OBJECTS[:, :0],
    ),
]  # fmt: skip
