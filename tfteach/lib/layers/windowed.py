"""Base of the layers with windows: arguments, kernel and bias.

Source: python/layers/convolutional.py, python/keras/layers/convolutional.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.dimension import dimension_value
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import (
    Activation,
    Constraint,
    Initializer,
    Regularizer,
    ShapeLike,
    WindowLike,
)
from tfteach.lib.layers import activations_by_name
from tfteach.lib.layers.base import Layer
from tfteach.lib.layers.specs import InputSpec
from tfteach.ops.nn.bias_add import bias_add
from tfteach.variables.initializers import Zeros

# Shared by the convolution layers.
ZEROS = Zeros()


def given(arguments: dict[str, Any]) -> dict[str, Any]:
    """A layer's arguments, from a function's locals."""
    others = ("self", "__class__", "kwargs", "inputs", "reuse")
    return {k: v for k, v in arguments.items() if k not in others}


class Windowed(Layer):
    """Base of convolutions and their transposes: arguments, kernel and bias."""

    rank: ClassVar[int]
    kernel: Any
    bias: Any
    allows_causal: ClassVar[bool] = False

    def __init__(
        self,
        filters: int,
        kernel_size: WindowLike,
        strides: WindowLike,
        padding: Any,
        data_format: Any,
        activation: Activation | None,
        use_bias: bool,
        bias_initializer: Initializer | None,
        bias_regularizer: Regularizer | None,
        bias_constraint: Constraint | None,
        kernel_initializer: Initializer | None = None,
        kernel_regularizer: Regularizer | None = None,
        kernel_constraint: Constraint | None = None,
        dilation_rate: WindowLike = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.filters = filters
        self.kernel_size = activations_by_name.numbers(
            kernel_size, self.rank, "kernel_size"
        )
        self.strides = activations_by_name.numbers(strides, self.rank, "strides")
        self.padding = activations_by_name.padding(padding)
        if self.padding == "causal" and not self.allows_causal:
            raise ValueError(
                "Causal padding is only supported for `Conv1D`and ``SeparableConv1D`."
            )
        self.data_format = activations_by_name.data_format(data_format)
        self.dilation_rate = activations_by_name.numbers(
            dilation_rate, self.rank, "dilation_rate"
        )
        self.activation = activations_by_name.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = activations_by_name.initializer(kernel_initializer)
        self.bias_initializer = activations_by_name.initializer(bias_initializer)
        self.kernel_regularizer = activations_by_name.function(
            "regularizer", kernel_regularizer
        )
        self.bias_regularizer = activations_by_name.function(
            "regularizer", bias_regularizer
        )
        self.kernel_constraint = activations_by_name.function(
            "constraint", kernel_constraint
        )
        self.bias_constraint = activations_by_name.function(
            "constraint", bias_constraint
        )
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def is_first(self) -> bool:
        """Whether the channels come before the positions."""
        return self.data_format == "channels_first"

    @property
    def op_format(self) -> str:
        """The data format in the ops' notation."""
        return activations_by_name.op_format(self.data_format, self.rank + 2)

    def channels(self, input_shape: ShapeLike) -> int:
        """The number of input channels; the layer requires it from now on."""
        axis = 1 if self.is_first else -1
        size: int | None = dimension_value(TensorShape(input_shape)[axis])
        if size is None:
            raise ValueError(
                "The channel dimension of the inputs should be defined. Found `None`."
            )
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: size})
        return size

    def add_kernel(self, shape: tuple[int, ...]) -> Tensor:
        result: Tensor = self.add_weight(
            "kernel",
            shape,
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        return result

    def add_bias(self) -> Any:
        """The bias, or None."""
        if not self.use_bias:
            return None
        return self.add_weight(
            "bias",
            (self.filters,),
            initializer=self.bias_initializer,
            regularizer=self.bias_regularizer,
            constraint=self.bias_constraint,
        )

    def finish(self, outputs: Any) -> Any:
        """The outputs with the bias added and the activation applied."""
        if self.bias is not None:
            layout = "NCHW" if self.is_first else "NHWC"
            outputs = bias_add(outputs, self.bias, data_format=layout)
        return self.activated(outputs)

    def activated(self, outputs: Any) -> Any:
        return outputs if self.activation is None else self.activation(outputs)

    def around(self, sizes: tuple[Any, ...], batch: Any, channels: Any) -> list[Any]:
        """The positions' sizes, with batch and channels inserted."""
        if self.is_first:
            return [batch, channels, *sizes]
        return [batch, *sizes, channels]

    def compute_output_shape(self, input_shape: TensorShape) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        inner = sizes[2:] if self.is_first else sizes[1:-1]
        outer = (
            activations_by_name.window_count(*each)
            for each in zip(
                inner,
                self.kernel_size,
                [self.padding] * self.rank,
                self.strides,
                self.dilation_rate,
                strict=False,  # the call rejects a wrong rank
            )
        )
        return TensorShape(self.around(tuple(outer), sizes[0], self.filters))


def causal_padding(layer: Windowed) -> list[list[int]]:
    """Zeros before the first position, so that no output depends on later ones."""
    left = layer.dilation_rate[0] * (layer.kernel_size[0] - 1)
    around = [[0, 0], [0, 0]] if layer.is_first else [[0, 0]]
    return around + [[left, 0]] + ([] if layer.is_first else [[0, 0]])
