"""Quantized integers in another range, or of fewer bits.

Source: core/ops/math_ops.cc, core/kernels/requantize.cc, requantization_range_op.cc,
quantize_down_and_shrink_range.cc, quantization_utils.h.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType, qint32, quint8
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.quantization import ranges
from tfteach.ops.quantization.kernel_types import check_kernel
from tfteach.ops.quantization.ranges import QUANTIZED, Dequantizer, Quantizer

_SHIFT = 16  # bits after the point of the fixed-point numbers


def used_range(values: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The floats of the least and greatest integers; the first is not above 0."""
    if not values.size:
        return np.float32(0), np.float32(0)
    found = ranges.to_float([values.min(), values.max()], qint32, low, high)
    return np.minimum(np.float32(0), found[0]), found[1]


def requantized(
    values: Any, dtype: DType, low: Any, high: Any, new_low: Any, new_high: Any
) -> Any:
    """Integers of qint32 and a range as a quantized array of another range."""
    with np.errstate(all="ignore"):
        if dtype is quint8:
            steps = _by_fixed_point(values, low, high, new_low, new_high)
            return ranges.quantized(steps, dtype)
        floats = Dequantizer.of(qint32, low, high)(values)
        return Quantizer.of(dtype, new_low, new_high)(floats)


def _by_fixed_point(values: Any, low: Any, high: Any, first: Any, last: Any) -> Any:
    width, new_width = np.float32(high - low), np.float32(last - first)
    factor = offset = start = 0
    if new_width != 0:
        one = 1 << _SHIFT
        steps = np.float32(255.0 / np.float64(new_width))
        middle = np.float32(np.float64(np.float32(low + high)) / 2)
        factor = int(255.0 * one * np.float64(width) / np.float64(new_width))
        offset = int(np.float32(middle * steps) * np.float32(one))
        start = int(one * (np.float64(first) * 255.0) / np.float64(new_width))
    scaled = ((values.astype(np.int64) * np.int64(factor)) >> 32) + offset
    rounded = (scaled - start + (1 << (_SHIFT - 1))) >> _SHIFT
    return np.clip(rounded, 0, 255)


class RequantizationRange(MultiOutputOp):
    """The range that integers use.  Source: math_ops.cc, RequantizationRange."""

    signature = (
        "input: Tinput, input_min: float32, input_max: float32 -> "
        "output_min: float32, output_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    Tinput = QUANTIZED

    def infer_shape(self, input: Shape, low: Shape, high: Shape) -> list[Shape]:
        ranges.scalars(low, high)
        return [(), ()]

    def compute(self, xp: ArrayModule, input: Array, low: Array, high: Array) -> Any:
        check_kernel(self, {"Tinput": input}, "qint32")
        return used_range(ranges.integers(input), *ranges.ends(low, high))


class Requantize(MultiOutputOp):
    """Integers of a range as those of another.  Source: math_ops.cc, Requantize."""

    signature = (
        "input: Tinput, input_min: float32, input_max: float32, "
        "requested_output_min: float32, requested_output_max: float32 -> "
        "output: out_type, output_min: float32, output_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    Tinput = QUANTIZED
    out_type: DType
    out_type_allowed = QUANTIZED

    def infer_shape(self, input: Shape, *limits: Shape) -> list[Shape]:
        ranges.scalars(*limits)
        return [input, (), ()]

    def compute(self, xp: ArrayModule, input: Array, *limits: Array) -> Any:
        check_kernel(self, {"Tinput": input}, "qint32 qint8", "qint32 quint8")
        low, high, new_low, new_high = ranges.ends(*limits)
        if not new_low <= 0:
            raise invalid_argument(
                f"requested_output_min must be <= 0, but got {new_low:g}"
            )
        if not new_high >= new_low:
            raise invalid_argument(
                "requested_output_max must be >= requested_output_min, but got "
                f"{new_high:g} and {new_low:g}"
            )
        values = ranges.integers(input)
        found = requantized(values, self.out_type, low, high, new_low, new_high)
        return found, new_low, new_high


class QuantizeDownAndShrinkRange(MultiOutputOp):
    """Integers of fewer bits, in the range that is used.  Source: math_ops.cc."""

    signature = (
        "input: Tinput, input_min: float32, input_max: float32 -> "
        "output: out_type, output_min: float32, output_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    Tinput = QUANTIZED
    out_type: DType
    out_type_allowed = QUANTIZED

    def infer_shape(self, input: Shape, low: Shape, high: Shape) -> list[Shape]:
        ranges.scalars(low, high)
        return [input, (), ()]

    def compute(self, xp: ArrayModule, input: Array, low: Array, high: Array) -> Any:
        check_kernel(self, {"Tinput": input}, "qint32 quint8")
        values = ranges.integers(input)
        low, high = ranges.ends(low, high)
        used = used_range(values, low, high)
        return requantized(values, self.out_type, low, high, *used), *used
