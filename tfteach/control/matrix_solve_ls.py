"""`tf.linalg.lstsq`, and the gradient of its op.  Source: python/ops/linalg_ops.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.control.branch import cond
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import complex128
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.transpose_reverse import matrix_transpose
from tfteach.ops.core.shape_ops import cast, shape
from tfteach.ops.linalg.cholesky import cholesky
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import eye
from tfteach.ops.linalg.matrix_solve_ls import MatrixSolveLs
from tfteach.ops.linalg.solve import cholesky_solve

_CACHE_BYTES = 256_000  # from this size on, many small matrices are solved by one op


@gradient_of(MatrixSolveLs)
def _gradient(op: Operation, grad: Any) -> list[Any]:
    if not op.get_attr("fast"):
        raise ValueError("Gradient not defined for fast=False")
    known = op.inputs[0]._shape
    sizes: Any = None if known is None else known[-2:]
    if shapes.is_full(sizes):
        is_tall = sizes[0] >= sizes[1]
        return [*(_tall if is_tall else _wide)(op, grad), None]
    sizes = shape(op.inputs[0])[-2:]
    found = cond(
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
    """Whether the solution is composed of other ops, by TensorFlow's heuristic."""
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
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """The least-squares solutions of systems of linear equations.

    output = argmin |matrix @ X - rhs|² + l2_regularizer |X|²

    Args:
      matrix: float or complex Tensor [..., m, n].
      rhs: Tensor [..., m, k] of that type.
      l2_regularizer: float64 scalar, the weight of the regularization.
      fast: use the normal equations; otherwise singular values, which support matrices
        of any rank but no `l2_regularizer`.
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
        result: Tensor = cond(sizes[-2] >= sizes[-1], tall, wide)
        return result
