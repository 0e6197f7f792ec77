"""One-dimensional convolution, built as in TF: in two dimensions, one of size 1.

Source: python/ops/nn_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_2d import Conv2D, Conv2DBackpropInput, conv2d_transpose
from tfteach.ops.windows.conv_3d import conv3d_transpose


def layout_of(data_format: str | None, allowed: tuple[str, ...]) -> tuple[str, int]:
    """The two-dimensional format, and the position of the dimension of size 1.

    Raises:
      ValueError: `data_format` is neither None nor one of `allowed`.
    """
    if data_format is not None and data_format not in allowed:
        raise ValueError('data_format must be "NWC" or "NCW".')
    if data_format is not None and data_format.startswith("NC"):
        return "NCHW", 2
    return "NHWC", 1


def widened(value: Any, layout: str, name: str) -> tuple[int, ...]:
    """Strides or windows of one dimension extended to two."""
    return (1, *geometry.sequence(value, 1, layout, name))


@export("nn.conv1d")
def conv1d(
    value: TensorLike | None = None,
    filters: TensorLike | None = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The convolution of a sequence with a filter (cross-correlation).

    Args:
      value: float Tensor [batch, width, channels]; [batch, channels, width] for "NCW".
      filters: Tensor [width, channels, outputs] of the same type.
      stride: an int, or a list of 1 or 3 ints.
      padding: "SAME" or "VALID".
      use_cudnn_on_gpu: recorded in the GraphDef, without effect.
      data_format: "NWC" (the default) or "NCW".
      name: the name scope of the ops.
      input: alias of `value`.
      dilations: the distances of the filter's elements, in the same form as `stride`.

    Returns:
      A Tensor [batch, places, outputs] (or as "NCW").

    Raises:
      ValueError: ranks or channels do not match, or an argument is invalid.

    Example:
      >>> tf.nn.conv1d(tf.ones([1, 4, 1]), tf.ones([2, 1, 1]), 1, "VALID")  # 2., 2., 2.

    Source: Conv2D in core/ops/nn_ops.cc.
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        layout, axis = layout_of(data_format, ("NWC", "NHWC", "NCW", "NCHW"))
        strides = widened(stride, layout, "stride")
        dilated = widened(dilations, layout, "dilations")
        value = expand_dims(value, axis)
        filters = expand_dims(filters, 0)  # type: ignore[arg-type]  # None: refused
        on_gpu = True if use_cudnn_on_gpu is None else bool(use_cudnn_on_gpu)
        op = Conv2D(strides, on_gpu, padding, (), layout, dilated)
        return squeeze(op(value, filters, name=scope), [axis])


@export("nn.conv1d_transpose")
def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Tensor | Sequence[int],
    strides: Sequence[int],
    padding: str = "SAME",
    data_format: str | None = "NWC",
    dilations: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The transposed convolution of a sequence; see `tf.nn.conv2d_transpose`.

    Args:
      input: float Tensor [batch, width, channels] (or as "NCW").
      filters: Tensor [width, outputs, channels] of the same type.
      output_shape: int32 Tensor or list [3].
      strides, dilations: an int, or a list of 1 or 3 ints.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      name: the name scope of the ops.

    Returns:
      A Tensor of the shape `output_shape`.

    Raises:
      ValueError: ranks do not match, or an argument is invalid.
      InvalidArgumentError: (when run) the sizes are inconsistent.

    Source: Conv2DBackpropInput in core/ops/nn_ops.cc.
    """
    given = [input, filters, output_shape]
    with name_scope(name, "conv1d_transpose", given) as scope:
        layout, axis = layout_of(data_format, ("NWC", "NCW"))
        wide_strides = widened(strides, layout, "stride")
        dilated = widened(dilations, layout, "dilations")
        input = expand_dims(input, axis)
        filters = expand_dims(filters, 0)
        if not isinstance(output_shape, Tensor):
            output_shape = list(output_shape)
        shape = concat([output_shape[:axis], [1], output_shape[axis:]], 0)
        op = Conv2DBackpropInput(wide_strides, True, padding, (), layout, dilated)
        return squeeze(op(shape, filters, input, name=scope), axis)


@export("nn.conv_transpose")
def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The transposed convolution in the number of dimensions of `output_shape`.

    Args:
      input: float Tensor of rank 3, 4 or 5.
      filters: Tensor [*window, outputs, channels] of the same type.
      output_shape: int32 Tensor or list, the output's shape.
      strides, padding, data_format, dilations: as for `tf.nn.conv1d_transpose`,
        `tf.nn.conv2d_transpose`, `tf.nn.conv3d_transpose`.
      name: the op's name.

    Returns:
      A Tensor of the shape `output_shape`.

    Raises:
      ValueError: the length of `output_shape` is not 3, 4 or 5.

    Source: python/ops/nn_ops.py.
    """
    with name_scope(name, "conv_transpose", [input, output_shape]) as scope:
        if isinstance(output_shape, Tensor):
            shape = output_shape._shape
            length = shape[0] if shape else None
            if length is None:
                raise ValueError("output_shape must be of length 3, 4 or 5 but was ?.")
        elif isinstance(output_shape, Sized):
            length = len(output_shape)
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        ways = {3: conv1d_transpose, 4: conv2d_transpose, 5: conv3d_transpose}
        if length not in ways:
            raise ValueError(
                f"output_shape must be of length 3, 4 or 5 but was {length}."
            )
        result: Tensor = ways[length](  # type: ignore[operator]
            input, filters, output_shape, strides, padding=padding,
            data_format=data_format, dilations=dilations, name=scope,
        )  # fmt: skip
        return result
