"""`tf.random_crop`; it is not with the random ops because it asserts.

Source: python/ops/random_ops.py (node names).
"""

from __future__ import annotations

from tfteach.control.case import Assert
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array import slicing
from tfteach.ops.core import shape_ops
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.math.reduce_functions import reduce_all
from tfteach.ops.random.random_ops import random_uniform


@export("random_crop", "image.random_crop")
def random_crop(
    value: TensorLike,
    size: TensorLike,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """A slice of `value` of shape `size`, at a random position.

    Args:
      value: a Tensor.
      size: int32 [rank], no larger than `value`'s shape.
      seed: makes the positions the same in every session.
      name: the name scope of its ops.

    Raises:
      tf.errors.InvalidArgumentError: (when run) `size` exceeds `value`'s shape.
    """
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert(value, None, "value")
        size = convert(size, int32, "size")
        shape = shape_ops.shape(value)
        message = ["Need value.shape >= size, got ", shape, size]
        check = Assert(reduce_all(shape >= size), message, summarize=1000)
        shape = with_dependencies([check], shape)
        limit = shape - size + 1
        offset = random_uniform(
            shape_ops.shape(shape), dtype=size.dtype, maxval=size.dtype.max, seed=seed
        )
        return slicing.slice(value, offset % limit, size, name=scope)
