"""Differences of neighbouring pixels: gradients, edges, total variation.

Source: python/ops/image_ops_impl.py (node names).
"""

from __future__ import annotations

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.array import padding
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile import tile
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.math import complex
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.windows.depthwise_conv import depthwise_conv2d

SOBEL = [
    [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
]


@export("image.total_variation")
def total_variation(images: Tensor, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbouring pixels: a measure of noise.

    `sum(|x[i + 1, j] - x[i, j]|) + sum(|x[i, j + 1] - x[i, j]|)`

    Args:
      images: Tensor [height, width, channels] or [batch, height, width, channels].
      name: the name scope of the ops.

    Returns:
      A scalar Tensor, or one [batch].

    Raises:
      ValueError: the rank is not supported.

    Example:
      >>> tf.image.total_variation(tf.constant([[[1.0], [3.0]]]))  # 2

    Source: python/ops/image_ops_impl.py; Rudin, Osher and Fatemi 1992, anisotropic.
    """
    with name_scope(name, "total_variation"):
        rank = images.get_shape().ndims
        if rank == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            right = images[:, 1:, :] - images[:, :-1, :]
            axes = None
        elif rank == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            right = images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        else:
            raise ValueError(
                "'images' must be either 3 or 4-dimensional. Their shape is "
                f"{images.shape}."
            )
        return reduce_sum(complex.abs(down), axis=axes) + reduce_sum(
            complex.abs(right), axis=axes
        )


@export("image.image_gradients")
def image_gradients(image: Tensor) -> tuple[Tensor, Tensor]:
    """The differences to the pixel below and to the pixel on the right.

    Args:
      image: Tensor [batch, height, width, channels].

    Returns:
      (dy, dx), Tensors of `image`'s type and shape; the last row of dy and the last
      column of dx are 0.

    Raises:
      ValueError: the rank is not supported.

    Example:
      >>> dy, dx = tf.image.image_gradients(tf.ones([1, 5, 5, 1]))

    Source: python/ops/image_ops_impl.py.
    """
    if image.get_shape().ndims != 4:
        raise ValueError(
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not "
            f"{image.get_shape()}."
        )
    shape = shape_ops.shape(image)
    batch, height, width, depth = unstack(shape)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    last = fill.zeros(stack([batch, 1, width, depth]), image.dtype)
    dy = reshape(concat([dy, last], 1), shape)
    last = fill.zeros(stack([batch, height, 1, depth]), image.dtype)
    dx = reshape(concat([dx, last], 2), shape)
    return dy, dx


@export("image.sobel_edges")
def sobel_edges(image: Tensor) -> Tensor:
    """Sobel derivatives of each channel, over rows and over columns.

    Args:
      image: float32 or float64 Tensor [batch, height, width, channels], with two or
        more rows and columns.

    Returns:
      A Tensor [batch, height, width, channels, 2] of the same type: dy and dx.

    Example:
      >>> tf.image.sobel_edges(tf.ones([1, 4, 4, 3]))  # zeros

    Source: python/ops/image_ops_impl.py.
    """
    known = image.get_shape()
    shape = shape_ops.shape(image)
    kernels = np.transpose(np.array(SOBEL), (1, 2, 0))[..., None, :]
    filters = constant(kernels, dtype=image.dtype)
    filters = tile(filters, [1, 1, shape[-1], 1], name="sobel_filters")
    padded = padding.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = reshape(edges, shape=concat([shape, [len(SOBEL)]], 0))
    edges.set_shape(known.concatenate([len(SOBEL)]))
    return edges
