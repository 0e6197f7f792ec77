"""`tf.math.nextafter`.  Source: core/ops/math_ops.cc, NextAfter."""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core import fill
from tfteach.ops.core.broadcast_gradients import BroadcastGradientArgs, after
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import Binary
from tfteach.ops.math.reduce_functions import reduce_sum


class NextAfter(Binary):
    """The next representable number towards another.  Source: NextAfter."""

    signature = "x1: T, x2: T -> output: T"
    T = dtypes_of("double float")
    T_default = float32

    def compute(self, xp: ArrayModule, x1: Array, x2: Array) -> Any:
        return xp.nextafter(x1, x2)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x1, x2 = op.inputs
        s1, s2 = shape(x1), shape(x2)
        r1, r2 = BroadcastGradientArgs()(s1, s2)
        with after(grad):
            by_x1 = ones(s1, dtype=x1.dtype)
            by_x2 = fill.zeros(s2, dtype=x2.dtype)
            to_x1 = reshape(reduce_sum(by_x1 * grad, r1), s1)
            return [to_x1, reshape(reduce_sum(by_x2 * grad, r2), s2)]


@export("math.nextafter")
def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The representable number next to `x1`, towards `x2`; element-wise.

    Args:
      x1: float32 or float64 Tensor of any shape.
      x2: Tensor of the type of `x1`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Source: NextAfter in core/ops/math_ops.cc.
    """
    return NextAfter()(x1, x2, name=name)
