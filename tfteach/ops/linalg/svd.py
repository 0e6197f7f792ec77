"""Singular values and vectors.

Signs of singular vectors are a matter of convention: here LAPACK's, in TensorFlow
Eigen's.
Source: core/ops/linalg_ops.cc, python/ops/linalg_grad.py; Ionescu, Vantzos,
Sminchisescu, "Training deep networks with structured layers" (2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.transpose_reverse import matrix_transpose
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.adjoint import adjoint
from tfteach.ops.linalg.matmul import adjoint_view, matmul
from tfteach.ops.linalg.matrix_diag import eye, matrix_diag, matrix_set_diag
from tfteach.ops.linalg.solve import MATRIX_TYPES, widened
from tfteach.ops.math.complex import real
from tfteach.ops.math.unary import reciprocal
from tfteach.ops.math.unary import square as squared


class Svd(MultiOutputOp):
    """Descending singular values, and singular vectors.  Source: linalg_ops.cc, Svd."""

    signature = "input: T -> s: T, u: T, v: T"
    compute_uv: bool = True
    full_matrices: bool = False
    T = MATRIX_TYPES

    def infer_shape(self, input: Shape) -> list[Shape]:
        shapes.with_rank_at_least(input, 2)
        if input is None:
            return [None, None, None] if self.compute_uv else [None, (0,), (0,)]
        *batch, m, n = input
        least = None if m is None or n is None else min(m, n)
        values = (*batch, least)
        if not self.compute_uv:
            return [values, (0,), (0,)]
        if self.full_matrices:
            return [values, (*batch, m, m), (*batch, n, n)]
        return [values, (*batch, m, least), (*batch, n, least)]

    def compute(self, xp: ArrayModule, input: Array) -> tuple[Any, Any, Any]:
        dtype, wide = input.dtype, widened(input)
        if wide.ndim < 2:
            raise invalid_argument(
                f"Input tensor 0 must have rank >= 2, got {wide.ndim}"
            )
        # LAPACK fails for NaN or infinity; TF then returns nan.
        is_finite = xp.isfinite(wide).all(axis=(-2, -1))
        wide = xp.where(is_finite[..., None, None], wide, wide.dtype.type(0))
        if not self.compute_uv:
            values = xp.linalg.svd(wide, compute_uv=False)
            values = _or_nan(xp, values, is_finite[..., None]).astype(dtype)
            return values, xp.empty((0,), dtype), xp.empty((0,), dtype)
        u, values, vh = xp.linalg.svd(wide, full_matrices=self.full_matrices)
        values = _or_nan(xp, values, is_finite[..., None]).astype(dtype)
        # For matrices of zeros these are identity matrices, which TF returns for nan.
        return values, u.astype(dtype), adjoint_view(xp, vh).astype(dtype)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [svd_gradient(op, *grads)]


def _or_nan(xp: ArrayModule, values: Any, is_finite: Any) -> Any:
    return xp.where(is_finite, values, values.dtype.type(np.nan))


def svd_gradient(
    op: Operation, grad_s: Tensor, grad_u: Tensor, grad_v: Tensor
) -> Tensor:
    """The gradient for the input of Svd, built from the same nodes as TensorFlow's.

    Raises:
      NotImplementedError: for complex matrices with their vectors, matrices of unknown
        size, and full vectors of matrices far from square.
    """
    a, kind = op.inputs[0], op.spec
    assert isinstance(kind, Svd)
    grad_s_mat = matrix_diag(grad_s)
    if not kind.compute_uv:
        _, u, v = svd(a, compute_uv=True)
        found = matmul(u, matmul(grad_s_mat, v, adjoint_b=True))
        found.set_shape(a.shape)
        return found
    if a.dtype.is_complex:
        raise NotImplementedError(
            "SVD gradient is not implemented for complex types and compute_uv=True."
        )
    s, u, v = op.outputs
    m, n = _known_sizes(a, grad_u, grad_v)
    if is_tall := m > n:  # then use the adjoint matrix
        m, n, u, v, grad_u, grad_v = n, m, v, u, grad_v, grad_u
    with control_dependencies([grad_s, grad_u, grad_v]):
        if kind.full_matrices and n - m > 1:
            raise NotImplementedError(
                "svd gradient is not implemented for abs(m - n) > 1 when full_matrices "
                "is True"
            )
        s_mat, s2 = matrix_diag(s), squared(s)
        sizes = shape(s)
        identity = eye(sizes[-1], batch_shape=sizes[:-1], dtype=s.dtype)
        # First 1 on the diagonal, where the reciprocal would be infinite; then 0.
        gaps = expand_dims(s2, -2) - expand_dims(s2, -1) + identity
        f = matrix_set_diag(reciprocal(gaps), zeros_like(s))
        s_inverse = matrix_diag(reciprocal(s))
        v1, grad_v1 = v[..., :, :m], grad_v[..., :, :m]
        f_u = matmul(u, grad_u, adjoint_a=True)
        f_v = matmul(v1, grad_v1, adjoint_a=True)
        f_u, f_v = f * f_u, f * f_v
        inner = (
            grad_s_mat
            + matmul(f_u + adjoint(f_u), s_mat)
            + matmul(s_mat, f_v + adjoint(f_v))
        )
        found = matmul(u, matmul(inner, v1, adjoint_b=True))
        if m != n:
            turned = matrix_transpose(grad_v1)
            own = matmul(turned, v1)
            rest = turned - matmul(own, v1, adjoint_b=True)
            if kind.full_matrices:
                v2, grad_v2 = v[..., :, m:n], grad_v[..., :, m:n]
                across = matmul(v1, grad_v2, adjoint_a=True)
                rest -= matmul(across, v2, adjoint_b=True)
            found = found + matmul(matmul(u, s_inverse), rest)
        if is_tall:
            found = matrix_transpose(found)
        found.set_shape(a.shape)
        return found


def _known_sizes(a: Tensor, grad_u: Tensor, grad_v: Tensor) -> tuple[int, int]:
    sizes: list[int] = []
    for axis, grad in ((-2, grad_u), (-1, grad_v)):
        known = None if a._shape is None else a._shape[axis]
        if known is None and grad._shape is not None:
            known = grad._shape[-2]
        if known is None:
            raise NotImplementedError(
                "SVD gradient has not been implemented for input with unknown inner "
                "matrix shape."
            )
        sizes.append(known)
    return sizes[0], sizes[1]


@export("linalg.svd", "svd")
def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """Singular values, and singular vectors, of matrices.

    tensor = u @ diag(s) @ adjoint(v)

    Args:
      tensor: float or complex Tensor [..., m, n]; p = min(m, n).
      full_matrices: make u and v square, instead of p columns wide.
      compute_uv: whether to compute u and v.
      name: the op's name.

    Returns:
      (s, u, v), or s alone without `compute_uv`: s a Tensor [..., p] in descending
      order, u [..., m, p], v [..., n, p]; the signs of their columns are LAPACK's.

    Example:
      >>> tf.Session().run(tf.svd([[0.0, 3.0], [-2.0, 0.0]], compute_uv=False))
      array([3., 2.], dtype=float32)

    Source: Svd in core/ops/linalg_ops.cc.
    """
    s, u, v = Svd(compute_uv, full_matrices)(tensor, name=name)
    return (real(s), u, v) if compute_uv else real(s)
