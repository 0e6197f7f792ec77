"""Convolutions of resized and padded images: by the three ops one after the other.

One image: TensorFlow computes others of a batch from rows of the first.
"""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, compute
from tfteach.ops.array.padding import MirrorPad
from tfteach.ops.image.resize import ResizeBilinear
from tfteach.ops.image.resize_and_conv import FusedPadConv2D, FusedResizeAndPadConv2D
from tfteach.ops.windows.conv_2d import Conv2D

RNG = np.random.default_rng(4)
IMAGE = RNG.normal(size=(1, 4, 5, 3)).astype(np.float32)
FILTER = RNG.normal(size=(2, 3, 3, 2)).astype(np.float32)
PADDINGS = np.array([[0, 0], [1, 2], [2, 0], [0, 0]], np.int32)
NONE = np.zeros((4, 2), np.int32)
SIZE = np.array([6, 7], np.int32)


def padded(mode, strides, padding):
    def expect(image, paddings, filter):
        wide = compute(MirrorPad(mode), (image, paddings))[0]
        return compute(Conv2D(strides, padding=padding), (wide, filter))[0]

    return expect


def resized(align, *rest):
    def expect(image, size, paddings, filter):
        large = compute(ResizeBilinear(align), (image, size))[0].astype(image.dtype)
        return padded(*rest)(large, paddings, filter)

    return expect


REFLECT = "REFLECT", (1, 1, 1, 1), "SAME"
SYMMETRIC = "SYMMETRIC", (1, 2, 2, 1), "VALID"
WIDE = IMAGE.astype(float), FILTER.astype(float)
CASES = [
    Case(FusedPadConv2D(*REFLECT), (IMAGE, PADDINGS, FILTER), padded(*REFLECT)),
    Case(
        FusedPadConv2D(*SYMMETRIC),
        (WIDE[0], PADDINGS, WIDE[1]),
        padded(*SYMMETRIC),
        "symmetric",
    ),
    Case(
        FusedResizeAndPadConv2D(False, *REFLECT),
        (IMAGE, SIZE, PADDINGS, FILTER),
        resized(False, *REFLECT),
    ),
    Case(
        FusedResizeAndPadConv2D(True, *SYMMETRIC),
        (IMAGE, SIZE, NONE, FILTER),
        resized(True, *SYMMETRIC),
        "corners",
    ),
]
