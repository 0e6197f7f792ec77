"""Convolution of each channel separately.

Each tap of the filter is one multiplication of a shifted image by a vector, so nothing
is copied; a few images are processed at a time to stay in the cache.  On a card cuDNN
computes them, where it is installed, as convolutions of groups of one channel.

Source: core/ops/nn_ops.cc, core/kernels/depthwise_conv_op.cc, python/ops/nn_impl.py,
nn_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_2d import conv2d
from tfteach.ops.windows.conv_base import Convolution, FilterGradient, InputGradient
from tfteach.ops.windows.conv_kernels import by_cudnn
from tfteach.ops.windows.conv_nd import with_space_to_batch
from tfteach.ops.windows.pool_kernels import blocks, taps


class _Depthwise(Convolution, abstract=True):
    strides: tuple[int, ...]
    padding: str
    data_format: str = "NHWC"
    dilations: tuple[int, ...] = (1, 1, 1, 1)

    def same(self, kind: type[_Depthwise]) -> Any:
        """Another op of this family with the same attributes."""
        return kind(*self.attributes)

    def _check_depths(
        self, name: str, channels: int, filters: Any, outputs: int
    ) -> None:
        if channels != filters[2] or outputs != filters[2] * filters[3]:
            kind = name.replace("Conv2dNative", "Conv2D")
            raise invalid_argument(
                f"{kind}: depth_multiplier * in_depth not equal to out_depth: "
                f"{filters[3]} * {channels} != {outputs}"
            )


class DepthwiseConv2dNative(_Depthwise):
    """Convolution of each channel with its own filters.

    Source: core/ops/nn_ops.cc, DepthwiseConv2dNative.
    """

    signature = "input: T, filter: T -> output: T"

    def infer_shape(self, input: Shape, filter: Shape) -> Shape:
        input, filter, out = self.windows_over(input, filter)
        channels, depth, times = self.depth(input), filter[2], filter[3]
        if None not in (channels, depth) and channels != depth:
            raise ValueError(
                f"Dimensions must be equal, but are {channels} and {depth}"
            )
        depth = channels if depth is None else depth
        outputs = None if depth is None or times is None else depth * times
        return tuple(geometry.around(input[0], out, outputs, self.data_format))

    def compute(self, xp: ArrayModule, input: Array, filter: Array) -> Any:
        self.check_ranks(input=input.shape, filter=filter.shape)
        channels, (depth, times) = self.depth(input.shape), filter.shape[2:]
        if channels != depth:
            raise invalid_argument(
                f"input and filter must have the same depth: {channels} vs {depth}"
            )
        windows = self.lay(input.shape, filter.shape)
        x = geometry.to_last(xp, input, self.data_format)
        lines = filter.reshape(*filter.shape[:2], depth * times)
        shape = (len(x), *windows.out, depth * times)
        found = by_cudnn(xp, "output", x, lines[:, :, None], shape, windows)
        if found is not None:
            return geometry.from_last(xp, found, self.data_format)
        out = xp.zeros(shape, _type(x))
        for images in blocks(xp, out):
            wide = _repeated(xp, x[images], times)
            part = out[images]
            for tap, outputs, inputs in taps(windows, x.shape[1:-1]):
                part[:, *outputs] += wide[:, *inputs] * lines[tap]
        out = out.astype(input.dtype, copy=False)
        return geometry.from_last(xp, out, self.data_format)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, filters = op.inputs
        size = shape_ops.shape(x)
        to_input = self.same(DepthwiseConv2dNativeBackpropInput)(size, filters, grad)
        size = shape_ops.shape(filters)
        to_filter = self.same(DepthwiseConv2dNativeBackpropFilter)(x, size, grad)
        return [to_input, to_filter]


def _repeated(xp: ArrayModule, images: Any, times: int) -> Any:
    """Each channel repeated several times, to keep the innermost loop long."""
    return images if times == 1 else xp.repeat(images, times, axis=-1)


def _type(array: Any) -> Any:
    """A type in which sums of short floats are accurate enough."""
    return array.dtype if array.dtype.itemsize > 2 else "float32"


class DepthwiseConv2dNativeBackpropInput(InputGradient, _Depthwise):
    """DepthwiseConv2dNative's gradient with respect to its input.

    Source: core/ops/nn_ops.cc.
    """

    signature = "input_sizes: int32, filter: T, out_backprop: T -> output: T"
    checked_as: ClassVar[str] = "Conv2DBackpropInput"

    def compute(
        self, xp: ArrayModule, input_sizes: Array, filter: Array, out_backprop: Array
    ) -> Any:
        shape = tuple(map(int, input_sizes))
        windows = self.lay_back(shape, filter.shape, out_backprop.shape)
        grad = geometry.to_last(xp, out_backprop, self.data_format)
        sizes, times = tuple(self.inner(shape)), filter.shape[3]
        lines = filter.reshape(*filter.shape[:2], grad.shape[-1])
        last = (shape[0], *sizes, filter.shape[2])
        found = by_cudnn(xp, "input", last, lines[:, :, None], grad, windows)
        if found is not None:
            return geometry.from_last(xp, found, self.data_format)
        result = xp.zeros(last, _type(grad))
        for images in blocks(xp, grad):
            part = result[images]
            if times != 1:
                part = xp.zeros((len(part), *sizes, grad.shape[-1]), result.dtype)
            for tap, outputs, inputs in taps(windows, sizes):
                part[:, *inputs] += grad[images, *outputs] * lines[tap]
            if times != 1:
                for i in range(times):
                    result[images] += part[..., i::times]
        result = result.astype(grad.dtype, copy=False)
        return geometry.from_last(xp, result, self.data_format)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        size = shape_ops.shape(op.inputs[1])
        to_filter = self.same(DepthwiseConv2dNativeBackpropFilter)
        forward = self.same(DepthwiseConv2dNative)
        return [None, to_filter(grad, size, op.inputs[2]), forward(grad, op.inputs[1])]


class DepthwiseConv2dNativeBackpropFilter(FilterGradient, _Depthwise):
    """DepthwiseConv2dNative's gradient with respect to its filter.

    Source: core/ops/nn_ops.cc.
    """

    signature = "input: T, filter_sizes: int32, out_backprop: T -> output: T"
    checked_as: ClassVar[str] = "Conv2DBackpropFilter"

    def compute(
        self, xp: ArrayModule, input: Array, filter_sizes: Array, out_backprop: Array
    ) -> Any:
        shape = tuple(map(int, filter_sizes))
        windows = self.lay_back(input.shape, shape, out_backprop.shape)
        x = geometry.to_last(xp, input, self.data_format)
        grad = geometry.to_last(xp, out_backprop, self.data_format)
        lines = (*shape[:2], 1, grad.shape[-1])
        found = by_cudnn(xp, "filter", x, lines, grad, windows)
        if found is not None:
            return found.reshape(shape)
        result = xp.zeros((*shape[:2], grad.shape[-1]), _type(grad))
        for images in blocks(xp, grad):
            wide = _repeated(xp, x[images].astype(result.dtype, copy=False), shape[3])
            own = grad[images].astype(result.dtype, copy=False)
            for tap, outputs, inputs in taps(windows, x.shape[1:-1]):
                result[tap] += xp.einsum(
                    "nhwc,nhwc->c", wide[:, *inputs], own[:, *outputs]
                )
        return result.reshape(shape).astype(grad.dtype, copy=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        size = shape_ops.shape(op.inputs[0])
        to_input = self.same(DepthwiseConv2dNativeBackpropInput)
        forward = self.same(DepthwiseConv2dNative)
        return [to_input(size, grad, op.inputs[2]), None, forward(op.inputs[0], grad)]


# ---- functions


@export("nn.depthwise_conv2d_native")
def depthwise_conv2d_native(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The convolution of each channel with its own filters.

    `out[b, y, x, c * m + k] = sum(in[b, s * y + dy, s * x + dx, c] * f[dy, dx, c, k])`

    Args:
      input: float Tensor [batch, height, width, channels] (or as "NCHW").
      filter: Tensor [height, width, channels, m] of the same type.
      strides, dilations: lists of 4 ints.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: the op's name.

    Returns:
      A Tensor [batch, rows, columns, channels * m] (or as "NCHW").

    Raises:
      ValueError: ranks or channels do not match, or an argument is invalid.

    Source: DepthwiseConv2dNative in core/ops/nn_ops.cc.
    """
    given = _attributes(
        "depthwise_conv2d_native", strides, padding, data_format, dilations
    )
    return DepthwiseConv2dNative(*given)(input, filter, name=name)


def _attributes(
    function: str, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> tuple[Any, ...]:
    layout = "NHWC" if data_format is None else data_format
    steps = geometry.ints(function, "strides", strides)
    apart = (1, 1, 1, 1) if dilations is None else dilations
    return steps, padding, layout, geometry.ints(function, "dilations", apart)


@export(
    "nn.depthwise_conv2d_backprop_input", "nn.depthwise_conv2d_native_backprop_input"
)
def depthwise_conv2d_native_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `tf.nn.depthwise_conv2d_native` with respect to its input.

    Args:
      input_sizes: int32 Tensor [4], the shape of that input.
      filter: Tensor [height, width, channels, m].
      out_backprop: Tensor, the gradient with respect to the output.
      strides, padding, data_format, dilations, name: as for that function.

    Returns:
      A Tensor of the shape `input_sizes`.

    Raises:
      InvalidArgumentError: (when run) the three shapes are inconsistent.

    Source: DepthwiseConv2dNativeBackpropInput in core/ops/nn_ops.cc.
    """
    function = "depthwise_conv2d_native_backprop_input"
    given = _attributes(function, strides, padding, data_format, dilations)
    op = DepthwiseConv2dNativeBackpropInput(*given)
    return op(input_sizes, filter, out_backprop, name=name)


@export(
    "nn.depthwise_conv2d_backprop_filter", "nn.depthwise_conv2d_native_backprop_filter"
)
def depthwise_conv2d_native_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `tf.nn.depthwise_conv2d_native` with respect to its filter.

    Args:
      input: the input of that convolution.
      filter_sizes: int32 Tensor [4], the filter's shape.
      out_backprop: Tensor, the gradient with respect to the output.
      strides, padding, data_format, dilations, name: as for that function.

    Returns:
      A Tensor of the shape `filter_sizes`.

    Raises:
      InvalidArgumentError: (when run) the three shapes are inconsistent.

    Source: DepthwiseConv2dNativeBackpropFilter in core/ops/nn_ops.cc.
    """
    function = "depthwise_conv2d_native_backprop_filter"
    given = _attributes(function, strides, padding, data_format, dilations)
    op = DepthwiseConv2dNativeBackpropFilter(*given)
    return op(input, filter_sizes, out_backprop, name=name)


@export("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    rate: TensorLike | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The convolution of each channel with its own filters.

    Args:
      input: float Tensor [batch, height, width, channels] (or as "NCHW").
      filter: Tensor [height, width, channels, m] of the same type.
      strides: a list of 4 ints.
      padding: "SAME" or "VALID".
      rate, dilations: two ints, the distances of the filter's elements.
      name: the op's name.
      data_format: "NHWC" (the default) or "NCHW".

    Returns:
      A Tensor [batch, rows, columns, channels * m] (or as "NCHW").

    Raises:
      ValueError: ranks or channels do not match, or an argument is invalid.

    Example:
      >>> image = tf.ones([1, 2, 2, 2])
      >>> filters = tf.ones([2, 2, 2, 1])
      >>> tf.nn.depthwise_conv2d(image, filters, [1, 1, 1, 1], "VALID")  # 4., 4.

    Source: DepthwiseConv2dNative in core/ops/nn_ops.cc.
    """
    rate = deprecated_argument_lookup("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert(input, name="tensor_in")
        filter = convert(filter, name="filter_in")

        def op(tensor: Any, _: int, word: Any) -> Tensor:
            return depthwise_conv2d_native(
                tensor, filter, strides, word, data_format, name=scope
            )

        return with_space_to_batch(
            input, [1, 1] if rate is None else rate, padding, op,
            filter_shape=shape_ops.shape(filter), data_format=data_format,
        )  # fmt: skip


@export("nn.separable_conv2d")
def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    rate: TensorLike | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """A depthwise convolution followed by a pointwise (1 x 1) convolution.

    Args:
      input: float Tensor [batch, height, width, channels] (or as "NCHW").
      depthwise_filter: Tensor [height, width, channels, m] of the same type.
      pointwise_filter: Tensor [1, 1, channels * m, outputs].
      strides: a list of 4 ints, for the depthwise convolution.
      padding: "SAME" or "VALID".
      rate, dilations: two ints, the distances of the depthwise filter's elements.
      name: the last op's name.
      data_format: "NHWC" (the default) or "NCHW".

    Returns:
      A Tensor [batch, rows, columns, outputs] (or as "NCHW").

    Raises:
      ValueError: ranks or channels do not match, or an argument is invalid.

    Source: python/ops/nn_impl.py; DepthwiseConv2dNative, Conv2D.
    """
    rate = deprecated_argument_lookup("dilations", dilations, "rate", rate)
    given = [input, depthwise_filter, pointwise_filter]
    with name_scope(name, "separable_conv2d", given) as scope:
        input = convert(input, name="tensor_in")
        depthwise_filter = convert(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert(pointwise_filter, name="pointwise_filter")
        for size in shapes.with_rank(pointwise_filter._shape, 4)[:2]:
            if size not in (None, 1):
                raise ValueError(f"Dimensions {size} and 1 are not compatible")

        def op(tensor: Any, _: int, word: Any) -> Tensor:
            return depthwise_conv2d_native(
                tensor, depthwise_filter, strides, word, data_format, name="depthwise"
            )

        depthwise = with_space_to_batch(
            input, [1, 1] if rate is None else rate, padding, op,
            filter_shape=shape_ops.shape(depthwise_filter), data_format=data_format,
        )  # fmt: skip
        return conv2d(
            depthwise, pointwise_filter, [1, 1, 1, 1], "VALID",
            data_format=data_format, name=scope,
        )  # fmt: skip
