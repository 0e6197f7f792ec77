"""Convolution layers.

Source: python/layers/convolutional.py, python/keras/layers/convolutional.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
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
from tfteach.lib.layers.windowed import ZEROS, Windowed, causal_padding, given
from tfteach.ops.array.padding import pad
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.windows.conv_1d import conv1d as conv1d_op
from tfteach.ops.windows.conv_2d import conv2d as conv2d_op
from tfteach.ops.windows.conv_3d import Conv3D as Conv3DOp
from tfteach.ops.windows.conv_nd import with_space_to_batch


class _Convolution(Windowed):
    """A convolution of any rank."""

    def build(self, input_shape: TensorShape) -> None:
        size = self.channels(input_shape)
        self.kernel = self.add_kernel((*self.kernel_size, size, self.filters))
        self.bias = self.add_bias()
        is_dilated = any(rate != 1 for rate in self.dilation_rate)
        if is_dilated and any(stride != 1 for stride in self.strides):
            raise ValueError(
                "strides > 1 not supported in conjunction with dilation_rate > 1"
            )
        # TensorFlow creates these while building, whether or not they are used.
        self._rate = convert(self.dilation_rate, int32, name="dilation_rate")
        self._window: Any = self.kernel.shape
        if is_dilated and self.padding == "same":
            self._window = convert(self._window, name="filter_shape")
        self._is_dilated = is_dilated
        self.built = True

    def call(self, inputs: Tensor) -> Any:
        outputs = self.convolve(inputs)
        if self.bias is not None and self.rank == 1 and self.is_first:
            outputs += reshape(self.bias, (1, self.filters, 1))
            return self.activated(outputs)
        return self.finish(outputs)

    def convolve(self, inputs: Any) -> Tensor:
        padding = "VALID" if self.padding == "causal" else self.padding.upper()
        if not self._is_dilated:
            return self._op(inputs, self.rank, padding)
        first = 2 if self.is_first else 1
        return with_space_to_batch(
            inputs,
            self._rate,
            padding,
            self._op,
            self._window,
            range(first, first + self.rank),
            self.op_format,
        )

    def _op(self, inputs: Any, _: int, padding: str) -> Tensor:
        if self.rank == 1:
            return conv1d_op(
                inputs,
                self.kernel,
                self.strides[0],
                padding,
                data_format=self.op_format,
            )
        strides = self.around(self.strides, 1, 1)
        if self.rank == 2:
            return conv2d_op(
                inputs, self.kernel, strides, padding, data_format=self.op_format
            )
        return Conv3DOp(
            strides=tuple(strides), padding=padding, data_format=self.op_format
        )(inputs, self.kernel)


@export("layers.Conv1D")
class Conv1D(_Convolution):
    """A convolution over one axis; see `tf.layers.conv1d`."""

    rank: ClassVar[int] = 1

    def __init__(
        self,
        filters: int,
        kernel_size: WindowLike,
        strides: WindowLike = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: WindowLike = 1,
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

    allows_causal: ClassVar[bool] = True

    def call(self, inputs: Tensor) -> Any:
        if self.padding == "causal":
            inputs = pad(inputs, causal_padding(self))
        return super().call(inputs)


@export("layers.conv1d")
def conv1d(
    inputs: TensorLike,
    filters: int,
    kernel_size: WindowLike,
    strides: WindowLike = 1,
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: WindowLike = 1,
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
    """A convolution layer over one axis: `activation(conv1d(inputs, kernel) + bias)`.

    For the arguments see `tf.layers.conv2d`; `padding` may also be "causal": an output
    then does not depend on later positions.

    Returns:
      A Tensor [batch, positions, filters].
    """
    options = given(locals())
    result: Tensor = Conv1D(**options, _scope=name, _reuse=reuse).apply(inputs)
    return result


@export("layers.Conv2D")
class Conv2D(_Convolution):
    """A convolution of images; for the arguments see `tf.layers.conv2d`.

    Attributes:
      kernel: Variable [height, width, channels, filters].
      bias: Variable [filters], or None.
    """

    rank: ClassVar[int] = 2

    def __init__(
        self,
        filters: int,
        kernel_size: WindowLike,
        strides: WindowLike = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: WindowLike = (1, 1),
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


@export("layers.conv2d")
def conv2d(
    inputs: TensorLike,
    filters: int,
    kernel_size: WindowLike,
    strides: WindowLike = (1, 1),
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: WindowLike = (1, 1),
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
    """A convolution layer: `activation(conv2d(inputs, kernel) + bias)`.

    Args:
      inputs: float Tensor [batch, height, width, channels]; the channels are known.
      filters: the number of output channels.
      kernel_size: the window's height and width, or one int for both.
      strides: the distances of the windows, in the same form.
      padding: "valid": only windows within the image; "same": zero padding.
      data_format: "channels_last", or "channels_first": [batch, channels, height,
        width].
      dilation_rate: the distances of the elements of a window.
      activation: a function such as `tf.nn.relu`, or its name; None for none.
      use_bias: whether to add a bias.
      kernel_initializer: of [height, width, channels, filters]; None: Glorot.
      bias_initializer: of the bias [filters].
      kernel_regularizer, bias_regularizer: functions from a variable to a loss.
      activity_regularizer: a function from the output to a loss.
      kernel_constraint, bias_constraint: functions that optimizers apply to a variable.
      trainable: whether optimizers change the variables.
      name: the layer's scope; "conv2d", "conv2d_1" ... if None.
      reuse: True: reuse the variables of an earlier layer of that name.

    Returns:
      A Tensor [batch, new_height, new_width, filters].

    Raises:
      ValueError: the rank is not 4, the number of channels is unknown, or strides and
        dilation_rate are both above 1.

    Example:
      >>> y = tf.layers.conv2d(tf.ones([2, 28, 28, 1]), 32, 5, padding="same")
    """
    options = given(locals())
    result: Tensor = Conv2D(**options, _scope=name, _reuse=reuse).apply(inputs)
    return result


@export("layers.Conv3D")
class Conv3D(_Convolution):
    """A convolution over three axes; see `tf.layers.conv3d`."""

    rank: ClassVar[int] = 3

    def __init__(
        self,
        filters: int,
        kernel_size: WindowLike,
        strides: WindowLike = (1, 1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: WindowLike = (1, 1, 1),
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


@export("layers.conv3d")
def conv3d(
    inputs: TensorLike,
    filters: int,
    kernel_size: WindowLike,
    strides: WindowLike = (1, 1, 1),
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: WindowLike = (1, 1, 1),
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
    """A convolution layer over three axes; for the arguments see `tf.layers.conv2d`.

    Returns:
      A Tensor [batch, depth, height, width, filters].
    """
    options = given(locals())
    result: Tensor = Conv3D(**options, _scope=name, _reuse=reuse).apply(inputs)
    return result
