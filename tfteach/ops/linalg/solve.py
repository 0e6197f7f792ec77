"""Systems of linear equations, inverses and determinants.

Source: core/ops/linalg_ops.cc, core/kernels/matrix_*_op.cc, python/ops/linalg_grad.py.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matmul import adjoint_view, matmul
from tfteach.ops.linalg.matrix_diag import matrix_band_part

MATRIX_TYPES = dtypes_of("double float half complex64 complex128")
_DETERMINANT_TYPES = dtypes_of("half float double complex64 complex128")


def square(matrix: Shape) -> tuple[Any, Any]:
    """(batch shape, size) of square matrices; None where unknown."""
    shapes.with_rank_at_least(matrix, 2)
    if matrix is None:
        return None, None
    rows, columns = matrix[-2:]
    if rows is not None and columns is not None and rows != columns:
        raise ValueError(f"Dimensions must be equal, but are {rows} and {columns}")
    return matrix[:-2], columns if rows is None else rows


def check_square(matrix: Any, message: str = "Input matrix must be square.") -> None:
    """Raise unless the array is a batch of square matrices.

    Raises:
      InvalidArgumentError: with TensorFlow's messages.
    """
    if matrix.ndim < 2:
        raise invalid_argument(f"Input tensor 0 must have rank >= 2, got {matrix.ndim}")
    if matrix.shape[-1] != matrix.shape[-2]:
        raise invalid_argument(message)


def widened(array: Any) -> Any:
    """Two-byte floats converted to four-byte ones, which LAPACK supports."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 else array


def attempt(message: str, function: Any, matrix: Any) -> Any:
    """The result of `function`, unless LAPACK fails.

    Eigen looks for a pivot that is not above zero, and sees NaN only in the first one:
    TensorFlow refuses NaN there, and returns NaN where it is elsewhere.

    Raises:
      InvalidArgumentError: with `message`.
    """
    if matrix.dtype.kind in "fc" and np.isnan(matrix[..., :1, :1]).any():
        raise invalid_argument(message)
    try:
        return function(matrix)
    except np.linalg.LinAlgError:
        raise invalid_argument(message) from None


class MatrixInverse(Op):
    """The inverses of matrices.  Source: core/ops/linalg_ops.cc, MatrixInverse."""

    signature = "input: T -> output: T"
    adjoint: bool = False
    T = MATRIX_TYPES

    def infer_shape(self, input: Shape) -> Shape:
        batch, size = square(input)
        return None if input is None else (*batch, size, size)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        check_square(input)
        inverse = attempt("Input is not invertible.", xp.linalg.inv, widened(input))
        result = adjoint_view(xp, inverse) if self.adjoint else inverse
        return result.astype(input.dtype, copy=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        inverse = op.outputs[0]
        inner = matmul(grad, inverse, adjoint_b=True)
        return [-matmul(inverse, inner, adjoint_a=True)]


@export("linalg.inv", "matrix_inverse")
def matrix_inverse(
    input: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of square matrices.

    Args:
      input: float or complex Tensor [..., n, n].
      adjoint: transpose and conjugate the inverses.
      name: the op's name.

    Returns:
      A Tensor of that shape and type.

    Raises:
      InvalidArgumentError: (in a run) a matrix is not invertible.

    Example:
      >>> tf.Session().run(tf.matrix_inverse([[2.0, 0.0], [0.0, 4.0]]))
      array([[0.5 , 0.  ],
             [0.  , 0.25]], dtype=float32)

    Source: MatrixInverse in core/ops/linalg_ops.cc.
    """
    return MatrixInverse(adjoint)(input, name=name)


class MatrixDeterminant(Op):
    """The determinants of matrices.  Source: linalg_ops.cc, MatrixDeterminant."""

    signature = "input: T -> output: T"
    T = _DETERMINANT_TYPES

    def infer_shape(self, input: Shape) -> Shape:
        result: Shape = square(input and (*input[:-2], *input[:-3:-1]))[0]
        return result

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        check_square(input)
        return xp.asarray(xp.linalg.det(widened(input))).astype(input.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        a, c = op.inputs[0], op.outputs[0]
        inverse = matrix_inverse(a, adjoint=True)
        factors = reshape(grad * c, concat([shape(c), [1, 1]], 0))
        return [factors * inverse]


@export("linalg.det", "matrix_determinant")
def matrix_determinant(input: TensorLike, name: str | None = None) -> Tensor:
    """The determinants of square matrices.

    Args:
      input: float or complex Tensor [..., n, n].
      name: the op's name.

    Returns:
      A Tensor [...] of that type.

    Example:
      >>> tf.Session().run(tf.matrix_determinant([[1.0, 2.0], [3.0, 4.0]]))
      -2.0

    Source: MatrixDeterminant in core/ops/linalg_ops.cc.
    """
    return MatrixDeterminant()(input, name=name)


class LogMatrixDeterminant(MultiOutputOp):
    """Sign and logarithm of determinants.  Source: LogMatrixDeterminant."""

    signature = "input: T -> sign: T, log_abs_determinant: T"
    T = _DETERMINANT_TYPES

    def infer_shape(self, input: Shape) -> list[Shape]:
        batch = square(input and (*input[:-2], *input[:-3:-1]))[0]
        return [batch, batch]

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        check_square(input)
        sign, logarithm = xp.linalg.slogdet(widened(input))
        dtype = input.dtype
        return xp.asarray(sign).astype(dtype), xp.asarray(logarithm).astype(dtype)

    def gradient(self, op: Operation, _: Any, grad: Tensor) -> list[Gradient]:
        a, c = op.inputs[0], op.outputs[1]
        inverse = matrix_inverse(a, adjoint=True)
        factors = reshape(grad, concat([shape(c), [1, 1]], 0))
        return [factors * inverse]


_SignAndLog: Any = namedtuple(  # type: ignore[name-match]  # the op's name, as in TF
    "LogMatrixDeterminant", "sign log_abs_determinant"
)


@export("linalg.slogdet")
def log_matrix_determinant(input: TensorLike, name: str | None = None) -> Any:
    """(sign, ln |det|) of square matrices, for determinants that would overflow.

    det = sign * exp(log_abs_determinant)

    Args:
      input: float or complex Tensor [..., n, n].
      name: the op's name.

    Returns:
      sign and log_abs_determinant, Tensors [...] of that type.

    Source: LogMatrixDeterminant in core/ops/linalg_ops.cc.
    """
    return _SignAndLog(*LogMatrixDeterminant()(input, name=name))


# ---- equations


def _solution_shape(matrix: Shape, rhs: Shape) -> Shape:
    """The shape of X in matrix @ X = rhs, for square matrices."""
    batch, size = square(matrix)
    shapes.with_rank_at_least(rhs, 2)
    if rhs is None:
        return None if batch is None else (*batch, size, None)
    if size is not None and rhs[-2] is not None and size != rhs[-2]:
        raise ValueError(f"Dimensions must be equal, but are {size} and {rhs[-2]}")
    outer = shapes.merge(batch, rhs[:-2])
    rows = rhs[-2] if size is None else size
    return None if outer is None else (*outer, rows, rhs[-1])


def _check_system(matrix: Any, rhs: Any) -> None:
    check_square(matrix, "First input (lhs) must be a square matrix.")
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise invalid_argument("All input tensors must have the same outer dimensions.")
    if matrix.shape[-1] != rhs.shape[-2]:
        raise invalid_argument("Input matrix and rhs are incompatible.")


_SINGULAR = "Input matrix is not invertible."


class MatrixSolve(Op):
    """X in matrix @ X = rhs.  Source: core/ops/linalg_ops.cc, MatrixSolve."""

    signature = "matrix: T, rhs: T -> output: T"
    adjoint: bool = False
    T = MATRIX_TYPES
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, matrix: Shape, rhs: Shape) -> Shape:
        return _solution_shape(matrix, rhs)

    def check_shapes(self, matrix: tuple[int, ...], rhs: tuple[int, ...]) -> None:
        require(len(matrix) == len(rhs), "All input tensors must have the same rank.")
        message = f"Input tensor 0 must have rank >= 2, got {len(matrix)}"
        require(len(matrix) >= 2, message)

    def compute(self, xp: ArrayModule, matrix: Array, rhs: Array) -> Any:
        _check_system(matrix, rhs)
        left = adjoint_view(xp, matrix) if self.adjoint else matrix
        right = widened(rhs)
        found = attempt(
            _SINGULAR, lambda own: xp.linalg.solve(own, right), widened(left)
        )
        return found.astype(matrix.dtype, copy=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        grad_b = matrix_solve(op.inputs[0], grad, adjoint=not self.adjoint)
        return [-_outer(self.adjoint, grad_b, op.outputs[0]), grad_b]


def _outer(is_adjoint: bool, grad_b: Any, solution: Any) -> Tensor:
    """The product of two tall matrices in a gradient, ordered as in the equation."""
    if is_adjoint:
        return matmul(solution, grad_b, adjoint_b=True)
    return matmul(grad_b, solution, adjoint_b=True)


@export("linalg.solve", "matrix_solve")
def matrix_solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The solutions of systems of linear equations.

    matrix @ output = rhs

    Args:
      matrix: float or complex Tensor [..., n, n].
      rhs: Tensor [..., n, k] of that type.
      adjoint: solve with the adjoint of `matrix`.
      name: the op's name.

    Returns:
      A Tensor [..., n, k] of that type.

    Raises:
      InvalidArgumentError: (in a run) a matrix is not invertible.

    Example:
      >>> tf.Session().run(tf.matrix_solve([[2.0, 0.0], [0.0, 4.0]], [[1.0], [2.0]]))
      array([[0.5],
             [0.5]], dtype=float32)

    Source: MatrixSolve in core/ops/linalg_ops.cc.
    """
    return MatrixSolve(adjoint)(matrix, rhs, name=name)


class MatrixTriangularSolve(Op):
    """X in matrix @ X = rhs, reading one triangle.  Source: MatrixTriangularSolve."""

    signature = "matrix: T, rhs: T -> output: T"
    lower: bool = True
    adjoint: bool = False
    T = MATRIX_TYPES
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, matrix: Shape, rhs: Shape) -> Shape:
        return _solution_shape(matrix, rhs)

    def check_shapes(self, matrix: tuple[int, ...], rhs: tuple[int, ...]) -> None:
        require(len(matrix) == len(rhs), "All input tensors must have the same rank.")
        message = f"Input tensor 0 must have rank >= 2, got {len(matrix)}"
        require(len(matrix) >= 2, message)

    def compute(self, xp: ArrayModule, matrix: Array, rhs: Array) -> Any:
        _check_system(matrix, rhs)
        diagonal = xp.diagonal(matrix, axis1=-2, axis2=-1)
        if bool((diagonal == 0).any()):
            raise invalid_argument(_SINGULAR)
        left = xp.tril(widened(matrix)) if self.lower else xp.triu(widened(matrix))
        left = adjoint_view(xp, left) if self.adjoint else left
        right = widened(rhs)
        found = attempt(_SINGULAR, lambda own: xp.linalg.solve(own, right), left)
        return found.astype(matrix.dtype, copy=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        grad_b = matrix_triangular_solve(
            op.inputs[0], grad, lower=self.lower, adjoint=not self.adjoint
        )
        grad_a = -_outer(self.adjoint, grad_b, op.outputs[0])
        band = (-1, 0) if self.lower else (0, -1)
        return [matrix_band_part(grad_a, *band), grad_b]


@export("linalg.triangular_solve", "matrix_triangular_solve")
def matrix_triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solutions of triangular systems of linear equations.

    matrix @ output = rhs

    Args:
      matrix: float or complex Tensor [..., n, n], of which one triangle is read.
      rhs: Tensor [..., n, k] of that type.
      lower: read the lower triangle instead of the upper one.
      adjoint: solve with the adjoint of the triangle.
      name: the op's name.

    Returns:
      A Tensor [..., n, k] of that type.

    Raises:
      InvalidArgumentError: (in a run) a diagonal contains a 0.

    Source: MatrixTriangularSolve in core/ops/linalg_ops.cc.
    """
    return MatrixTriangularSolve(lower, adjoint)(matrix, rhs, name=name)


@export("linalg.cholesky_solve", "cholesky_solve")
def cholesky_solve(
    chol: TensorLike, rhs: TensorLike, name: str | None = None
) -> Tensor:
    """The solutions of A @ X = rhs, given the Cholesky factors of A.

    chol @ adjoint(chol) @ output = rhs

    Args:
      chol: float or complex Tensor [..., n, n]; only the lower triangle is read.
      rhs: Tensor [..., n, k] of that type.
      name: the name of the scope.

    Returns:
      A Tensor [..., n, k] of that type.

    Example:
      >>> tf.cholesky_solve(tf.cholesky(a), b)  # as tf.matrix_solve(a, b), if a > 0

    Source: python/ops/linalg_ops.py.
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return matrix_triangular_solve(chol, y, adjoint=True, lower=True)
