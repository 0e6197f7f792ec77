"""Transposed convolution layers.

Source: python/layers/convolutional.py, python/keras/layers/convolutional.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import (
    Activation,
    Constraint,
    Initializer,
    Regularizer,
    TensorLike,
    WindowLike,
)
from tfteach.lib.layers import activations_by_name
from tfteach.lib.layers.windowed import ZEROS, Windowed, given
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.windows.conv_2d import conv2d_transpose as conv2d_transpose_op
from tfteach.ops.windows.conv_3d import conv3d_transpose as conv3d_transpose_op


class _Transposed(Windowed):
    def build(self, input_shape: TensorShape) -> None:
        size = self.channels(input_shape)
        self.kernel = self.add_kernel((*self.kernel_size, self.filters, size))
        self.bias = self.add_bias()
        self.built = True

    def call(self, inputs: Tensor) -> Any:
        sizes = shape(inputs)
        batch = sizes[0]
        first = 2 if self.is_first else 1
        inner = [sizes[first + i] for i in range(self.rank)]
        outer = tuple(self._spread_sizes(inner))
        output_shape = stack(self.around(outer, batch, self.filters))
        outputs = self.spread(inputs, output_shape)
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self.finish(outputs)

    def spread(self, inputs: Any, output_shape: Any) -> Any:
        raise NotImplementedError

    def _spread_sizes(self, sizes: list[Any]) -> list[Any]:
        return [
            activations_by_name.spread_size(size, window, self.padding, stride)
            for size, window, stride in zip(
                sizes, self.kernel_size, self.strides, strict=True
            )
        ]

    def compute_output_shape(self, input_shape: TensorShape) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        inner = sizes[2:] if self.is_first else sizes[1:-1]
        outer = tuple(self._spread_sizes(inner))
        return TensorShape(self.around(outer, sizes[0], self.filters))


@export("layers.Conv2DTranspose")
class Conv2DTranspose(_Transposed):
    """A transposed convolution; see `tf.layers.conv2d_transpose`."""

    rank: ClassVar[int] = 2

    def __init__(
        self,
        filters: int,
        kernel_size: WindowLike,
        strides: WindowLike = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = ZEROS,
        kernel_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Regularizer | None = None,
        kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**given(locals()), **kwargs)

    def spread(self, inputs: TensorLike, output_shape: Any) -> Tensor:
        # As in Keras without a GPU for channels first, transpose.
        if self.is_first:
            inputs = transpose(inputs, (0, 2, 3, 1))
            whole = [output_shape[i] for i in (0, 2, 3, 1)]
            output_shape = stack(whole)
        else:
            _ = output_shape[0]  # Keras reads it, which adds nodes
        outputs = conv2d_transpose_op(
            inputs,
            self.kernel,
            output_shape,
            (1, *self.strides, 1),
            padding=self.padding.upper(),
            data_format="NHWC",
        )
        return transpose(outputs, (0, 3, 1, 2)) if self.is_first else outputs


@export("layers.conv2d_transpose")
def conv2d_transpose(
    inputs: TensorLike,
    filters: int,
    kernel_size: WindowLike,
    strides: WindowLike = (1, 1),
    padding: str = "valid",
    data_format: str = "channels_last",
    activation: Activation | None = None,
    use_bias: bool = True,
    kernel_initializer: Initializer | None = None,
    bias_initializer: Initializer | None = ZEROS,
    kernel_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None,
    kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """A transposed convolution layer: each position is spread over a window.

    For the arguments see `tf.layers.conv2d`.

    Returns:
      A Tensor [batch, height * stride, width * stride, filters], for "same" padding.

    Raises:
      ValueError: the rank is not 4, or the number of channels is unknown.

    Example:
      >>> y = tf.layers.conv2d_transpose(tf.ones([2, 7, 7, 8]), 4, 3, 2, "same")
      >>> y.shape  # (2, 14, 14, 4)

    Paper: Zeiler et al., "Deconvolutional networks" (2010).
    """
    options = given(locals())
    result: Tensor = Conv2DTranspose(**options, _scope=name, _reuse=reuse).apply(inputs)
    return result


@export("layers.Conv3DTranspose")
class Conv3DTranspose(_Transposed):
    """A transposed convolution; see `tf.layers.conv3d_transpose`."""

    rank: ClassVar[int] = 3

    def __init__(
        self,
        filters: int,
        kernel_size: WindowLike,
        strides: WindowLike = (1, 1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = ZEROS,
        kernel_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Regularizer | None = None,
        kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**given(locals()), **kwargs)

    def spread(self, inputs: TensorLike, output_shape: Any) -> Tensor:
        return conv3d_transpose_op(
            inputs,
            self.kernel,
            output_shape,
            tuple(self.around(self.strides, 1, 1)),
            data_format=self.op_format,
            padding=self.padding.upper(),
        )


@export("layers.conv3d_transpose")
def conv3d_transpose(
    inputs: TensorLike,
    filters: int,
    kernel_size: WindowLike,
    strides: WindowLike = (1, 1, 1),
    padding: str = "valid",
    data_format: str = "channels_last",
    activation: Activation | None = None,
    use_bias: bool = True,
    kernel_initializer: Initializer | None = None,
    bias_initializer: Initializer | None = ZEROS,
    kernel_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None,
    kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """`tf.layers.conv2d_transpose` over three axes.

    Returns:
      A Tensor [batch, depth, height, width, filters].
    """
    options = given(locals())
    result: Tensor = Conv3DTranspose(**options, _scope=name, _reuse=reuse).apply(inputs)
    return result
