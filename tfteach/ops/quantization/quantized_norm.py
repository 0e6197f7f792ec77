"""Normalization of quantized images, by given statistics and by those of each image.

Source: core/ops/nn_ops.cc, array_ops.cc, core/kernels/quantized_batch_norm_op.cc,
quantized_instance_norm.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, qint32, quint8
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.quantization import ranges
from tfteach.ops.quantization.kernel_types import check_kernel
from tfteach.ops.quantization.ranges import QUANTIZED, Quantizer

F32 = np.float32
# The range of the fixed-point numbers: 1 is 2048.
_RANGE = F32(-(1 << 20)), F32(1 << 20)


class QuantizedBatchNormWithGlobalNormalization(MultiOutputOp):
    """(x - mean) / sqrt(variance + epsilon) [* gamma] + beta, in fixed point.

    Source: core/ops/nn_ops.cc, QuantizedBatchNormWithGlobalNormalization.
    """

    signature = (
        "t: Tinput, t_min: float32, t_max: float32, "
        "m: Tinput, m_min: float32, m_max: float32, "
        "v: Tinput, v_min: float32, v_max: float32, "
        "beta: Tinput, beta_min: float32, beta_max: float32, "
        "gamma: Tinput, gamma_min: float32, gamma_max: float32 -> "
        "result: out_type, result_min: float32, result_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    Tinput = QUANTIZED
    out_type: DType
    variance_epsilon: float
    scale_after_normalization: bool
    out_type_allowed = QUANTIZED

    def infer_shape(self, t: Shape, *rest: Shape) -> list[Shape]:
        image = shapes.with_rank(t, 4)
        depth = image[3]
        for vector in rest[2::3]:
            size = shapes.with_rank(vector, 1)[0]
            if None not in (depth, size) and depth != size:
                raise ValueError(
                    f"Dimensions must be equal, but are {depth} and {size}"
                )
            depth = size if depth is None else depth
        return [(*image[:3], depth), (), ()]

    def compute(self, xp: ArrayModule, t: Array, *rest: Any) -> Any:
        check_kernel(self, {"Tinput": t}, "quint8 qint32")
        vectors = rest[2::3]
        self._check(t.shape, [np.shape(vector) for vector in vectors])
        limits = ranges.ends(
            *rest[:2], *(end for i in (3, 6, 9, 12) for end in rest[i : i + 2])
        )
        floats = [
            ranges.to_float(ranges.integers(part), quint8, *limits[2 * i : 2 * i + 2])
            for i, part in enumerate((t, *vectors))
        ]
        image, mean, variance, beta, gamma = floats
        with np.errstate(all="ignore"):
            scale = F32(1) / np.sqrt(variance + F32(self.variance_epsilon))
            if self.scale_after_normalization:
                scale = scale * gamma
            offset = -mean * scale + beta
            one, scale, offset, image = (
                ranges.from_float(each, qint32, *_RANGE)
                for each in (F32(1), scale, offset, image)
            )
            # Products wrap around; the quotient is rounded toward 0.
            product = (image * scale).astype(np.int32).astype(np.int64)
            found = np.sign(product) * (np.abs(product) // one) + offset
        return ranges.quantized(found, qint32), *_RANGE

    def _check(self, image: tuple[int, ...], vectors: list[tuple[int, ...]]) -> None:
        if len(image) != 4:
            raise invalid_argument(f"input must be 4-dimensional{shapes.text(image)}")
        for name, shape in zip(("mean", "var", "beta", "gamma"), vectors, strict=True):
            if len(shape) != 1:
                raise invalid_argument(
                    f"{name} must be 1-dimensional{shapes.text(shape)}"
                )
            if shape != image[3:]:
                raise invalid_argument(
                    f"{name} must have a number for each of {image[3]} channels, got "
                    f"{shape[0]}"
                )


class QuantizedInstanceNorm(MultiOutputOp):
    """Each image's channels less their mean, divided by their standard deviation.

    Source: core/ops/array_ops.cc, QuantizedInstanceNorm.
    """

    signature = (
        "x: T, x_min: float32, x_max: float32 -> y: T, y_min: float32, y_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    T = QUANTIZED
    output_range_given: bool = False
    given_y_min: float = 0.0
    given_y_max: float = 0.0
    variance_epsilon: float = 1e-5
    min_separation: float = 1e-3

    def infer_shape(self, x: Shape, low: Shape, high: Shape) -> list[Shape]:
        ranges.scalars(low, high)
        return [x, (), ()]

    def compute(self, xp: ArrayModule, x: Array, low: Array, high: Array) -> Any:
        check_kernel(self, {"T": x}, "quint8")
        first, last = F32(self.given_y_min), F32(self.given_y_max)
        if self.output_range_given and not first < last:
            raise invalid_argument(
                f"given_y_min must be less than given_y_max : {first:g} >= {last:g}"
            )
        if np.ndim(x) != 4:
            raise invalid_argument(f"x must be 4-dimensional{shapes.text(np.shape(x))}")
        low, high = ranges.ends(low, high)
        if not low < high:
            raise invalid_argument(
                f"input_min must be less than input_max : {low:g} >= {high:g}"
            )
        values = ranges.integers(x).astype(F32)
        with np.errstate(all="ignore"):
            normed = self._normed(values, F32((high - low) / F32(255)))
            if not self.output_range_given:
                first = normed.min(initial=np.inf)
                last = normed.max(initial=-np.inf)
            if last - first < F32(self.min_separation):
                last = first + F32(self.min_separation)
            return Quantizer.of(quint8, first, last)(normed), first, last

    def _normed(self, values: Any, scale: Any) -> Any:
        centered = scale * (values - _means(values))
        variance = _means(centered * centered)
        deviation = F32(1) / np.sqrt(variance + F32(self.variance_epsilon))
        return centered * deviation


def _means(values: Any) -> Any:
    """Means over height and width, [batch, 1, 1, channels], summed pixel by pixel."""
    batch, height, width, channels = values.shape
    flat = values.reshape(batch, height * width, channels)
    sums = np.zeros((batch, 1, channels), F32)
    if height * width:
        sums = np.cumsum(flat, 1, dtype=F32)[:, -1:]
    return (sums / F32(height * width))[:, None]
