"""Separable convolution layers.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.contrib.framework.arguments import add_arg_scope
from tfteach.contrib.layers.dense import XAVIER, ZEROS
from tfteach.contrib.layers.shared import (
    check_format,
    collect,
    finished,
    layout,
    model_getter,
)
from tfteach.contrib.layers.utils import public, two_element_tuple
from tfteach.framework.convert import convert
from tfteach.framework.operation import Tensor
from tfteach.layers.separable import SeparableConv2D
from tfteach.ops.activations import relu
from tfteach.variable_scope import variable_scope


@public("separable_convolution2d")
@public("separable_conv2d")
@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = XAVIER,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """A convolution of each channel by itself, then one of size 1 that mixes them.

    Args:
      num_outputs: the number of output channels; None, which leaves out the second
        convolution, is not implemented: see `tf.nn.depthwise_conv2d`.
      depth_multiplier: how many windows there are for each input channel.
      pointwise_initializer: of the second weights; `weights_initializer` if None.
      others: see `tf.contrib.layers.convolution`.

    Returns:
      A Tensor [batch, new_height, new_width, num_outputs].

    Raises:
      ValueError: the rank or the format do not fit, or the channels are unknown.
      NotImplementedError: `num_outputs` is None.
    """
    check_format(data_format, "NCHW", "NHWC")
    if num_outputs is None:
        raise NotImplementedError("separable_convolution2d: num_outputs=None")
    getter = model_getter(
        bias="biases",
        depthwise_kernel="depthwise_weights",
        pointwise_kernel="pointwise_weights",
    )
    with variable_scope(
        scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=getter
    ) as opened:
        inputs = convert(inputs)
        layer = SeparableConv2D(
            num_outputs,
            kernel_size,
            stride,
            padding,
            layout(data_format),
            two_element_tuple(rate),
            depth_multiplier,
            use_bias=not normalizer_fn and biases_initializer,
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
