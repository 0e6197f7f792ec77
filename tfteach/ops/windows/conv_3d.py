"""Convolution over three dimensions and its gradients.

Source: core/ops/nn_ops.cc, core/kernels/conv_ops_3d.cc, conv_grad_ops_3d.cc,
python/ops/nn_ops.py, nn_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_base import Convolution, FilterGradient, InputGradient

ONES = (1, 1, 1, 1, 1)


class _Conv3D(Convolution, abstract=True):
    minimum: ClassVar[dict[str, int]] = {"strides": 5}

    strides: tuple[int, ...]
    padding: str
    data_format: str = "NDHWC"
    dilations: tuple[int, ...] = ONES
    dimensions = 3
    formats = geometry.FORMATS_3D

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The attributes shared by the three ops."""
        return self.strides, self.padding, self.data_format, self.dilations


class Conv3D(_Conv3D):
    """Sums of products over each window.  Source: core/ops/nn_ops.cc, Conv3D."""

    signature = "input: T, filter: T -> output: T"

    def infer_shape(self, input: Shape, filter: Shape) -> Shape:
        input, filter, out = self.windows_over(input, filter)
        self.check_groups(self.depth(input), filter)
        return tuple(geometry.around(input[0], out, filter[4], self.data_format))

    def compute(self, xp: ArrayModule, input: Array, filter: Array) -> Any:
        self.check_ranks(input=input.shape, filter=filter.shape)
        if self.depth(input.shape) != filter.shape[3]:
            raise invalid_argument(
                "Input depth must be evenly divisible by filter depth: "
                f"{self.depth(input.shape)} vs {filter.shape[3]}"
            )
        return self.convolve(xp, input, filter)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, filters = op.inputs
        size = shape_ops.shape(x)
        to_input = Conv3DBackpropInputV2(*self.arguments)(size, filters, grad)
        size = shape_ops.shape(filters)
        return [to_input, Conv3DBackpropFilterV2(*self.arguments)(x, size, grad)]


class Conv3DBackpropInputV2(InputGradient, _Conv3D):
    """Conv3D's gradient with respect to its input.  Source: core/ops/nn_ops.cc."""

    signature = "input_sizes: Tshape, filter: T, out_backprop: T -> output: T"
    Tshape = dtypes_of("int32 int64")
    Tshape_default = int32
    checked_as: ClassVar[str] = "Conv3DBackpropInput"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        size = shape_ops.shape(op.inputs[1])
        to_filter = Conv3DBackpropFilterV2(*self.arguments)(grad, size, op.inputs[2])
        return [None, to_filter, Conv3D(*self.arguments)(grad, op.inputs[1])]


class Conv3DBackpropFilterV2(FilterGradient, _Conv3D):
    """Conv3D's gradient with respect to its filter.  Source: core/ops/nn_ops.cc."""

    signature = "input: T, filter_sizes: int32, out_backprop: T -> output: T"
    checked_as: ClassVar[str] = "Conv3DBackpropFilter"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        size = shape_ops.shape(op.inputs[0])
        to_input = Conv3DBackpropInputV2(*self.arguments)(size, grad, op.inputs[2])
        return [to_input, None, Conv3D(*self.arguments)(op.inputs[0], grad)]


# ---- functions


def _attributes(
    kind: str, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> tuple[Any, ...]:
    layout = "NDHWC" if data_format is None else data_format
    return (
        geometry.ints(kind, "strides", strides), padding, layout,
        ONES if dilations is None else geometry.ints(kind, "dilations", dilations),
    )  # fmt: skip


@export("nn.conv3d")
def conv3d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] | None = None,
    data_format: str | None = "NDHWC",
    dilations: Sequence[int] = ONES,
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The convolution of a volume with a filter (cross-correlation).

    Args:
      input: float Tensor [batch, depth, height, width, channels]; the channels come
        second for "NCDHW".
      filter: Tensor [depth, height, width, channels, outputs] of the same type.
      strides: a list of 5 ints; those of batch and channels are 1.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      dilations: the distances of the filter's elements, a list of 5 ints.
      name: the op's name.
      filters: alias of `filter`.

    Returns:
      A Tensor [batch, planes, rows, columns, outputs] (or as "NCDHW").

    Raises:
      ValueError: ranks or channels do not match, or an argument is invalid.

    Example:
      >>> volume = tf.ones([1, 2, 2, 2, 1])
      >>> tf.nn.conv3d(volume, tf.ones([2, 2, 2, 1, 1]), [1] * 5, "VALID")  # 8.0

    Source: Conv3D in core/ops/nn_ops.cc.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    given = _attributes("conv3d", strides, padding, data_format, dilations)
    return Conv3D(*given)(input, filter, name=name)


@export("nn.conv3d_backprop_filter", "nn.conv3d_backprop_filter_v2")
def conv3d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NDHWC",
    dilations: Sequence[int] = ONES,
    name: str | None = None,
) -> Tensor:
    """The gradient of `tf.nn.conv3d` with respect to its filter.

    Args:
      input: the input of that convolution.
      filter_sizes: int32 Tensor [5], the filter's shape.
      out_backprop: Tensor, the gradient with respect to the output.
      strides, padding, data_format, dilations, name: as for `tf.nn.conv3d`.

    Returns:
      A Tensor of the shape `filter_sizes`.

    Raises:
      InvalidArgumentError: (when run) the three shapes are inconsistent.

    Source: Conv3DBackpropFilterV2 in core/ops/nn_ops.cc.
    """
    given = _attributes(
        "conv3d_backprop_filter_v2", strides, padding, data_format, dilations
    )
    op = Conv3DBackpropFilterV2(*given)
    return op(input, filter_sizes, out_backprop, name=name)


@export("nn.conv3d_transpose")
def conv3d_transpose(
    value: TensorLike,
    filter: TensorLike | None = None,
    output_shape: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The transposed convolution of a volume; see `tf.nn.conv2d_transpose`.

    Args:
      value: float Tensor [batch, depth, height, width, channels] (or as "NCDHW").
      filter: Tensor [depth, height, width, outputs, channels] of the same type.
      output_shape: int32 Tensor or list [5].
      strides, dilations: an int, or a list of 1, 3 or 5 ints.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      name: the op's name.
      input, filters: aliases of `value` and `filter`.

    Returns:
      A Tensor of the shape `output_shape`.

    Raises:
      ValueError: ranks do not match, or an argument is invalid.
      InvalidArgumentError: (when run) the sizes are inconsistent.

    Source: Conv3DBackpropInputV2 in core/ops/nn_ops.cc.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    value = deprecated_argument_lookup("input", input, "value", value)
    with name_scope(name, "conv3d_transpose", [value, output_shape]) as scope:
        layout = "NDHWC" if data_format is None else data_format
        strides = geometry.sequence(strides, 3, layout, "strides")
        dilations = geometry.sequence(dilations, 3, layout, "dilations")
        op = Conv3DBackpropInputV2(strides, padding, layout, dilations)
        return op(output_shape, filter, value, name=scope)
