"""Floats rounded to what a few bits can represent, by one factor.

Source: core/ops/array_ops.cc, core/kernels/quantize_and_dequantize_op.h,
python/ops/array_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.quantization import ranges
from tfteach.ops.quantization.ranges import half_even

FLOATS = dtypes_of("bfloat16 half float double")
ROUND_MODES = ("HALF_TO_EVEN", "HALF_UP")


def _extremes_on_card(xp: ArrayModule, array: Any) -> tuple[Any, Any]:
    kind = array.dtype.type
    return kind(float(xp.nanmin(array))), kind(float(xp.nanmax(array)))


@with_card_kernel(_extremes_on_card)
def _extremes(xp: ArrayModule, array: Any) -> tuple[Any, Any]:
    """The least and the greatest element, on the host; NaN counts only alone."""
    return np.fmin.reduce(array, None), np.fmax.reduce(array, None)


class _BothWays(Op, abstract=True):
    host_inputs: ClassVar[tuple[str, ...]] = ("input_min", "input_max", "num_bits")
    T = FLOATS
    signed_input: ClassVar[Any]
    range_given: ClassVar[Any]
    narrow_range: ClassVar[Any]

    def _rounded(
        self, xp: ArrayModule, input: Any, low: Any, high: Any, bits: int, up: bool
    ) -> Any:
        most = 62 if self.signed_input else 63
        if not 0 < bits < most:
            raise invalid_argument(
                f"num_bits is out of range: {bits} with signed_input_ "
                f"{int(self.signed_input)}: expected 1 to {most - 1}"
            )
        kind = input.dtype.type
        if self.range_given:
            low, high = (np.asarray(end).reshape(-1)[0] for end in (low, high))
            if not low <= high:
                raise invalid_argument(
                    f"Invalid range: input_min {low:g} > input_max {high:g}"
                )
        elif input.size:
            low, high = _extremes(xp, input)
        else:
            return input.copy()
        with np.errstate(all="ignore"):
            least, greatest = (kind(n) for n in self._limits(bits))
            of_low = least / low if least * low > 0 else np.finfo(kind).max
            of_high = greatest / high if greatest * high > 0 else np.finfo(kind).max
            if of_low < of_high:
                scale, step = of_low, low / least
                high = greatest * step
            else:
                scale, step = of_high, high / greatest
                low = least * step
            if self.range_given:
                input = ranges.clipped(input, low, high)
            steps = input * scale
            steps = np.floor(steps + kind(0.5)) if up else half_even(steps)
            return steps * step

    def _limits(self, bits: int) -> tuple[int, int]:
        """The least and the greatest integer of so many bits."""
        if not self.signed_input:
            return 0, 2**bits - 1
        return int(self.narrow_range) - 2 ** (bits - 1), 2 ** (bits - 1) - 1


class QuantizeAndDequantizeV2(_BothWays):
    """Floats rounded to `num_bits` bits.  Source: array_ops.cc."""

    signature = "input: T, input_min: T, input_max: T -> output: T"
    signed_input: bool = True  # type: ignore[misc]
    num_bits: int = 8
    range_given: bool = False  # type: ignore[misc]
    round_mode: str = "HALF_TO_EVEN"
    narrow_range: bool = False  # type: ignore[misc]

    def validate(self) -> None:
        check_choice(self.op_type, "round_mode", self.round_mode, ROUND_MODES)

    def infer_shape(self, input: Shape, low: Shape, high: Shape) -> Shape:
        ranges.scalars(low, high)
        return input

    def compute(self, xp: ArrayModule, input: Array, low: Array, high: Array) -> Any:
        up = self.round_mode == "HALF_UP"
        return self._rounded(xp, input, low, high, self.num_bits, up)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad, None, None]


class QuantizeAndDequantizeV3(_BothWays):
    """Floats rounded to as many bits as an input says.  Source: array_ops.cc."""

    signature = "input: T, input_min: T, input_max: T, num_bits: int32 -> output: T"
    signed_input: bool = True  # type: ignore[misc]
    range_given: bool = True  # type: ignore[misc]
    narrow_range: bool = False  # type: ignore[misc]

    def infer_shape(self, input: Shape, low: Shape, high: Shape, bits: Shape) -> Shape:
        ranges.scalars(low, high, bits)
        return input

    def compute(
        self, xp: ArrayModule, input: Array, low: Array, high: Array, bits: Array
    ) -> Any:
        return self._rounded(xp, input, low, high, int(bits.reshape(-1)[0]), False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad, None, None, None]


@export("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:
    """Floats rounded as if they were quantized to a few bits, by one factor.

    `round(input * scale) / scale`, where `scale` is the largest factor that takes the
    range to integers of `num_bits` bits; 0 remains 0.  The gradient is that of the
    identity.

    Args:
      input: float32 or float64 Tensor.
      input_min, input_max: scalars of its type, the range to represent.
      signed_input: whether the integers have a sign.
      num_bits: the number of bits of the integers.
      range_given: whether to use `input_min` and `input_max`, to which `input` is
        clipped; otherwise the least and the greatest element of `input`.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      name: the op's name.
      narrow_range: whether to omit the least integer with a sign, so that the others
        are symmetric about 0.

    Returns:
      A Tensor like `input`.

    Raises:
      ValueError: `round_mode` is unknown.
      tf.errors.InvalidArgumentError: in a run, `num_bits` is out of range, or
        `input_min` exceeds a given `input_max`.

    Example:
      >>> x = [0.1, 0.26, 1.5]
      >>> y = tf.quantization.quantize_and_dequantize(x, 0.0, 0.0, num_bits=3)
      >>> tf.Session().run(y).tolist()
      [0.0, 0.5, 1.5]

    Source: quantize_and_dequantize in python/ops/array_ops.py.
    """
    op = QuantizeAndDequantizeV2(
        signed_input, num_bits, range_given, round_mode, narrow_range
    )
    return op(input, input_min, input_max, name=name)
