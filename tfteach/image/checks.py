"""Whether something is an image: at once if its shape is known, otherwise in the run.

Source: python/ops/image_ops_impl.py (words, and the nodes of the checks).
"""

from __future__ import annotations

from tfteach.checks.values import assert_equal, assert_greater_equal
from tfteach.framework import shape as shapes
from tfteach.framework.operation import Tensor
from tfteach.image.shapes import after, checks_of_3d
from tfteach.ops import shapes as shape_ops


def at_least_3d(image: Tensor) -> Tensor:
    """`image`, once it is known to have three or more dimensions, none empty.

    Raises:
      ValueError: it is known to have fewer, or to be empty.
    """
    return after(checks_of_3d(image), image)


def grayscale(image: Tensor) -> Tensor:
    """`image`, once it is known to have one channel.

    Raises:
      ValueError: it is known to have another number, or no two dimensions.
    """
    shape = image._shape
    rank_words = "A grayscale image must be at least two-dimensional."
    words = "Last dimension of a grayscale image should be size 1."
    if shape is not None and len(shape) < 2:
        raise ValueError(rank_words)
    if shape is not None and shapes.is_full(shape):
        if shape[-1] != 1:
            raise ValueError(words)
        return image
    checks = [
        assert_equal(shape_ops.shape(image)[-1], 1, message=words),
        assert_greater_equal(shape_ops.rank(image), 3, message=rank_words),
    ]
    return after(checks, image)
