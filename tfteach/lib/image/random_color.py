"""Random brightness, contrast, hue and saturation, for data augmentation.

One number is drawn for all images of a batch.

Source: python/ops/image_ops_impl.py (nodes, messages).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.image.adjust import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
)
from tfteach.ops.random.random_ops import random_uniform


def _around_zero(limit: Any, seed: int | None) -> Tensor:
    if limit < 0:
        raise ValueError("max_delta must be non-negative.")
    return random_uniform([], -limit, limit, seed=seed)


def _between(lower: Any, upper: Any, seed: int | None) -> Tensor:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return random_uniform([], lower, upper, seed=seed)


@export("image.random_brightness")
def random_brightness(
    image: TensorLike, max_delta: float, seed: int | None = None
) -> Tensor:
    """`tf.image.adjust_brightness` by a number drawn from [-max_delta, max_delta).

    Args:
      image: Tensor of any shape.
      max_delta: a number, at least 0.
      seed: makes the numbers the same in every session.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: `max_delta` is negative.

    Example:
      >>> brighter_or_darker = tf.image.random_brightness(tf.ones([4, 4, 3]), 0.2)

    Source: python/ops/image_ops_impl.py.
    """
    return adjust_brightness(image, _around_zero(max_delta, seed))


@export("image.random_contrast")
def random_contrast(
    image: TensorLike, lower: float, upper: float, seed: int | None = None
) -> Tensor:
    """`tf.image.adjust_contrast` by a factor drawn from [lower, upper).

    Args:
      image: Tensor [..., height, width, channels].
      lower: the minimum factor, at least 0.
      upper: the limit of the factors, above `lower`.
      seed: makes the numbers the same in every session.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: `upper <= lower`, or `lower` is negative.

    Example:
      >>> image = tf.image.random_contrast(tf.ones([4, 4, 3]), 0.8, 1.2)

    Source: python/ops/image_ops_impl.py.
    """
    return adjust_contrast(image, _between(lower, upper, seed))


@export("image.random_hue")
def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`tf.image.adjust_hue` by a rotation drawn from [-max_delta, max_delta).

    Args:
      image: Tensor [..., height, width, 3] of RGB.
      max_delta: a number in [0, 0.5].
      seed: makes the numbers the same in every session.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: `max_delta` is not in [0, 0.5].

    Example:
      >>> image = tf.image.random_hue(tf.ones([4, 4, 3]), 0.1)

    Source: python/ops/image_ops_impl.py.
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return adjust_hue(image, _around_zero(max_delta, seed))


@export("image.random_saturation")
def random_saturation(
    image: TensorLike, lower: float, upper: float, seed: int | None = None
) -> Tensor:
    """`tf.image.adjust_saturation` by a factor drawn from [lower, upper).

    Args:
      image: Tensor [..., height, width, 3] of RGB.
      lower: the minimum factor, at least 0.
      upper: the limit of the factors, above `lower`.
      seed: makes the numbers the same in every session.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: `upper <= lower`, or `lower` is negative.

    Example:
      >>> image = tf.image.random_saturation(tf.ones([4, 4, 3]), 0.8, 1.2)

    Source: python/ops/image_ops_impl.py.
    """
    return adjust_saturation(image, _between(lower, upper, seed))
