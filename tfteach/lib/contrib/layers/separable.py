"""Separable convolution layers.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import (
    CollectionNames,
    Initializer,
    Regularizer,
    TensorLike,
    WindowLike,
)
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.dense import XAVIER, ZEROS
from tfteach.lib.contrib.layers.shared import (
    check_format,
    collect,
    finished,
    layout,
    model_getter,
)
from tfteach.lib.contrib.layers.utils import (
    channel_dimension,
    get_variable_collections,
    last_dimension,
    public,
    two_element_tuple,
)
from tfteach.lib.layers.separable import SeparableConv2D
from tfteach.ops.array.tile import tile
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.bias_add import bias_add
from tfteach.ops.windows.depthwise_conv import depthwise_conv2d
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


@public("separable_convolution2d")
@public("separable_conv2d")
@add_arg_scope
def separable_convolution2d(
    inputs: TensorLike,
    num_outputs: int | None,
    kernel_size: WindowLike,
    depth_multiplier: int = 1,
    stride: WindowLike = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: TensorLike = 1,
    activation_fn: Callable[[Any], Tensor] = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Initializer | None = XAVIER,
    pointwise_initializer: Initializer | None = None,
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Initializer | None = ZEROS,
    biases_regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: CollectionNames | None = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """A depthwise convolution followed by a pointwise one that mixes the channels.

    Args:
      num_outputs: the number of output channels; None omits the pointwise convolution.
      depth_multiplier: the number of filters per input channel.
      pointwise_initializer: of the pointwise weights; `weights_initializer` if None.
      others: see `tf.contrib.layers.convolution`.

    Returns:
      A Tensor [batch, new_height, new_width, num_outputs].

    Raises:
      ValueError: rank or format are invalid, or the channels are unknown.
    """
    check_format(data_format, "NCHW", "NHWC")
    getter = model_getter(
        bias="biases",
        depthwise_kernel="depthwise_weights",
        pointwise_kernel="pointwise_weights",
    )
    with variable_scope(
        scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=getter
    ) as opened:
        inputs = convert(inputs)
        if num_outputs is None:
            outputs = _depthwise(
                inputs, kernel_size, depth_multiplier, stride, padding, data_format,
                rate, weights_initializer, weights_regularizer, variables_collections,
                trainable,
            )  # fmt: skip
            if normalizer_fn is None:
                outputs = _biased(
                    outputs, data_format, biases_initializer, biases_regularizer,
                    variables_collections, trainable,
                )  # fmt: skip
            return finished(
                outputs,
                opened.name,
                outputs_collections,
                activation_fn,
                normalizer_fn,
                normalizer_params,
            )
        layer = SeparableConv2D(
            num_outputs,
            kernel_size,
            stride,
            padding,
            layout(data_format),
            two_element_tuple(rate),
            depth_multiplier,
            use_bias=not normalizer_fn and biases_initializer is not None,
            depthwise_initializer=weights_initializer,
            pointwise_initializer=pointwise_initializer or weights_initializer,
            bias_initializer=biases_initializer,
            depthwise_regularizer=weights_regularizer,
            pointwise_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        collect(layer.depthwise_kernel, variables_collections, "weights")
        collect(layer.pointwise_kernel, variables_collections, "weights")
        if layer.bias is not None:
            collect(layer.bias, variables_collections, "biases")
        return finished(
            outputs,
            opened.name,
            outputs_collections,
            activation_fn,
            normalizer_fn,
            normalizer_params,
        )


def _depthwise(
    inputs: Any,
    kernel_size: WindowLike,
    depth_multiplier: int,
    stride: WindowLike,
    padding: str,
    data_format: str,
    rate: Any,
    initializer: Initializer | None,
    regularizer: Regularizer | None,
    collections: CollectionNames | None,
    trainable: bool,
) -> Tensor:
    """The depthwise convolution."""
    height, width = two_element_tuple(stride)
    channels = channel_dimension(inputs.shape, layout(data_format), min_rank=4)
    weights = model_variable(
        "depthwise_weights",
        shape=[*two_element_tuple(kernel_size), channels, depth_multiplier],
        dtype=inputs.dtype.base_dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=get_variable_collections(collections, "weights"),
    )
    is_first = data_format.startswith("NC")
    return depthwise_conv2d(
        inputs,
        weights,
        [1, 1, height, width] if is_first else [1, height, width, 1],
        padding,
        rate=two_element_tuple(rate),
        data_format=data_format,
    )


def _biased(
    outputs: Any,
    data_format: str,
    initializer: Initializer | None,
    regularizer: Regularizer | None,
    collections: CollectionNames | None,
    trainable: bool,
) -> Any:
    """The outputs with biases added, unless `initializer` is None."""
    if initializer is None:
        return outputs
    biases = model_variable(
        "biases",
        shape=[channel_dimension(outputs.shape, layout(data_format))],
        dtype=outputs.dtype.base_dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=get_variable_collections(collections, "biases"),
    )
    return bias_add(outputs, biases, data_format=data_format)


@public("convolution2d_in_plane")
@public("conv2d_in_plane")
@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: WindowLike,
    stride: WindowLike = 1,
    padding: str = "SAME",
    activation_fn: Callable[[Any], Tensor] = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Initializer | None = XAVIER,
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Initializer | None = ZEROS,
    biases_regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: CollectionNames | None = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """One filter, applied to each channel separately.

    For the arguments see `tf.contrib.layers.convolution`.

    Returns:
      A Tensor [batch, new_height, new_width, channels].

    Raises:
      ValueError: the rank is below 4, or the channels are unknown.
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as opened:
        height, width = two_element_tuple(stride)
        channels = last_dimension(inputs.shape, min_rank=4)
        weights = model_variable(
            "weights",
            shape=[*two_element_tuple(kernel_size), 1, 1],
            dtype=inputs.dtype.base_dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            collections=get_variable_collections(variables_collections, "weights"),
            trainable=trainable,
        )
        windows = tile(weights, [1, 1, channels, 1])
        depthwise = depthwise_conv2d
        outputs = depthwise(inputs, windows, [1, height, width, 1], padding)
        if normalizer_fn is None:
            outputs = _biased(
                outputs, "NHWC", biases_initializer, biases_regularizer,
                variables_collections, trainable,
            )  # fmt: skip
        return finished(
            outputs,
            opened.name,
            outputs_collections,
            activation_fn,
            normalizer_fn,
            normalizer_params,
        )
