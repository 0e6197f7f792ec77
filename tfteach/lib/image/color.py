"""Value ranges and colour spaces of images.

Source: python/ops/image_ops_impl.py (nodes, weights).
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.values import assert_equal, assert_greater_equal
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, float32, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile import tile
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import expand_dims, identity
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.linalg.einsum_tensordot import tensordot
from tfteach.ops.math.cast import cast, saturate_cast
from tfteach.ops.math.division import div
from tfteach.ops.math.multiply import multiply

# ITU-R BT.601: perceived brightness of red, green and blue; the other columns are
# scaled colour differences.
_LUMA = 0.2989, 0.5870, 0.1140
_RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YIQ_TO_RGB = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_YUV_TO_RGB = [
    [1, 1, 1],
    [0, -0.394642334, 2.03206185],
    [1.13988303, -0.58062185, 0],
]


@export("image.convert_image_dtype")
def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Tensor:
    """The image converted to a type; an integer type's range maps to [0, 1].

    integer to float: `image / max`; float to integer: `image * (max + 0.5)`, truncated;
    integer to integer: scaled by the ratio of the ranges; float to float: a cast.

    Args:
      image: float or integer Tensor of any shape.
      dtype: the target type.
      saturate: whether values beyond the new type's range are clipped instead of
        wrapping around.
      name: the op's name.

    Returns:
      A Tensor of the same shape.

    Raises:
      AttributeError: `dtype` is neither float nor integer.

    Example:
      >>> tf.Session().run(tf.image.convert_image_dtype([0.0, 0.5, 1.0], tf.uint8))
      array([  0, 127, 255], dtype=uint8)

    Source: python/ops/image_ops_impl.py.
    """
    image = convert(image, name="image")
    dtype = as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        to = saturate_cast if saturate else cast
        source = image.dtype
        if source.is_integer and dtype.is_integer:
            return _between_integers(image, dtype, to, scope)
        if source.is_floating and dtype.is_floating:
            return cast(image, dtype, name=scope)
        if source.is_integer:
            return multiply(cast(image, dtype), 1.0 / source.max, name=scope)
        # The half prevents the truncating cast from mapping 1 below the maximum.
        return to(multiply(image, dtype.max + 0.5), dtype, name=scope)


def _between_integers(image: Tensor, dtype: DType, to: Any, scope: str) -> Tensor:
    ours, theirs = int(image.dtype.max) + 1, int(dtype.max) + 1
    if ours > theirs:
        result: Tensor = to(div(image, ours // theirs), dtype, name=scope)
        return result
    return multiply(to(image, dtype), theirs // ours, name=scope)


def as_float(image: Tensor) -> Tensor:
    """The image in float16 or float32; other types are converted to float32."""
    if image.dtype.name in ("float16", "float32"):
        return image
    return convert_image_dtype(image, float32)


@export("image.rgb_to_grayscale")
def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """The perceived brightness of each pixel.

    0.2989 red + 0.587 green + 0.114 blue

    Args:
      images: Tensor [..., 3].
      name: the name scope of its ops.

    Returns:
      A Tensor [..., 1] of the same type.

    Example:
      >>> tf.Session().run(tf.image.rgb_to_grayscale([[[1.0, 0.0, 0.0]]]))
      array([[[0.2989]]], dtype=float32)

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert(images, name="images")
        wide = convert_image_dtype(images, float32)
        grey = expand_dims(tensordot(wide, list(_LUMA), [-1, -1]), -1)
        return convert_image_dtype(grey, images.dtype, name=scope)


@export("image.grayscale_to_rgb")
def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Each grey value repeated as red, green and blue.

    Args:
      images: Tensor [..., 1].
      name: the op's name.

    Returns:
      A Tensor [..., 3] of the same type.

    Raises:
      ValueError: the last size is statically known and not 1.
      tf.errors.InvalidArgumentError: (when run) it is not 1.

    Example:
      >>> tf.Session().run(tf.image.grayscale_to_rgb([[[7]]]))
      array([[[7, 7, 7]]], dtype=int32)

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = convert(images, name="images")
        images = with_dependencies(_grayscale_checks(images), images)
        others = expand_dims(rank(images) - 1, 0)
        times = concat([ones(others, dtype=int32), expand_dims(3, 0)], 0)
        rgb = tile(images, times, name=scope)
        rgb.set_shape(images.get_shape()[:-1].concatenate([3]))
        return rgb


def _grayscale_checks(images: Tensor) -> list[Operation]:
    """Run-time checks that the last size is 1.

    Raises:
      ValueError: the static shape contradicts that.
    """
    flat = "A grayscale image must be at least two-dimensional."
    colourful = "Last dimension of a grayscale image should be size 1."
    sizes = images.get_shape()
    if sizes.ndims is not None and sizes.ndims < 2:
        raise ValueError(flat)
    if sizes.is_fully_defined():
        if sizes[-1] != 1:
            raise ValueError(f"{colourful} The shape is {sizes}.")
        return []
    return [
        assert_equal(shape(images)[-1], 1, message=colourful),
        assert_greater_equal(rank(images), 3, message=flat),
    ]


def _mixed(images: Any, weights: Any) -> Tensor:
    """Each pixel's channels multiplied by a matrix."""
    images = convert(images, name="images")
    kernel = convert(weights, images.dtype, "kernel")
    last = images.get_shape().ndims - 1
    return tensordot(images, kernel, axes=[[last], [0]])


@export("image.rgb_to_yiq")
def rgb_to_yiq(images: TensorLike) -> Tensor:
    """RGB converted to YIQ: luma and the two colour differences of NTSC.

    Args:
      images: float Tensor [..., 3] of red, green and blue in [0, 1].

    Returns:
      A Tensor of the same shape and type: Y in [0, 1], I and Q around 0.

    Example:
      >>> tf.Session().run(tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]])).round(3)
      array([[1., 0., 0.]], dtype=float32)

    Source: python/ops/image_ops_impl.py.
    """
    return _mixed(images, _RGB_TO_YIQ)


@export("image.yiq_to_rgb")
def yiq_to_rgb(images: TensorLike) -> Tensor:
    """YIQ, with Y in [0, 1], converted to RGB.

    Args:
      images: float Tensor [..., 3].

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.image.yiq_to_rgb([[0.5, 0.0, 0.0]]))
      array([[0.5, 0.5, 0.5]], dtype=float32)

    Source: python/ops/image_ops_impl.py.
    """
    return _mixed(images, _YIQ_TO_RGB)


@export("image.rgb_to_yuv")
def rgb_to_yuv(images: TensorLike) -> Tensor:
    """RGB converted to YUV: luma and the two colour differences of PAL.

    Args:
      images: float Tensor [..., 3] of red, green and blue in [0, 1].

    Returns:
      A Tensor of the same shape and type: Y in [0, 1], U and V around 0.

    Example:
      >>> tf.Session().run(tf.image.rgb_to_yuv([[1.0, 1.0, 1.0]])).round(3)
      array([[ 1., -0.,  0.]], dtype=float32)

    Source: python/ops/image_ops_impl.py.
    """
    return _mixed(images, _RGB_TO_YUV)


@export("image.yuv_to_rgb")
def yuv_to_rgb(images: TensorLike) -> Tensor:
    """YUV, with Y in [0, 1], converted to RGB.

    Args:
      images: float Tensor [..., 3].

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.image.yuv_to_rgb([[0.5, 0.0, 0.0]]))
      array([[0.5, 0.5, 0.5]], dtype=float32)

    Source: python/ops/image_ops_impl.py.
    """
    return _mixed(images, _YUV_TO_RGB)
