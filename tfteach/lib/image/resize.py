"""Resizing by any method, optionally preserving the aspect ratio or padding.

Source: python/ops/image_ops_impl.py (node names).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tfteach.framework.constant_values import constant_shape
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, float64, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import IntLike, TensorLike
from tfteach.lib.image import checks
from tfteach.lib.image.crop import pad_to_bounding_box
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.image.resize import (
    ResizeArea,
    ResizeBicubic,
    ResizeBilinear,
    ResizeNearestNeighbor,
)
from tfteach.ops.math import rounding
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.cast import cast


@export("image.ResizeMethod")
class ResizeMethod:
    """Interpolation methods of `tf.image.resize_images`.

    Attributes:
      BILINEAR: interpolation of the four surrounding pixels.
      NEAREST_NEIGHBOR: the nearest pixel.
      BICUBIC: cubic interpolation of the sixteen surrounding pixels.
      AREA: the mean of the covered pixels.
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# By the values above, and by TensorFlow 2's names of the methods.
_OPS: dict[Any, Callable[[bool], Any]] = {
    ResizeMethod.BILINEAR: ResizeBilinear,
    ResizeMethod.NEAREST_NEIGHBOR: ResizeNearestNeighbor,
    ResizeMethod.BICUBIC: ResizeBicubic,
    ResizeMethod.AREA: ResizeArea,
    "bilinear": ResizeBilinear,
    "nearest": ResizeNearestNeighbor,
    "bicubic": ResizeBicubic,
    "area": ResizeArea,
}


@export("image.resize_images", "image.resize")
def resize_images(
    images: Tensor,
    size: TensorLike,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images resized to `size` by one of the methods of `tf.image.ResizeMethod`.

    Args:
      images: Tensor [height, width, channels] or [batch, height, width, channels].
      size: int32 [2], the new height and width.
      method: a member of `tf.image.ResizeMethod`.
      align_corners: whether the centres of the corner pixels stay in place, instead of
        the images' corners.
      preserve_aspect_ratio: whether to preserve the aspect ratio, so that the result
        fits into `size`.
      name: the name scope of the ops.

    Returns:
      A Tensor of the same rank: float32, or `images`' type for NEAREST_NEIGHBOR or if
      the size does not change.

    Raises:
      ValueError: the rank of `images`, the shape of `size` or the method is not
        supported.
      InvalidArgumentError: (when run) a size is not positive.

    Example:
      >>> tf.image.resize_images(tf.ones([28, 28, 1]), [14, 14])

    Source: python/ops/image_ops_impl.py.
    """

    def resized(images: Tensor, size: Tensor) -> Tensor:
        op = _OPS.get(method) if isinstance(method, int | str) else None
        if op is None:
            raise ValueError(
                f"Resize method is not implemented. Got {method!r}; use a member of "
                "tf.image.ResizeMethod."
            )
        result: Tensor = op(align_corners)(images, size)
        return result

    return resize_by(resized, images, size, preserve_aspect_ratio, name)


Resize: TypeAlias = "Callable[[Tensor, Tensor], Tensor]"


def resize_by(
    resize: Resize,
    images: Tensor,
    size: TensorLike,
    preserve_aspect_ratio: bool,
    name: str | None,
    keeps_same_size: bool = True,
) -> Tensor:
    """Images of rank 3 or 4 resized by a function of a batch and the new size.

    Args:
      keeps_same_size: return images unchanged that have the new size already.
    """
    with name_scope(name, "resize", [images, size]):
        images = convert(images, None, "images")
        if images._shape is None:
            raise ValueError("'images' contains no shape.")
        if len(images._shape) not in (3, 4):
            raise ValueError(
                "'images' must have either 3 or 4 dimensions. Their shape is "
                f"{images.shape}."
            )
        is_batch = len(images._shape) == 4
        if not is_batch:
            images = expand_dims(images, 0)
        size = _checked(size)
        sizes = _sizes(size)
        if preserve_aspect_ratio:
            size = _fitting(images, sizes)
            sizes = _sizes(size)
        known = images._shape
        is_same = None not in sizes and known is not None and sizes == known[1:3]
        if is_same and keeps_same_size:
            found = images
        else:
            found = resize(images, size)
            found.set_shape([None, *sizes, None])
        return found if is_batch else squeeze(found, axis=[0])


def _checked(size: TensorLike) -> Tensor:
    try:
        size = convert(size, int32, "size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if not size.get_shape().is_compatible_with([2]):
        raise ValueError(
            "'size' must be a 1-D Tensor of 2 elements: new_height, new_width"
        )
    return size


def _sizes(size: Tensor) -> tuple[int | None, ...]:
    """The new height and width, static where known."""
    known = constant_shape(size)
    return (None, None) if known is None else known


def _fitting(images: Tensor, sizes: tuple[Any, ...]) -> Tensor:
    """The largest size within `sizes` with the images' aspect ratio."""
    _, *current = checks.dimensions(images, 4)[:3]
    scales = [
        cast(new, float32) / cast(old, float32)
        for new, old in zip(sizes, current, strict=True)
    ]
    scale = minimum(*scales)
    scaled = [
        cast(rounding.round(scale * cast(old, float32)), int32) for old in current
    ]
    return convert(scaled, int32, "size")


@export("image.resize_image_with_pad")
def resize_image_with_pad(
    image: Tensor,
    target_height: IntLike | Tensor,
    target_width: IntLike | Tensor,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """Images resized with their aspect ratio preserved, centred and padded with zeros.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      target_height: an int or int32 scalar, the height of the result.
      target_width: the width of the result.
      method: a member of `tf.image.ResizeMethod`.
      align_corners: as in `tf.image.resize_images`.

    Returns:
      A Tensor of the same rank, [..., target_height, target_width, channels].

    Raises:
      ValueError: the rank is not supported, or a target is not positive.

    Example:
      >>> tf.image.resize_image_with_pad(tf.ones([4, 2, 3]), 8, 8)

    Source: python/ops/image_ops_impl.py.
    """

    def resized(images: Tensor, size: list[Tensor]) -> Tensor:
        return resize_images(images, size, method, align_corners=align_corners)

    return resize_and_pad(resized, image, target_height, target_width)


def resize_and_pad(
    resize: Callable[[Tensor, list[Tensor]], Tensor],
    image: Tensor,
    target_height: IntLike | Tensor,
    target_width: IntLike | Tensor,
) -> Tensor:
    """Images resized by a function, as `tf.image.resize_image_with_pad` does."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = checks.as_batch(convert(image, None, "image"))
        waits = checks.at_least_3d(image)
        waits += checks.require(target_width > 0, "target_width must be > 0.")
        waits += checks.require(target_height > 0, "target_height must be > 0.")
        image = checks.after(waits, image)
        _, height, width, _ = checks.dimensions(image, 4)
        own = [cast(n, float64) for n in (height, width)]
        target = [cast(n, float64) for n in (target_height, target_width)]
        ratio = maximum(own[1] / target[1], own[0] / target[0])
        exact = [n / ratio for n in own]
        size = [cast(rounding.floor(n), int32) for n in exact]
        room = [(t - n) / 2 for t, n in zip(target, exact, strict=True)]
        room = [rounding.floor(n) for n in room]
        offsets = [maximum(0, cast(n, int32)) for n in room]
        top, left = offsets
        resized = resize(image, size)
        padded = pad_to_bounding_box(resized, top, left, target_height, target_width)
        checks.dimensions(padded, 4)
        return padded if is_batch else squeeze(padded, axis=[0])
