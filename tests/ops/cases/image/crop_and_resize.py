"""Crops by boxes, against loops over every pixel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import float32, half
from tfteach.ops.image.crop_and_resize import (
    CropAndResize,
    CropAndResizeGradBoxes,
    CropAndResizeGradImage,
)

RNG = np.random.default_rng(23)
IMAGES = RNG.normal(size=(2, 5, 7, 3)).astype(np.float32)
BYTES = RNG.integers(0, 256, (2, 5, 7, 1)).astype(np.uint8)
BOXES = np.float32(
    [
        [0.1, 0.2, 0.83, 0.7],
        [0.9, 1.25, 0.05, -0.4],
        [0.4, 0.3, 0.4, 0.6],
        [-1, 0, 2, 1],
    ]
)
WHICH = np.int32([1, 0, 1, 1])


def place(start: float, end: float, i: int, out: int, n: int) -> float:
    share = i / (out - 1) if out > 1 else 0.5
    return (start + (end - start) * share) * (n - 1)


def pixels(method: str, p: float, n: int) -> list[tuple[int, float]]:
    """The pixels that a place blends, with their shares; none outside."""
    if not 0 <= p <= n - 1:
        return []
    if method == "nearest":
        return [(math.floor(p + 0.5), 1.0)]
    return [(math.floor(p), 1 - p % 1), (math.ceil(p), p % 1)]


def taps(method: str, sizes: Any, boxes: Any, which: Any, crop: Any) -> Any:
    """(crop's pixel, image's pixel, share), for all of both."""
    for b, (y1, x1, y2, x2) in enumerate(boxes.tolist()):
        for y, x in np.ndindex(*crop):
            rows = pixels(method, place(y1, y2, y, crop[0], sizes[0]), sizes[0])
            columns = pixels(method, place(x1, x2, x, crop[1], sizes[1]), sizes[1])
            found = [((which[b], i, j), u * v) for i, u in rows for j, v in columns]
            yield (b, y, x), found


def crops(method: str, outside: float) -> Any:
    def found(image: Any, boxes: Any, which: Any, crop: Any) -> Any:
        out = np.full((len(boxes), *crop, image.shape[3]), outside)
        for to, found in taps(method, image.shape[1:3], boxes, which, crop):
            if found:
                out[to] = sum(image[at].astype(float) * share for at, share in found)
        return out

    return found


def to_images(method: str) -> Any:
    def found(grads: Any, boxes: Any, which: Any, shape: Any) -> Any:
        out = np.zeros(shape)
        for to, found in taps(method, shape[1:3], boxes, which, grads.shape[1:3]):
            for at, share in found:
                out[at] += grads[to].astype(float) * share
        return out

    return found


def to_boxes(grads: Any, image: Any, boxes: Any, which: Any) -> Any:
    """By differences, in float64."""
    out = np.zeros(boxes.shape)
    crop, step = grads.shape[1:3], 1e-6
    for place in np.ndindex(*boxes.shape):
        moved = [boxes.astype(float) for _ in range(2)]
        moved[0][place] += step
        moved[1][place] -= step
        high, low = (crops("bilinear", 0.0)(image, m, which, crop) for m in moved)
        out[place] = ((high - low) * grads).sum() / (2 * step)
    return out


def grads(*crop: int, depth: int = 3) -> Any:
    return RNG.normal(size=(4, *crop, depth)).astype(np.float32)


CASES = []
for method in ("bilinear", "nearest"):
    for crop in ((3, 4), (1, 2), (6, 1)):
        name = f"{method}-{crop[0]}"
        CASES += [
            # Crops are float32 whatever the images are, too coarse for differences.
            Case(
                CropAndResize(method, -2.0), (IMAGES, BOXES, WHICH, np.int32(crop)),
                crops(method, -2.0), name, False, 2e-6,
            ),
            Case(
                CropAndResizeGradImage(float32, method),
                (grads(*crop), BOXES, WHICH, np.int32(IMAGES.shape)),
                to_images(method), name, tolerance=2e-6,
            ),
        ]  # fmt: skip
CASES += [
    Case(CropAndResize(), (BYTES, BOXES, WHICH, np.int32([2, 3])),
         crops("bilinear", 0.0), "bytes", False, 1e-4),
    Case(CropAndResize(), (IMAGES, BOXES[:0], WHICH[:0], np.int32([2, 3])),
         np.zeros((0, 2, 3, 3)), "no-boxes", False),
    Case(CropAndResizeGradImage(half),
         (grads(2, 3), BOXES, WHICH, np.int32(IMAGES.shape)), to_images("bilinear"),
         "half", tolerance=2e-3),
    Case(CropAndResizeGradBoxes(), (grads(3, 4)[:2], IMAGES, BOXES[:2], WHICH[:2]),
         lambda g, *rest: to_boxes(g, *rest), tolerance=1e-5),
]  # fmt: skip
