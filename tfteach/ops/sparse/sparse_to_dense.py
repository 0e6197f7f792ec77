"""Dense arrays from sparse indices and values.

Source: core/ops/sparse_ops.cc (SparseToDense), core/kernels/sparse_to_dense_op.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_scalar, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.gather_nd import GatherNd
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.sparse.coo_arrays import check_ordered


def _text(values: Any) -> str:
    return "[" + ",".join(str(int(v)) for v in values) + "]"


class SparseToDense(Op):
    """An array filled with one value, and others at some indices.

    Source: core/ops/sparse_ops.cc, SparseToDense.
    """

    signature = (
        "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, "
        "default_value: T -> dense: T"
    )
    validate_indices: bool = True
    Tindices = INDICES
    by_shape: ClassVar[tuple[str, ...]] = ("output_shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("output_shape",)

    def infer_shape(
        self, sparse_indices: Shape, output_shape: Shape, *values: Shape
    ) -> Shape:
        return output_shape

    def check_shapes(
        self, output_shape: tuple[int, ...], default_value: tuple[int, ...]
    ) -> None:
        require_vector(output_shape, "output_shape should be a vector, got shape %s")
        require_scalar(default_value, "default_value should be a scalar.")

    def compute(
        self,
        xp: ArrayModule,
        indices: Array,
        output_shape: Array,
        values: Array,
        default: Array,
    ) -> Any:
        if indices.ndim > 2:
            raise invalid_argument(
                "sparse_indices should be a scalar, vector, or matrix, got shape "
                f"{shapes.text(indices.shape)}"
            )
        whole = tuple(int(n) for n in output_shape)
        width = indices.shape[1] if indices.ndim == 2 else 1
        rows = indices.reshape(indices.shape[0] if indices.ndim else 1, width)
        if rows.shape[1] != len(whole):
            raise invalid_argument(
                f"output_shape has incorrect number of elements: {len(whole)} should "
                f"be: {rows.shape[1]}"
            )
        if values.ndim and values.shape != (len(rows),):
            raise invalid_argument(
                f"sparse_values has incorrect shape {shapes.text(values.shape)}, "
                f"should be [] or [{len(rows)}]"
            )
        self._check(xp, rows, whole)
        dense = xp.full(whole, default, values.dtype)
        if len(rows):
            dense[tuple(rows.T)] = values
        return dense

    def _check(self, xp: ArrayModule, rows: Any, whole: tuple[int, ...]) -> None:
        limits = xp.asarray(whole, rows.dtype)
        is_out = ((rows < 0) | (rows >= limits)).any(axis=1)
        if not self.validate_indices and bool(is_out.any()):
            raise invalid_argument(
                f"Indices are not valid (out of bounds).  Shape: {_text(whole)}"
            )
        if self.validate_indices:
            check_ordered(xp, rows, whole)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        indices, output_shape = op.inputs[:2]
        values_grad = GatherNd()(grad, indices)
        rest = reduce_sum(grad) - reduce_sum(values_grad)
        return [zeros_like(indices), zeros_like(output_shape), values_grad, rest]


@export("sparse_to_dense")
def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A tensor filled with `default_value`, and other values at some indices.

    `dense[tuple(sparse_indices[i])] = sparse_values[i]`

    Args:
      sparse_indices: int32 or int64 Tensor [n, rank]; [n] or [] for a vector.
      output_shape: Tensor [rank] of the same type.
      sparse_values: Tensor [n], or a scalar for all indices.
      default_value: a scalar of the values' type.
      validate_indices: whether to reject indices that are repeated or not in row-major
        order.
      name: the op's name.

    Returns:
      A Tensor of shape `output_shape`.

    Raises:
      InvalidArgumentError: an index is out of range, or see `validate_indices`.

    Example:
      >>> tf.sparse_to_dense([0, 2], [4], [5.0, 7.0])  # [5, 0, 7, 0]

    Source: SparseToDense in core/ops/sparse_ops.cc.
    """
    op = SparseToDense(validate_indices)
    return op(sparse_indices, output_shape, sparse_values, default_value, name=name)
