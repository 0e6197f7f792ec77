"""Concatenation and reshaping of quantized integers.

Source: core/ops/array_ops.cc, core/kernels/quantized_concat_op.cc,
quantized_reshape_op.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import as_dtype, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_scalar
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.array.concat_split import Concat
from tfteach.ops.core.identity_reshape import INDICES, Reshape
from tfteach.ops.quantization import ranges, results
from tfteach.ops.quantization.kernel_types import check_kernel
from tfteach.ops.quantization.ranges import Dequantizer, Quantizer


class QuantizedConcat(MultiOutputOp):
    """Arrays concatenated in a common range.  Source: array_ops.cc, QuantizedConcat."""

    signature = (
        "concat_dim: int32, values: N*T, input_mins: N*float32, "
        "input_maxes: N*float32 -> "
        "output: T, output_min: float32, output_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    minimum: ClassVar[dict[str, int]] = {"N": 2}
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"concat_dim": 0}
    by_value: ClassVar[tuple[str, ...]] = ("concat_dim",)

    def infer_shape(
        self, concat_dim: Any, values: list[Shape], lows: Any, highs: Any
    ) -> list[Shape]:
        output = Concat().infer_shape(concat_dim, values)
        ranges.scalars(*lows, *highs)
        return [output, (), ()]

    def check_shapes(self, concat_dim: tuple[int, ...]) -> None:
        message = "Concat dim tensor should be a scalar integer, but got shape %s"
        require_scalar(concat_dim, message)

    def compute(self, xp: ArrayModule, concat_dim: Any, *arrays: Any) -> Any:
        count = len(arrays) // 3
        values = arrays[:count]
        check_kernel(self, {"T": values[0]}, "quint8", "qint32")
        axis, rank = int(concat_dim), values[0].ndim
        if not 0 <= axis < rank:
            raise invalid_argument(
                "ConcatOp : Expected concatenating dimensions in the range [0, "
                f"{rank}), but got {axis}"
            )
        lows = ranges.ends(*arrays[count : 2 * count])
        highs = ranges.ends(*arrays[2 * count :])
        dtype = as_dtype(values[0].dtype)
        low, high = _common_range(lows, highs, ranges.bounds(dtype)[0] < 0)
        quantizer = Quantizer.of(dtype, low, high)
        parts = []
        with np.errstate(all="ignore"):
            for value, *ends in zip(values, lows, highs, strict=True):
                part = ranges.integers(value)
                if ends != [low, high]:
                    part = quantizer(Dequantizer.of(dtype, *ends)(part))
                    part = ranges.integers(part)
                parts.append(part)
        joined = Concat().compute(xp, concat_dim, *parts)
        return ranges.quantized(joined, dtype), low, high


def _common_range(lows: Any, highs: Any, is_signed: bool) -> tuple[Any, Any]:
    """The range that contains all; of a type with a sign, symmetric about 0."""
    low, high = min(*lows, np.float32(0)), max(highs)
    if is_signed:
        largest = max(abs(low), abs(high))
        return -largest, largest
    return low, high


class QuantizedReshape(MultiOutputOp):
    """The same integers in another shape; the range remains.  Source: array_ops.cc."""

    signature = (
        "tensor: T, shape: Tshape, input_min: float32, input_max: float32 -> "
        "output: T, output_min: float32, output_max: float32"
    )
    on_gpu: ClassVar[bool] = False
    Tshape = INDICES
    Tshape_default = int32
    aliases: ClassVar[bool] = True
    by_shape: ClassVar[tuple[str, ...]] = ("shape",)

    def infer_shape(
        self, tensor: Shape, shape: Shape, low: Shape, high: Shape
    ) -> list[Shape]:
        output = Reshape().infer_shape(tensor, shape)
        ranges.scalars(low, high)
        return [output, (), ()]

    def check_shapes(self, shape: tuple[int, ...]) -> None:
        Reshape().check_shapes(shape)

    def compute(
        self, xp: ArrayModule, tensor: Array, shape: Any, low: Array, high: Array
    ) -> Any:
        check_kernel(self, {"T": tensor}, "quint8", "qint32")
        return Reshape().compute(xp, tensor, shape), *ranges.ends(low, high)


@export("quantization.quantized_concat", "quantized_concat")
def quantized_concat(
    concat_dim: TensorLike,
    values: Sequence[TensorLike],
    input_mins: Sequence[TensorLike],
    input_maxes: Sequence[TensorLike],
    name: str | None = None,
) -> results.QuantizedConcat:
    """Quantized Tensors concatenated along an axis, in a range that contains all.

    Args:
      concat_dim: int32 scalar, the axis; it may not be negative.
      values: two or more quint8 or qint32 Tensors, whose other sizes are equal.
      input_mins, input_maxes: float32 scalars, the range of each.
      name: the op's name.

    Returns:
      A namedtuple `(output, output_min, output_max)`: a Tensor of the type of `values`
      and its range, float32 scalars.

    Raises:
      ValueError: fewer than two values, or other sizes differ.
      tf.errors.InvalidArgumentError: in a run, there is no such axis, or no kernel for
        the type.

    Example:
      >>> a = tf.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8)
      >>> b = tf.quantize([0.0, 2.0], 0.0, 2.0, tf.quint8)
      >>> found = tf.quantized_concat(0, [a[0], b[0]], [a[1], b[1]], [a[2], b[2]])
      >>> tf.Session().run(found.output).tolist()
      [0, 128, 0, 255]

    Source: QuantizedConcat in core/ops/array_ops.cc.
    """
    op = QuantizedConcat()
    found = op(concat_dim, values, input_mins, input_maxes, name=name)
    return results.QuantizedConcat(*found)
