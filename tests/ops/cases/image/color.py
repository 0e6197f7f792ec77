"""Colours: each pixel by Python's own `colorsys`, plain means."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.image.color import (
    AdjustContrastv2,
    AdjustHue,
    AdjustSaturation,
    HSVToRGB,
    RGBToHSV,
)

RNG = np.random.default_rng(31)
X = RNG.uniform(0.05, 0.95, size=(2, 4, 5, 3))
SHORT = X.astype(np.float32)
# More pixels than a kernel takes at once, in one row more than a multiple.
LARGE = RNG.uniform(size=(129, 130, 3)).astype(np.float32)
EDGES = np.float32(
    [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0], [0, 1, 0], [0, 0, 1],
     [1, 1, 0], [0, 1, 1], [1, 0, 1], [0.25, 0.5, 0.5], [0.5, 0.25, 0.5]]
).reshape(11, 1, 3)  # fmt: skip


def pixels(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of three numbers as one of images."""

    def apply(images: Any, *more: Any) -> Any:
        rows = images.reshape(-1, 3).tolist()
        return np.array([function(*row, *more) for row in rows]).reshape(images.shape)

    return apply


def turned(red: float, green: float, blue: float, delta: Any) -> Any:
    hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
    return colorsys.hsv_to_rgb((hue + float(delta)) % 1.0, saturation, value)


def vivid(red: float, green: float, blue: float, scale: Any) -> Any:
    hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
    saturation = min(1.0, max(0.0, saturation * float(scale)))
    return colorsys.hsv_to_rgb(hue, saturation, value)


def contrast(images: Any, factor: Any) -> Any:
    mean = images.astype(np.float64).mean(axis=(-3, -2), keepdims=True)
    return (images - mean) * factor + mean


HSV = pixels(colorsys.rgb_to_hsv)
RGB = pixels(colorsys.hsv_to_rgb)
ONE = np.float32(1)

CASES = [
    Case(RGBToHSV(), (X,), HSV),
    Case(RGBToHSV(), (EDGES,), HSV, "edges", gradient=False),
    Case(RGBToHSV(), (LARGE,), HSV, "large", gradient=False),
    Case(RGBToHSV(), (SHORT[0, 0, 0],), HSV, "one-pixel", gradient=False),
    Case(RGBToHSV(), (SHORT[:0],), SHORT[:0], "empty", gradient=False),
    Case(
        RGBToHSV(), (SHORT[0].astype(np.float16),), HSV, "half",
        gradient=False, tolerance=2e-3,
    ),
    Case(HSVToRGB(), (X,), RGB, gradient=False),
    Case(HSVToRGB(), (EDGES,), RGB, "edges", gradient=False),
    Case(AdjustHue(), (SHORT, np.float32(0.3)), pixels(turned), gradient=False),
    Case(
        AdjustHue(), (SHORT, np.float32(-1.7)), pixels(turned), "back", gradient=False
    ),
    Case(AdjustHue(), (LARGE, np.float32(0.5)), pixels(turned), "large",
         gradient=False),
    Case(AdjustHue(), (EDGES, ONE / 3), pixels(turned), "edges", gradient=False),
    Case(AdjustSaturation(), (SHORT, ONE / 2), pixels(vivid), gradient=False),
    Case(AdjustSaturation(), (SHORT, 3 * ONE), pixels(vivid), "more", gradient=False),
    Case(AdjustSaturation(), (SHORT, -ONE), pixels(vivid), "none", gradient=False),
    Case(AdjustSaturation(), (EDGES, 2 * ONE), pixels(vivid), "edges", gradient=False),
    Case(
        AdjustSaturation(), (SHORT[0].astype(np.float16), ONE / 2), pixels(vivid),
        "half", gradient=False, tolerance=2e-3,
    ),
    Case(AdjustContrastv2(), (SHORT, ONE * 2), contrast, gradient=False),
    Case(AdjustContrastv2(), (LARGE, ONE / 2), contrast, "large", gradient=False),
    Case(
        AdjustContrastv2(), (RNG.normal(size=(2, 3, 4, 5, 6)).astype(np.float32), -ONE),
        contrast, "channels", gradient=False,
    ),
    Case(AdjustContrastv2(), (SHORT[:, :0], ONE), SHORT[:, :0], "empty",
         gradient=False),
]  # fmt: skip
