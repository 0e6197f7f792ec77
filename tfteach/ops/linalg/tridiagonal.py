"""Tridiagonal matrices: products and linear systems.

Source: core/ops/linalg_ops.cc (TridiagonalSolve, TridiagonalMatMul),
python/ops/linalg/linalg_impl.py, python/ops/linalg_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.padding import pad
from tfteach.ops.array.transpose_reverse import matrix_transpose, transpose
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.linalg.matrix_diag import matrix_diag_part
from tfteach.ops.math.complex import conj
from tfteach.ops.math.reduce_functions import reduce_sum

_FIELDS = dtypes_of("double float complex64 complex128")


class TridiagonalSolve(Op):
    """X in matrix @ X = rhs.  Source: linalg_ops.cc, TridiagonalSolve."""

    signature = "diagonals: T, rhs: T -> output: T"
    partial_pivoting: bool = True
    T = _FIELDS
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, diagonals: Shape, rhs: Shape) -> Shape:
        shapes.with_rank_at_least(diagonals, 2)
        shapes.with_rank_at_least(rhs, 2)
        if diagonals is None or rhs is None:
            return rhs
        if diagonals[-2] not in (None, 3):
            raise ValueError(f"Dimension must be 3 but is {diagonals[-2]}")
        m, n = diagonals[-1], rhs[-2]
        if m is not None and n is not None and m != n:
            raise ValueError(f"Dimensions must be equal, but are {m} and {n}")
        batch = shapes.merge(diagonals[:-2], rhs[:-2])
        return None if batch is None else (*batch, n, rhs[-1])

    def check_shapes(self, diagonals: tuple[int, ...], rhs: tuple[int, ...]) -> None:
        require(
            len(diagonals) == len(rhs), "All input tensors must have the same rank."
        )
        message = f"Input tensor 0 must have rank >= 2, got {len(rhs)}"
        require(len(rhs) >= 2, message)

    def compute(self, xp: ArrayModule, diagonals: Array, rhs: Array) -> Any:
        if diagonals.shape[-2] != 3:
            raise invalid_argument(
                "Expected diagonals to be provided as a matrix with 3 rows, got "
                f"{diagonals.shape[-2]} rows."
            )
        if diagonals.shape[-1] != rhs.shape[-2]:
            raise invalid_argument(
                "Expected the same number of left-hand sides and right-hand sides, got "
                f"{diagonals.shape[-1]} and {rhs.shape[-2]}."
            )
        above, main, below = (diagonals[..., i, :] for i in range(3))
        if main.shape[-1] == 1 and bool((main == 0).any()):
            raise invalid_argument(
                "The matrix is not invertible: it is a scalar with value zero."
            )
        return self._eliminated(above, main, below, rhs)

    def _eliminated(self, above: Any, main: Any, below: Any, rhs: Any) -> Any:
        """Gaussian elimination, one row of all matrices at a time."""
        upper = [np.array(main), np.array(above), np.zeros_like(main)]
        x, m = np.array(rhs), main.shape[-1]
        if m:
            upper[1][..., m - 1] = 0
        for i in range(m - 1):
            own = [part[..., i].copy() for part in upper]
            following = [below[..., i + 1], upper[0][..., i + 1], upper[1][..., i + 1]]
            swap = np.abs(following[0]) > np.abs(own[0])
            swap = swap if self.partial_pivoting else np.zeros_like(swap)
            first = [np.where(swap, b, a) for a, b in zip(own, following, strict=True)]
            other = [np.where(swap, a, b) for a, b in zip(own, following, strict=True)]
            self._check(first[0])
            factor = other[0] / first[0]
            for part, value in zip(upper, first, strict=True):
                part[..., i] = value
            upper[0][..., i + 1] = other[1] - factor * first[1]
            upper[1][..., i + 1] = other[2] - factor * first[2]
            here, there = x[..., i, :].copy(), x[..., i + 1, :].copy()
            row = np.where(swap[..., None], there, here)
            x[..., i, :] = row
            rest = np.where(swap[..., None], here, there)
            x[..., i + 1, :] = rest - factor[..., None] * row
        if m:
            self._check(upper[0][..., m - 1])
        for i in range(m - 1, -1, -1):
            for step in (1, 2):
                if i + step < m:
                    x[..., i, :] -= upper[step][..., i, None] * x[..., i + step, :]
            x[..., i, :] /= upper[0][..., i, None]
        return x

    def _check(self, pivot: Any) -> None:
        if not (pivot == 0).any():
            return
        if self.partial_pivoting:
            raise invalid_argument("The matrix is not invertible.")
        raise invalid_argument(
            "The matrix is either not invertible, or requires pivoting. Try setting "
            "partial_pivoting = True."
        )

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        transposed = _transposed(op.inputs[0])
        grad_rhs = TridiagonalSolve(self.partial_pivoting)(transposed, grad)
        return [-_three_diagonals(grad_rhs, op.outputs[0]), grad_rhs]


def _transposed(diagonals: Tensor) -> Tensor:
    """The diagonals of the transposed matrices."""
    main = diagonals[..., 1, :]
    if diagonals.shape.is_fully_defined():
        none = zeros([*diagonals.shape.as_list()[:-2], 1], dtype=diagonals.dtype)
        above = concat((diagonals[..., 2, 1:], none), axis=-1)
        below = concat((none, diagonals[..., 0, :-1]), axis=-1)
        return stack([above, main, below], axis=-2)
    none = zeros((rank(diagonals) - 2, 2), dtype=int32)
    paddings = concat((none, constant([[0, 1]])), axis=0)
    above = pad(diagonals[..., 2, 1:], paddings)
    paddings = concat((none, constant([[1, 0]])), axis=0)
    below = pad(diagonals[..., 0, :-1], paddings)
    return stack([above, main, below], axis=-2)


def _three_diagonals(x: Tensor, y: Tensor) -> Tensor:
    """The three diagonals of x @ yᵀ."""
    main = reduce_sum(x * y, axis=-1)
    if y.shape.is_fully_defined():
        sizes = x.shape.as_list()
        none = zeros([*sizes[:-2], 1, sizes[-1]], dtype=x.dtype)
        shifted = concat((y[..., 1:, :], none), axis=-2)
        above = reduce_sum(x * shifted, axis=-1)
        shifted = concat((none, y[..., :-1, :]), axis=-2)
        below = reduce_sum(x * shifted, axis=-1)
        return stack([above, main, below], axis=-2)
    none = zeros((rank(y) - 2, 2), dtype=int32)
    up = concat((none, constant([[0, 1], [0, 0]])), axis=0)
    above = reduce_sum(x * pad(y[..., 1:, :], up), axis=-1)
    down = concat((none, constant([[1, 0], [0, 0]])), axis=0)
    below = reduce_sum(x * pad(y[..., :-1, :], down), axis=-1)
    return stack([above, main, below], axis=-2)


class TridiagonalMatMul(Op):
    """Products with tridiagonal matrices.  Source: TridiagonalMatMul."""

    signature = "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T"
    T = _FIELDS
    on_gpu: ClassVar[bool] = False

    def infer_shape(
        self, superdiag: Shape, maindiag: Shape, subdiag: Shape, rhs: Shape
    ) -> Shape:
        for own in (superdiag, maindiag, subdiag, rhs):
            shapes.with_rank_at_least(own, 2)
        shapes.merge(subdiag, shapes.merge(superdiag, maindiag))
        return rhs

    def check_shapes(
        self,
        superdiag: tuple[int, ...],
        maindiag: tuple[int, ...],
        subdiag: tuple[int, ...],
        rhs: tuple[int, ...],
    ) -> None:
        same = len(superdiag) == len(maindiag) == len(subdiag) == len(rhs)
        require(same, "All input tensors must have the same rank.")
        message = f"Input tensor 0 must have rank >= 2, got {len(rhs)}"
        require(len(rhs) >= 2, message)

    def compute(
        self,
        xp: ArrayModule,
        superdiag: Array,
        maindiag: Array,
        subdiag: Array,
        rhs: Array,
    ) -> Any:
        m = rhs.shape[-2]
        for name, own in (
            ("superdiagonal", superdiag),
            ("main diagonal", maindiag),
            ("subdiagonal", subdiag),
        ):
            if own.shape != (*rhs.shape[:-2], 1, m):
                raise invalid_argument(f"Invalid {name} shape.")
        above, main, below = (
            np.swapaxes(own, -1, -2) for own in (superdiag, maindiag, subdiag)
        )
        found = main * rhs
        found[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
        found[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
        return found

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        above, main, below = (
            matrix_transpose(own, conjugate=True) for own in op.inputs[:3]
        )
        rhs = conj(op.inputs[3])
        diagonals = [
            reduce_sum(_shifted(rhs, 1) * grad, axis=-1),
            reduce_sum(rhs * grad, axis=-1),
            reduce_sum(_shifted(rhs, -1) * grad, axis=-1),
        ]
        back = _shifted(above * grad, -1) + main * grad
        back = back + _shifted(below * grad, 1)
        return [*[expand_dims(own, -2) for own in diagonals], back]


def _shifted(x: Tensor, by: int) -> Tensor:
    """Rows shifted up (1) or down (-1), with a row of zeros shifted in."""
    none = zeros((rank(x) - 2, 2), dtype=int32)
    end = [[0, 1], [0, 0]] if by > 0 else [[1, 0], [0, 0]]
    paddings = concat([none, constant(end)], axis=0)
    return pad(x[..., 1:, :] if by > 0 else x[..., :-1, :], paddings)


# ---- public functions


def _matrix_size(diagonals: Tensor) -> int:
    rows, columns = diagonals.shape.as_list()[-2:]
    if rows and columns and rows != columns:
        raise ValueError(
            "Expected last two dimensions of diagonals to be same, got "
            f"{columns} and {rows}"
        )
    if not (rows or columns):
        raise ValueError(
            'The size of the matrix needs to be known for diagonals_format="matrix"'
        )
    return int(rows or columns or 0)


@export("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: Tensor,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """The solutions of tridiagonal systems of linear equations.

    Args:
      diagonals: float or complex Tensor [..., 3, m], the diagonals above, on and below
        the main one ("compact"; the last element of the first and the first of the last
        are ignored); a list of these three as Tensors [..., m] or [..., m - 1]
        ("sequence"); or full matrices [..., m, m] ("matrix").
      rhs: Tensor [..., m] or [..., m, k] of that type.
      diagonals_format: one of these formats.
      transpose_rhs, conjugate_rhs: transpose and conjugate `rhs` first.
      name: the op's name.
      partial_pivoting: swap rows where that improves accuracy.

    Returns:
      A Tensor of the shape of `rhs`.

    Raises:
      ValueError: shapes do not match, or the format is unknown.
      InvalidArgumentError: (in a run) a matrix is not invertible.

    Source: python/ops/linalg/linalg_impl.py; TridiagonalSolve.
    """
    if diagonals_format == "sequence":
        diagonals = _stacked(diagonals)
    elif diagonals_format == "matrix":
        m, unused = _matrix_size(diagonals), [0, 0]
        places = [[[1, 0], [0, 0], unused]]
        places += [[[i + 1, i], [i, i], [i - 1, i]] for i in range(1, m - 1)]
        places.append([unused, [m - 1, m - 1], [m - 2, m - 1]])
        diagonals = transpose(gather_nd(transpose(diagonals), places))
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    _check_compact(diagonals, rhs)
    op = TridiagonalSolve(partial_pivoting)
    if len(rhs.shape) == len(diagonals.shape) - 1:
        column = expand_dims(conj(rhs) if conjugate_rhs else rhs, -1)
        return squeeze(op(diagonals, column, name=name), -1)
    if transpose_rhs:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    found = op(diagonals, rhs, name=name)
    return matrix_transpose(found) if transpose_rhs else found


def _stacked(diagonals: Any) -> Tensor:
    """Three diagonals as one tensor, with the outer ones padded."""
    if not isinstance(diagonals, tuple | list) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, main, below = diagonals
    m = main.shape.as_list()[-1]

    def filled(own: Tensor, what: str, end: list[int]) -> Tensor:
        n = own.shape.as_list()[-1]
        if not n or n == m:
            return own
        if n == m - 1:
            return pad(own, [[0, 0]] * (len(own.shape) - 1) + [end])
        raise ValueError(f"Expected {what} to be have length {m} or {m - 1}, got {n}.")

    below = filled(below, "subdiagonal", [1, 0])
    above = filled(above, "superdiagonal", [0, 1])
    return stack((above, main, below), axis=-2)


def _check_compact(diagonals: Tensor, rhs: Tensor) -> None:
    axes, own = len(diagonals.shape), len(rhs.shape)
    if axes < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {axes}")
    if own not in (axes, axes - 1):
        raise ValueError(
            f"Expected the rank of rhs to be {axes - 1} or {axes}, got {own}"
        )
    rows = diagonals.shape.as_list()[-2]
    if rows and rows != 3:
        raise ValueError(f"Expected 3 diagonals got {rows}")
    if not diagonals.shape[:-2].is_compatible_with(rhs.shape[: axes - 2]):
        raise ValueError(
            f"Batch shapes {diagonals.shape[:-2]} and {rhs.shape[: axes - 2]} are "
            "incompatible"
        )


@export("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: Any,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Tensor:
    """The products of tridiagonal matrices with matrices.

    Args:
      diagonals: as for `tf.linalg.tridiagonal_solve`; in a "sequence" all three are as
        long as the main diagonal.
      rhs: Tensor [..., m, k] of that type.
      diagonals_format: "compact", "sequence" or "matrix".
      name: the op's name.

    Returns:
      A Tensor [..., m, k].

    Raises:
      ValueError: shapes do not match, or the format is unknown.

    Source: python/ops/linalg/linalg_impl.py; TridiagonalMatMul.
    """
    if diagonals_format == "compact":
        parts = [diagonals[..., i, :] for i in range(3)]
    elif diagonals_format == "sequence":
        parts = list(diagonals)
    elif diagonals_format == "matrix":
        m, unused = _matrix_size(diagonals), [[0, 0]]
        main = matrix_diag_part(diagonals)
        transposed = transpose(diagonals)
        above = [[i + 1, i] for i in range(m - 1)] + unused
        below = unused + [[i - 1, i] for i in range(1, m)]
        first = transpose(gather_nd(transposed, above))
        parts = [first, main, transpose(gather_nd(transposed, below))]
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    rows = [expand_dims(part, -2) for part in parts]
    return TridiagonalMatMul()(*rows, rhs, name=name)
