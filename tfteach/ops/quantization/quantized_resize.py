"""Resizing of quantized images.

Source: core/ops/image_ops.cc, core/kernels/quantized_resize_bilinear_op.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from tfteach.framework.dtypes import as_dtype, dtypes_of, quint8
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.image.resize import (
    check_images,
    check_positive,
    check_size,
    sized,
)
from tfteach.ops.image.resize_weights import resize_scale
from tfteach.ops.quantization import ranges
from tfteach.ops.quantization.kernel_types import check_kernel

F32 = np.float32


class _Axis(NamedTuple):
    """Of each output along an axis, the pixels around it and its place between them."""

    lower: Any
    upper: Any
    share: Any  # float32

    @classmethod
    def of(cls, size: int, out: int, align_corners: bool, centers: bool) -> _Axis:
        """The axis of `size` pixels, resized to `out`."""
        scale = resize_scale(size, out, align_corners)
        places = np.arange(out, dtype=F32)
        places = (places + F32(0.5)) * scale - F32(0.5) if centers else places * scale
        below = np.floor(places)
        upper = np.minimum(np.ceil(places).astype(np.intp), size - 1)
        lower = np.minimum(np.maximum(below.astype(np.intp), 0), upper)
        return cls(lower, upper, places - below)


class QuantizedResizeBilinear(MultiOutputOp):
    """Bilinear interpolation between integers, in fixed point; the range remains.

    Source: core/ops/image_ops.cc, QuantizedResizeBilinear.
    """

    signature = (
        "images: T, size: int32, min: float32, max: float32 -> "
        "resized_images: T, out_min: float32, out_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    T = dtypes_of("quint8 qint32 float32")
    align_corners: bool = False
    half_pixel_centers: bool = False
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("size",)

    def infer_shape(
        self, images: Shape, size: Any, low: Shape, high: Shape
    ) -> list[Shape]:
        output = sized(images, size)
        ranges.scalars(low, high)
        return [output, (), ()]

    def compute(
        self, xp: ArrayModule, images: Array, size: Any, low: Array, high: Array
    ) -> Any:
        check_kernel(self, {"T": images}, "quint8", "qint32", "float32")
        check_images(images)
        height, width = check_size(size, "shape_t")
        check_positive(height, width)
        return self._resized(images, height, width), *ranges.ends(low, high)

    def _resized(self, images: Any, height: int, width: int) -> Any:
        dtype = as_dtype(images.dtype)
        if images.shape[1:3] == (height, width):
            return images.copy()
        flags = self.align_corners, self.half_pixel_centers
        rows = _Axis.of(images.shape[1], height, *flags)
        columns = _Axis.of(images.shape[2], width, *flags)
        if dtype.is_floating:
            return _by_floats(_corners(images, rows, columns), rows, columns)
        # TensorFlow's qint32 converts to int64 by way of float.
        values = ranges.integers(images).astype(F32).astype(np.int64)
        bits = 7 if dtype is quint8 else 30
        corners = _corners(values, rows, columns)
        return ranges.quantized(_by_fixed_point(corners, rows, columns, bits), dtype)


def _corners(values: Any, rows: _Axis, columns: _Axis) -> list[Any]:
    """The pixels around each output: above, left and right; below, the same."""
    return [
        values[:, down][:, :, across]
        for down in (rows.lower, rows.upper)
        for across in (columns.lower, columns.upper)
    ]


def _by_floats(corners: list[Any], rows: _Axis, columns: _Axis) -> Any:
    left, right, low, high = corners
    down, across = rows.share[:, None, None], columns.share[:, None]
    above = left + (right - left) * across
    return above + (low + (high - low) * across - above) * down


def _by_fixed_point(corners: list[Any], rows: _Axis, columns: _Axis, bits: int) -> Any:
    """Integers between four others, by shares with so many bits after the point."""
    left, right, low, high = corners
    one = 1 << bits
    down = (rows.share * F32(one)).astype(np.int64)[:, None, None]
    across = (columns.share * F32(one)).astype(np.int64)[:, None]
    above = left * one + (right - left) * across
    below = low * one + (high - low) * across
    return _divided(above + _divided(below - above, one) * down + one // 2, one)


def _divided(values: Any, divisor: int) -> Any:
    """Quotients rounded toward 0."""
    return np.sign(values) * (np.abs(values) // divisor)
