"""Whether a target is among the likeliest.  Source: core/ops/nn_ops.cc."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_matrix,
    require_scalar,
    require_vector,
)
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike


class InTopKV2(Op):
    """Whether the target is among the k largest.  Source: nn_ops.cc, InTopKV2."""

    signature = "predictions: float32, targets: T, k: T -> precision: bool"
    T = dtypes_of("int32 int64")
    T_default = dtypes_of("int32")[0]
    host_inputs: ClassVar[tuple[str, ...]] = ("k",)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, predictions: Shape, targets: Shape, k: Shape) -> Shape:
        predictions = shapes.with_rank(predictions, 2)
        targets = shapes.with_rank(targets, 1)
        shapes.with_rank(k, 0)
        rows = None if predictions is None else predictions[0]
        return (shapes.same_size(rows, None if targets is None else targets[0]),)

    def check_shapes(
        self, predictions: tuple[int, ...], targets: tuple[int, ...], k: tuple[int, ...]
    ) -> None:
        require_matrix(predictions, "predictions must be 2-dimensional")
        require_vector(targets, "targets must be 1-dimensional")
        require_scalar(k, "k must be 0-D, got shape %s")
        message = "First dimension of predictions %s must match length of targets %s"
        require(predictions[0] == targets[0], message, predictions[0], targets[0])

    def compute(
        self, xp: ArrayModule, predictions: Array, targets: Array, k: Any
    ) -> Any:
        return in_top(xp, predictions, targets, int(k))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None]


class InTopK(Op):
    """InTopKV2 with k as an attribute.  Source: core/ops/nn_ops.cc, InTopK."""

    signature = "predictions: float32, targets: T -> precision: bool"
    k: int
    T = dtypes_of("int32 int64")
    T_default = dtypes_of("int32")[0]

    def infer_shape(self, predictions: Shape, targets: Shape) -> Shape:
        predictions = shapes.with_rank(predictions, 2)
        targets = shapes.with_rank(targets, 1)
        rows = None if predictions is None else predictions[0]
        return (shapes.same_size(rows, None if targets is None else targets[0]),)

    def check_shapes(
        self, predictions: tuple[int, ...], targets: tuple[int, ...]
    ) -> None:
        require_matrix(predictions, "predictions must be 2-dimensional")
        require_vector(targets, "targets must be 1-dimensional")
        message = "First dimension of predictions %s must match length of targets %s"
        require(predictions[0] == targets[0], message, predictions[0], targets[0])

    def compute(self, xp: ArrayModule, predictions: Array, targets: Array) -> Any:
        return in_top(xp, predictions, targets, self.k)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


def in_top(xp: ArrayModule, predictions: Any, targets: Any, k: int) -> Any:
    """Fewer than k classes beat the target; False in rows that are not finite."""
    rows, classes = predictions.shape
    if not classes:
        return xp.zeros(rows, bool)
    valid = (targets >= 0) & (targets < classes)
    own = predictions[xp.arange(rows), xp.where(valid, targets, 0)]
    beaten_by = (predictions > own[:, None]).sum(axis=1)
    return (beaten_by < k) & valid & xp.isfinite(predictions).all(axis=1)


@export("nn.in_top_k", "math.in_top_k")
def in_top_k(
    predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None
) -> Tensor:
    """Whether each target class is among the `k` most likely.

    Args:
      predictions: float32 Tensor [batch, classes].
      targets: int32 or int64 Tensor [batch].
      k: an int or scalar Tensor of `targets`' type.
      name: the op's name.

    Returns:
      A bool Tensor [batch]; False for a target out of range and for rows with infinite
      or NaN predictions.

    Example:
      >>> tf.nn.in_top_k([[0.1, 0.6, 0.3]], [2], 2)  # [True]

    Source: InTopKV2 in core/ops/nn_ops.cc.
    """
    with name_scope(name, "in_top_k"):
        return InTopKV2()(predictions, targets, k, name=name)
