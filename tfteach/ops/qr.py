"""QR decomposition.  Source: core/ops/linalg_ops.cc, Qr; python/ops/linalg_grad.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape


class Qr(Op):
    """input = q @ r, q orthonormal and r upper triangular.

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

    def compute(self, xp: Any, input: Any) -> tuple[Any, Any]:
        wide = input.astype("float32") if input.dtype == "float16" else input
        mode = "complete" if self.full_matrices else "reduced"
        q, r = xp.linalg.qr(wide, mode=mode)
        return q.astype(input.dtype, copy=False), r.astype(input.dtype, copy=False)


@export("linalg.qr", "qr")
def qr(
    input: Any, full_matrices: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(q, r) with input = q @ r.

    Args:
      input: a float or complex Tensor [..., m, n].
      full_matrices: q is [..., m, m] instead of [..., m, min(m, n)].
      name: the op's name.

    Returns:
      q, whose columns are orthonormal, and r, upper triangular.  No gradient yet.
    """
    q, r = Qr(full_matrices)(input, name=name)
    return q, r
