"""`tf.nn.zero_fraction`.  Source: python/ops/nn_impl.py."""

from __future__ import annotations

from tfteach.control.branch import cond
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import not_equal
from tfteach.ops.math.reduce_functions import reduce_sum


@export("nn.zero_fraction", "math.zero_fraction")
def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """The fraction of zeros, a scalar float32 Tensor.

    Args:
      value: numeric Tensor of any shape.
      name: the name scope of the ops.

    Example:
      >>> tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0])  # 0.5

    Source: python/ops/nn_impl.py.
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert(value, name="value")
        size = shape_ops.size(value, out_type=int64)
        nonzero = cond(
            size <= int32.max,
            true_fn=lambda: cast(_count_nonzero(value, int32), int64),
            false_fn=lambda: _count_nonzero(value, int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = cast(size - nonzero, float32)
            fraction = zeros / cast(size, float32)
        return identity(fraction, "fraction")


def _count_nonzero(value: Tensor, dtype: DTypeLike) -> Tensor:
    with name_scope("count_nonzero"):
        zero = fill.zeros([], dtype=value.dtype.base_dtype)
        is_nonzero = cast(not_equal(value, zero), dtype)
        return reduce_sum(is_nonzero, name="nonzero_count")
