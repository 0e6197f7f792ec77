"""Quantized integers and the floats that they stand for.

A quantized array comes with a range: its least integer stands for the range's lower
end, its greatest for the upper end.  Kernels round in two ways: `from_float` and
`to_float` compute single numbers in double precision, `Quantizer` and `Dequantizer`
whole arrays in float32.

Source: core/kernels/quantization_utils.h (what is computed, in which precision).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of
from tfteach.framework.shape import Shape

# In the order of TensorFlow's definitions.
QUANTIZED = dtypes_of("qint8 quint8 qint32 qint16 quint16")
# Floats that float32 has and int32 can represent.
_INT32_BOUNDS = np.float32(-(2**31)), np.float32(2**31 - 128)


def integers(array: Any) -> Any:
    """The integers of a quantized array, in the same memory."""
    array = np.asarray(array)
    return array.view(array.dtype[0])


def quantized(values: Any, dtype: DType) -> Any:
    """A quantized array of these integers, which wrap around."""
    kind = dtype.numpy_dtype
    return np.asarray(values).astype(kind[0], order="C").view(kind)


def truncated(values: Any, dtype: DType) -> Any:
    """A quantized array of floats, converted as C does by way of int32."""
    with np.errstate(invalid="ignore"):
        return quantized(np.asarray(values).astype(np.int32), dtype)


def type_of(array: Any) -> str:
    """The name of the quantized type of an array."""
    return as_dtype(np.asarray(array).dtype).name


def bounds(dtype: DType) -> tuple[int, int]:
    """The least and the greatest integer of a quantized type."""
    limits = np.iinfo(dtype.numpy_dtype[0])
    return int(limits.min), int(limits.max)


def ends(*values: Any) -> Any:
    """Ends of ranges, given as arrays, as float32 scalars."""
    return tuple(np.float32(np.asarray(value).reshape(-1)[0]) for value in values)


def clipped(values: Any, low: Any, high: Any) -> Any:
    """Values within a range; NaN, in values or for an end, changes nothing."""
    values = np.where(high < values, high, values)
    return np.where(values < low, low, values)


def half_away(values: Any) -> Any:
    """Rounded to the nearest integer, halves away from 0."""
    whole = np.trunc(values)
    with np.errstate(invalid="ignore"):
        beyond = np.abs(values - whole) >= 0.5
    return whole + np.copysign(beyond.astype(whole.dtype), values)


def half_even(values: Any) -> Any:
    """Rounded to the nearest integer, halves to even; no fraction becomes -0."""
    whole = np.floor(values)
    with np.errstate(invalid="ignore"):
        fraction = values - whole
        is_odd = whole - 2 * np.floor(values * values.dtype.type(0.5)) == 1
        goes_up = (fraction > 0.5) | ((fraction == 0.5) & is_odd)
    return np.where(goes_up, whole + values.dtype.type(1), whole)


# ---- single numbers, in double precision


def unclamped(value: Any, dtype: DType, low: Any, high: Any) -> Any:
    """The integers nearest to floats, as float64, which may be beyond the type."""
    least, greatest = bounds(dtype)
    if low == high:
        return np.full(np.shape(value), float(least))
    steps = greatest - least + 1
    width = np.float64(np.float32(high - low)) * (steps / (steps - 1.0))
    scale = steps / width
    wide = np.asarray(value).astype(np.float64)
    return half_away(wide * scale) - half_away(np.float64(low) * scale) + least


def from_float(value: Any, dtype: DType, low: Any, high: Any) -> Any:
    """The integers of the type nearest to floats, as int64."""
    return np.clip(unclamped(value, dtype, low, high), *bounds(dtype)).astype(np.int64)


def to_float(value: Any, dtype: DType, low: Any, high: Any) -> Any:
    """The float32 numbers that integers stand for."""
    value = np.asarray(value)
    if low == high:
        return np.full(value.shape, low)
    least, greatest = bounds(dtype)
    steps = greatest - least + 1
    width = np.float64(np.float32(high - low)) * (steps / (steps - 1.0))
    step = width / steps
    narrow = np.float32(step)
    first = np.float64(half_away(low / narrow) * narrow)
    # TensorFlow's qint32 converts to double by way of float.
    wide = value.astype(np.float32).astype(np.float64)
    return (first + (wide - least) * step).astype(np.float32)


def product_range(
    a: tuple[Any, Any, DType], b: tuple[Any, Any, DType], dtype: DType
) -> tuple[Any, Any]:
    """The range of integers that are products of those of two ranges.

    Args:
      a, b: (lower end, upper end, type).
      dtype: the type of the products.
    """
    step = np.float32(_level(*a) * _level(*b))
    least, greatest = bounds(dtype)
    return step * np.float32(least), step * np.float32(greatest)


def _level(low: Any, high: Any, dtype: DType) -> Any:
    least, greatest = bounds(dtype)
    return np.float32(high - low) / np.float32(greatest - least)


# ---- arrays, in float32


class Quantizer(NamedTuple):
    """From floats to the integers of a type, in float32."""

    scale: Any
    shift: Any
    dtype: DType

    @classmethod
    def of(cls, dtype: DType, low: Any, high: Any) -> Quantizer:
        """The quantizer of a range."""
        least, greatest = bounds(dtype)
        width = np.float64(np.float32(high - low))
        scale = np.float32((greatest - least) / width if width else 0.0)
        shift = half_away(np.float32(low * scale)) - np.float32(least)
        return cls(scale, shift, dtype)

    def __call__(self, values: Any) -> Any:
        """The quantized array."""
        least, greatest = (np.float32(bound) for bound in bounds(self.dtype))
        steps = half_away(values * self.scale) - self.shift
        steps = np.maximum(steps, max(least, _INT32_BOUNDS[0]))
        steps = np.minimum(steps, min(greatest, _INT32_BOUNDS[1]))
        return truncated(steps, self.dtype)


class Dequantizer(NamedTuple):
    """From the integers of a type to floats, in float32."""

    scale: Any
    first: Any

    @classmethod
    def of(cls, dtype: DType, low: Any, high: Any) -> Dequantizer:
        """The dequantizer of a range."""
        least, greatest = bounds(dtype)
        scale = np.float32(np.float64(np.float32(high - low)) / (greatest - least))
        first = low if low == high else half_away(low / scale) * scale
        return cls(scale, np.float32(first - np.float32(least) * scale))

    def __call__(self, values: Any) -> Any:
        """The floats that these integers stand for."""
        return self.first + values.astype(np.float32) * self.scale


# ---- static shapes


def scalars(*ranges: Shape) -> None:
    """Require that ends of ranges are scalars.  Raises: ValueError."""
    for end in ranges:
        shapes.with_rank(end, 0)
