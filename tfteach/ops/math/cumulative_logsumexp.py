"""Cumulative log-sum-exp.  Source: core/ops/math_ops.cc, CumulativeLogsumexp."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import ArrayModule, DTypeLike, Gradient, TensorLike
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.math.compare import greater, less
from tfteach.ops.math.cumsum import Scan
from tfteach.ops.math.exponential import exp, log


class CumulativeLogsumexp(Scan):
    """The logarithm of cumulative exponential sums.  Source: CumulativeLogsumexp."""

    T = dtypes_of("half float double")
    on_gpu: ClassVar[bool] = False

    def scan(self, xp: ArrayModule, x: Any, axis: int) -> Any:
        return np.logaddexp.accumulate(x, axis=axis, dtype=x.dtype)

    def first(self, dtype: DTypeLike) -> Any:
        return np.finfo(dtype).min  # TF's substitute for ln 0

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, axis = op.inputs
        least = grad.dtype.min
        # The logarithms of the positive and of the negative part.
        rising = where_v2(greater(grad, 0), log(grad), least)
        falling = where_v2(less(grad, 0), log(-grad), least)
        found = [
            exp(
                cumulative_logsumexp(
                    part - op.outputs[0],
                    axis=axis,
                    reverse=not self.reverse,
                    exclusive=self.exclusive,
                )
                + x
            )
            for part in (rising, falling)
        ]
        return [found[0] - found[1], None]


@export("math.cumulative_logsumexp")
def cumulative_logsumexp(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Cumulative log-sum-exp along an axis, without overflow.

    out[i] = ln(exp x[0] + ... + exp x[i])

    Args:
      x: float Tensor of any shape except a scalar.
      axis: the axis, an int or an int Tensor [].
      exclusive: exclude x[i] itself (the first result is then the type's lowest
          number).
      reverse: sum from the end.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Source: CumulativeLogsumexp in core/ops/math_ops.cc.
    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        x = convert(x, name="x")
        op = CumulativeLogsumexp(exclusive, reverse)
        return op(x, axis, name=scope)
