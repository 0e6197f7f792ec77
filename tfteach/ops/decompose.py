"""Decompositions of matrices: Cholesky, eigenvalues, singular values, LU.

Signs of eigenvectors and singular vectors are a matter of convention: they are LAPACK's
here, Eigen's in TensorFlow.
Source: core/ops/linalg_ops.cc, python/ops/linalg_grad.py.
Papers: Giles, "An extended collection of matrix derivative results" (2008); Ionescu,
Vantzos, Sminchisescu, "Training deep networks with structured layers" (2015).
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.shape import Shape
from tfteach.ops.adjoint import upward
from tfteach.ops.arrange import matrix_transpose
from tfteach.ops.array import INDICES, expand_dims
from tfteach.ops.complex import real
from tfteach.ops.diagonal import (
    eye,
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)
from tfteach.ops.fill import zeros_like
from tfteach.ops.linalg import adjoint_view, matmul
from tfteach.ops.reductions import reduce_sum
from tfteach.ops.shapes import shape
from tfteach.ops.solve import (
    MATRIX_TYPES,
    attempt,
    check_square,
    matrix_triangular_solve,
    square,
    widened,
)
from tfteach.ops.unary import square as squared


@export("linalg.adjoint")
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Matrices transposed and conjugated.

    Args:
      matrix: Tensor [..., m, n].
      name: the name of the scope.

    Returns:
      A Tensor [..., n, m] of that type.

    Source: python/ops/linalg/linalg_impl.py.
    """
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert(matrix, name="matrix"), conjugate=True)


# ---- Cholesky


class Cholesky(Op):
    """The lower triangular L with L @ adjoint(L) = input.

    Source: core/ops/linalg_ops.cc, Cholesky.
    """

    signature = "input: T -> output: T"
    T = MATRIX_TYPES

    def infer_shape(self, input: Shape) -> Shape:
        batch, size = square(input)
        return None if input is None else (*batch, size, size)

    def compute(self, xp: Any, input: Any) -> Any:
        check_square(input)
        try:
            found = xp.linalg.cholesky(widened(input))
        except np.linalg.LinAlgError:
            raise invalid_argument(
                "Cholesky decomposition was not successful. The input might not be "
                "valid."
            ) from None
        return found.astype(input.dtype, copy=False)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
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
def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The Cholesky factors of positive definite matrices.

    output @ adjoint(output) = input, output lower triangular

    Args:
      input: float or complex Tensor [..., n, n]; its lower triangle is read.
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
    """The gradient of Cholesky as one op, for older graphs.  Source: CholeskyGrad."""

    signature = "l: T, grad: T -> output: T"
    T = dtypes_of("half float double")

    def infer_shape(self, l: Shape, grad: Shape) -> Shape:  # noqa: E741
        batch, size = square(l)
        return None if l is None else (*batch, size, size)

    def compute(self, xp: Any, l: Any, grad: Any) -> Any:  # noqa: E741
        check_square(l)
        factor = xp.tril(widened(l))
        product = xp.tril(xp.swapaxes(factor, -1, -2) @ xp.tril(widened(grad)))
        n = l.shape[-1]
        product[..., xp.arange(n), xp.arange(n)] *= 0.5
        inverse = attempt("Input matrix is not invertible.", xp.linalg.inv, factor)
        whole = xp.swapaxes(inverse, -1, -2) @ product @ inverse
        return ((whole + xp.swapaxes(whole, -1, -2)) / 2).astype(l.dtype)


@export("linalg.logdet")
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """ln det of positive definite matrices, by their Cholesky factors.

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
        return 2.0 * reduce_sum(upward("log")(real(diagonal)), axis=[-1])


# ---- eigenvalues of self-adjoint matrices


class SelfAdjointEigV2(Op):
    """Eigenvalues, rising, and eigenvectors.  Source: linalg_ops.cc."""

    signature = "input: T -> e: T, v: T"
    compute_v: bool = True
    T = MATRIX_TYPES

    def infer_shape(self, input: Shape) -> list[Shape]:
        batch, size = square(input)
        if input is None:
            return [None, None if self.compute_v else (0,)]
        return [(*batch, size), (*batch, size, size) if self.compute_v else (0,)]

    def compute(self, xp: Any, input: Any) -> tuple[Any, Any]:
        check_square(input)
        words = (
            "Self-adjoint eigen decomposition was not successful. The input might not "
            "be valid."
        )
        dtype, wide = input.dtype, widened(input)
        if self.compute_v:
            values, vectors = attempt(words, xp.linalg.eigh, wide)
            return values.astype(dtype), vectors.astype(dtype, copy=False)
        values = attempt(words, xp.linalg.eigvalsh, wide)
        return values.astype(dtype), xp.empty((0,), dtype)

    def gradient(self, op: Operation, grad_e: Any, grad_v: Any) -> list[Any]:
        e = op.outputs[0]
        with control_dependencies([grad_e, grad_v]):
            if self.compute_v:
                v = op.outputs[1]
                gaps = expand_dims(e, -2) - expand_dims(e, -1)
                f = matrix_set_diag(upward("reciprocal")(gaps), zeros_like(e))
                inner = matrix_diag(grad_e) + f * matmul(v, grad_v, adjoint_a=True)
            else:
                _, v = self_adjoint_eig(op.inputs[0])
                inner = matrix_diag(grad_e)
            whole = matmul(v, matmul(inner, v, adjoint_b=True))
            # Only the lower triangle of the input was read.
            whole = matrix_band_part(whole + adjoint(whole), -1, 0)
            return [matrix_set_diag(whole, 0.5 * matrix_diag_part(whole))]


@export("linalg.eigh", "self_adjoint_eig")
def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of self-adjoint matrices.

    tensor @ v[:, i] = e[i] * v[:, i]

    Args:
      tensor: float or complex Tensor [..., n, n]; its lower triangle is read.
      name: the op's name.

    Returns:
      e, Tensor [..., n] in rising order, and v, Tensor [..., n, n], the eigenvectors as
      columns; their signs are LAPACK's.

    Raises:
      InvalidArgumentError: (in a run) there is no decomposition, as with NaN.

    Example:
      >>> e, v = tf.self_adjoint_eig([[2.0, 0.0], [0.0, 1.0]])  # e: [1, 2]

    Source: SelfAdjointEigV2 in core/ops/linalg_ops.cc.
    """
    e, v = SelfAdjointEigV2(True)(tensor, name=name)
    return e, v


@export("linalg.eigvalsh", "self_adjoint_eigvals")
def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues of self-adjoint matrices, in rising order.

    Args:
      tensor: float or complex Tensor [..., n, n]; its lower triangle is read.
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

    def compute(self, xp: Any, input: Any) -> Any:
        values, vectors = SelfAdjointEigV2(True).compute(xp, input)
        return xp.concatenate([values[..., None, :], vectors], axis=-2)


# ---- singular values


class Svd(Op):
    """Singular values, falling, and singular vectors.  Source: linalg_ops.cc, Svd."""

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

    def compute(self, xp: Any, input: Any) -> tuple[Any, Any, Any]:
        dtype, wide = input.dtype, widened(input)
        if wide.ndim < 2:
            raise invalid_argument(
                f"Input tensor 0 must have rank >= 2, got {wide.ndim}"
            )
        # LAPACK gives up where there is NaN or infinity; TF's answer is nan there.
        is_finite = xp.isfinite(wide).all(axis=(-2, -1))
        wide = xp.where(is_finite[..., None, None], wide, wide.dtype.type(0))
        if not self.compute_uv:
            values = xp.linalg.svd(wide, compute_uv=False)
            values = _or_nan(xp, values, is_finite[..., None]).astype(dtype)
            return values, xp.empty((0,), dtype), xp.empty((0,), dtype)
        u, values, vh = xp.linalg.svd(wide, full_matrices=self.full_matrices)
        values = _or_nan(xp, values, is_finite[..., None]).astype(dtype)
        # Of a matrix of zeros, these are unit matrices: as TF's are for nan.
        return values, u.astype(dtype), adjoint_view(xp, vh).astype(dtype)

    def gradient(self, op: Operation, *grads: Any) -> list[Any]:
        return [svd_gradient(op, *grads)]


def _or_nan(xp: Any, values: Any, is_finite: Any) -> Any:
    return xp.where(is_finite, values, values.dtype.type(np.nan))


def svd_gradient(op: Operation, grad_s: Any, grad_u: Any, grad_v: Any) -> Tensor:
    """The gradient for the input of Svd, in TensorFlow's nodes.

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
    if is_tall := m > n:  # then of the adjoint matrix
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
        # 1 on the diagonal, where the reciprocal would be infinite; then 0.
        gaps = expand_dims(s2, -2) - expand_dims(s2, -1) + identity
        f = matrix_set_diag(upward("reciprocal")(gaps), zeros_like(s))
        s_inverse = matrix_diag(upward("reciprocal")(s))
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
    tensor: Any,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """Singular values, and singular vectors, of matrices.

    tensor = u @ diag(s) @ adjoint(v)

    Args:
      tensor: float or complex Tensor [..., m, n]; p = min(m, n).
      full_matrices: u and v are square, not just p columns wide.
      compute_uv: whether to compute u and v.
      name: the op's name.

    Returns:
      (s, u, v), or s alone without `compute_uv`: s a Tensor [..., p] in falling order,
      u [..., m, p], v [..., n, p]; the signs of their columns are LAPACK's.

    Example:
      >>> tf.Session().run(tf.svd([[0.0, 3.0], [-2.0, 0.0]], compute_uv=False))
      array([3., 2.], dtype=float32)

    Source: Svd in core/ops/linalg_ops.cc.
    """
    s, u, v = Svd(bool(compute_uv), bool(full_matrices))(tensor, name=name)
    return (real(s), u, v) if compute_uv else real(s)


# ---- LU

_Lu: Any = namedtuple("Lu", "lu p")  # type: ignore[name-match]  # the op's name, as TF's


class Lu(Op):
    """L and U in one matrix, and the rows' order.  Source: linalg_ops.cc, Lu."""

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

    def compute(self, xp: Any, input: Any) -> tuple[Any, Any]:
        check_square(input)
        size = input.shape[-1]
        factors = np.array(widened(input)).reshape(-1, size, size)
        order = np.tile(np.arange(size), (len(factors), 1))
        for matrix, rows in zip(factors, order, strict=True):
            _eliminate(matrix, rows)
        index = self.output_idx_type.numpy_dtype
        return (
            factors.reshape(input.shape).astype(input.dtype),
            order.reshape(input.shape[:-1]).astype(index),
        )


def _eliminate(matrix: Any, rows: Any) -> None:
    """Gauss's elimination in place, the largest element of a column as its pivot."""
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
def lu(input: Any, output_idx_type: Any = int32, name: str | None = None) -> Any:
    """LU decompositions with pivots.

    input[p] = L @ U

    Args:
      input: float or complex Tensor [..., n, n].
      output_idx_type: int32 or int64, the type of `p`.
      name: the op's name.

    Returns:
      lu, Tensor [..., n, n]: U in the upper triangle, L below it (its diagonal is 1);
      and p, Tensor [..., n]: the rows' order.

    Raises:
      InvalidArgumentError: (in a run) a matrix is not invertible.

    Source: Lu in core/ops/linalg_ops.cc.
    """
    return _Lu(*Lu(as_dtype(output_idx_type))(input, name=name))
