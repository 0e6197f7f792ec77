"""Cropping images, and padding them with zeros.

Source: python/ops/image_ops_impl.py (node names, order of checks).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float64, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import IntLike, TensorLike
from tfteach.lib.image import checks
from tfteach.lib.image.checks import require
from tfteach.ops.array import padding, slicing
from tfteach.ops.core import shape_ops
from tfteach.ops.core.control_flow_ops import is_tensor
from tfteach.ops.core.identity_reshape import reshape, squeeze
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math import compare
from tfteach.ops.math.binary import minimum
from tfteach.ops.math.cast import cast


@export("image.central_crop")
def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """The central part of images, `central_fraction` of the height and of the width.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      central_fraction: a float in (0, 1].

    Returns:
      A Tensor of the same type and rank; `int((n - n * central_fraction) / 2)` of n
      rows (columns) are removed on either side.

    Raises:
      ValueError: the fraction or the rank is not supported.

    Example:
      >>> tf.image.central_crop(tf.ones([8, 6, 3]), 0.5)  # [4, 4, 3]

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(None, "central_crop", [image]):
        image = convert(image, None, "image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError(
                f"central_fraction must be within (0, 1]. Got {central_fraction}."
            )
        if central_fraction == 1.0:
            return image
        checks.checked(image)
        shape = image._shape
        rank = None if shape is None else len(shape)
        if shape is None or rank not in (3, 4):
            raise ValueError(
                "`image` should either be a Tensor with rank = 3 or rank = 4. Had rank "
                f"= {rank}."
            )
        axes = (0, 1) if rank == 3 else (1, 2)
        sizes = [
            shape_ops.shape(image)[i] if shape[i] is None else shape[i] for i in axes
        ]
        starts = [_margin(n, central_fraction) for n in sizes]
        lengths = [n - start * 2 for n, start in zip(sizes, starts, strict=True)]
        lead = [] if rank == 3 else [0]
        begin = stack([*lead, *starts, 0])
        size = stack([*(-1 for _ in lead), *lengths, -1])
        image = slicing.slice(image, begin, size)
        image.set_shape([*shape[: len(lead)], *checks.static(*lengths), shape[-1]])
        return image


def _margin(size: Any, fraction: float) -> Any:
    """The number of pixels cropped on one side."""
    if not is_tensor(size):
        return int((float(size) - float(size) * fraction) / 2)
    size = cast(size, float64)
    return cast((size - size * fraction) / 2, int32)


@export("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: TensorLike,
    offset_height: IntLike | Tensor,
    offset_width: IntLike | Tensor,
    target_height: IntLike | Tensor,
    target_width: IntLike | Tensor,
) -> Tensor:
    """Images padded with zeros to a size.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      offset_height: an int or int32 scalar, the number of rows above.
      offset_width: the number of columns to the left.
      target_height: the height of the result.
      target_width: the width of the result.

    Returns:
      A Tensor of the same type and rank, [..., target_height, target_width, channels].

    Raises:
      ValueError: the rank is not supported, an offset is negative, or the image is too
          large.
      InvalidArgumentError: (when run) the same, if not known statically.

    Example:
      >>> tf.image.pad_to_bounding_box(tf.ones([2, 2, 1]), 1, 0, 4, 3)

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = checks.as_batch(convert(image, None, "image"))
        waits = checks.at_least_3d(image)
        batch, height, width, depth = checks.dimensions(image, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        waits += require(offset_height >= 0, "offset_height must be >= 0")
        waits += require(offset_width >= 0, "offset_width must be >= 0")
        waits += require(right >= 0, "width must be <= target - offset")
        waits += require(below >= 0, "height must be <= target - offset")
        image = checks.after(waits, image)
        sides = [0, 0, offset_height, below, offset_width, right, 0, 0]
        padded = padding.pad(image, reshape(stack(sides), [4, 2]))
        padded.set_shape(checks.static(batch, target_height, target_width, depth))
        return padded if is_batch else squeeze(padded, axis=[0])


@export("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: TensorLike,
    offset_height: IntLike | Tensor,
    offset_width: IntLike | Tensor,
    target_height: IntLike | Tensor,
    target_width: IntLike | Tensor,
) -> Tensor:
    """A rectangle cropped from images.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      offset_height: an int or int32 scalar, the first row.
      offset_width: the first column.
      target_height: the height of the result.
      target_width: the width of the result.

    Returns:
      A Tensor of the same type and rank, [..., target_height, target_width, channels].

    Raises:
      ValueError: the rank is not supported, an offset is negative, a target is not
        positive, or the rectangle exceeds the image.
      InvalidArgumentError: (when run) the same, if not known statically.

    Example:
      >>> tf.image.crop_to_bounding_box(tf.ones([4, 4, 1]), 1, 0, 2, 3)

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = checks.as_batch(convert(image, None, "image"))
        waits = checks.at_least_3d(image)
        batch, height, width, depth = checks.dimensions(image, 4)
        waits += require(offset_width >= 0, "offset_width must be >= 0.")
        waits += require(offset_height >= 0, "offset_height must be >= 0.")
        waits += require(target_width > 0, "target_width must be > 0.")
        waits += require(target_height > 0, "target_height must be > 0.")
        waits += require(
            width >= (target_width + offset_width),
            "width must be >= target + offset.",
        )
        waits += require(
            height >= (target_height + offset_height),
            "height must be >= target + offset.",
        )
        image = checks.after(waits, image)
        begin = stack([0, offset_height, offset_width, 0])
        size = stack([-1, target_height, target_width, -1])
        cropped = slicing.slice(image, begin, size)
        cropped.set_shape(checks.static(batch, target_height, target_width, depth))
        return cropped if is_batch else squeeze(cropped, axis=[0])


@export("image.resize_with_crop_or_pad", "image.resize_image_with_crop_or_pad")
def resize_image_with_crop_or_pad(
    image: Tensor, target_height: IntLike | Tensor, target_width: IntLike | Tensor
) -> Tensor:
    """Images cropped centrally, or padded evenly with zeros, along each axis.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      target_height: an int or int32 scalar, the height of the result.
      target_width: the width of the result.

    Returns:
      A Tensor of the same type and rank, [..., target_height, target_width, channels].

    Raises:
      ValueError: the rank is not supported, or a target is not positive.

    Example:
      >>> tf.image.resize_image_with_crop_or_pad(tf.ones([6, 2, 3]), 4, 4)

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = checks.as_batch(convert(image, None, "image"))
        waits = checks.at_least_3d(image)
        waits += require(target_width > 0, "target_width must be > 0.")
        waits += require(target_height > 0, "target_height must be > 0.")
        image = checks.after(waits, image)
        if is_tensor(target_height):
            target_height = checks.after(waits, target_height)
        if is_tensor(target_width):
            target_width = checks.after(waits, target_width)
        _, height, width, _ = checks.dimensions(image, 4)
        wider = target_width - width
        crop_left = checks.larger(-wider // 2, 0)
        pad_left = checks.larger(wider // 2, 0)
        higher = target_height - height
        crop_top = checks.larger(-higher // 2, 0)
        pad_top = checks.larger(higher // 2, 0)
        cropped = crop_to_bounding_box(
            image, crop_top, crop_left, _smaller(target_height, height),
            _smaller(target_width, width),
        )  # fmt: skip
        resized = pad_to_bounding_box(
            cropped, pad_top, pad_left, target_height, target_width
        )
        _, height, width, _ = checks.dimensions(resized, 4)
        waits = require(_same(height, target_height), "resized height is not correct.")
        waits += require(_same(width, target_width), "resized width is not correct.")
        resized = checks.after(waits, resized)
        return resized if is_batch else squeeze(resized, axis=[0])


def _smaller(x: Any, y: Any) -> Any:
    if is_tensor(x) or is_tensor(y):
        return minimum(x, y)
    return min(x, y)


def _same(x: Any, y: Any) -> Any:
    if is_tensor(x) or is_tensor(y):
        return compare.equal(x, y)
    return x == y
