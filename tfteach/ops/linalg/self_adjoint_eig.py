"""Eigenvalues and eigenvectors of self-adjoint matrices.

Signs of eigenvectors are a matter of convention: here LAPACK's, in TensorFlow Eigen's.
Source: core/ops/linalg_ops.cc, python/ops/linalg_grad.py; Giles, "An extended
collection of matrix derivative results" (2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.linalg.adjoint import adjoint
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import (
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)
from tfteach.ops.linalg.solve import (
    MATRIX_TYPES,
    attempt,
    check_square,
    square,
    widened,
)
from tfteach.ops.math.unary import reciprocal


class SelfAdjointEigV2(MultiOutputOp):
    """Eigenvalues in ascending order, and eigenvectors.  Source: linalg_ops.cc."""

    signature = "input: T -> e: T, v: T"
    compute_v: bool = True
    T = MATRIX_TYPES

    def infer_shape(self, input: Shape) -> list[Shape]:
        batch, size = square(input)
        if input is None:
            return [None, None if self.compute_v else (0,)]
        return [(*batch, size), (*batch, size, size) if self.compute_v else (0,)]

    def compute(self, xp: ArrayModule, input: Array) -> tuple[Any, Any]:
        check_square(input)
        message = (
            "Self-adjoint eigen decomposition was not successful. The input might not "
            "be valid."
        )
        dtype, size = input.dtype, input.shape[-1]
        lower = xp.tril(widened(input))
        is_finite = xp.isfinite(lower).all(axis=(-2, -1))
        is_bad = xp.isnan(lower) if size == 2 else ~is_finite
        if size > 1 and is_bad.any():
            raise invalid_argument(message)
        # Of infinity Eigen makes NaN where it does not iterate, for two rows; a single
        # element it returns as it is.
        rest = lower[..., 0].real if size == 1 else lower.real.dtype.type(np.nan)
        lower = xp.where(is_finite[..., None, None], lower, lower.dtype.type(0))
        if self.compute_v:
            values, vectors = attempt(message, xp.linalg.eigh, lower)
            identity = xp.eye(size, dtype=vectors.dtype)
            vectors = xp.where(is_finite[..., None, None], vectors, identity)
            vectors = vectors.astype(dtype, copy=False)
        else:
            values = attempt(message, xp.linalg.eigvalsh, lower)
            vectors = xp.empty((0,), dtype)
        return xp.where(is_finite[..., None], values, rest).astype(dtype), vectors

    def gradient(self, op: Operation, grad_e: Tensor, grad_v: Tensor) -> list[Gradient]:
        e = op.outputs[0]
        with control_dependencies([grad_e, grad_v]):
            if self.compute_v:
                v = op.outputs[1]
                gaps = expand_dims(e, -2) - expand_dims(e, -1)
                f = matrix_set_diag(reciprocal(gaps), zeros_like(e))
                inner = matrix_diag(grad_e) + f * matmul(v, grad_v, adjoint_a=True)
            else:
                _, v = self_adjoint_eig(op.inputs[0])
                inner = matrix_diag(grad_e)
            whole = matmul(v, matmul(inner, v, adjoint_b=True))
            # Only the lower triangle of the input is read.
            whole = matrix_band_part(whole + adjoint(whole), -1, 0)
            return [matrix_set_diag(whole, 0.5 * matrix_diag_part(whole))]


@export("linalg.eigh", "self_adjoint_eig")
def self_adjoint_eig(
    tensor: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of self-adjoint matrices.

    tensor @ v[:, i] = e[i] * v[:, i]

    Args:
      tensor: float or complex Tensor [..., n, n]; only the lower triangle is read.
      name: the op's name.

    Returns:
      e, Tensor [..., n] in ascending order, and v, Tensor [..., n, n], the eigenvectors
      as columns; their signs are LAPACK's.

    Raises:
      InvalidArgumentError: (in a run) no decomposition is found, for instance with NaN.

    Example:
      >>> e, v = tf.self_adjoint_eig([[2.0, 0.0], [0.0, 1.0]])  # e: [1, 2]

    Source: SelfAdjointEigV2 in core/ops/linalg_ops.cc.
    """
    e, v = SelfAdjointEigV2(True)(tensor, name=name)
    return e, v


@export("linalg.eigvalsh", "self_adjoint_eigvals")
def self_adjoint_eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues of self-adjoint matrices, in ascending order.

    Args:
      tensor: float or complex Tensor [..., n, n]; only the lower triangle is read.
      name: the op's name.

    Returns:
      A Tensor [..., n] of that type.

    Source: SelfAdjointEigV2 in core/ops/linalg_ops.cc.
    """
    e, _ = SelfAdjointEigV2(False)(tensor, name=name)
    return e


class SelfAdjointEig(Op):
    """Eigenvalues in the first row, eigenvectors below.  Source: SelfAdjointEig."""

    signature = "input: T -> output: T"
    T = dtypes_of("double float half")

    def infer_shape(self, input: Shape) -> Shape:
        batch, size = square(input)
        if input is None:
            return None
        return (*batch, None if size is None else size + 1, size)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        values, vectors = SelfAdjointEigV2(True).compute(xp, input)
        return xp.concatenate([values[..., None, :], vectors], axis=-2)
