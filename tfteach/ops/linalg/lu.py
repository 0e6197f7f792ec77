"""LU decompositions with pivoting.  Source: core/ops/linalg_ops.cc."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.linalg.solve import MATRIX_TYPES, check_square, square, widened

_Lu: Any = namedtuple("Lu", "lu p")  # type: ignore[name-match]  # the op's name, as TF's


class Lu(MultiOutputOp):
    """L and U in one matrix, and the row permutation.  Source: linalg_ops.cc, Lu."""

    signature = "input: T -> lu: T, p: output_idx_type"
    T = MATRIX_TYPES
    output_idx_type: DType = int32
    output_idx_type_allowed = INDICES
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, input: Shape) -> list[Shape]:
        batch, size = square(input)
        if input is None:
            return [None, None]
        return [(*batch, size, size), (*batch, size)]

    def compute(self, xp: ArrayModule, input: Array) -> tuple[Any, Any]:
        check_square(input)
        size = input.shape[-1]
        batch = math.prod(input.shape[:-2])
        factors = np.array(widened(input)).reshape(batch, size, size)
        order = np.tile(np.arange(size), (len(factors), 1))
        for matrix, rows in zip(factors, order, strict=True):
            _eliminate(matrix, rows)
        index = self.output_idx_type.numpy_dtype
        return (
            factors.reshape(input.shape).astype(input.dtype),
            order.reshape(input.shape[:-1]).astype(index),
        )


def _eliminate(matrix: Any, rows: Any) -> None:
    """In-place Gaussian elimination with partial pivoting."""
    for k in range(len(matrix)):
        pivot = k + int(np.argmax(np.abs(matrix[k:, k])))
        if not np.abs(matrix[pivot, k]) > 0:
            raise invalid_argument("Input is not invertible.")
        if pivot != k:
            matrix[[k, pivot]] = matrix[[pivot, k]]
            rows[[k, pivot]] = rows[[pivot, k]]
        matrix[k + 1 :, k] /= matrix[k, k]
        matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])


@export("linalg.lu")
def lu(
    input: TensorLike, output_idx_type: DType = int32, name: str | None = None
) -> Any:
    """LU decompositions with pivoting.

    input[p] = L @ U

    Args:
      input: float or complex Tensor [..., n, n].
      output_idx_type: int32 or int64, the type of `p`.
      name: the op's name.

    Returns:
      lu, Tensor [..., n, n]: U in the upper triangle, L below it (its diagonal is 1);
      and p, Tensor [..., n]: the row permutation.

    Raises:
      InvalidArgumentError: (in a run) a matrix is not invertible.

    Source: Lu in core/ops/linalg_ops.cc.
    """
    return _Lu(*Lu(output_idx_type)(input, name=name))
