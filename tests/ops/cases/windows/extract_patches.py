"""The windows of images and volumes, pixel by pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.windows.conv_2d import Plain
from tfteach.ops.windows.extract_patches import (
    ExtractImagePatches,
    ExtractVolumePatches,
)

RNG = np.random.default_rng(12)


def patches(plain: Plain) -> Any:
    def found(x: Any) -> Any:
        y = np.zeros((len(x), *plain.out, *plain.window, x.shape[-1]), x.dtype)
        for to, tap, at in plain.rows:
            y[:, *to, *tap] = x[:, *at]
        return y.reshape(len(x), *plain.out, -1)

    return found


def wide(items: Any) -> Any:
    return (1, *items, 1)


def image_case(
    name: str, out: Any, window: Any, strides: Any, rates: Any, padding: str
) -> Case:
    sizes = 7, 6
    lead = (0, 0) if padding == "VALID" else None
    plain = Plain(sizes, window, out, strides, rates, lead)
    return Case(
        ExtractImagePatches(wide(window), wide(strides), wide(rates), padding),
        (RNG.normal(size=(2, *sizes, 3)),), patches(plain), name, gradient=False,
    )  # fmt: skip


CASES = [
    image_case("same", (7, 6), (3, 2), (1, 1), (1, 1), "SAME"),
    image_case("strides", (4, 2), (3, 2), (2, 3), (1, 1), "SAME"),
    image_case("valid", (3, 4), (3, 2), (1, 1), (2, 2), "VALID"),
    Case(
        ExtractImagePatches(wide((2, 1)), wide((1, 1)), wide((1, 1)), "VALID"),
        (np.int32([[[[1], [2]], [[3], [4]]]]),), [[[[1, 3], [2, 4]]]], "int",
    ),
    Case(
        ExtractVolumePatches(wide((2, 1, 3)), wide((1, 2, 1)), "SAME"),
        (RNG.normal(size=(1, 3, 4, 5, 2)),),
        patches(
            Plain((3, 4, 5), (2, 1, 3), (3, 2, 5), (1, 2, 1), (1, 1, 1), None)
        ),
    ),
]  # fmt: skip
