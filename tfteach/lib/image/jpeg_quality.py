"""Images as they are after JPEG compression, for data augmentation.

Source: python/ops/image_ops_impl.py (nodes, messages).
"""

from __future__ import annotations

from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.image.color import convert_image_dtype
from tfteach.ops.image.decode_image_ops import decode_jpeg
from tfteach.ops.image.encode_image_ops import EncodeJpegVariableQuality
from tfteach.ops.random.random_ops import random_uniform


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: TensorLike, name: str | None = None
) -> Tensor:
    """The image with the artifacts of JPEG compression.

    It is encoded as a JPEG file, and decoded again: the values may differ from
    TensorFlow's by what `tf.image.decode_jpeg` says.

    Args:
      image: Tensor [height, width, 1 or 3]; a float one in [0, 1].
      jpeg_quality: an int32 scalar; what is outside [1, 100] counts as the next in it.
      name: the op's name.

    Returns:
      A Tensor of `image`'s dtype and unknown sizes.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the image has another rank or number of
        channels.

    Example:
      >>> rough = tf.image.adjust_jpeg_quality(tf.zeros([4, 6, 3]), 30)
      >>> tf.Session().run(rough).shape
      (4, 6, 3)

    Source: python/ops/image_ops_impl.py, adjust_jpeg_quality.
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        tensor = convert(image, name="image")
        content = convert_image_dtype(tensor, dtypes.uint8)
        quality = convert(jpeg_quality, dtypes.int32)
        file = EncodeJpegVariableQuality()(content, quality)
        return convert_image_dtype(decode_jpeg(file), tensor.dtype)


@export("image.random_jpeg_quality")
def random_jpeg_quality(
    image: TensorLike,
    min_jpeg_quality: int,
    max_jpeg_quality: int,
    seed: int | None = None,
) -> Tensor:
    """`tf.image.adjust_jpeg_quality` by a number from [min, max).

    Args:
      image: Tensor [height, width, 1 or 3]; a float one in [0, 1].
      min_jpeg_quality: int in [0, 100].
      max_jpeg_quality: int in [0, 100], above `min_jpeg_quality`.
      seed: of the random number.

    Raises:
      ValueError: the bounds are not in [0, 100], or not in order.

    Example:
      >>> rough = tf.image.random_jpeg_quality(tf.zeros([4, 6, 3]), 30, 90)

    Source: python/ops/image_ops_impl.py, random_jpeg_quality.
    """
    bounds = min_jpeg_quality, max_jpeg_quality
    if not all(0 <= bound <= 100 for bound in bounds):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], *bounds, dtype=dtypes.int32, seed=seed)
    return adjust_jpeg_quality(image, quality)
