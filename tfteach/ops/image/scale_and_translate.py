"""Images scaled and translated by any amount, with one of several filters.

Source: core/ops/image_ops.cc, core/kernels/scale_and_translate_op.cc (which pixels a
filter reaches), core/kernels/sampling_kernels.h; Duchon 1979 (Lanczos), Keys 1981,
Mitchell and Netravali 1988.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient
from tfteach.ops.image.resize import (
    WITH_BFLOAT,
    check_images,
    check_original,
    check_positive,
    check_size,
    sized,
)
from tfteach.ops.image.resize_weights import F32, Taps, resample, transposed


def _lanczos(radius: float, x: Any) -> Any:
    wide = np.maximum(x, F32(1e-3)) * F32(np.pi)
    waves = F32(radius) * np.sin(wide) * np.sin(wide / F32(radius)) / (wide * wide)
    return np.where(x > radius, F32(0), np.where(x <= F32(1e-3), F32(1), waves))


def _gaussian(x: Any) -> Any:
    found = np.exp(-x.astype(float) * x / 0.5)  # a standard deviation of 0.5
    return np.where(x >= 1.5, F32(0), found.astype(F32))


def _box(x: Any) -> Any:
    return np.where(x < 0.5, F32(1), np.where(x == 0.5, F32(0.5), F32(0)))


def _triangle(x: Any) -> Any:
    return np.where(x < 1, 1 - x, F32(0))


def _cubic(near: tuple[float, ...], far: tuple[float, ...], x: Any) -> Any:
    """Two cubics, for x below 1 and below 2; coefficients from the highest power."""
    parts = [np.polyval([F32(c) for c in cubic], x) for cubic in (near, far)]
    return np.where(x >= 2, F32(0), np.where(x >= 1, parts[1], parts[0]))


_KEYS = (1.5, -2.5, 0.0, 1.0), (-0.5, 2.5, -4.0, 2.0)
_MITCHELL = (7 / 6, -2.0, 0.0, 8 / 9), (-7 / 18, 2.0, -10 / 3, 16 / 9)

# The filters: their radius, and the weight of a pixel by distance.
FILTERS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "lanczos1": (1.0, partial(_lanczos, 1.0)),
    "lanczos3": (3.0, partial(_lanczos, 3.0)),
    "lanczos5": (5.0, partial(_lanczos, 5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, partial(_cubic, *_KEYS)),
    "mitchellcubic": (2.0, partial(_cubic, *_MITCHELL)),
}


@lru_cache(maxsize=256)
def scaled(
    size: int, out: int, scale: float, move: float, kernel: str, antialias: bool
) -> Taps:
    """The table of one axis: output x lies at `(x + 0.5 - move) / scale` in the input.

    Weights are normalized to sum 1; outputs beyond the input are 0.
    """
    radius, weigh = FILTERS[kernel]
    step = F32(1) / F32(scale)
    stretch = max(step, F32(1)) if antialias else F32(1)
    reach = F32(radius) * stretch
    places = (np.arange(out, dtype=F32) + F32(0.5)) * step - step * F32(move)
    first = np.clip(np.ceil(places - reach - F32(0.5)), 0, size - 1).astype(np.intp)
    last = np.clip(np.floor(places + reach - F32(0.5)), 0, size - 1).astype(np.intp)
    cells = first + np.arange(int((last - first).max()) + 1)[:, None]
    distances = cells.astype(F32) + F32(0.5) - places
    weight = weigh(np.abs(distances * (F32(1) / stretch)))
    weight = np.where(cells <= last, weight, F32(0))
    total = weight.sum(0, dtype=F32)
    inside = (places >= 0) & (places <= size)
    inside &= np.abs(total) >= 1000 * np.finfo(F32).tiny
    weight = np.where(inside, weight / np.where(inside, total, F32(1)), F32(0))
    return Taps(np.clip(cells, 0, size - 1), weight.astype(F32))


class _Scale(Op, abstract=True):
    kernel_type: str = "lanczos3"
    antialias: bool = True
    on_gpu: ClassVar[bool] = False

    def settings(self, scale: Any, translation: Any) -> list[tuple[Any, ...]]:
        """For rows and columns: scale, translation and this op's attributes.

        Raises:
          InvalidArgumentError: an input is not a pair, or the filter is unknown.
        """
        if self.kernel_type not in FILTERS:
            names = ", ".join(FILTERS)
            raise invalid_argument(
                f"Unrecognized kernel type: {self.kernel_type}. Take one of {names}"
            )
        pairs = []
        for values in (scale, translation):
            got = shapes.text(values.shape)
            if values.ndim != 1:
                raise invalid_argument(f"t must be 1-dimensional{got}")
            if len(values) != 2:
                raise invalid_argument(f"t must have two elements{got}")
            pairs.append(values.tolist())
        if not all(s > 0 for s in pairs[0]):
            raise invalid_argument("Scale must be greater than zero.")
        return [(s, t, *self.attributes) for s, t in zip(*pairs, strict=True)]


class ScaleAndTranslate(_Scale):
    """Output (y, x) is the image filtered at ((y, x) + 0.5 - translation) / scale.

    Source: core/ops/image_ops.cc, ScaleAndTranslate.
    """

    signature = (
        "images: T, size: int32, scale: float32, translation: float32 "
        "-> resized_images: float32"
    )
    T = WITH_BFLOAT
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("size",)
    host_inputs: ClassVar[tuple[str, ...]] = ("size", "scale", "translation")

    def infer_shape(
        self, images: Shape, size: Any, scale: Shape, translation: Shape
    ) -> Shape:
        return sized(images, size)

    def compute(
        self,
        xp: ArrayModule,
        images: Array,
        size: Any,
        scale: Array,
        translation: Array,
    ) -> Any:
        check_images(images)
        height, width = check_size(size, "output_shape_t")
        check_positive(height, width)
        rows, columns = self.settings(scale, translation)
        return resample(
            xp, images, scaled(images.shape[1], height, *rows),
            scaled(images.shape[2], width, *columns), F32,
        )  # fmt: skip

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        images, _, scale, translation = op.inputs
        back = ScaleAndTranslateGrad(*self.attributes)
        return [back(grad, images, scale, translation), None, None, None]


class ScaleAndTranslateGrad(_Scale):
    """The gradient of ScaleAndTranslate.

    Source: core/ops/image_ops.cc, ScaleAndTranslateGrad.
    """

    signature = (
        "grads: T, original_image: T, scale: float32, translation: float32 -> output: T"
    )
    T: ClassVar[tuple[DType, ...]] = (float32,)
    host_inputs: ClassVar[tuple[str, ...]] = ("scale", "translation")

    def infer_shape(
        self, grads: Shape, original_image: Shape, scale: Shape, translation: Shape
    ) -> Shape:
        return original_image

    def compute(
        self,
        xp: ArrayModule,
        grads: Array,
        original_image: Array,
        scale: Array,
        translation: Array,
    ) -> Any:
        check_original(grads, original_image)
        if not grads.size or not original_image.size:
            return xp.zeros(original_image.shape, F32)
        rows, columns = self.settings(scale, translation)
        _, height, width, _ = original_image.shape
        back = transposed
        return resample(
            xp, grads, back(scaled, height, grads.shape[1], *rows),
            back(scaled, width, grads.shape[2], *columns), F32,
        )  # fmt: skip
