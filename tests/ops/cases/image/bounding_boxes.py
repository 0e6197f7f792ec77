"""Drawn boxes, by loops over pixels; random crops as TensorFlow drew them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.image.bounding_boxes import (
    DrawBoundingBoxes,
    DrawBoundingBoxesV2,
    SampleDistortedBoundingBox,
    SampleDistortedBoundingBoxV2,
)

RNG = np.random.default_rng(41)
F = np.float32
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
