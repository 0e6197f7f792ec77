"""Images mirrored, rotated and transposed.

Source: python/ops/image_ops_impl.py (node names).
"""

from __future__ import annotations

from typing import Any

from tfteach.control.branch import cond
from tfteach.control.case import case
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.image import checks
from tfteach.ops.array import transpose_reverse
from tfteach.ops.core import shape_ops
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.math import compare, modulo, rounding
from tfteach.ops.math.cast import cast
from tfteach.ops.random.random_ops import random_uniform


def _flip(image: Any, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        image = _image(image)
        if _is_batch(image):
            return transpose_reverse.reverse(image, [axis + 1])
        return _shaped(transpose_reverse.reverse(image, [axis]), image)


def _image(image: Any) -> Tensor:
    return checks.checked(convert(image, None, "image"))


def _is_batch(image: Tensor) -> bool:
    """Whether there are four dimensions; an unknown rank counts as three.

    Raises:
      ValueError: the rank is neither three nor four.
    """
    checks.check_rank(image)
    return image._shape is not None and len(image._shape) == 4


def _shaped(result: Tensor, image: Tensor) -> Tensor:
    result.set_shape([None] * 3 if image._shape is None else image._shape)
    return result


@export("image.flip_left_right")
def flip_left_right(image: TensorLike) -> Tensor:
    """Images mirrored horizontally: the columns in reverse order.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].

    Returns:
      A Tensor of the same type and shape.

    Raises:
      ValueError: the rank is not supported, or a dimension is 0.

    Example:
      >>> tf.image.flip_left_right([[[1], [2]]])  # [[[2], [1]]]

    Source: python/ops/image_ops_impl.py.
    """
    return _flip(image, 1, "flip_left_right")


@export("image.flip_up_down")
def flip_up_down(image: TensorLike) -> Tensor:
    """Images mirrored vertically: the rows in reverse order.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].

    Returns:
      A Tensor of the same type and shape.

    Raises:
      ValueError: the rank is not supported, or a dimension is 0.

    Example:
      >>> tf.image.flip_up_down([[[1]], [[2]]])  # [[[2]], [[1]]]

    Source: python/ops/image_ops_impl.py.
    """
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]) as scope:
        image = _image(image)
        if not _is_batch(image):
            chance = random_uniform([], 0, 1.0, seed=seed)
            return _shaped(
                cond(
                    compare.less(chance, 0.5),
                    lambda: transpose_reverse.reverse(image, [axis]),
                    lambda: image,
                    name=scope,
                ),
                image,
            )
        batch = shape_ops.shape(image)[0]
        chance = random_uniform([batch], 0, 1.0, seed=seed)
        flips = rounding.round(reshape(chance, [batch, 1, 1, 1]))
        flips = cast(flips, image.dtype)
        flipped = transpose_reverse.reverse(image, [axis + 1])
        result: Tensor = flips * flipped + (1 - flips) * image
        return result


@export("image.random_flip_left_right")
def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Images, each mirrored horizontally with probability 1/2.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      seed: makes the choices the same in every session.

    Returns:
      A Tensor of the same type and shape.

    Raises:
      ValueError: the rank is not supported, or a dimension is 0.

    Example:
      >>> tf.image.random_flip_left_right(tf.ones([28, 28, 1]))

    Source: python/ops/image_ops_impl.py.
    """
    return _random_flip(image, 1, seed, "random_flip_left_right")


@export("image.random_flip_up_down")
def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Images, each mirrored vertically with probability 1/2.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      seed: makes the choices the same in every session.

    Returns:
      A Tensor of the same type and shape.

    Raises:
      ValueError: the rank is not supported, or a dimension is 0.

    Example:
      >>> tf.image.random_flip_up_down(tf.ones([28, 28, 1]))

    Source: python/ops/image_ops_impl.py.
    """
    return _random_flip(image, 0, seed, "random_flip_up_down")


@export("image.rot90")
def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """Images rotated counter-clockwise by `k` right angles.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      k: an int32 scalar.
      name: the name scope of the ops.

    Returns:
      A Tensor of the same type and rank; height and width are swapped if k is odd.

    Raises:
      ValueError: the rank is not supported, or a dimension is 0.

    Example:
      >>> tf.image.rot90([[[1], [2]], [[3], [4]]])  # [[[2], [4]], [[1], [3]]]

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = _image(image)
        k = convert(k, int32, "k")
        k.get_shape().assert_has_rank(0)
        k = modulo.floormod(k, 4)
        is_batch = _is_batch(image)
        rows, columns = (1, 2) if is_batch else (0, 1)

        def turn_left() -> Tensor:
            return _swapped(transpose_reverse.reverse(image, [columns]), is_batch)

        def turn_over() -> Tensor:
            return transpose_reverse.reverse(image, [rows, columns])

        def turn_right() -> Tensor:
            return transpose_reverse.reverse(_swapped(image, is_batch), [columns])

        turns = [turn_left, turn_over, turn_right]
        pairs = [(compare.equal(k, i + 1), turn) for i, turn in enumerate(turns)]
        turned: Tensor = case(pairs, default=lambda: image, exclusive=True, name=scope)
        if is_batch:
            shape = turned.get_shape()
            turned.set_shape([shape[0], None, None, shape[3]])
        else:
            turned.set_shape([None, None, image.get_shape()[2]])
        return turned


def _swapped(image: Tensor, is_batch: bool, name: str = "transpose") -> Tensor:
    order = [0, 2, 1, 3] if is_batch else [1, 0, 2]
    return transpose_reverse.transpose(image, order, name=name)


@export("image.transpose", "image.transpose_image")
def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Images with height and width swapped.

    Args:
      image: Tensor [height, width, channels] or [batch, height, width, channels].
      name: the name scope of the ops.

    Returns:
      A Tensor of the same type and rank.

    Raises:
      ValueError: the rank is not supported, or a dimension is 0.

    Example:
      >>> tf.image.transpose_image(tf.ones([2, 3, 1]))  # [3, 2, 1]

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(name, "transpose", [image]):
        image = _image(image)
        return _swapped(image, _is_batch(image), name or "transpose")
