"""Rotations, translations and other projective transformations of images.

A transformation is a vector [a0, a1, a2, b0, b1, b2, c0, c1]: the output pixel (x, y)
is the input pixel ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), with k = c0 x + c1
y + 1.
Source: contrib/image/python/ops/image_ops.py.
"""

from __future__ import annotations

from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import ones, zeros
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.image.projective_transform import (
    IMAGE_DTYPES,
    ImageProjectiveTransformV2,
    flat_transforms_to_matrices,
    matrices_to_flat_transforms,
)
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.cast import cast
from tfteach.ops.math.trigonometry import cos, sin


def _batch_of(images: Tensor) -> Tensor:
    """Images of rank 2 to 4 as a batch of rank 4.

    Raises:
      TypeError: the rank or the type is not supported, or the rank is unknown.
    """
    if images.dtype.base_dtype not in IMAGE_DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return images[None, :, :, None]
    if rank == 3:
        return images[None, :, :, :]
    if rank != 4:
        raise TypeError("Images should have rank between 2 and 4.")
    return images


def _like(output: Tensor, images: Tensor) -> Tensor:
    """The batch reshaped to the rank of the original images."""
    rank = images.shape.ndims
    if rank == 2:
        return output[0, :, :, 0]
    return output[0, :, :, :] if rank == 3 else output


@export("contrib.image.rotate")
def rotate(
    images: TensorLike,
    angles: TensorLike,
    interpolation: str = "NEAREST",
    name: str | None = None,
) -> Tensor:
    """Images rotated counterclockwise about their centers.

    Args:
      images: Tensor [batch, height, width, channels], [height, width, channels] or
        [height, width], uint8, int32, int64 or float.
      angles: float32 Tensor [batch] or a scalar, in radians.
      interpolation: "NEAREST" or "BILINEAR".
      name: the scope of the ops.

    Returns:
      A Tensor like `images`, 0 outside the original images.

    Raises:
      TypeError: the rank or type of `images` is not supported.

    Example:
      >>> turned = tf.contrib.image.rotate(tf.ones([28, 28, 1]), 0.3, "BILINEAR")

    Source: contrib/image/python/ops/image_ops.py.
    """
    with name_scope(name, "rotate"):
        given = convert(images)
        images = _batch_of(given)
        height = cast(shape(images)[1], float32)[None]
        width = cast(shape(images)[2], float32)[None]
        transforms = angles_to_projective_transforms(angles, height, width)
        output = transform(images, transforms, interpolation=interpolation)
        return _like(output, given)


@export("contrib.image.translate")
def translate(
    images: TensorLike,
    translations: TensorLike,
    interpolation: str = "NEAREST",
    name: str | None = None,
) -> Tensor:
    """Images translated to the right and down.

    Args:
      images, interpolation, name: as in `tf.contrib.image.rotate`.
      translations: float32 Tensor [batch, 2] or [2], (x, y) in pixels.

    Returns:
      A Tensor like `images`, 0 outside the original images.

    Source: contrib/image/python/ops/image_ops.py.
    """
    with name_scope(name, "translate"):
        transforms = translations_to_projective_transforms(translations)
        return transform(images, transforms, interpolation=interpolation)


@export("contrib.image.angles_to_projective_transforms")
def angles_to_projective_transforms(
    angles: TensorLike,
    image_height: float | Tensor,
    image_width: float | Tensor,
    name: str | None = None,
) -> Tensor:
    """The transformations [count, 8] that rotate images about their centers.

    Args:
      angles: float32 Tensor [count] or a scalar, in radians.
      image_height, image_width: float32 Tensors.
      name: the scope of the ops.

    Raises:
      TypeError: the rank of `angles` is not supported.

    Source: contrib/image/python/ops/image_ops.py.
    """
    with name_scope(name, "angles_to_projective_transforms"):
        given = convert(angles, float32, "angles")
        if len(given.shape) > 1:
            raise TypeError("Angles should have rank 0 or 1.")
        angles = given if len(given.shape) else given[None]
        x_offset = (
            (image_width - 1)
            - (cos(angles) * (image_width - 1) - sin(angles) * (image_height - 1))
        ) / 2.0
        y_offset = (
            (image_height - 1)
            - (sin(angles) * (image_width - 1) + cos(angles) * (image_height - 1))
        ) / 2.0
        count = shape(angles)[0]
        return concat(
            [
                cos(angles)[:, None],
                -sin(angles)[:, None],
                x_offset[:, None],
                sin(angles)[:, None],
                cos(angles)[:, None],
                y_offset[:, None],
                zeros((count, 2), float32),
            ],
            axis=1,
        )


@export("contrib.image.translations_to_projective_transforms")
def translations_to_projective_transforms(
    translations: TensorLike, name: str | None = None
) -> Tensor:
    """The transformations [count, 8] that translate images to the right and down.

    Args:
      translations: float32 Tensor [count, 2] or [2], (x, y) in pixels.
      name: the scope of the ops.

    Raises:
      TypeError: the rank is not supported or unknown.

    Source: contrib/image/python/ops/image_ops.py.
    """
    with name_scope(name, "translations_to_projective_transforms"):
        given = convert(translations, float32, "translations")
        rank = given.shape.ndims
        if rank is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if rank not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        translations = given[None] if rank == 1 else given
        count = shape(translations)[0]
        return concat(
            [
                ones((count, 1), float32),
                zeros((count, 1), float32),
                -translations[:, 0, None],
                zeros((count, 1), float32),
                ones((count, 1), float32),
                -translations[:, 1, None],
                zeros((count, 2), float32),
            ],
            axis=1,
        )


@export("contrib.image.transform")
def transform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: str = "NEAREST",
    output_shape: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Images under projective transformations, which map output to input pixels.

    Args:
      images, interpolation, name: as in `tf.contrib.image.rotate`.
      transforms: float32 Tensor [batch, 8], [1, 8] or [8]; see the module's docstring.
      output_shape: int32 Tensor [height, width]; that of the images if None.

    Returns:
      A Tensor of images, 0 where a pixel's source lies outside.

    Raises:
      TypeError: ranks or types are not supported.
      ValueError: `output_shape` does not have two elements.
      tf.errors.InvalidArgumentError: in a run, the number of transformations is neither
        1 nor the number of images.

    Source: contrib/image/python/ops/image_ops.py.
    """
    with name_scope(name, "transform"):
        given = convert(images, name="images")
        transforms = convert(transforms, float32, "transforms")
        images = _batch_of(given)
        if output_shape is None:
            output_shape = shape(images)[1:3]
            known = python_constant_value(output_shape)
            output_shape = output_shape if known is None else known
        output_shape = convert(output_shape, int32, "output_shape")
        if not output_shape.get_shape().is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width"
            )
        rank = len(transforms.shape)
        if rank not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        transforms = transforms[None] if rank == 1 else transforms
        op = ImageProjectiveTransformV2(interpolation.upper())
        return _like(op(images, transforms, output_shape), given)


@export("contrib.image.compose_transforms")
def compose_transforms(*transforms: TensorLike) -> Tensor:
    """The composition of transformations [count, 8], applied one after the other.

    Args:
      *transforms: float32 Tensors [count, 8] or [8].

    Source: contrib/image/python/ops/image_ops.py.
    """
    assert transforms, "transforms cannot be empty"
    with name_scope(None, "compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for following in transforms[1:]:
            composed = matmul(composed, flat_transforms_to_matrices(following))
        return matrices_to_flat_transforms(composed)
