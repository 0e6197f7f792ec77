"""Least squares.  Source: core/ops/linalg_ops.cc, python/ops/linalg_ops.py."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import complex128
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.ops.array.transpose_reverse import matrix_transpose
from tfteach.ops.core.broadcast_gradients import upward
from tfteach.ops.core.shape_ops import cast, shape
from tfteach.ops.linalg.cholesky import cholesky
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import eye
from tfteach.ops.linalg.solve import MATRIX_TYPES, cholesky_solve, widened

_CACHE_BYTES = 256_000  # from here on many small matrices are solved by one op


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
            if self.fast or known is None:
                return None
            # TensorFlow's shape rule of the other kernel needs only one of them.
            columns = None if matrix is None else matrix[-1]
            return (*known[:-2], columns, None if rhs is None else rhs[-1])
        if None not in (matrix[-2], rhs[-2]) and matrix[-2] != rhs[-2]:
            raise ValueError(
                f"Dimensions must be equal, but are {matrix[-2]} and {rhs[-2]}"
            )
        batch = shapes.merge(matrix[:-2], rhs[:-2])
        return None if batch is None else (*batch, matrix[-1], rhs[-1])

    def check_shapes(self, matrix: Any, rhs: Any, l2_regularizer: Any) -> None:
        require(len(matrix) == len(rhs), "All input tensors must have the same rank.")
        words = f"Input tensor 0 must have rank >= 2, got {len(matrix)}"
        require(len(matrix) >= 2, words)
        require_scalar(l2_regularizer, "l2_regularizer must be scalar, got shape %s")

    def compute(self, xp: Any, matrix: Any, rhs: Any, l2_regularizer: Any) -> Any:
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
        if weight:  # as more equations, root(weight) * X = 0
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

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        if not self.fast:
            raise ValueError("Gradient not defined for fast=False")
        known = op.inputs[0]._shape
        sizes: Any = None if known is None else known[-2:]
        if shapes.is_full(sizes):
            is_tall = sizes[0] >= sizes[1]
            return [*(_tall if is_tall else _wide)(op, grad), None]
        sizes = shape(op.inputs[0])[-2:]
        found = upward("cond")(
            sizes[-2] >= sizes[-1], lambda: _tall(op, grad), lambda: _wide(op, grad)
        )
        return [*found, None]


def _tall(op: Operation, grad: Any) -> tuple[Tensor, Tensor]:
    """The gradients of (AᵀA + l2 I)⁻¹ Aᵀ B."""
    a, b, weight = op.inputs
    x = op.outputs[0]
    factor = _gramian_cholesky(a, cast(weight, a.dtype.base_dtype), True)
    z = cholesky_solve(factor, grad)
    product = matmul(x, z, adjoint_b=True)
    both = product + matrix_transpose(product)
    grad_a = -matmul(a, both) + matmul(b, z, adjoint_b=True)
    return grad_a, matmul(a, z)


def _wide(op: Operation, grad: Any) -> tuple[Tensor, Tensor]:
    """The gradients of Aᵀ (AAᵀ + l2 I)⁻¹ B."""
    a, b, weight = op.inputs
    factor = _gramian_cholesky(a, cast(weight, a.dtype.base_dtype), False)
    grad_b = cholesky_solve(factor, matmul(a, grad))
    solved = cholesky_solve(factor, b)
    first = -matmul(grad_b, matmul(solved, a, adjoint_a=True))
    rest = grad - matmul(a, grad_b, adjoint_a=True)
    return first + matmul(solved, rest, adjoint_b=True), grad_b


def _gramian_cholesky(matrix: Tensor, weight: Any, of_columns: bool) -> Tensor:
    """The Cholesky factor of AᵀA + weight I, or of AAᵀ + weight I."""
    gramian = matmul(matrix, matrix, adjoint_a=of_columns, adjoint_b=not of_columns)
    if isinstance(weight, Tensor) or weight != 0:
        sizes = shape(matrix)
        batch = sizes[:-2]
        side = -1 if of_columns else -2
        unit = eye(sizes[side], batch_shape=batch, dtype=matrix.dtype)
        known = matrix.shape
        if known.rank is not None:
            own = known.as_list()[side]
            unit.set_shape(TensorShape([*known.as_list()[:-2], own, own]))
        gramian += weight * unit
    return cholesky(gramian)


def _is_composite(matrix: Tensor, fast: bool) -> bool:
    """Whether the solution is built of other ops: TensorFlow's guess of the faster."""
    if not fast:
        return False
    known: Any = matrix._shape
    if not shapes.is_full(known):
        return True
    count, batch = int(np.prod(known)), int(np.prod(known[:-2]))
    many = batch > min(known[-2:])
    return not (count * matrix.dtype.size > _CACHE_BYTES and many)


@export("linalg.lstsq", "matrix_solve_ls")
def matrix_solve_ls(
    matrix: Any,
    rhs: Any,
    l2_regularizer: Any = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """The solutions of systems of equations in the sense of least squares.

    output = argmin |matrix @ X - rhs|² + l2_regularizer |X|²

    Args:
      matrix: float or complex Tensor [..., m, n].
      rhs: Tensor [..., m, k] of that type.
      l2_regularizer: float64 scalar, how much large X count.
      fast: by the normal equations; else by singular values, which copes with matrices
        of any rank but knows no `l2_regularizer`.
      name: the name of the op or the scope.

    Returns:
      A Tensor [..., n, k] of that type.

    Raises:
      NotImplementedError: complex128 with `l2_regularizer`, as in TF.

    Source: python/ops/linalg_ops.py; MatrixSolveLs.
    """
    matrix = convert(matrix, name="matrix")
    if matrix.dtype == complex128 and l2_regularizer != 0:
        raise NotImplementedError(
            "matrix_solve_ls is currently disabled for complex128 and l2_regularizer "
            "!= 0 due to poor accuracy."
        )
    if not _is_composite(matrix, fast):
        return MatrixSolveLs(fast)(matrix, rhs, l2_regularizer, name=name)

    def tall() -> Tensor:
        factor = _gramian_cholesky(matrix, l2_regularizer, True)
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))

    def wide() -> Tensor:
        factor = _gramian_cholesky(matrix, l2_regularizer, False)
        return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)

    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        known: Any = None if matrix._shape is None else matrix._shape[-2:]
        if shapes.is_full(known):
            return tall() if known[0] >= known[1] else wide()
        sizes = shape(matrix)[-2:]
        return upward("cond")(sizes[-2] >= sizes[-1], tall, wide)
