"""Convolution layers.

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
from tfteach.lib.contrib.layers.dense import XAVIER, ZEROS
from tfteach.lib.contrib.layers.shared import (
    check_format,
    collect,
    finished,
    layout,
    model_getter,
)
from tfteach.lib.contrib.layers.utils import public
from tfteach.lib.layers.convolution import Conv1D, Conv2D, Conv3D
from tfteach.lib.layers.transposed import Conv2DTranspose, Conv3DTranspose
from tfteach.ops.nn.activations import relu
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope

_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_LAYERS = {3: Conv1D, 4: Conv2D, 5: Conv3D}


@public("convolution")
@add_arg_scope
def convolution(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: WindowLike,
    stride: WindowLike = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Callable[[Any], Tensor] | None = relu,
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
    conv_dims: int | None = None,
) -> Tensor:
    """A convolution layer: `activation_fn(convolution(inputs, weights) + biases)`.

    Args:
      inputs: float Tensor [batch, ..., channels] with 1, 2 or 3 spatial axes.
      num_outputs: the number of output channels.
      kernel_size: the window's sizes, or one int for all.
      stride: the distances of the windows, in the same form.
      padding: "SAME": zero padding; "VALID": only windows within the input.
      data_format: "N...C" (the default) or "NC...".
      rate: the distances of the elements of a window.
      activation_fn, normalizer_fn, normalizer_params, weights_initializer,
      weights_regularizer, biases_initializer, biases_regularizer, reuse,
      variables_collections, outputs_collections, trainable: see
        `tf.contrib.layers.fully_connected`.
      scope: the variable scope; "Conv" if None.
      conv_dims: the required number of axes between batch and channels.

    Returns:
      A Tensor [batch, ..., num_outputs].

    Raises:
      ValueError: rank or format are invalid, or the channels are unknown.

    Example:
      >>> y = tf.contrib.layers.conv2d(tf.ones([2, 28, 28, 1]), 32, [5, 5])
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with variable_scope(
        scope,
        "Conv",
        [inputs],
        reuse=reuse,
        custom_getter=model_getter(bias="biases", kernel="weights"),
    ) as opened:
        inputs = convert(inputs)
        rank = inputs.shape.ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(
                f"Convolution expects input with rank {conv_dims + 2}, got {rank}"
            )
        if rank not in _LAYERS:
            raise ValueError("Convolution not supported for input with rank", rank)
        layer = _LAYERS[rank](
            num_outputs,
            kernel_size,
            stride,
            padding,
            layout(data_format),
            rate,
            use_bias=not normalizer_fn and biases_initializer is not None,
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        collect(layer.kernel, variables_collections, "weights")
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


@public("convolution1d")
@public("conv1d")
@add_arg_scope
def convolution1d(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: WindowLike,
    stride: WindowLike = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: TensorLike = 1,
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
    """`tf.contrib.layers.convolution` of a Tensor [batch, positions, channels]."""
    return convolution(**locals(), conv_dims=1)


@public("convolution2d")
@public("conv2d")
@add_arg_scope
def convolution2d(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: WindowLike,
    stride: WindowLike = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: TensorLike = 1,
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
    """`tf.contrib.layers.convolution` of images [batch, height, width, channels]."""
    return convolution(**locals(), conv_dims=2)


@public("convolution3d")
@public("conv3d")
@add_arg_scope
def convolution3d(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: WindowLike,
    stride: WindowLike = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: TensorLike = 1,
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
    """`tf.contrib.layers.convolution` of a Tensor of rank 5."""
    return convolution(**locals(), conv_dims=3)


@public("convolution2d_transpose")
@public("conv2d_transpose")
@add_arg_scope
def convolution2d_transpose(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: WindowLike,
    stride: WindowLike = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
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
    """A transposed convolution layer: each position is spread over a window.

    For the arguments see `tf.contrib.layers.convolution`.

    Returns:
      A Tensor [batch, height * stride, width * stride, num_outputs] for "SAME".
    """
    options = dict(locals())
    allowed = "NCHW", "NHWC"
    return _transposed(Conv2DTranspose, "Conv2d_transpose", allowed, **options)


@public("convolution3d_transpose")
@public("conv3d_transpose")
@add_arg_scope
def convolution3d_transpose(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: WindowLike,
    stride: WindowLike = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
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
    """`tf.contrib.layers.conv2d_transpose` of a Tensor of rank 5."""
    options = dict(locals())
    allowed = "NCDHW", "NDHWC"
    return _transposed(Conv3DTranspose, "Conv3d_transpose", allowed, **options)


def _transposed(
    kind: Any,
    default: str,
    allowed: tuple[str, ...],
    inputs: Any,
    num_outputs: int,
    kernel_size: WindowLike,
    stride: WindowLike,
    padding: str,
    data_format: str,
    activation_fn: Callable[[Any], Tensor],
    normalizer_fn: Any,
    normalizer_params: Any,
    weights_initializer: Initializer | None,
    weights_regularizer: Regularizer | None,
    biases_initializer: Initializer | None,
    biases_regularizer: Regularizer | None,
    reuse: Any,
    variables_collections: CollectionNames | None,
    outputs_collections: CollectionNames | None,
    trainable: bool,
    scope: Any,
) -> Tensor:
    with variable_scope(
        scope,
        default,
        [inputs],
        reuse=reuse,
        custom_getter=model_getter(bias="biases", kernel="weights"),
    ) as opened:
        check_format(data_format, *allowed)
        inputs = convert(inputs)
        layer = kind(
            num_outputs,
            kernel_size,
            stride,
            padding,
            layout(data_format),
            use_bias=not normalizer_fn and biases_initializer is not None,
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        collect(layer.kernel, variables_collections, "weights")
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
