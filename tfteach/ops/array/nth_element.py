"""Order statistics of rows.  Source: core/ops/nn_ops.cc, NthElement."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.division import div
from tfteach.ops.math.reduce_functions import reduce_sum


class NthElement(Op):
    """The n-th smallest of each row.  Source: nn_ops.cc, NthElement."""

    signature = "input: T, n: int32 -> values: T"
    T = dtypes_of(
        "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 "
        "uint64"
    )
    reverse: bool = False
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("n",)
    host_inputs: ClassVar[tuple[str, ...]] = ("n",)

    def infer_shape(self, input: Shape, n: Any) -> Shape:
        rank = np.ndim(n) if isinstance(n, np.ndarray | np.generic) else len(n or ())
        if rank:
            raise ValueError(f"Input must be scalar but has rank {rank}")
        shapes.with_rank_at_least(input, 1)
        if isinstance(n, np.ndarray | np.generic):
            at = int(n)
            if at < 0:
                raise ValueError(
                    "Dimension size, given by scalar input 1, must be non-negative "
                    f"but is {at}"
                )
            if input is not None and input[-1] is not None and input[-1] <= at:
                raise ValueError(
                    f"Input must have last dimension > n = {at} but is {input[-1]}"
                )
        return None if input is None else input[:-1]

    def compute(self, xp: ArrayModule, input: Array, n: Any) -> Any:
        if n.ndim:
            raise invalid_argument(
                f"N must be scalar, got shape {shapes.text(n.shape)}"
            )
        at = int(n)
        if at < 0:
            raise invalid_argument(f"Need n >= 0, got {at}")
        if not input.ndim:
            raise invalid_argument("Input must be >= 1-D, got shape []")
        width = input.shape[-1]
        if width <= at:
            raise invalid_argument("Input must have at least n+1 columns")
        at = width - 1 - at if self.reverse else at
        return xp.partition(input, at, axis=-1)[..., at]

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        is_chosen = equal(expand_dims(op.outputs[0], -1), op.inputs[0])
        chosen = cast(is_chosen, grad.dtype)
        grad = expand_dims(grad, -1)
        count = expand_dims(reduce_sum(chosen, -1), -1)
        return [div(chosen, count) * grad, None]


@export("contrib.nn.nth_element")
def nth_element(
    input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The n-th smallest element of each row, counted from 0.

    Its gradient is divided equally among the elements equal to it.

    Args:
      input: number Tensor of rank 1 or more.
      n: int32 scalar, less than the length of the rows.
      reverse: return the n-th largest instead.
      name: the op's name.

    Returns:
      A Tensor of the type of `input`, without its last axis.

    Raises:
      ValueError: `n` is negative or too large, and known statically.
      tf.errors.InvalidArgumentError: it is, and known only in the run.

    Example:
      >>> tf.Session().run(tf.contrib.nn.nth_element([[3.0, 1.0, 2.0]], 1))
      array([2.], dtype=float32)

    Source: NthElement in core/ops/nn_ops.cc.
    """
    return NthElement(reverse)(input, n, name=name)
