"""Similarity of images: PSNR, SSIM and multi-scale SSIM.

Papers: Wang, Bovik, Sheikh & Simoncelli, "Image quality assessment: from error
visibility to structural similarity" (2004); Wang, Simoncelli & Bovik, "Multiscale
structural similarity for image quality assessment" (2003).
Source: python/ops/image_ops_impl.py (nodes).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.control.branch import cond
from tfteach.control.case import Assert
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.image.color import convert_image_dtype
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.padding import pad
from tfteach.ops.array.tile import tile
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import expand_dims, identity, reshape
from tfteach.ops.core.shape_ops import shape, shape_n, size
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import pow, squared_difference, subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, greater_equal, not_equal
from tfteach.ops.math.exponential import log
from tfteach.ops.math.range import range as range_
from tfteach.ops.math.reduce_functions import (
    reduce_all,
    reduce_any,
    reduce_mean,
    reduce_prod,
)
from tfteach.ops.math.unary import square
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.softmax import softmax
from tfteach.ops.windows.depthwise_conv import depthwise_conv2d
from tfteach.ops.windows.pool import avg_pool

# Weights of the scales, finest to coarsest: measured in the paper's experiments.
_SCALE_WEIGHTS = 0.0448, 0.2856, 0.3001, 0.2363, 0.1333


class _Window(NamedTuple):
    """The windows and constants of the comparison."""

    size: Any  # of the Gaussian, in pixels
    sigma: Any
    k1: float
    k2: float


def _fitting(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, list[Operation]]:
    """The shapes of two batches of images, and run-time checks that they match.

    Raises:
      ValueError: the static shapes do not match.
    """
    one, other = (x.get_shape().with_rank_at_least(3) for x in (a, b))
    one[-3:].assert_is_compatible_with(other[-3:])
    if one.dims is not None and other.dims is not None:
        pairs = zip(reversed(one.dims[:-3]), reversed(other.dims[:-3]), strict=False)
        for m, n in pairs:
            if not (m == 1 or n == 1 or m.is_compatible_with(n)):
                raise ValueError(f"Two images are not compatible: {one} and {other}")
    first, second = shape_n([a, b])
    checks = [
        Assert(greater_equal(size(first), 3), [first, second], summarize=10),
        Assert(
            reduce_all(equal(first[-3:], second[-3:])), [first, second], summarize=10
        ),
    ]
    return first, second, checks


@export("image.psnr")
def psnr(
    a: Tensor, b: TensorLike, max_val: TensorLike, name: str | None = None
) -> Tensor:
    """The peak signal-to-noise ratio of each pair of images, in decibels.

    `20 log10(max_val) - 10 log10(mean((a - b)**2))`: infinite for equal images.

    Args:
      a: Tensor or array [..., height, width, channels].
      b: a Tensor or array of matching shape.
      max_val: the difference between the largest and the smallest possible value: 255
        for uint8, usually 1 for floats.
      name: the name scope of its ops.

    Returns:
      A float32 Tensor [...].

    Raises:
      ValueError: the static shapes do not match.
      tf.errors.InvalidArgumentError: (when run) the shapes do not match.

    Example:
      >>> image = tf.zeros([4, 5, 3])
      >>> tf.Session().run(tf.image.psnr(image, image + 0.1, 1.0)).round(2)
      20.0

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(name, "PSNR", [a, b]):
        max_val = convert_image_dtype(cast(max_val, a.dtype), float32)
        a, b = convert_image_dtype(a, float32), convert_image_dtype(b, float32)
        error = reduce_mean(squared_difference(a, b), [-3, -2, -1])
        found = subtract(
            20 * log(max_val) / log(10.0),
            np.float32(10 / np.log(10)) * log(error),
            name="psnr",
        )
        with control_dependencies(_fitting(a, b)[2]):
            return identity(found)


def _gaussian(width: Tensor, sigma: Tensor) -> Tensor:
    """The weights of a Gaussian, normalized to sum 1: [width, width, 1, 1]."""
    places = cast(range_(width), sigma.dtype)
    places -= cast(width - 1, sigma.dtype) / 2.0
    exponent = square(places)
    exponent *= -0.5 / square(sigma)
    plane = reshape(exponent, shape=[1, -1]) + reshape(exponent, shape=[-1, 1])
    weights = softmax(reshape(plane, shape=[1, -1]))
    return reshape(weights, shape=[width, width, 1, 1])


def _compare(
    x: Tensor,
    y: Tensor,
    average: Callable[[Tensor], Tensor],
    peak: Any,
    window: _Window,
) -> tuple[Tensor, Tensor]:
    """Similarity of luminance, and of contrast and structure, around each pixel.

    With means m, variances v and the covariance c of two windows these are
    `(2 mx my + c1) / (mx**2 + my**2 + c1)` and `(2 c + c2) / (vx + vy + c2)`.
    """
    c1, c2 = (window.k1 * peak) ** 2, (window.k2 * peak) ** 2
    mean_x, mean_y = average(x), average(y)
    product = mean_x * mean_y * 2.0
    squares = square(mean_x) + square(mean_y)
    brightness = (product + c1) / (squares + c1)
    mean_product = average(x * y) * 2.0
    mean_squares = average(square(x) + square(y))
    # TensorFlow's correction factor of the covariance, which it sets to 1.
    c2 *= 1.0
    return brightness, (mean_product - product + c2) / (mean_squares - squares + c2)


def _per_channel(
    x: Tensor, y: Tensor, peak: Any, window: _Window
) -> tuple[Tensor, Tensor]:
    """SSIM, and its contrast-structure part: both [..., channels]."""
    width = constant(window.size, dtype=int32)
    sigma = constant(window.sigma, dtype=x.dtype)
    shapes = shape_n([x, y])
    checks = [
        Assert(
            reduce_all(greater_equal(sizes[-3:-1], width)), [sizes, width], summarize=8
        )
        for sizes in shapes
    ]
    with control_dependencies(checks):
        x = identity(x)
    kernel = tile(_gaussian(width, sigma), multiples=[1, 1, shapes[0][-1], 1])

    def average(images: Tensor) -> Tensor:
        sizes = shape(images)
        flat = reshape(images, shape=concat([[-1], sizes[-3:]], 0))
        found = depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return reshape(found, concat([sizes[:-3], shape(found)[1:]], 0))

    brightness, structure = _compare(x, y, average, peak, window)
    axes = constant([-3, -2], dtype=int32)
    return reduce_mean(brightness * structure, axes), reduce_mean(structure, axes)


def _as_floats(x: Any, y: Any, max_val: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Two images and their maximum value in float32."""
    max_val = convert_image_dtype(cast(max_val, x.dtype), float32)
    x = convert_image_dtype(x, float32)
    return x, convert_image_dtype(y, float32), max_val


@export("image.ssim")
def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of each pair of images: 1 if they are equal.

    Luminance, contrast and structure are compared in a Gaussian window around each
    pixel of each channel, and averaged.

    Args:
      img1: Tensor [..., height, width, channels], at least as large as the window.
      img2: a Tensor of matching shape.
      max_val: the difference between the largest and the smallest possible value.
      filter_size: the window's height and width in pixels.
      filter_sigma: the Gaussian's standard deviation in pixels.
      k1, k2: stabilize the quotients of dark and of uniform windows.

    Returns:
      A float32 Tensor [...], in (-1, 1].

    Raises:
      ValueError: the shapes do not match, or are smaller than the window.
      tf.errors.InvalidArgumentError: (when run) they are.

    Example:
      >>> image = tf.random_uniform([16, 16, 3])
      >>> tf.Session().run(tf.image.ssim(image, image, 1.0)).round(4)
      1.0

    Source: python/ops/image_ops_impl.py; Wang et al. (2004).
    """
    for image in (img1, img2):
        if not hasattr(image, "get_shape"):
            raise AttributeError(
                f"'{type(image).__name__}' object has no attribute 'get_shape': images "
                f"must be Tensors, got {image!r}"
            )
    img1, img2 = convert(img1), convert(img2)
    with control_dependencies(_fitting(img1, img2)[2]):
        img1 = identity(img1)
    window = _Window(filter_size, filter_sigma, k1, k2)
    found, _ = _per_channel(*_as_floats(img1, img2, max_val), window)
    return reduce_mean(found, [-1])


@export("image.ssim_multiscale")
def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = _SCALE_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """`tf.image.ssim` at several scales, each half the size of the one before.

    The product of contrast and structure at each scale and of the SSIM at the last,
    each raised to the power of its weight.

    Args:
      img1: Tensor [..., height, width, channels]; with the default values at least 176
        pixels high and wide.
      img2: a Tensor of matching shape and the same rank.
      max_val: the difference between the largest and the smallest possible value.
      power_factors: a weight for each scale, the finest first.
      filter_size: the window's height and width in pixels.
      filter_sigma: the Gaussian's standard deviation in pixels.
      k1, k2: stabilize the quotients of dark and of uniform windows.

    Returns:
      A float32 Tensor [...], in [0, 1].

    Raises:
      ValueError: the shapes do not match, or are too small.
      tf.errors.InvalidArgumentError: (when run) they are.

    Example:
      >>> image = tf.random_uniform([32, 32, 3])
      >>> alike = tf.image.ssim_multiscale(image, image, 1.0, [0.5, 0.5])  # 1

    Source: python/ops/image_ops_impl.py; Wang et al. (2003).
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert(img1, name="img1"), convert(img2, name="img2")
        first, second, checks = _fitting(img1, img2)
        with control_dependencies(checks):
            img1 = identity(img1)
        *images, peak = _as_floats(img1, img2, max_val)
        heads = [first[:-3], second[:-3]]
        tails = [first[-3:], second[-3:]]
        halving = constant([2, 2, 1], dtype=int32)
        window = _Window(filter_size, filter_sigma, k1, k2)
        parts: list[Tensor] = []
        for i in range(len(power_factors)):
            with name_scope(None, f"Scale{i}", images):
                if i > 0:
                    images, tails = _halved(images, heads, tails, halving)
                whole, structure = _per_channel(images[0], images[1], peak, window)
                parts.append(relu(structure))
        # At the last scale luminance counts, too.
        parts[-1:] = [relu(whole)]
        powers = pow(stack(parts, axis=-1), power_factors)
        return reduce_mean(reduce_prod(powers, [-1]), [-1])


def _halved(
    images: list[Tensor], heads: list[Tensor], tails: list[Tensor], halving: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """The images at half their size, and the new sizes; odd sizes are padded."""
    flat = [
        reshape(x, concat([[-1], tail], 0))
        for x, tail in zip(images, tails, strict=True)
    ]
    odd = tails[0] % halving

    def padded() -> list[Tensor]:
        widths = pad(expand_dims(odd, -1), [[1, 0], [1, 0]])
        return [pad(x, widths, mode="SYMMETRIC") for x in flat]

    even = cond(reduce_any(not_equal(odd, 0)), padded, lambda: flat)
    steps = [1, 2, 2, 1]
    small = [avg_pool(x, ksize=steps, strides=steps, padding="VALID") for x in even]
    tails = [sizes[1:] for sizes in shape_n(small)]
    return [
        reshape(x, concat([head, tail], 0))
        for x, head, tail in zip(small, heads, tails, strict=True)
    ], tails
