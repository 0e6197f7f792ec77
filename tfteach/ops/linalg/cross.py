"""`tf.linalg.cross`.  Source: core/ops/math_ops.cc, Cross."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.errors import FailedPreconditionError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.math.compare import REAL_NUMBERS


class Cross(Op):
    """Cross products of 3-vectors.  Source: core/ops/math_ops.cc, Cross."""

    signature = "a: T, b: T -> product: T"
    T = REAL_NUMBERS
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, a: Shape, b: Shape) -> Shape:
        shapes.with_rank_at_least(a, 1)
        shapes.with_rank_at_least(b, 1)
        for own in (a, b):
            if own is not None and own[-1] not in (None, 3):
                raise ValueError(f"Dimension must be 3 but is {own[-1]}")
        return shapes.merge(a, b)

    def compute(self, xp: ArrayModule, a: Array, b: Array) -> Any:
        if a.shape != b.shape:
            raise invalid_argument(
                f"Both inputs must be of same shape: {shapes.text(a.shape)} vs. "
                f"{shapes.text(b.shape)}"
            )
        if a.shape[-1] != 3:
            raise FailedPreconditionError(
                None, None, "Cross-products are only defined for 3-element vectors."
            )
        turn, back = [1, 2, 0], [2, 0, 1]
        return a[..., turn] * b[..., back] - a[..., back] * b[..., turn]

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        u, v = op.inputs
        return [cross(v, grad), cross(grad, u)]


@export("linalg.cross", "cross")
def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The cross products of 3-vectors.

    Args:
      a: float or int Tensor [..., 3].
      b: Tensor of the shape and type of `a`.
      name: the op's name.

    Returns:
      A Tensor of that shape and type.

    Raises:
      FailedPreconditionError: (in a run) the last axis is not of size 3.

    Example:
      >>> tf.Session().run(tf.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
      array([0., 0., 1.], dtype=float32)

    Source: Cross in core/ops/math_ops.cc.
    """
    return Cross()(a, b, name=name)
