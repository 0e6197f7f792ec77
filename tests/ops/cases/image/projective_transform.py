"""Projective transformations of images, from real TensorFlow or written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.image.projective_transform import ImageProjectiveTransformV2

X = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
SIZE = np.int32([3, 4])
SAME = np.float32([[1, 0, 0, 0, 1, 0, 0, 0]])
HALF = np.float32([[1, 0, 0.5, 0, 1, 0.5, 0, 0]])
TALL = np.float32([[1, 0, 0.3, 0, 1, 0.6, 0, 0]])


def case(kind, inputs, rows, name):
    # The gradient is TensorFlow's, the inverse transformation, which is no derivative.
    expect = np.asarray(rows, inputs[0].dtype)[..., None]
    op = ImageProjectiveTransformV2(kind)
    return Case(op, inputs, expect, name, gradient=False)


CASES = [
    case("NEAREST", (X, SAME, SIZE), X[..., 0], "same"),
    case(
        "NEAREST",
        (X, HALF, SIZE),
        [[[5, 6, 7, 0], [9, 10, 11, 0], [0, 0, 0, 0]]],
        "halves away from zero",
    ),
    case(
        "BILINEAR",
        (X, HALF, SIZE),
        [[[2.5, 3.5, 4.5, 2.5], [6.5, 7.5, 8.5, 4.5], [4.25, 4.75, 5.25, 2.75]]],
        "halves",
    ),
    case(
        "BILINEAR",
        ((X * 20).astype(np.uint8), TALL, SIZE),
        [[[54, 74, 94, 75], [134, 154, 174, 131], [66, 74, 82, 61]]],
        "cut to whole numbers",
    ),
    case("NEAREST", (X, SAME, np.int32([2, 1])), [[[0], [4]]], "smaller"),
    case(
        "NEAREST",
        (
            np.concatenate([X, X + 20]),
            np.concatenate([SAME, SAME * 0]),
            np.int32([1, 2]),
        ),
        [[[0, 1]], [[20, 20]]],
        "one for each",
    ),
]
