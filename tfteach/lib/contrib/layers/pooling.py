"""Pooling layers.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import CollectionNames, TensorLike, WindowLike
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.contrib.layers.shared import check_format, layout
from tfteach.lib.contrib.layers.utils import (
    collect_named_outputs,
    n_positive_integers,
    public,
)
from tfteach.lib.layers.pooling import (
    AveragePooling2D,
    AveragePooling3D,
    MaxPooling2D,
    MaxPooling3D,
)
from tfteach.ops.windows.pool_functions import pool as pool_op
from tfteach.variables.scope.variable_scope import VariableScope


def _pooled(
    kind: Any,
    default: str,
    formats: tuple[str, str],
    inputs: Any,
    kernel_size: WindowLike,
    stride: WindowLike,
    padding: str,
    data_format: str,
    outputs_collections: CollectionNames | None,
    scope: Any,
) -> Tensor:
    check_format(data_format, *formats)
    with name_scope(scope, default, [inputs]) as opened:
        inputs = convert(inputs)
        layer = kind(kernel_size, stride, padding, layout(data_format), _scope=opened)
        outputs = layer.apply(inputs)
        result: Tensor = collect_named_outputs(outputs_collections, opened, outputs)
        return result


@public("avg_pool2d")
@add_arg_scope
def avg_pool2d(
    inputs: TensorLike,
    kernel_size: WindowLike,
    stride: WindowLike = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: CollectionNames | None = None,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """The mean of each window; see `tf.contrib.layers.max_pool2d`."""
    options = dict(locals())
    return _pooled(AveragePooling2D, "AvgPool2D", ("NCHW", "NHWC"), **options)


@public("avg_pool3d")
@add_arg_scope
def avg_pool3d(
    inputs: TensorLike,
    kernel_size: WindowLike,
    stride: WindowLike = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: CollectionNames | None = None,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """The mean of each window; see `tf.contrib.layers.max_pool2d`."""
    options = dict(locals())
    return _pooled(AveragePooling3D, "AvgPool3D", ("NCDHW", "NDHWC"), **options)


@public("max_pool2d")
@add_arg_scope
def max_pool2d(
    inputs: TensorLike,
    kernel_size: WindowLike,
    stride: WindowLike = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: CollectionNames | None = None,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """The maximum of each window of an image, for each channel.

    Args:
      inputs: Tensor [batch, height, width, channels].
      kernel_size: the window's height and width, or one int for both.
      stride: the distances of the windows, in the same form.
      padding: "VALID": only windows within the image; "SAME": they may cross the edge.
      data_format: "NHWC" or "NCHW".
      outputs_collections: collections for the output.
      scope: the name scope.

    Returns:
      A Tensor [batch, new_height, new_width, channels].

    Raises:
      ValueError: the rank is not 4, or `data_format` is unknown.
    """
    options = dict(locals())
    return _pooled(MaxPooling2D, "MaxPool2D", ("NCHW", "NHWC"), **options)


@public("max_pool3d")
@add_arg_scope
def max_pool3d(
    inputs: TensorLike,
    kernel_size: WindowLike,
    stride: WindowLike = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: CollectionNames | None = None,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """The maximum of each window; see `tf.contrib.layers.max_pool2d`."""
    options = dict(locals())
    return _pooled(MaxPooling3D, "MaxPool3D", ("NCDHW", "NDHWC"), **options)


@export("contrib.slim.pool")
@add_arg_scope
def pool(
    inputs: TensorLike,
    kernel_size: WindowLike,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: WindowLike = 1,
    stride: WindowLike = 1,
    outputs_collections: CollectionNames | None = None,
    scope: Any = None,
) -> Tensor:
    """`tf.nn.pool` as a layer; `pooling_type` is "AVG" or "MAX".

    Raises:
      ValueError: the rank is unknown or below 3.
    """
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as opened:
        inputs = convert(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        axes = rank - 2
        output = pool_op(
            input=inputs,
            window_shape=n_positive_integers(axes, kernel_size),
            pooling_type=pooling_type,
            padding=padding,
            data_format=data_format,
            dilation_rate=n_positive_integers(axes, dilation_rate),
            strides=n_positive_integers(axes, stride),
            name=opened,
        )
        return collect_named_outputs(outputs_collections, opened, output)
