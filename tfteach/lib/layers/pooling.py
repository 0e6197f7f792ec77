"""Pooling layers: the maximum or the mean of each window.

Source: python/layers/pooling.py, python/keras/layers/pooling.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike, WindowLike
from tfteach.lib.layers import activations_by_name
from tfteach.lib.layers.base import Layer
from tfteach.lib.layers.specs import InputSpec
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.windows.pool import avg_pool, max_pool
from tfteach.ops.windows.pool_functions import avg_pool3d, max_pool3d


class _Pooling(Layer):
    rank: ClassVar[int]
    function: ClassVar[Any]

    def __init__(
        self,
        pool_size: WindowLike,
        strides: WindowLike,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(name=name, **kwargs)
        self.pool_size = activations_by_name.numbers(pool_size, self.rank, "pool_size")
        self.strides = activations_by_name.numbers(strides, self.rank, "strides")
        self.padding = activations_by_name.padding(padding)
        self.data_format = activations_by_name.data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def is_first(self) -> bool:
        """Whether the channels come before the positions."""
        return self.data_format == "channels_first"

    def call(self, inputs: Tensor) -> Any:
        if self.rank == 1:
            return self._along_one_axis(inputs)
        outer = (1, 1) if self.is_first else (1,)
        inner = () if self.is_first else (1,)
        return self.pool(
            inputs,
            outer + self.pool_size + inner,
            outer + self.strides + inner,
            activations_by_name.op_format(self.data_format, self.rank + 2),
        )

    def pool(self, inputs: Any, size: Any, strides: WindowLike, layout: str) -> Any:
        function = self.function
        return function(inputs, size, strides, self.padding.upper(), data_format=layout)

    def _along_one_axis(self, inputs: Any) -> Tensor:
        axis = 3 if self.is_first else 2
        inputs = expand_dims(inputs, axis)
        if self.is_first:  # as in Keras without a GPU for channels first
            inputs = transpose(inputs, (0, 2, 3, 1))
        outputs = self.pool(
            inputs, (1, *self.pool_size, 1, 1), (1, *self.strides, 1, 1), "NHWC"
        )
        if self.is_first:
            outputs = transpose(outputs, (0, 3, 1, 2))
        return squeeze(outputs, axis)

    def compute_output_shape(self, input_shape: TensorShape) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        first = 2 if self.is_first else 1
        for i, (window, stride) in enumerate(
            zip(self.pool_size, self.strides, strict=True)
        ):
            size = sizes[first + i]
            sizes[first + i] = activations_by_name.window_count(
                size, window, self.padding, stride
            )
        return TensorShape(sizes)


@export("layers.MaxPooling1D")
class MaxPooling1D(_Pooling):
    """The maximum of each window; see `tf.layers.max_pooling1d`."""

    rank: ClassVar[int] = 1
    function = staticmethod(max_pool)


@export("layers.MaxPooling2D")
class MaxPooling2D(_Pooling):
    """The maximum of each window; see `tf.layers.max_pooling2d`."""

    rank: ClassVar[int] = 2
    function = staticmethod(max_pool)


@export("layers.MaxPooling3D")
class MaxPooling3D(_Pooling):
    """The maximum of each window; see `tf.layers.max_pooling3d`."""

    rank: ClassVar[int] = 3
    function = staticmethod(max_pool3d)


@export("layers.AveragePooling1D")
class AveragePooling1D(_Pooling):
    """The mean of each window; see `tf.layers.average_pooling1d`."""

    rank: ClassVar[int] = 1
    function = staticmethod(avg_pool)


@export("layers.AveragePooling2D")
class AveragePooling2D(_Pooling):
    """The mean of each window; see `tf.layers.average_pooling2d`."""

    rank: ClassVar[int] = 2
    function = staticmethod(avg_pool)


@export("layers.AveragePooling3D")
class AveragePooling3D(_Pooling):
    """The mean of each window; see `tf.layers.average_pooling3d`."""

    rank: ClassVar[int] = 3
    function = staticmethod(avg_pool3d)


@export("layers.max_pooling1d")
def max_pooling1d(
    inputs: TensorLike,
    pool_size: WindowLike,
    strides: WindowLike,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of one axis; see `tf.layers.max_pooling2d`."""
    layer = MaxPooling1D(pool_size, strides, padding, data_format, name)
    result: Tensor = layer.apply(inputs)
    return result


@export("layers.max_pooling2d")
def max_pooling2d(
    inputs: TensorLike,
    pool_size: WindowLike,
    strides: WindowLike,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of an image, for each channel.

    Args:
      inputs: Tensor [batch, height, width, channels].
      pool_size: the window's height and width, or one int for both.
      strides: the distances of the windows, in the same form.
      padding: "valid": only windows within the image; "same": they may cross the edge.
      data_format: "channels_last", or "channels_first": [batch, channels, height,
        width].
      name: the layer's scope.

    Returns:
      A Tensor [batch, new_height, new_width, channels].

    Raises:
      ValueError: the rank is not 4, or an argument is invalid.

    Example:
      >>> tf.layers.max_pooling2d(tf.ones([2, 28, 28, 8]), 2, 2).shape  # (2, 14, 14, 8)
    """
    layer = MaxPooling2D(pool_size, strides, padding, data_format, name)
    result: Tensor = layer.apply(inputs)
    return result


@export("layers.max_pooling3d")
def max_pooling3d(
    inputs: TensorLike,
    pool_size: WindowLike,
    strides: WindowLike,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of 3 axes; see `tf.layers.max_pooling2d`."""
    layer = MaxPooling3D(pool_size, strides, padding, data_format, name)
    result: Tensor = layer.apply(inputs)
    return result


@export("layers.average_pooling1d")
def average_pooling1d(
    inputs: TensorLike,
    pool_size: WindowLike,
    strides: WindowLike,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of one axis; see `tf.layers.max_pooling2d`."""
    layer = AveragePooling1D(pool_size, strides, padding, data_format, name)
    result: Tensor = layer.apply(inputs)
    return result


@export("layers.average_pooling2d")
def average_pooling2d(
    inputs: TensorLike,
    pool_size: WindowLike,
    strides: WindowLike,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of an image; see `tf.layers.max_pooling2d`."""
    layer = AveragePooling2D(pool_size, strides, padding, data_format, name)
    result: Tensor = layer.apply(inputs)
    return result


@export("layers.average_pooling3d")
def average_pooling3d(
    inputs: TensorLike,
    pool_size: WindowLike,
    strides: WindowLike,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of 3 axes; see `tf.layers.max_pooling2d`."""
    layer = AveragePooling3D(pool_size, strides, padding, data_format, name)
    result: Tensor = layer.apply(inputs)
    return result
