"""Sums and products of quantized integers.

Source: core/ops/math_ops.cc, nn_ops.cc, core/kernels/quantized_add_op.cc,
quantized_mul_op.cc, quantized_bias_add_op.cc, quantized_matmul_op.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, qint32, quint8
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.linalg.matmul import product
from tfteach.ops.quantization import ranges
from tfteach.ops.quantization.kernel_types import check_kernel
from tfteach.ops.quantization.ranges import QUANTIZED, Dequantizer, Quantizer

# The range of sums is that of the terms times this, so that no sum overflows; of sums
# with biases, times the other.
_ROOM, _BIAS_ROOM = np.float32(1 << 14), np.float32(1 << 17)


def check_range(upper: str, lower: str, low: Any, high: Any) -> None:
    """Require that a range is not empty.  Raises: InvalidArgumentError."""
    if not high > low:
        raise invalid_argument(
            f"{upper} must be larger than {lower}: found the range {low:g} to {high:g}"
        )


def differences_from_zero(array: Any, low: Any, high: Any) -> tuple[Any, int]:
    """Integers less the one that stands for 0, and that one."""
    zero = int(ranges.unclamped(0.0, as_dtype(array.dtype), low, high))
    return ranges.integers(array).astype(np.float64) - zero, zero


def sum_range(room: Any, *limits: Any) -> tuple[Any, Any]:
    """The range of sums, symmetric about 0."""
    largest = max(abs(limit) for limit in limits) * room
    return -largest, largest


class _Arithmetic(MultiOutputOp, abstract=True):
    """Element-wise arithmetic with broadcasting."""

    signature = (
        "x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, "
        "max_y: float32 -> z: Toutput, min_z: float32, max_z: float32"
    )
    on_gpu: ClassVar[bool] = False
    T1 = QUANTIZED
    T2 = QUANTIZED
    Toutput: DType = qint32
    Toutput_allowed = QUANTIZED
    # The names of the ends of both ranges in TensorFlow's messages.
    ends: ClassVar[tuple[tuple[str, str], ...]] = (
        ("max_x", "min_x"),
        ("max_y", "min_y"),
    )

    def infer_shape(self, x: Shape, y: Shape, *limits: Shape) -> list[Shape]:
        ranges.scalars(*limits)
        return [shapes.broadcast(x, y), (), ()]

    def compute(self, xp: ArrayModule, x: Array, y: Array, *limits: Array) -> Any:
        check_kernel(self, {"T1": x, "T2": y}, "quint8 quint8 qint32")
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            raise invalid_argument(
                f"Incompatible shapes: {shapes.text(x.shape)} vs. "
                f"{shapes.text(y.shape)}"
            ) from None
        ends = ranges.ends(*limits)
        check_range(*self.ends[0], *ends[:2])
        check_range(*self.ends[1], *ends[2:])
        return self._combined(x, y, *ends)

    def _combined(self, x: Any, y: Any, *ends: Any) -> tuple[Any, ...]:
        raise NotImplementedError


class QuantizedAdd(_Arithmetic):
    """x + y.  Source: core/ops/math_ops.cc, QuantizedAdd."""

    def _combined(self, x: Any, y: Any, *ends: Any) -> tuple[Any, ...]:
        limits = sum_range(_ROOM, *ends)
        terms = [
            _in_range(x, ends[:2], limits, x.size == 1),
            _in_range(y, ends[2:], limits, y.size == 1 and x.size != 1),
        ]
        return ranges.quantized(terms[0] + terms[1], qint32), *limits


def _in_range(array: Any, ends: Any, limits: Any, is_added: bool) -> Any:
    """The integers of a quint8 array as those of qint32 and another range.

    By a whole number of steps for each of the byte's, as in TensorFlow's kernel; only a
    scalar that `is_added` to all elements of the other array is converted itself.
    """
    values = ranges.integers(array).astype(np.int64)
    if is_added:
        floats = ranges.to_float(values, quint8, *ends)
        return ranges.from_float(floats, qint32, *limits)
    floats = ranges.to_float([0, 1], quint8, *ends)
    first, second = ranges.unclamped(floats, qint32, *limits).astype(np.int64)
    return first + values * (second - first)


class QuantizedMul(_Arithmetic):
    """x * y.  Source: core/ops/math_ops.cc, QuantizedMul."""

    ends: ClassVar[Any] = (("max_x", "min_a"), ("max_x", "min_b"))

    def _combined(self, x: Any, y: Any, *ends: Any) -> tuple[Any, ...]:
        factors = [
            differences_from_zero(x, *ends[:2])[0],
            differences_from_zero(y, *ends[2:])[0],
        ]
        found = ranges.quantized((factors[0] * factors[1]).astype(np.int64), qint32)
        return found, *_product_range(*ends)


def _product_range(*ends: Any) -> tuple[Any, Any]:
    return ranges.product_range((*ends[:2], quint8), (*ends[2:], quint8), qint32)


class QuantizedBiasAdd(MultiOutputOp):
    """input + bias along the last axis.  Source: nn_ops.cc, QuantizedBiasAdd."""

    signature = (
        "input: T1, bias: T2, min_input: float32, max_input: float32, "
        "min_bias: float32, max_bias: float32 -> "
        "output: out_type, min_out: float32, max_out: float32"
    )
    on_gpu: ClassVar[bool] = False
    T1 = QUANTIZED
    T2 = QUANTIZED
    out_type: DType
    out_type_allowed = QUANTIZED

    def infer_shape(self, input: Shape, bias: Shape, *limits: Shape) -> list[Shape]:
        input = shapes.with_rank_at_least(input, 2)
        (size,) = shapes.with_rank(bias, 1)
        ranges.scalars(*limits)
        if input is not None:
            input = (*input[:-1], shapes.same_size(input[-1], size))
        return [input, (), ()]

    def compute(self, xp: ArrayModule, input: Array, bias: Array, *ends: Array) -> Any:
        kernels = "qint8 qint8 qint32", "quint8 quint8 qint32"
        check_kernel(self, {"T1": input, "T2": bias}, *kernels)
        if input.ndim < 2:
            raise invalid_argument(
                f"Input tensor must be at least 2D: {shapes.text(input.shape)}"
            )
        if bias.ndim != 1:
            raise invalid_argument(f"Biases must be 1D: {shapes.text(bias.shape)}")
        if bias.shape[0] != input.shape[-1]:
            raise invalid_argument(
                "Must provide as many biases as the last dimension of the input "
                f"tensor: {shapes.text(bias.shape)} vs. {shapes.text(input.shape)}"
            )
        limits = ranges.ends(*ends)
        low, high = sum_range(_BIAS_ROOM, *limits)
        with np.errstate(all="ignore"):
            quantizer = Quantizer.of(qint32, low, high)
            dtype = as_dtype(input.dtype)
            values = [
                ranges.integers(
                    quantizer(Dequantizer.of(dtype, *of)(ranges.integers(array)))
                )
                for array, of in ((input, limits[:2]), (bias, limits[2:]))
            ]
            zero = ranges.from_float(0.0, qint32, low, high)
        return ranges.quantized(values[0] + values[1] + zero, qint32), low, high


class QuantizedMatMul(MultiOutputOp):
    """The product of two matrices.  Source: math_ops.cc, QuantizedMatMul."""

    signature = (
        "a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, "
        "max_b: float32 -> out: Toutput, min_out: float32, max_out: float32"
    )
    on_gpu: ClassVar[bool] = False
    is_heavy: ClassVar[bool] = True
    T1 = QUANTIZED
    T2 = QUANTIZED
    Toutput: DType = qint32
    transpose_a: bool = False
    transpose_b: bool = False
    Tactivation: DType = quint8
    Toutput_allowed = QUANTIZED
    Tactivation_allowed = QUANTIZED

    def infer_shape(self, a: Shape, b: Shape, *limits: Shape) -> list[Shape]:
        m, k = shapes.with_rank(a, 2)
        k2, n = shapes.with_rank(b, 2)
        m, k = (k, m) if self.transpose_a else (m, k)
        k2, n = (n, k2) if self.transpose_b else (k2, n)
        if k is not None and k2 is not None and k != k2:
            raise ValueError(f"Dimensions must be equal, but are {k} and {k2}")
        ranges.scalars(*limits)
        return [(m, n), (), ()]

    def compute(self, xp: ArrayModule, a: Array, b: Array, *limits: Array) -> Any:
        check_kernel(self, {"T1": a, "T2": b}, "quint8 quint8 qint32")
        ends = ranges.ends(*limits)
        check_range("max_a", "min_a", *ends[:2])
        check_range("max_b", "min_b", *ends[2:])
        if a.ndim != 2 or b.ndim != 2:
            number, array = (0, a) if a.ndim != 2 else (1, b)
            raise invalid_argument(
                f"In[{number}] is not a matrix: found the shape "
                f"{shapes.text(array.shape)}"
            )
        # Sums of products of bytes are exact in float64, where BLAS computes them.
        factors = [
            differences_from_zero(a, *ends[:2])[0],
            differences_from_zero(b, *ends[2:])[0],
        ]
        left = factors[0].T if self.transpose_a else factors[0]
        right = factors[1].T if self.transpose_b else factors[1]
        if left.shape[1] != right.shape[0]:
            raise invalid_argument(
                f"Matrix size-incompatible: In[0]: {shapes.text(a.shape)}, In[1]: "
                f"{shapes.text(b.shape)}"
            )
        sums = product(np, left, right).astype(np.int64)
        return ranges.quantized(sums, qint32), *_product_range(*ends)
