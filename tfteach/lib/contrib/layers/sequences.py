"""Images converted to sequences and back; expected positions of features.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import float32
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import CollectionNames, TensorLike
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.shared import check_format
from tfteach.lib.contrib.layers.utils import (
    collect_named_outputs,
    get_variable_collections,
    public,
)
from tfteach.ops.array.broadcast_to import meshgrid
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.range import linspace
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.nn.softmax import softmax
from tfteach.variables.initializers import Constant, Ones
from tfteach.variables.scope import variable_scope


@public("images_to_sequence")
@add_arg_scope
def images_to_sequence(
    inputs: Any,
    data_format: str = "NHWC",
    outputs_collections: CollectionNames | None = None,
    scope: Any = None,
) -> Tensor:
    """The columns of images as a sequence: [width, batch * height, channels].

    Raises:
      ValueError: `data_format` is neither "NHWC" nor "NCHW".
    """
    check_format(data_format, "NCHW", "NHWC")
    with name_scope(scope, "ImagesToSequence", [inputs]) as opened:
        inputs = convert(inputs)
        if data_format == "NCHW":
            inputs = transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.shape.as_list()
        sizes = shape(inputs)
        batch, height = sizes[0], sizes[1]
        columns = transpose(inputs, [2, 0, 1, 3])
        outputs = reshape(columns, [width, batch * height, depth])
        return collect_named_outputs(outputs_collections, opened, outputs)


@public("sequence_to_images")
@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: CollectionNames | None = None,
    scope: Any = None,
) -> Tensor:
    """Images from the result of `images_to_sequence`.

    Args:
      inputs: Tensor [width, batch * height, channels].
      height: the images' height.
      output_data_format: "channels_last" or "channels_first".
      outputs_collections: collections for the output.
      scope: the name scope.
    """
    with name_scope(scope, "SequenceToImages", [inputs]) as opened:
        inputs = convert(inputs)
        width, rows, depth = inputs.shape.as_list()
        batch = -1 if rows is None else rows // height
        columns = reshape(inputs, [width, batch, height, depth])
        is_first = output_data_format == "channels_first"
        outputs = transpose(columns, [1, 3, 2, 0] if is_first else [1, 2, 0, 3])
        return collect_named_outputs(outputs_collections, opened, outputs)


@public("spatial_softmax")
@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: TensorLike | None = None,
    name: str | None = None,
    variables_collections: CollectionNames | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Tensor:
    """The mean position of each channel's features, weighted by a softmax.

    Args:
      features: float Tensor [batch, height, width, channels] with known channels.
      temperature: the initial value of the variable that divides the features; 1 if
        None.
      name: the variable scope; "spatial_softmax" if None.
      variables_collections: further collections for the variable.
      trainable: whether optimizers change it.
      data_format: "NHWC" or "NCHW".

    Returns:
      A Tensor [batch, 2 * channels], pairs of positions in [-1, 1].

    Raises:
      ValueError: the channels are unknown, or the format is not supported.

    Paper: Finn et al., "Deep spatial autoencoders" (2016).
    """
    with variable_scope(name, "spatial_softmax"):
        sizes = shape(features)
        check_format(data_format, "NCHW", "NHWC")
        if data_format == "NHWC":
            (height, width), channels = (sizes[1], sizes[2]), features.shape[3]
        else:
            (height, width), channels = (sizes[2], sizes[3]), features.shape[1]
        channels = dimension_value(channels)
        if channels is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should "
                "be defined. Found `None`."
            )
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            x, y = meshgrid(
                linspace(-1.0, 1.0, num=height),
                linspace(-1.0, 1.0, num=width),
                indexing="ij",
            )
            x, y = reshape(x, [height * width]), reshape(y, [height * width])
            collections = get_variable_collections(variables_collections, "temperature")
            divisor = model_variable(
                "temperature",
                shape=(),
                dtype=float32,
                initializer=Ones() if temperature is None else Constant(temperature),
                collections=collections if trainable else None,
                trainable=trainable,
            )
            if data_format == "NHWC":
                features = transpose(features, [0, 3, 1, 2])
            rows = reshape(features, [-1, height * width])
            weights = softmax(rows / divisor)
            means = [reduce_sum(p * weights, [1], keepdims=True) for p in (x, y)]
            found = reshape(concat(means, 1), [-1, channels * 2])
            found.set_shape([None, channels * 2])
    return found
