"""Floats as integers of 8, 16 or 32 bits, and back.

Source: core/ops/array_ops.cc (QuantizeV2, Dequantize), core/kernels/quantize_op.cc,
dequantize_op.cc, python/ops/array_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.attributes import dtype_attribute
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, DTypeLike, TensorLike
from tfteach.ops.quantization import ranges, results
from tfteach.ops.quantization.ranges import QUANTIZED, half_away, half_even

MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
ROUND_MODES = ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")
# The least width of a range, relative to its larger end (or 1).
_LEAST_WIDTH = np.float32(100)
_LARGEST = np.finfo(np.float32).max


class QuantizeV2(MultiOutputOp):
    """Floats as integers, and the range that these cover.  Source: QuantizeV2."""

    signature = (
        "input: float32, min_range: float32, max_range: float32 -> "
        "output: T, output_min: float32, output_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    T: DType
    T_allowed = QUANTIZED
    mode: str = "MIN_COMBINED"
    round_mode: str = "HALF_AWAY_FROM_ZERO"

    def validate(self) -> None:
        check_choice(self.op_type, "mode", self.mode, MODES)
        check_choice(self.op_type, "round_mode", self.round_mode, ROUND_MODES)

    def infer_shape(self, input: Shape, low: Shape, high: Shape) -> list[Shape]:
        ranges.scalars(low, high)
        return [input, (), ()]

    def compute(self, xp: ArrayModule, input: Array, *limits: Array) -> Any:
        if self.round_mode != ROUND_MODES[0] and self.mode != "SCALED":
            raise invalid_argument(
                "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode "
                f"is '{self.mode}'."
            )
        low, high = ranges.ends(*limits)
        if high < low:
            raise invalid_argument(
                "input_max_range must be larger than input_min_range."
            )
        # A range contains 0, and is wide enough for its steps to differ.
        zero = np.float32(0)
        larger = _larger(np.float32(1), _larger(abs(low), abs(high)))
        low = low if low < 0 else zero
        high = _larger(zero, _larger(high, low + larger / _LEAST_WIDTH))
        kernel = {
            "MIN_COMBINED": self._combined,
            "MIN_FIRST": self._first,
            "SCALED": self._scaled,
        }[self.mode]
        with np.errstate(all="ignore"):
            return kernel(input, low, high)

    def _combined(self, input: Any, low: Any, high: Any) -> tuple[Any, ...]:
        least, greatest = ranges.bounds(self.T)
        scale = np.float32((greatest - least) / np.float64(high - low))
        steps = (ranges.clipped(input, low, high) - low) * scale
        if least:
            half = np.float32((greatest - least + 1) / 2)
            steps = half_away(steps - half)
        else:
            steps = steps + np.float32(0.5)
        return ranges.quantized(steps.astype(np.int64), self.T), low, high

    def _first(self, input: Any, low: Any, high: Any) -> tuple[Any, ...]:
        return ranges.Quantizer.of(self.T, low, high)(input), low, high

    def _scaled(self, input: Any, low: Any, high: Any) -> tuple[Any, ...]:
        least, greatest = map(np.float32, ranges.bounds(self.T))
        scale = np.minimum(
            least / low if least * low > 0 else _LARGEST,
            greatest / high if greatest * high > 0 else _LARGEST,
        )
        low, high = least / scale, greatest / scale
        rounded = half_away if self.round_mode == ROUND_MODES[0] else half_even
        steps = rounded(ranges.clipped(input, low, high) * scale)
        return ranges.quantized(steps.astype(np.int64), self.T), low, high


def _larger(first: Any, second: Any) -> Any:
    """The larger number; the first unless the second is larger, if one is NaN."""
    return second if first < second else first


class Dequantize(Op):
    """The floats that integers stand for.  Source: array_ops.cc, Dequantize."""

    signature = "input: T, min_range: float32, max_range: float32 -> output: float32"
    on_gpu: ClassVar[bool] = False
    T = QUANTIZED
    mode: str = "MIN_COMBINED"

    def validate(self) -> None:
        check_choice(self.op_type, "mode", self.mode, MODES)

    def infer_shape(self, input: Shape, low: Shape, high: Shape) -> Shape:
        ranges.scalars(low, high)
        return input

    def compute(self, xp: ArrayModule, input: Array, low: Array, high: Array) -> Any:
        low, high = ranges.ends(low, high)
        values = ranges.integers(input)
        limits = np.iinfo(values.dtype)
        least, greatest = np.float32(limits.min), np.float32(limits.max)
        with np.errstate(all="ignore"):
            if self.mode == "MIN_FIRST":
                dtype = next(d for d in QUANTIZED if d.name == ranges.type_of(input))
                return ranges.Dequantizer.of(dtype, low, high)(values)
            if self.mode == "SCALED":
                scale = high / greatest
                if least:
                    scale = np.maximum(low / least, scale)
                return values.astype(np.float32) * scale
            scale = (high - low) / (greatest - least)
            half = (greatest - least + np.float32(1)) / np.float32(2) if least else 0
            return (values.astype(np.float32) + np.float32(half)) * scale + low


@export("quantization.quantize", "quantize")
def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
) -> results.QuantizeV2:
    """Floats as integers of a quantized type, and the range that these cover.

    The range is widened until it contains 0.  "MIN_COMBINED" and "MIN_FIRST" divide it
    into as many steps as the type has; "MIN_FIRST" shifts it so that 0 is a step.
    "SCALED" multiplies by one factor, so that 0 remains 0.

    Args:
      input: float32 Tensor.
      min_range, max_range: float32 scalars, the range of `input` to represent.
      T: `tf.qint8`, `tf.quint8`, `tf.qint16`, `tf.quint16` or `tf.qint32`.
      mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
      round_mode: "HALF_AWAY_FROM_ZERO"; for "SCALED" also "HALF_TO_EVEN".
      name: the op's name.

    Returns:
      A namedtuple `(output, output_min, output_max)`: a Tensor of the type `T` like
      `input`, and the range of its integers, float32 scalars.

    Raises:
      ValueError: `mode` or `round_mode` is unknown.
      tf.errors.InvalidArgumentError: in a run, `max_range` is less than `min_range`, or
        `round_mode` does not fit `mode`.

    Example:
      >>> x = tf.quantize([0.0, 0.5, 2.0], 0.0, 1.0, tf.quint8)
      >>> tf.Session().run(x.output).tolist()
      [0, 128, 255]

    Source: quantize in python/ops/array_ops.py.
    """
    op = QuantizeV2(dtype_attribute("T", T), mode, round_mode)
    return results.QuantizeV2(*op(input, min_range, max_range, name=name))


@export("quantize_v2")
def quantize_v2(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> results.QuantizeV2:
    """The older name of `tf.quantize`, with other positions of its last arguments.

    Args:
      input, min_range, max_range, T, mode, name, round_mode: as for `tf.quantize`.

    Returns:
      A namedtuple `(output, output_min, output_max)`, as from `tf.quantize`.

    Source: quantize_v2 in python/ops/array_ops.py.
    """
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


@export("quantization.dequantize", "dequantize")
def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
) -> Tensor:
    """The floats that the integers of a quantized Tensor stand for.

    Args:
      input: Tensor of a quantized type.
      min_range, max_range: float32 scalars, the range that it covers: the last two
        results of `tf.quantize`.
      mode: the mode in which it was quantized.
      name: the op's name.

    Returns:
      A float32 Tensor like `input`.

    Example:
      >>> x = tf.quantize([0.0, 0.5, 2.0], 0.0, 1.0, tf.quint8)
      >>> tf.Session().run(tf.dequantize(*x)).round(3).tolist()
      [0.0, 0.502, 1.0]

    Source: Dequantize in core/ops/array_ops.cc.
    """
    return Dequantize(mode)(input, min_range, max_range, name=name)
