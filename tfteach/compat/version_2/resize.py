"""`tf.compat.v2.image.resize`: pixels have centres, and filters may cover their gaps.

Source: python/ops/image_ops_impl.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import IntLike, TensorLike
from tfteach.lib.image.resize import resize_and_pad, resize_by
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.image.resize import (
    ResizeArea,
    ResizeBicubic,
    ResizeBilinear,
    ResizeNearestNeighbor,
)
from tfteach.ops.image.scale_and_translate import ScaleAndTranslate
from tfteach.ops.math.cast import cast


@export(v2="image.ResizeMethod")
class ResizeMethodV2:
    """Interpolation methods of `tf.compat.v2.image.resize`.

    Attributes:
      BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA: as in `tf.image.ResizeMethod`.
      LANCZOS3, LANCZOS5: a Lanczos filter of radius 3 or 5.
      GAUSSIAN: a Gaussian of radius 3.
      MITCHELLCUBIC: the cubic filter of Mitchell and Netravali.
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# Methods by their ops, and by filters of ScaleAndTranslate.
_OPS: dict[Any, Callable[[], Any]] = {
    "bilinear": lambda: ResizeBilinear(half_pixel_centers=True),
    "nearest": lambda: ResizeNearestNeighbor(half_pixel_centers=True),
    "bicubic": lambda: ResizeBicubic(half_pixel_centers=True),
    "area": ResizeArea,
}
_FILTERS = {
    name: name for name in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")
}
_ANTIALIASED = {**_FILTERS, "bilinear": "triangle", "bicubic": "keyscubic"}


@export(v2="image.resize")
def resize_images_v2(
    images: Tensor,
    size: TensorLike,
    method: str = ResizeMethodV2.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images resized to `size`; pixel (i, j) stands for the point (i + ½, j + ½).

    Args:
      images: Tensor [height, width, channels] or [batch, height, width, channels].
      size: int32 [2], the new height and width.
      method: a member of `tf.compat.v2.image.ResizeMethod`.
      preserve_aspect_ratio: whether the result keeps the aspect ratio and fits into
        `size`.
      antialias: whether the filters widen where images become smaller; without effect
        for NEAREST_NEIGHBOR and AREA.
      name: the name scope of the ops.

    Returns:
      A Tensor of the same rank: float32, or `images`' type for NEAREST_NEIGHBOR.

    Raises:
      ValueError: the rank of `images`, the shape of `size` or the method is not
        supported.

    Example:
      >>> tf.compat.v2.image.resize(tf.ones([28, 28, 1]), [14, 14], antialias=True)
    """

    def resized(images: Tensor, size: Tensor) -> Tensor:
        kernel = (_ANTIALIASED if antialias else _FILTERS).get(method)
        if kernel is not None:
            scale = cast(size, float32) / cast(shape(images)[1:3], float32)
            op = ScaleAndTranslate(kernel_type=kernel, antialias=antialias)
            return op(images, size, scale, zeros([2]))
        if method not in _OPS:
            raise ValueError("Resize method is not implemented.")
        found: Tensor = _OPS[method]()(images, size)
        return found

    return resize_by(
        resized, images, size, preserve_aspect_ratio, name, keeps_same_size=False
    )


@export(v2="image.resize_with_pad")
def resize_with_pad(
    image: Tensor,
    target_height: IntLike | Tensor,
    target_width: IntLike | Tensor,
    method: str = ResizeMethodV2.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Images resized with their aspect ratio preserved, centred and padded with zeros.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      target_height, target_width: the size of the result.
      method, antialias: as in `tf.compat.v2.image.resize`.

    Returns:
      A Tensor of the same rank, [..., target_height, target_width, channels].

    Raises:
      ValueError: the rank is not supported, or a target is not positive.

    Example:
      >>> tf.compat.v2.image.resize_with_pad(tf.ones([4, 2, 3]), 8, 8)
    """

    def resized(images: Tensor, size: list[Tensor]) -> Tensor:
        return resize_images_v2(images, size, method, antialias=antialias)

    return resize_and_pad(resized, image, target_height, target_width)
