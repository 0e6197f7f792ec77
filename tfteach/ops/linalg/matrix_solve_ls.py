"""Least squares.  Source: core/ops/linalg_ops.cc, python/ops/linalg_ops.py."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import Op
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.linalg.solve import MATRIX_TYPES, widened


class MatrixSolveLs(Op):
    """The X that minimizes |matrix @ X - rhs|² + l2 |X|².

    Source: core/ops/linalg_ops.cc, MatrixSolveLs.
    """

    signature = "matrix: T, rhs: T, l2_regularizer: double -> output: T"
    T = MATRIX_TYPES
    fast: bool = True
    on_gpu: ClassVar[bool] = False
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, matrix: Shape, rhs: Shape, l2_regularizer: Shape) -> Shape:
        shapes.with_rank_at_least(matrix, 2)
        shapes.with_rank_at_least(rhs, 2)
        shapes.with_rank(l2_regularizer, 0)
        if matrix is None or rhs is None:
            known = rhs if matrix is None else matrix
            if known is None:
                return None
            columns = None if matrix is None else matrix[-1]
            return (*known[:-2], columns, None if rhs is None else rhs[-1])
        if None not in (matrix[-2], rhs[-2]) and matrix[-2] != rhs[-2]:
            raise ValueError(
                f"Dimensions must be equal, but are {matrix[-2]} and {rhs[-2]}"
            )
        batch = shapes.merge(matrix[:-2], rhs[:-2])
        return None if batch is None else (*batch, matrix[-1], rhs[-1])

    def check_shapes(
        self,
        matrix: tuple[int, ...],
        rhs: tuple[int, ...],
        l2_regularizer: tuple[int, ...],
    ) -> None:
        require(len(matrix) == len(rhs), "All input tensors must have the same rank.")
        message = f"Input tensor 0 must have rank >= 2, got {len(matrix)}"
        require(len(matrix) >= 2, message)
        require_scalar(l2_regularizer, "l2_regularizer must be scalar, got shape %s")

    def compute(
        self, xp: ArrayModule, matrix: Array, rhs: Array, l2_regularizer: Array
    ) -> Any:
        if matrix.shape[:-2] != rhs.shape[:-2]:
            raise invalid_argument(
                "All input tensors must have the same outer dimensions."
            )
        if matrix.shape[-2] != rhs.shape[-2]:
            raise invalid_argument("Input matrix and rhs are incompatible.")
        if not float(l2_regularizer) >= 0:
            raise invalid_argument("l2_regularizer must be >= 0.")
        columns = matrix.shape[-1]
        a, b = widened(matrix), widened(rhs)
        weight = float(l2_regularizer) if self.fast else 0.0
        if weight:  # as additional equations, root(weight) * X = 0
            batch, root = a.shape[:-2], np.sqrt(weight)
            more = np.broadcast_to(root * np.eye(columns), (*batch, columns, columns))
            a = np.concatenate([a, more.astype(a.dtype)], axis=-2)
            nothing = np.zeros((*batch, columns, b.shape[-1]), b.dtype)
            b = np.concatenate([b, nothing], axis=-2)
        try:
            found = np.linalg.pinv(a) @ b
        except np.linalg.LinAlgError:  # infinities or NaN
            found = np.full((*b.shape[:-2], columns, b.shape[-1]), np.nan, a.dtype)
        return found.astype(matrix.dtype, copy=False)
