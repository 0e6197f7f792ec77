"""QR decomposition.  Source: core/ops/linalg_ops.cc, Qr; python/ops/linalg_grad.py."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.linalg.adjoint import adjoint
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import matrix_band_part
from tfteach.ops.linalg.solve import matrix_triangular_solve

_Qr: Any = namedtuple("Qr", "q r")  # type: ignore[name-match]  # the op's name, as TF's


class Qr(MultiOutputOp):
    """input = q @ r with an orthonormal q and an upper triangular r.

    Source: core/ops/linalg_ops.cc, Qr.
    """

    signature = "input: T -> q: T, r: T"
    T = dtypes_of("float64 float32 half complex64 complex128")
    full_matrices: bool = False

    def infer_shape(self, input: Shape) -> list[Shape]:
        shapes.with_rank_at_least(input, 2)
        if input is None:
            return [None, None]
        *batch, rows, columns = input
        if self.full_matrices:
            return [(*batch, rows, rows), (*batch, rows, columns)]
        least = None if rows is None or columns is None else min(rows, columns)
        return [(*batch, rows, least), (*batch, least, columns)]

    def check_shapes(self, input: tuple[int, ...]) -> None:
        message = f"Input tensor 0 must have rank >= 2, got {len(input)}"
        require(len(input) >= 2, message)

    def compute(self, xp: ArrayModule, input: Array) -> tuple[Any, Any]:
        wide = input.astype("float32") if input.dtype == "float16" else input
        mode = "complete" if self.full_matrices else "reduced"
        q, r = xp.linalg.qr(wide, mode=mode)
        return q.astype(input.dtype, copy=False), r.astype(input.dtype, copy=False)

    def gradient(self, op: Operation, dq: Any, dr: Any) -> list[Gradient]:
        q, r = op.outputs
        if q.dtype.is_complex:
            raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype}")
        sizes = (None, None) if r._shape is None else r._shape[-2:]
        if None in sizes:
            raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
        if sizes[0] != sizes[1]:
            raise NotImplementedError(
                "QrGrad not implemented when ncols > nrows or full_matrices is true "
                "and ncols != nrows."
            )
        qdq = matmul(q, dq, adjoint_a=True)
        turn_q = qdq - adjoint(qdq)
        rdr = matmul(r, dr, adjoint_b=True)
        turn_r = rdr - adjoint(rdr)
        lower = matrix_band_part(turn_q + turn_r, -1, 0)
        inner = matmul(q, dr + _over_adjoint(lower, r))
        return [inner + _over_adjoint(dq - matmul(q, qdq), r)]


def _over_adjoint(x: Any, r: Any) -> Any:
    """x @ inverse(adjoint(r)) for an upper triangular r."""
    return adjoint(matrix_triangular_solve(r, adjoint(x), lower=False, adjoint=False))


@export("linalg.qr", "qr")
def qr(
    input: TensorLike, full_matrices: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(q, r) with input = q @ r.

    Args:
      input: a float or complex Tensor [..., m, n].
      full_matrices: q is [..., m, m] instead of [..., m, min(m, n)].
      name: the op's name.

    Returns:
      q with orthonormal columns, and an upper triangular r.  The gradient requires a
      known shape with at least as many rows as columns.

    Source: Qr in core/ops/linalg_ops.cc.
    """
    return _Qr(*Qr(full_matrices)(input, name=name))
