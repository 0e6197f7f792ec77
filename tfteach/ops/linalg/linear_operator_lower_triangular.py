"""tf.linalg.LinearOperatorLowerTriangular: a matrix given by its lower triangle.

Source: python/ops/linalg/linear_operator.py, linear_operator_lower_triangular.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.adjoint import adjoint as adjoint_of
from tfteach.ops.linalg.matmul import matmul as product
from tfteach.ops.linalg.matrix_diag import matrix_band_part, matrix_diag_part
from tfteach.ops.linalg.solve import matrix_triangular_solve
from tfteach.ops.math.complex import abs as absolute
from tfteach.ops.math.exponential import log
from tfteach.ops.math.reduce_functions import reduce_prod, reduce_sum


@export("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular:
    """The lower triangle of `tril` as a matrix, or a batch of them.

    Args:
      tril: Tensor [..., n, n]; elements above the diagonal are ignored.
      is_non_singular, is_self_adjoint, is_positive_definite: properties asserted by the
        caller, stored as attributes.
      is_square: True or None.
      name: the prefix of the names of nodes that the methods create.

    Raises:
      ValueError: `is_square` is False, or `tril` has fewer than two dimensions.

    Example:
      >>> mask = tf.linalg.LinearOperatorLowerTriangular(tf.ones([3, 3])).to_dense()

    Source: python/ops/linalg/linear_operator_lower_triangular.py.
    """

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        if is_square is False:
            raise ValueError(
                "Only square lower triangular operators supported at this time."
            )
        with name_scope(name, values=[tril]):
            self._tril = convert(tril, None, "tril")
        rank = self._tril.shape.ndims
        if rank is not None and rank < 2:
            raise ValueError(
                f"Argument tril must have at least 2 dimensions.  Found: {self._tril}"
            )
        if is_positive_definite and is_non_singular is None:
            is_non_singular = True
        self.is_square = True
        self.is_non_singular = is_non_singular
        self.is_self_adjoint = is_self_adjoint
        self.is_positive_definite = is_positive_definite
        self.name = name

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._tril.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape [..., n, n]."""
        return self._tril.shape

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape without its last two dimensions."""
        result: TensorShape = self.shape[:-2]
        return result

    @property
    def domain_dimension(self) -> Any:
        """The dimension of the domain: the number of columns."""
        return self.shape[-1]

    @property
    def range_dimension(self) -> Any:
        """The dimension of the range: the number of rows."""
        return self.shape[-2]

    @property
    def tensor_rank(self) -> int | None:
        """The rank, including batch dimensions."""
        return self.shape.ndims

    @property
    def graph_parents(self) -> list[Tensor]:
        """The Tensors that define the operator."""
        return [self._tril]

    def _lower(self) -> Tensor:
        return matrix_band_part(self._tril, -1, 0)

    def _diagonal(self) -> Tensor:
        return matrix_diag_part(self._tril)

    def _scope(self, name: str) -> name_scope:
        return name_scope(f"{self.name}/{name}")

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape [..., n, n] as an int32 vector."""
        with self._scope(name):
            if self.shape.is_fully_defined():
                return constant(self.shape.as_list(), int32)
            return shape(self._tril)

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrix with zeros above its diagonal."""
        with self._scope(name):
            return self._lower()

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonal, [..., n]."""
        with self._scope(name):
            return matrix_diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> Tensor:
        """The sum of the diagonal."""
        with self._scope(name):
            return reduce_sum(self.diag_part(), axis=-1)

    def determinant(self, name: str = "det") -> Tensor:
        """The product of the diagonal."""
        with self._scope(name):
            return reduce_prod(self._diagonal(), axis=[-1])

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """log |det|."""
        with self._scope(name):
            return reduce_sum(log(absolute(self._diagonal())), axis=[-1])

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The matrix plus `x`."""
        with self._scope(name):
            x = convert(x, self.dtype, "x")
            return self.to_dense() + x

    def matmul(
        self,
        x: TensorLike,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "matmul",
    ) -> Tensor:
        """The matrix, or its adjoint, times the matrices `x`, or their adjoints."""
        with self._scope(name):
            x = convert(x, self.dtype, "x")
            return product(self._lower(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def matvec(
        self, x: TensorLike, adjoint: bool = False, name: str = "matvec"
    ) -> Tensor:
        """The matrix, or its adjoint, times the vectors `x`, [..., n]."""
        with self._scope(name):
            column = expand_dims(convert(x, self.dtype, "x"), axis=-1)
            return squeeze(self.matmul(column, adjoint=adjoint), axis=-1)

    def solve(
        self,
        rhs: TensorLike,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "solve",
    ) -> Tensor:
        """x with `self @ x == rhs`, by substitution; batch shapes must be equal."""
        with self._scope(name):
            rhs = convert(rhs, self.dtype, "rhs")
            rhs = adjoint_of(rhs) if adjoint_arg else rhs
            lower = self._lower()
            with name_scope("MatrixTriangularSolve"):
                return matrix_triangular_solve(lower, rhs, lower=True, adjoint=adjoint)

    def solvevec(
        self, rhs: TensorLike, adjoint: bool = False, name: str = "solve"
    ) -> Tensor:
        """x with `self @ x == rhs` for vectors `rhs`, [..., n]."""
        with self._scope(name):
            column = expand_dims(convert(rhs, self.dtype, "rhs"), axis=-1)
            return squeeze(self.solve(column, adjoint=adjoint), axis=-1)
