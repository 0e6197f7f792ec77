"""`tf.linalg.adjoint`.  Source: python/ops/linalg/linalg_impl.py."""

from __future__ import annotations

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.transpose_reverse import matrix_transpose


@export("linalg.adjoint")
def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Conjugate transposes of matrices.

    Args:
      matrix: Tensor [..., m, n].
      name: the name of the scope.

    Returns:
      A Tensor [..., n, m] of that type.

    Source: python/ops/linalg/linalg_impl.py.
    """
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert(matrix, name="matrix"), conjugate=True)
