"""Brightness, contrast, gamma, hue and saturation of images.

Integer images are converted to floats in [0, 1] and back.

Source: python/ops/image_ops_impl.py (nodes, messages).
"""

from __future__ import annotations

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.image.checks import at_least_3d, require
from tfteach.lib.image.color import as_float, convert_image_dtype
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.image.color import AdjustContrastv2, AdjustHue, AdjustSaturation
from tfteach.ops.math.binary import add, maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.division import div
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_prod
from tfteach.ops.math.statistics import reduce_std
from tfteach.ops.math.unary import rsqrt


@export("image.adjust_brightness")
def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """The image with `delta` added to all its values.

    Args:
      image: Tensor of any shape.
      delta: a scalar on the scale of [0, 1], also for integer images.

    Returns:
      A Tensor of the same shape and type; integers saturate at the ends of their range.

    Example:
      >>> image = tf.constant([[[0, 100, 250]]], tf.uint8)
      >>> tf.Session().run(tf.image.adjust_brightness(image, 0.1))
      array([[[ 25, 125, 255]]], dtype=uint8)

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert(image, name="image")
        wide = as_float(image)
        adjusted = add(wide, cast(delta, wide.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


@export("image.adjust_contrast")
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """The images with all values moved towards, or away from, their channel's mean.

    `(x - mean) * contrast_factor + mean`, for each channel of each image.

    Args:
      images: Tensor [..., height, width, channels].
      contrast_factor: a scalar; 1 leaves the image unchanged, 0 leaves only the mean.

    Returns:
      A Tensor of the same shape and type; integers saturate at the ends of their range.

    Raises:
      ValueError: there are fewer than three dimensions.

    Example:
      >>> tf.Session().run(tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0))
      array([[[0.],
              [4.]]], dtype=float32)

    Source: python/ops/image_ops_impl.py; AdjustContrastv2 in core/ops/image_ops.cc.
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert(images, name="images")
        adjusted = AdjustContrastv2()(as_float(images), contrast_factor, name=scope)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


@export("image.adjust_gamma")
def adjust_gamma(
    image: TensorLike, gamma: float | Tensor = 1, gain: TensorLike = 1
) -> Tensor:
    """The image's values in [0, 1] raised to a power: a gamma above 1 darkens.

    `gain * image ** gamma`

    Args:
      image: Tensor of any shape.
      gamma: a scalar, at least 0.
      gain: a scalar.

    Returns:
      A Tensor of the same shape and type; integers saturate at the ends of their range.

    Raises:
      ValueError: `gamma` is a negative number.
      tf.errors.InvalidArgumentError: (when run) it is a negative Tensor.

    Example:
      >>> tf.Session().run(tf.image.adjust_gamma([[[0.5]]], 2))
      array([[[0.25]]], dtype=float32)

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert(image, name="image")
        wide = as_float(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = with_dependencies(checks, gamma)
        return convert_image_dtype(gain * wide**gamma, image.dtype, saturate=True)


@export("image.adjust_hue")
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """The image with all hues rotated on the colour wheel.

    Args:
      image: Tensor [..., height, width, 3] of RGB.
      delta: a scalar, in full rotations: 1/3 turns red into green.
      name: the name scope of its ops.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: there are fewer than three dimensions.
      tf.errors.InvalidArgumentError: (when run) there are not three channels.

    Example:
      >>> tf.Session().run(tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5))
      array([[[0., 1., 1.]]], dtype=float32)

    Source: python/ops/image_ops_impl.py; AdjustHue in core/ops/image_ops.cc.
    """
    with name_scope(name, "adjust_hue", [image]):
        image = convert(image, name="image")
        adjusted = AdjustHue()(as_float(image), delta)
        return convert_image_dtype(adjusted, image.dtype)


@export("image.adjust_saturation")
def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: str | None = None
) -> Tensor:
    """The image with all saturations multiplied by a factor, at most 1.

    Args:
      image: Tensor [..., height, width, 3] of RGB.
      saturation_factor: a scalar; 0 makes the image grey.
      name: the name scope of its ops.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: there are fewer than three dimensions.
      tf.errors.InvalidArgumentError: (when run) there are not three channels.

    Example:
      >>> tf.Session().run(tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 2.0))
      array([[[1., 0., 0.]]], dtype=float32)

    Source: python/ops/image_ops_impl.py; AdjustSaturation in core/ops/image_ops.cc.
    """
    with name_scope(name, "adjust_saturation", [image]):
        image = convert(image, name="image")
        adjusted = AdjustSaturation()(as_float(image), saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


@export("image.per_image_standardization")
def per_image_standardization(image: TensorLike) -> Tensor:
    """Each image normalized to mean 0 and standard deviation 1.

    `(x - mean) / max(stddev, 1 / sqrt(n))`, with n values per image; with the maximum,
    images of a single colour become 0.

    Args:
      image: Tensor [..., height, width, channels].

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: there are fewer than three dimensions, or one is empty.

    Example:
      >>> tf.Session().run(tf.image.per_image_standardization([[[1.0], [3.0]]]))
      array([[[-1.],
              [ 1.]]], dtype=float32)

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = convert(image, name="image")
        image = with_dependencies(at_least_3d(image), image)
        dtype = image.dtype
        image = as_float(image)
        axes = [-1, -2, -3]
        count = reduce_prod(shape(image)[-3:])
        mean = reduce_mean(image, axis=axes, keepdims=True)
        deviation = reduce_std(image, axis=axes, keepdims=True)
        deviation = maximum(deviation, rsqrt(cast(count, image.dtype)))
        image -= mean
        image = div(image, deviation, name=scope)
        return convert_image_dtype(image, dtype, saturate=True)
