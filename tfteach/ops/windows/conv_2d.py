"""Two-dimensional convolution and its gradients.

TF 1.15 supports "NCHW" and dilated gradients on GPUs only; here every device does.

Source: core/ops/nn_ops.cc, core/kernels/conv_ops.cc, conv_grad_ops.cc,
python/ops/nn_ops.py, nn_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_base import Convolution, FilterGradient, InputGradient


class _Conv2D(Convolution, abstract=True):
    strides: tuple[int, ...]
    use_cudnn_on_gpu: bool = True
    padding: str  # type: ignore[misc]  # TF's order
    explicit_paddings: tuple[int, ...] = ()
    data_format: str = "NHWC"
    dilations: tuple[int, ...] = (1, 1, 1, 1)
    paddings = (*geometry.PADDINGS, "EXPLICIT")

    @property
    def explicit(self) -> tuple[int, ...]:
        return self.explicit_paddings

    def same(self, kind: type[_Conv2D]) -> Any:
        """Another op of this family with the same attributes."""
        return kind(*self.attributes)


class Conv2D(_Conv2D):  # type: ignore[misc]
    """Sums of products over each window.  Source: core/ops/nn_ops.cc, Conv2D."""

    signature = "input: T, filter: T -> output: T"
    takes_epilogue: ClassVar[bool] = True

    def infer_shape(self, input: Shape, filter: Shape) -> Shape:
        input, filter, out = self.windows_over(input, filter)
        self.check_groups(self.depth(input), filter)
        return tuple(geometry.around(input[0], out, filter[3], self.data_format))

    def compute(self, xp: ArrayModule, input: Array, filter: Array) -> Any:
        self.check_ranks(input=input.shape, filter=filter.shape)
        channels = self.depth(input.shape)
        if channels != filter.shape[2]:
            _refuse_depths(channels, filter.shape[2])
        return self.convolve(xp, input, filter)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        of_input, of_filter = shape_ops.shape_n(list(op.inputs))
        return [
            self.same(Conv2DBackpropInput)(of_input, op.inputs[1], grad),
            self.same(Conv2DBackpropFilter)(op.inputs[0], of_filter, grad),
        ]


def _refuse_depths(channels: int, depth: int) -> None:
    if depth == 0 or channels % depth:
        raise invalid_argument(
            f"input depth must be evenly divisible by filter depth: {channels} vs "
            f"{depth}"
        )
    raise geometry.unimplemented(
        "The Conv2D op currently does not support grouped convolutions on the CPU. A "
        "grouped convolution was attempted to be run because the input depth of "
        f"{channels} does not match the filter input depth of {depth}"
    )


class Conv2DBackpropInput(InputGradient, _Conv2D):  # type: ignore[misc]
    """Conv2D's gradient with respect to its input: the transposed convolution.

    Source: core/ops/nn_ops.cc, Conv2DBackpropInput.
    """

    signature = "input_sizes: int32, filter: T, out_backprop: T -> output: T"
    checked_as: ClassVar[str] = "Conv2DBackpropInput"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        size = shape_ops.shape(op.inputs[1])
        return [
            None,
            self.same(Conv2DBackpropFilter)(grad, size, op.inputs[2]),
            self.same(Conv2D)(grad, op.inputs[1]),
        ]


class Conv2DBackpropFilter(FilterGradient, _Conv2D):  # type: ignore[misc]
    """Conv2D's gradient with respect to its filter.  Source: core/ops/nn_ops.cc."""

    signature = "input: T, filter_sizes: int32, out_backprop: T -> output: T"
    checked_as: ClassVar[str] = "Conv2DCustomBackpropFilter"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        size = shape_ops.shape(op.inputs[0])
        return [
            self.same(Conv2DBackpropInput)(size, grad, op.inputs[2]),
            None,
            self.same(Conv2D)(op.inputs[0], grad),
        ]


# ---- functions


def _attributes(
    strides: Any, use_cudnn_on_gpu: Any, padding: Any, data_format: Any, dilations: Any
) -> tuple[Any, ...]:
    """The three ops' attributes, from the functions' arguments."""
    word, explicit = geometry.split_padding(padding)
    layout = "NHWC" if data_format is None else data_format
    return strides, use_cudnn_on_gpu, word, explicit, layout, dilations


@export("nn.conv2d")
def conv2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The convolution of an image with a filter (cross-correlation).

    `out[b, y, x, o] = sum(in[b, sy * y + dy, sx * x + dx, c] * filter[dy, dx, c, o])`

    Args:
      input: float Tensor [batch, height, width, channels]; [batch, channels, height,
        width] for "NCHW".
      filter: Tensor [height, width, channels, outputs] of the same type.
      strides: an int, or a list of 1, 2 or 4 ints.
      padding: "SAME" (the output's size is the input's divided by the stride), "VALID"
        (only complete windows), or four pairs [before, after], one per dimension.
      use_cudnn_on_gpu: recorded in the GraphDef, without effect.
      data_format: "NHWC" or "NCHW".
      dilations: the distances of the filter's elements, in the same form as the
          strides.
      name: the op's name.
      filters: alias of `filter`.

    Returns:
      A Tensor [batch, rows, columns, outputs] (or as "NCHW").

    Raises:
      ValueError: ranks or channels do not match, or an argument is invalid.
      UnimplementedError: (when run) the input has a multiple of the filter's channels.

    Example:
      >>> image = tf.ones([1, 3, 3, 1])
      >>> tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), 1, "VALID")  # four times 4.0

    Source: Conv2D in core/ops/nn_ops.cc.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    _, *rest = _attributes(None, use_cudnn_on_gpu, padding, data_format, None)
    strides = geometry.sequence(strides, 2, rest[-2], "strides")
    rest[-1] = geometry.sequence(dilations, 2, rest[-2], "dilations")
    return Conv2D(strides, *rest)(input, filter, name=name)


@export("nn.conv2d_backprop_input")
def conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike | None = None,
    out_backprop: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The gradient of `tf.nn.conv2d` with respect to its input.

    Args:
      input_sizes: int32 Tensor [4], the shape of that input.
      filter, filters: Tensor [height, width, channels, outputs].
      out_backprop: Tensor, the gradient with respect to the output.
      strides, dilations: lists of 4 ints.
      padding, use_cudnn_on_gpu, data_format, name: as for `tf.nn.conv2d`.

    Returns:
      A Tensor of the shape `input_sizes`.

    Raises:
      InvalidArgumentError: (when run) the three shapes are inconsistent.

    Source: Conv2DBackpropInput in core/ops/nn_ops.cc.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    kind = "conv2d_backprop_input"
    given = _attributes(
        geometry.ints(kind, "strides", strides), use_cudnn_on_gpu, padding, data_format,
        geometry.ints(kind, "dilations", dilations),
    )  # fmt: skip
    return Conv2DBackpropInput(*given)(input_sizes, filter, out_backprop, name=name)


@export("nn.conv2d_backprop_filter")
def conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `tf.nn.conv2d` with respect to its filter.

    Args:
      input: the input of that convolution.
      filter_sizes: int32 Tensor [4], the filter's shape.
      out_backprop: Tensor, the gradient with respect to the output.
      strides, dilations: lists of 4 ints.
      padding, use_cudnn_on_gpu, data_format, name: as for `tf.nn.conv2d`.

    Returns:
      A Tensor of the shape `filter_sizes`.

    Raises:
      InvalidArgumentError: (when run) the three shapes are inconsistent.

    Source: Conv2DBackpropFilter in core/ops/nn_ops.cc.
    """
    kind = "conv2d_backprop_filter"
    given = _attributes(
        geometry.ints(kind, "strides", strides), use_cudnn_on_gpu, padding, data_format,
        geometry.ints(kind, "dilations", dilations),
    )  # fmt: skip
    return Conv2DBackpropFilter(*given)(input, filter_sizes, out_backprop, name=name)


@export("nn.conv2d_transpose")
def conv2d_transpose(
    value: TensorLike | None = None,
    filter: TensorLike | None = None,
    output_shape: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    padding: Any = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The transposed convolution: every input adds a scaled filter to the output.

    Args:
      value: float Tensor [batch, height, width, channels] (or as "NCHW").
      filter: Tensor [height, width, outputs, channels] of the same type.
      output_shape: int32 Tensor or list [4]; the shape for which `tf.nn.conv2d` would
        return `value`'s sizes.
      strides, dilations: an int, or a list of 1, 2 or 4 ints.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: the op's name.
      input, filters: aliases of `value` and `filter`.

    Returns:
      A Tensor of the shape `output_shape`.

    Raises:
      ValueError: ranks do not match, or an argument is invalid.
      InvalidArgumentError: (when run) the sizes are inconsistent.

    Example:
      >>> small = tf.ones([1, 2, 2, 1])
      >>> tf.nn.conv2d_transpose(small, tf.ones([2, 2, 1, 1]), [1, 4, 4, 1], 2)

    Source: Conv2DBackpropInput in core/ops/nn_ops.cc.
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        layout = "NHWC" if data_format is None else data_format
        strides = geometry.sequence(strides, 2, layout, "strides")
        dilations = geometry.sequence(dilations, 2, layout, "dilations")
        op = Conv2DBackpropInput(strides, True, padding, (), layout, dilations)
        return op(output_shape, filter, value, name=scope)
