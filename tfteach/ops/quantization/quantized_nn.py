"""Convolution, pooling and activations of quantized images.

Source: core/ops/nn_ops.cc, core/kernels/quantized_conv_ops.cc,
quantized_pooling_ops.cc, quantized_activation_ops.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.attributes import dtype_attribute
from tfteach.framework.dtypes import DType, as_dtype, qint32, quint8
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, DTypeLike, TensorLike
from tfteach.ops.quantization import ranges, results
from tfteach.ops.quantization.kernel_types import check_kernel
from tfteach.ops.quantization.quantized_math import differences_from_zero
from tfteach.ops.quantization.ranges import QUANTIZED
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows import conv_kernels, pool_kernels
from tfteach.ops.windows.conv_2d import Conv2D
from tfteach.ops.windows.pool import AvgPool, MaxPool


class QuantizedConv2D(MultiOutputOp):
    """Sums of products over each window.  Source: nn_ops.cc, QuantizedConv2D."""

    signature = (
        "input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, "
        "min_filter: float32, max_filter: float32 -> "
        "output: out_type, min_output: float32, max_output: float32"
    )
    on_gpu: ClassVar[bool] = False
    is_heavy: ClassVar[bool] = True
    Tinput = QUANTIZED
    Tfilter = QUANTIZED
    out_type: DType = qint32
    strides: tuple[int, ...]  # type: ignore[misc]  # TF's order
    padding: str  # type: ignore[misc]
    dilations: tuple[int, ...] = (1, 1, 1, 1)
    out_type_allowed = QUANTIZED

    @property
    def _plain(self) -> Any:
        """The convolution of floats with the same windows."""
        return Conv2D(self.strides, padding=self.padding, dilations=self.dilations)

    def validate(self) -> None:
        check_choice(self.op_type, "padding", self.padding, geometry.PADDINGS)

    def infer_shape(self, input: Shape, filter: Shape, *limits: Shape) -> list[Shape]:
        output = self._plain.infer_shape(input, filter)
        ranges.scalars(*limits)
        return [output, (), ()]

    def compute(self, xp: ArrayModule, input: Any, filter: Any, *limits: Array) -> Any:
        types = {"Tinput": input, "Tfilter": filter}
        check_kernel(self, types, "quint8 quint8 qint32")
        self._check(input.shape, filter.shape)
        ends = ranges.ends(*limits)
        image, zero = differences_from_zero(input, *ends[:2])
        filters, _ = differences_from_zero(filter, *ends[2:])
        windows = self._plain.lay(image.shape, filters.shape)
        # Padding is the byte of 0, or the last eight bits of an integer beyond 255.
        padding = zero % 256 - zero if zero > 0 else 0
        if any(map(any, windows.pads)) and padding:
            pads = ((0, 0), *windows.pads, (0, 0))
            image = np.pad(image, pads, constant_values=padding)
            windows = windows._replace(pads=((0, 0),) * 2)
        # Sums of products of bytes are exact in float64, where BLAS computes them.
        sums = conv_kernels.convolve(np, image, filters, windows).astype(np.int64)
        of_products = ranges.product_range(
            (*ends[:2], quint8), (*ends[2:], quint8), qint32
        )
        return ranges.quantized(sums, qint32), *of_products

    def _check(self, input: tuple[int, ...], filter: tuple[int, ...]) -> None:
        if self.strides[1] != self.strides[2]:
            raise invalid_argument(
                "Current implementation only supports equal length strides in the row "
                f"and column dimensions: found {list(self.strides)}."
            )
        geometry.refuse_batch_and_depth(self.strides, self.dilations, "NHWC")
        if any(n != 1 for n in self.dilations):
            raise invalid_argument(
                "Current implementation only supports dilated rate as 1 in the row and "
                f"column dimensions: found {list(self.dilations)}."
            )
        self._plain.check_ranks(input=input, filter=filter)
        if input[3] != filter[2]:
            raise invalid_argument(
                f"input and filter must have the same depth: {input[3]} vs {filter[2]}"
            )


# ---- pooling


class _Pooling(MultiOutputOp, abstract=True):
    """Pooling; the range remains."""

    signature = (
        "input: T, min_input: float32, max_input: float32 -> "
        "output: T, min_output: float32, max_output: float32"
    )
    on_gpu: ClassVar[bool] = False
    T = QUANTIZED
    ksize: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    plain: ClassVar[Any]  # the op for floats

    def validate(self) -> None:
        check_choice(self.op_type, "padding", self.padding, geometry.PADDINGS)

    @property
    def _plain(self) -> Any:
        return self.plain(self.ksize, self.strides, self.padding)

    def infer_shape(self, input: Shape, low: Shape, high: Shape) -> list[Shape]:
        output = self._plain.infer_shape(input)
        ranges.scalars(low, high)
        return [output, (), ()]

    def compute(self, xp: ArrayModule, input: Array, low: Array, high: Array) -> Any:
        check_kernel(self, {"T": input}, "quint8")
        values = ranges.integers(input)
        windows = self._plain.lay(values.shape)
        ends = ranges.ends(low, high)
        return ranges.quantized(self._pooled(values, windows), quint8), *ends

    def _pooled(self, values: Any, windows: geometry.Windows) -> Any:
        raise NotImplementedError


class QuantizedMaxPool(_Pooling):
    """The maximum of each window.  Source: nn_ops.cc, QuantizedMaxPool."""

    plain: ClassVar[Any] = MaxPool

    def _pooled(self, values: Any, windows: geometry.Windows) -> Any:
        depth = self.ksize[-1]
        if depth != 1:  # then of one pixel
            return values.reshape(*values.shape[:-1], -1, depth).max(-1)
        return pool_kernels.reduce_windows(np, np.maximum, values, windows)


class QuantizedAvgPool(_Pooling):
    """The mean of each window, rounded down.  Source: nn_ops.cc, QuantizedAvgPool."""

    plain: ClassVar[Any] = AvgPool

    def _pooled(self, values: Any, windows: geometry.Windows) -> Any:
        self._plain.refuse_depth(
            "Non-spatial pooling is not yet supported. Volunteers? :)"
        )
        wide = values.astype(np.int32)
        sums = pool_kernels.reduce_windows(np, np.add, wide, windows)
        return sums // pool_kernels.counts(np, values.shape[1:3], windows, np.int32)


# ---- activations


class _Activation(MultiOutputOp, abstract=True):
    """A clip at the integer of 0, and at that of another float; the range remains."""

    signature = (
        "features: Tinput, min_features: float32, max_features: float32 -> "
        "activations: out_type, min_activations: float32, max_activations: float32"
    )
    on_gpu: ClassVar[bool] = False
    Tinput = QUANTIZED
    out_type: DType = quint8
    out_type_allowed = QUANTIZED
    most: ClassVar[Any] = None

    def infer_shape(self, features: Shape, *limits: Shape) -> list[Shape]:
        ranges.scalars(*limits)
        return [features, (), ()]

    def compute(self, xp: ArrayModule, features: Array, *limits: Array) -> Any:
        types = {"Tinput": features}
        check_kernel(self, types, "quint8 quint8", "qint32 qint32")
        return self._clipped(features, self.most, *ranges.ends(*limits))

    def _clipped(self, features: Any, most: Any, low: Any, high: Any) -> Any:
        dtype = as_dtype(features.dtype)
        values = ranges.integers(features)
        clipped = np.maximum(values, ranges.from_float(0.0, dtype, low, high))
        if most is not None:
            clipped = np.minimum(clipped, ranges.from_float(most, dtype, low, high))
        return ranges.quantized(clipped, dtype), low, high


class QuantizedRelu(_Activation):
    """max(0, x).  Source: nn_ops.cc, QuantizedRelu."""


class QuantizedRelu6(_Activation):
    """min(6, max(0, x)).  Source: nn_ops.cc, QuantizedRelu6."""

    most: ClassVar[Any] = np.float32(6)


class QuantizedReluX(_Activation):
    """min(max_value, max(0, x)); no kernel in TF 1.15.  Source: nn_ops.cc."""

    signature = (
        "features: Tinput, max_value: float32, min_features: float32, "
        "max_features: float32 -> "
        "activations: out_type, min_activations: float32, max_activations: float32"
    )

    def compute(self, xp: ArrayModule, features: Array, *limits: Array) -> Any:
        types = {"Tinput": features}
        check_kernel(self, types, "quint8 quint8", "qint32 qint32")
        return self._clipped(features, *ranges.ends(*limits))


# ---- functions


@export("nn.quantized_conv2d")
def quantized_conv2d(
    input: TensorLike,
    filter: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    min_filter: TensorLike,
    max_filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    out_type: DTypeLike = qint32,
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> results.QuantizedConv2D:
    """The convolution of a quantized image with a quantized filter.

    The sums are of integers, less those that stand for 0.

    Args:
      input: quint8 Tensor [batch, height, width, channels].
      filter: quint8 Tensor [height, width, channels, outputs].
      min_input, max_input: float32 scalars, the range of `input`.
      min_filter, max_filter: float32 scalars, the range of `filter`.
      strides: four ints, those of height and width equal, the others 1.
      padding: "SAME" or "VALID".
      out_type: `tf.qint32`; there are no kernels for other types.
      dilations: four ones.
      name: the op's name.

    Returns:
      A namedtuple `(output, min_output, max_output)`: a qint32 Tensor [batch, rows,
      columns, outputs] and its range, float32 scalars.

    Raises:
      ValueError: ranks or channels do not match, or `padding` is unknown.
      tf.errors.InvalidArgumentError: in a run, a type, stride or dilation without a
        kernel.

    Example:
      >>> image = tf.quantize(tf.ones([1, 3, 3, 1]), 0.0, 1.0, tf.quint8)
      >>> filters = tf.quantize(tf.ones([2, 2, 1, 1]), 0.0, 1.0, tf.quint8)
      >>> found = tf.nn.quantized_conv2d(
      ...     image[0], filters[0], *image[1:], *filters[1:], [1, 1, 1, 1], "VALID")
      >>> tf.Session().run(tf.dequantize(*found, mode="MIN_FIRST")).round(2).ravel()
      array([4., 4., 4., 4.], dtype=float32)

    Source: QuantizedConv2D in core/ops/nn_ops.cc.
    """
    attributes = [
        geometry.ints("quantized_conv2d", key, value)
        for key, value in (("strides", strides), ("dilations", dilations))
    ]
    kind = dtype_attribute("out_type", out_type)
    op = QuantizedConv2D(kind, attributes[0], padding, attributes[1])
    limits = (min_input, max_input, min_filter, max_filter)
    return results.QuantizedConv2D(*op(input, filter, *limits, name=name))


def _pool(
    kind: Any, input: Any, limits: Any, ksize: Any, strides: Any, *rest: Any
) -> list[Tensor]:
    padding, name = rest
    function = {
        "QuantizedMaxPool": "quantized_max_pool",
        "QuantizedAvgPool": "quantized_avg_pool",
    }[kind.op_type]
    sizes = geometry.ints(function, "ksize", ksize)
    steps = geometry.ints(function, "strides", strides)
    found: list[Tensor] = kind(sizes, steps, padding)(input, *limits, name=name)
    return found


@export("nn.quantized_max_pool")
def quantized_max_pool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> results.QuantizedMaxPool:
    """The maximum of each window of a quantized image.

    Args:
      input: quint8 Tensor [batch, height, width, channels].
      min_input, max_input: float32 scalars, the range of `input`.
      ksize, strides: four ints, as for `tf.nn.max_pool`.
      padding: "SAME" or "VALID".
      name: the op's name.

    Returns:
      A namedtuple `(output, min_output, max_output)`: a quint8 Tensor [batch, rows,
      columns, channels], and the range of `input`.

    Example:
      >>> image = tf.quantize([[[[0.0], [0.5], [1.0]]]], 0.0, 1.0, tf.quint8)
      >>> found = tf.nn.quantized_max_pool(*image, [1, 1, 2, 1], [1, 1, 1, 1], "VALID")
      >>> tf.Session().run(found.output).ravel().tolist()
      [128, 255]

    Source: QuantizedMaxPool in core/ops/nn_ops.cc.
    """
    rest = ksize, strides, padding, name
    limits = min_input, max_input
    return results.QuantizedMaxPool(*_pool(QuantizedMaxPool, input, limits, *rest))


@export("nn.quantized_avg_pool")
def quantized_avg_pool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> results.QuantizedAvgPool:
    """The mean of each window of a quantized image, as an integer rounded down.

    Args:
      input: quint8 Tensor [batch, height, width, channels].
      min_input, max_input: float32 scalars, the range of `input`.
      ksize, strides: four ints, as for `tf.nn.avg_pool`.
      padding: "SAME" or "VALID".
      name: the op's name.

    Returns:
      A namedtuple `(output, min_output, max_output)`: a quint8 Tensor [batch, rows,
      columns, channels], and the range of `input`.

    Example:
      >>> image = tf.quantize([[[[0.0], [0.5], [1.0]]]], 0.0, 1.0, tf.quint8)
      >>> found = tf.nn.quantized_avg_pool(*image, [1, 1, 2, 1], [1, 1, 1, 1], "VALID")
      >>> tf.Session().run(found.output).ravel().tolist()
      [64, 191]

    Source: QuantizedAvgPool in core/ops/nn_ops.cc.
    """
    rest = ksize, strides, padding, name
    limits = min_input, max_input
    return results.QuantizedAvgPool(*_pool(QuantizedAvgPool, input, limits, *rest))


@export("nn.quantized_relu_x")
def quantized_relu_x(
    features: TensorLike,
    max_value: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike = quint8,
    name: str | None = None,
) -> results.QuantizedReluX:
    """min(max_value, max(0, x)) of quantized integers; the range remains.

    TensorFlow 1.15 declares this op, but has no kernel for it.

    Args:
      features: quint8 or qint32 Tensor.
      max_value: float32 scalar.
      min_features, max_features: float32 scalars, the range of `features`.
      out_type: the type of `features`.
      name: the op's name.

    Returns:
      A namedtuple `(activations, min_activations, max_activations)`: a Tensor like
      `features`, and its range.

    Raises:
      tf.errors.InvalidArgumentError: in a run, `out_type` is not the type of
        `features`.

    Example:
      >>> x = tf.quantize([-1.0, 0.5, 2.0], -1.0, 2.0, tf.quint8)
      >>> found = tf.nn.quantized_relu_x(x[0], 1.0, *x[1:])
      >>> tf.Session().run(found.activations).tolist()
      [85, 128, 170]

    Source: QuantizedReluX in core/ops/nn_ops.cc.
    """
    op = QuantizedReluX(dtype_attribute("out_type", out_type))
    found = op(features, max_value, min_features, max_features, name=name)
    return results.QuantizedReluX(*found)
