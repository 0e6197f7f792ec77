"""Separable convolution layers.

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
from tfteach.lib.layers.windowed import ZEROS, Windowed, causal_padding, given
from tfteach.ops.array.padding import pad
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.nn.bias_add import bias_add
from tfteach.ops.windows.depthwise_conv import separable_conv2d as separable_conv2d_op


class _Separable(Windowed):
    """A filter per input channel, followed by a pointwise convolution."""

    def __init__(
        self,
        depth_multiplier: int,
        depthwise_initializer: Initializer | None,
        pointwise_initializer: Initializer | None,
        depthwise_regularizer: Regularizer | None,
        pointwise_regularizer: Regularizer | None,
        depthwise_constraint: Constraint | None,
        pointwise_constraint: Constraint | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = depthwise_initializer
        self.depthwise_regularizer = depthwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_initializer = pointwise_initializer
        self.pointwise_regularizer = pointwise_regularizer
        self.pointwise_constraint = pointwise_constraint

    def build(self, input_shape: TensorShape) -> None:
        size = self.channels(input_shape)
        between = self.depth_multiplier * size
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            (*self.kernel_size, size, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            (*(1,) * self.rank, between, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
        )
        self.bias = self.add_bias()
        self.built = True

    def separable(
        self, inputs: Any, kernels: Any, strides: tuple[int, ...], rate: Any
    ) -> Tensor:
        padding = "VALID" if self.padding == "causal" else self.padding.upper()
        return separable_conv2d_op(
            inputs,
            kernels[0],
            kernels[1],
            strides=(1, 1, *strides) if self.is_first else (1, *strides, 1),
            padding=padding,
            rate=rate,
            data_format=activations_by_name.op_format(self.data_format, 4),
        )


@export("layers.SeparableConv1D")
class SeparableConv1D(_Separable):
    """A separable convolution; see `tf.layers.separable_conv1d`."""

    rank: ClassVar[int] = 1

    def __init__(
        self,
        filters: int,
        kernel_size: WindowLike,
        strides: WindowLike = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: WindowLike = 1,
        depth_multiplier: int = 1,
        activation: Activation | None = None,
        use_bias: bool = True,
        depthwise_initializer: Initializer | None = None,
        pointwise_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = ZEROS,
        depthwise_regularizer: Regularizer | None = None,
        pointwise_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Regularizer | None = None,
        depthwise_constraint: Constraint | None = None,
        pointwise_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**given(locals()), **kwargs)

    allows_causal: ClassVar[bool] = True

    def call(self, inputs: Tensor) -> Any:
        if self.padding == "causal":
            inputs = pad(inputs, causal_padding(self))
        axis = 2 if self.is_first else 1
        inputs = expand_dims(inputs, axis)
        kernels = [
            expand_dims(kernel, 0)
            for kernel in (self.depthwise_kernel, self.pointwise_kernel)
        ]
        rate = (1, *self.dilation_rate)
        outputs = self.separable(inputs, kernels, self.strides * 2, rate)
        if self.bias is not None:
            layout = activations_by_name.op_format(self.data_format, 4)
            outputs = bias_add(outputs, self.bias, data_format=layout)
        return self.activated(squeeze(outputs, [axis]))


@export("layers.separable_conv1d")
def separable_conv1d(
    inputs: TensorLike,
    filters: int,
    kernel_size: WindowLike,
    strides: WindowLike = 1,
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: WindowLike = 1,
    depth_multiplier: int = 1,
    activation: Activation | None = None,
    use_bias: bool = True,
    depthwise_initializer: Initializer | None = None,
    pointwise_initializer: Initializer | None = None,
    bias_initializer: Initializer | None = ZEROS,
    depthwise_regularizer: Regularizer | None = None,
    pointwise_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None,
    depthwise_constraint: Constraint | None = None,
    pointwise_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """`tf.layers.separable_conv2d` over one axis.

    Returns:
      A Tensor [batch, positions, filters].
    """
    options = given(locals())
    result: Tensor = SeparableConv1D(**options, _scope=name, _reuse=reuse).apply(inputs)
    return result


@export("layers.SeparableConv2D")
class SeparableConv2D(_Separable):
    """A separable convolution; see `tf.layers.separable_conv2d`."""

    rank: ClassVar[int] = 2

    def __init__(
        self,
        filters: int,
        kernel_size: WindowLike,
        strides: WindowLike = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: WindowLike = (1, 1),
        depth_multiplier: int = 1,
        activation: Activation | None = None,
        use_bias: bool = True,
        depthwise_initializer: Initializer | None = None,
        pointwise_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = ZEROS,
        depthwise_regularizer: Regularizer | None = None,
        pointwise_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Regularizer | None = None,
        depthwise_constraint: Constraint | None = None,
        pointwise_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**given(locals()), **kwargs)

    def call(self, inputs: Tensor) -> Any:
        kernels = [self.depthwise_kernel, self.pointwise_kernel]
        outputs = self.separable(inputs, kernels, self.strides, self.dilation_rate)
        return self.finish(outputs)


@export("layers.separable_conv2d")
def separable_conv2d(
    inputs: TensorLike,
    filters: int,
    kernel_size: WindowLike,
    strides: WindowLike = (1, 1),
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: WindowLike = (1, 1),
    depth_multiplier: int = 1,
    activation: Activation | None = None,
    use_bias: bool = True,
    depthwise_initializer: Initializer | None = None,
    pointwise_initializer: Initializer | None = None,
    bias_initializer: Initializer | None = ZEROS,
    depthwise_regularizer: Regularizer | None = None,
    pointwise_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None,
    depthwise_constraint: Constraint | None = None,
    pointwise_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """A depthwise convolution followed by a pointwise one that mixes the channels.

    Args:
      depth_multiplier: the number of filters per input channel.
      depthwise_initializer, pointwise_initializer: of the two kernels, [height, width,
        channels, depth_multiplier] and [1, 1, channels * depth_multiplier, filters].
      depthwise_regularizer, pointwise_regularizer: functions from a variable to a loss.
      depthwise_constraint, pointwise_constraint: functions that optimizers apply.
      others: see `tf.layers.conv2d`.

    Returns:
      A Tensor [batch, new_height, new_width, filters].

    Raises:
      ValueError: the rank is not 4, or the number of channels is unknown.

    Paper: Chollet, "Xception" (2017).
    """
    options = given(locals())
    result: Tensor = SeparableConv2D(**options, _scope=name, _reuse=reuse).apply(inputs)
    return result
