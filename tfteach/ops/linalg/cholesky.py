"""Cholesky factors of positive definite matrices, and determinants computed from them.

Source: core/ops/linalg_ops.cc, python/ops/linalg_grad.py, linalg/linalg_impl.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.adjoint import adjoint
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import (
    eye,
    matrix_band_part,
    matrix_diag_part,
    matrix_set_diag,
)
from tfteach.ops.linalg.solve import (
    MATRIX_TYPES,
    attempt,
    check_square,
    matrix_triangular_solve,
    square,
    widened,
)
from tfteach.ops.math.complex import real
from tfteach.ops.math.exponential import log
from tfteach.ops.math.reduce_functions import reduce_sum


class Cholesky(Op):
    """The lower triangular L with L @ adjoint(L) = input.

    Source: core/ops/linalg_ops.cc, Cholesky.
    """

    signature = "input: T -> output: T"
    T = MATRIX_TYPES

    def infer_shape(self, input: Shape) -> Shape:
        batch, size = square(input)
        return None if input is None else (*batch, size, size)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        check_square(input)
        try:
            found = xp.linalg.cholesky(widened(input))
        except np.linalg.LinAlgError:
            raise invalid_argument(
                "Cholesky decomposition was not successful. The input might not be "
                "valid."
            ) from None
        return found.astype(input.dtype, copy=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        factor = op.outputs[0]
        size = shape(factor)[-1]
        batch = shape(factor)[:-2]
        identity = eye(size, batch_shape=batch, dtype=factor.dtype)
        inverse = matrix_triangular_solve(factor, identity)
        middle = matmul(factor, grad, adjoint_a=True)
        middle = matrix_set_diag(middle, 0.5 * matrix_diag_part(middle))
        middle = matrix_band_part(middle, -1, 0)
        whole = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
        whole += adjoint(whole)
        return [whole * 0.5]


@export("linalg.cholesky", "cholesky")
def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """The Cholesky factors of positive definite matrices.

    output @ adjoint(output) = input, output lower triangular

    Args:
      input: float or complex Tensor [..., n, n]; only the lower triangle is read.
      name: the op's name.

    Returns:
      A Tensor of that shape and type.

    Raises:
      InvalidArgumentError: (in a run) a matrix is not positive definite.

    Example:
      >>> tf.Session().run(tf.cholesky([[4.0, 2.0], [2.0, 2.0]]))
      array([[2., 0.],
             [1., 1.]], dtype=float32)

    Source: Cholesky in core/ops/linalg_ops.cc.
    """
    return Cholesky()(input, name=name)


class CholeskyGrad(Op):
    """Cholesky's gradient as a single op, for older graphs.  Source: CholeskyGrad."""

    signature = "l: T, grad: T -> output: T"
    T = dtypes_of("half float double")

    def infer_shape(self, l: Shape, grad: Shape) -> Shape:  # noqa: E741
        batch, size = square(l)
        return None if l is None else (*batch, size, size)

    def check_shapes(self, l: tuple[int, ...], grad: tuple[int, ...]) -> None:  # noqa: E741
        require(l == grad, "Inputs (L and grad) must have the same shape.")

    def compute(self, xp: ArrayModule, l: Array, grad: Array) -> Any:  # noqa: E741
        check_square(l)
        factor = xp.tril(widened(l))
        product = xp.tril(xp.swapaxes(factor, -1, -2) @ xp.tril(widened(grad)))
        n = l.shape[-1]
        product[..., xp.arange(n), xp.arange(n)] *= 0.5
        inverse = attempt("Input matrix is not invertible.", xp.linalg.inv, factor)
        whole = xp.swapaxes(inverse, -1, -2) @ product @ inverse
        return ((whole + xp.swapaxes(whole, -1, -2)) / 2).astype(l.dtype)


@export("linalg.logdet")
def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """ln det of positive definite matrices, computed from their Cholesky factors.

    Args:
      matrix: float or complex Tensor [..., n, n].
      name: the name of the scope.

    Returns:
      A real Tensor [...].

    Raises:
      InvalidArgumentError: (in a run) a matrix is not positive definite.

    Source: python/ops/linalg/linalg_impl.py.
    """
    with name_scope(name, "logdet", [matrix]):
        diagonal = matrix_diag_part(cholesky(matrix))
        return 2.0 * reduce_sum(log(real(diagonal)), axis=[-1])
