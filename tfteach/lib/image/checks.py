"""Checks of images: static where shapes are known, otherwise at run time.

Source: python/ops/image_ops_impl.py (words, and the nodes of the checks).
"""

from __future__ import annotations

from typing import Any

from tfteach.control.case import Assert
from tfteach.control.checks.values import assert_greater_equal, assert_positive
from tfteach.framework import shape as shapes
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core import shape_ops
from tfteach.ops.core.control_flow_ops import is_tensor, with_dependencies
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.stack_unstack import unstack
from tfteach.ops.math.binary import maximum

POSITIVE = "all dims of 'image.shape' must be > 0."


def at_least_3d(image: Tensor) -> list[Operation]:
    """Run-time checks that `image` has three or more dimensions, none empty.

    Raises:
      ValueError: it is statically known to have fewer, or to be empty.
    """
    shape = image._shape
    if shape is not None and len(shape) < 3:
        raise ValueError(
            f"'image' must be at least three-dimensional. Its shape is {image.shape}."
        )
    if shape is not None and 0 in shape:
        raise ValueError(f"all dims of 'image.shape' must be > 0: {image.shape}")
    if shapes.is_full(shape):
        return []
    message = "'image' must be at least three-dimensional."
    return [
        assert_positive(shape_ops.shape(image), [POSITIVE]),
        assert_greater_equal(shape_ops.rank(image), 3, message=message),
    ]


def checked(image: Tensor) -> Tensor:
    """`image`, after the checks of `at_least_3d`."""
    result: Tensor = after(at_least_3d(image), image)
    return result


def after(checks: list[Operation], image: Any) -> Any:
    """`image` (or a size), available only after the checks."""
    return with_dependencies(checks, image)


def require(condition: Any, message: str) -> list[Operation]:
    """An Assert that a Tensor is true; a Python bool is checked immediately.

    Raises:
      ValueError: the condition is statically false.
    """
    if is_tensor(condition):
        return [Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def dimensions(image: Tensor, rank: int) -> list[Any]:
    """The sizes of an image of this rank: ints if known, otherwise scalar Tensors."""
    shape = image._shape
    if shape is not None and None not in shape:
        return list(shape)
    known = image.get_shape().with_rank(rank).as_list()
    found = unstack(shape_ops.shape(image), rank)
    return [n if n is not None else d for n, d in zip(known, found, strict=True)]


def as_batch(image: Tensor) -> tuple[Tensor, bool]:
    """Images [batch, height, width, channels], and whether they were a batch already.

    Raises:
      ValueError: the rank is neither 3 nor 4.
    """
    shape = image._shape
    if shape is None:
        image = expand_dims(image, 0)
        image.set_shape([None] * 4)
        return image, False
    if len(shape) == 3:
        return expand_dims(image, 0), False
    check_rank(image)
    return image, True


def check_rank(image: Tensor) -> None:
    """Check a static rank of 3 or 4.  Raises: ValueError."""
    if image._shape is not None and len(image._shape) not in (3, 4):
        raise ValueError(
            f"'image' must have either 3 or 4 dimensions. Its shape is {image.shape}."
        )


def static(*sizes: Any) -> list[Any]:
    """The statically known sizes; None for Tensors."""
    return [None if is_tensor(n) else n for n in sizes]


def larger(x: Any, y: Any) -> Any:
    """The maximum, as a Tensor if either is one."""
    if is_tensor(x) or is_tensor(y):
        return maximum(x, y)
    return max(x, y)
