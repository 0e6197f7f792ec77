"""Diagonals of matrices and tensors; identity matrices; band matrices.

Source: core/ops/array_ops.cc, python/ops/array_ops.py, linalg_ops_impl.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones, zeros, zeros_like
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.stack_unstack import brackets
from tfteach.ops.linalg.matrix_diag_v2 import (
    MatrixDiagPartV2,
    MatrixDiagV2,
    MatrixSetDiagV2,
)
from tfteach.ops.math.binary import Minimum
from tfteach.ops.math.reduce_ops import Min

_DIAGONAL_TYPES = "bfloat16 float16 float32 float64 int32 int64 complex64 complex128"


def _shorter(rows: int | None, columns: int | None) -> int | None:
    return None if rows is None or columns is None else min(rows, columns)


class MatrixDiag(Op):
    """Square matrices with given diagonals.  Source: array_ops.cc, MatrixDiag."""

    signature = "diagonal: T -> output: T"

    def infer_shape(self, diagonal: Shape) -> Shape:
        shapes.with_rank_at_least(diagonal, 1)
        return None if diagonal is None else (*diagonal, diagonal[-1])

    def compute(self, xp: ArrayModule, diagonal: Array) -> Any:
        if not diagonal.ndim:
            raise invalid_argument(
                "diagonal must be at least 1-dim, received shape: []"
            )
        n = diagonal.shape[-1]
        result = xp.zeros((*diagonal.shape, n), diagonal.dtype)
        result[..., xp.arange(n), xp.arange(n)] = diagonal
        return result

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [matrix_diag_part(grad)]


class MatrixDiagPart(Op):
    """The diagonals of matrices.  Source: array_ops.cc, MatrixDiagPart."""

    signature = "input: T -> diagonal: T"

    def infer_shape(self, input: Shape) -> Shape:
        shapes.with_rank_at_least(input, 2)
        if input is None:
            return None
        return (*input[:-2], _shorter(*input[-2:]))

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        if input.ndim < 2:
            raise invalid_argument(
                f"input must be at least 2-dim, received shape: {brackets(input)}"
            )
        return xp.diagonal(input, axis1=-2, axis2=-1).copy()

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        known = op.inputs[0].static_shape
        matrix = None if known is None else known[-2:]
        if matrix is not None and None not in matrix and matrix[0] == matrix[1]:
            return [matrix_diag(grad)]
        return [matrix_set_diag(zeros_like(op.inputs[0]), grad)]


class MatrixSetDiag(Op):
    """Matrices with their diagonals replaced.  Source: array_ops.cc, MatrixSetDiag."""

    signature = "input: T, diagonal: T -> output: T"
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, input: Shape, diagonal: Shape) -> Shape:
        shapes.with_rank_at_least(input, 2)
        shapes.with_rank_at_least(diagonal, 1)
        if input is not None:
            whole = shapes.merge((*input[:-2], _shorter(*input[-2:])), diagonal)
            assert whole is not None
            return (*whole[:-1], *input[-2:])
        return None if diagonal is None else (*diagonal[:-1], None, None)

    def check_shapes(self, input: tuple[int, ...], diagonal: tuple[int, ...]) -> None:
        message = "input must be at least 2-dim, received shape: %s"
        require(len(input) >= 2, message, input)
        message = "diagonal must be at least 1-dim, received shape: %s"
        require(diagonal, message, diagonal)

    def compute(self, xp: ArrayModule, input: Array, diagonal: Array) -> Any:
        n = min(input.shape[-2:])
        if diagonal.shape != (*input.shape[:-2], n):
            raise invalid_argument(
                "Either first dimensions of diagonal don't match input.shape[:-2], or "
                "diagonal.shape[:-1] is not equal to the longests diagonal in range "
                "[lower_diag_index:upper_diag_index]."
            )
        result = input.copy()
        result[..., xp.arange(n), xp.arange(n)] = diagonal
        return result

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        known = shapes.merge(op.inputs[0].static_shape, grad.static_shape)
        wanted: Any = None
        if known is not None:
            given = op.inputs[1].static_shape
            batch = shapes.merge(known[:-2], None if given is None else given[:-1])
            if shapes.is_full(batch) and shapes.is_full(known[-2:]):
                wanted = [*batch, _shorter(*known[-2:])]
        if wanted is None:
            with colocate_with(grad):
                sizes, axes = shape(grad), rank(grad)
                outer = slice(sizes, [0], [axes - 2])
                matrix = slice(sizes, [axes - 2], [2])
                least = Min()(matrix, constant(np.zeros(1, np.int32)))
                wanted = concat([outer, [least]], 0)
        input_grad = matrix_set_diag(grad, zeros(wanted, dtype=grad.dtype))
        return [input_grad, matrix_diag_part(grad)]


class MatrixBandPart(Op):
    """Matrices, with zeros outside a band.  Source: array_ops.cc, MatrixBandPart."""

    signature = "input: T, num_lower: Tindex, num_upper: Tindex -> band: T"
    Tindex = INDICES
    Tindex_default = int64
    host_inputs: ClassVar[tuple[str, ...]] = ("num_lower", "num_upper")
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, input: Shape, num_lower: Shape, num_upper: Shape) -> Shape:
        return input  # as in TensorFlow, a run reports matrices without two axes

    def check_shapes(
        self,
        input: tuple[int, ...],
        num_lower: tuple[int, ...],
        num_upper: tuple[int, ...],
    ) -> None:
        require(
            len(input) >= 2, "input must be at least 2-dim, received shape: %s", input
        )
        require_scalar(num_lower, "num_lower must be scalar, got shape %s")
        require_scalar(num_upper, "num_upper must be scalar, got shape %s")

    def compute(
        self, xp: ArrayModule, input: Any, num_lower: Array, num_upper: Array
    ) -> Any:
        rows, columns = input.shape[-2:]
        lower, upper = int(num_lower), int(num_upper)
        for side, number, what, n in (
            ("lower", lower, "rows", rows),
            ("upper", upper, "columns", columns),
        ):
            if number > n:
                raise invalid_argument(
                    f"num_{side} must be negative or less or equal to number of {what} "
                    f"({n}) got: {number}"
                )
        distance = xp.arange(columns)[None, :] - xp.arange(rows)[:, None]
        inside = (distance >= (-lower if lower >= 0 else -rows)) & (
            distance <= (upper if upper >= 0 else columns)
        )
        return xp.where(inside, input, input.dtype.type(0))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        _, lower, upper = op.inputs
        return [MatrixBandPart()(grad, lower, upper), None, None]


class Diag(Op):
    """A tensor of twice the rank with a given diagonal.  Source: array_ops.cc, Diag."""

    signature = "diagonal: T -> output: T"
    T = dtypes_of(_DIAGONAL_TYPES)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, diagonal: Shape) -> Shape:
        shapes.with_rank_at_least(diagonal, 1)
        return None if diagonal is None else diagonal + diagonal

    def compute(self, xp: ArrayModule, diagonal: Array) -> Any:
        if not diagonal.ndim:
            raise invalid_argument("Input must be at least rank 1, got 0")
        return xp.diag(diagonal.reshape(-1)).reshape(diagonal.shape + diagonal.shape)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [DiagPart()(grad)]


class DiagPart(Op):
    """The diagonal of a tensor of even rank.  Source: array_ops.cc, DiagPart."""

    signature = "input: T -> diagonal: T"
    T = dtypes_of(_DIAGONAL_TYPES)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, input: Shape) -> Shape:
        if input is None:
            return None
        if len(input) % 2 or not input:
            raise ValueError(
                f"Input must have even and non-zero rank, input rank is {len(input)}"
            )
        half = len(input) // 2
        return shapes.merge(input[:half], input[half:])

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        if input.ndim % 2 or not input.ndim:
            raise invalid_argument(
                "The rank of the tensor should be even and positive, got shape "
                f"{brackets(input)}"
            )
        half = input.ndim // 2
        for i in range(half):
            if input.shape[i] != input.shape[half + i]:
                raise invalid_argument(
                    f"Invalid shape {brackets(input)}: dimensions {i} and {half + i} "
                    "do not match."
                )
        shape = input.shape[:half]
        size = int(np.prod(shape))
        return xp.diagonal(input.reshape((size, size))).reshape(shape).copy()

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [Diag()(grad)]


# ---- public functions


def _is_main(**arguments: Any) -> bool:
    """Whether all arguments have the defaults that the older ops imply."""
    return all(
        not isinstance(value, Tensor) and np.ndim(value) == 0 and value == default
        for value, default in arguments.values()
    )


def _padding(tensor: Any, value: Any) -> Any:
    """The padding in a form convertible to the tensor's type: bool rejects 0."""
    return bool(value) if getattr(tensor, "dtype", None) == "bool" else value


@export("matrix_diag", "linalg.diag")
def matrix_diag(
    diagonal: TensorLike,
    name: str | None = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
) -> Tensor:
    """Matrices with given diagonals.

    TensorFlow 1.15 accepts `k`, `num_rows`, `num_cols` and `padding_value` but ignores
    them; here they have an effect.

    Args:
      diagonal: Tensor [..., n], or [..., d, n] for a band of d diagonals, the uppermost
        first.
      name: the op's name.
      k: the diagonal (positive above the main one), or a pair: the lowest and the
        highest of a band.
      num_rows, num_cols: the size of the matrices; -1: the minimum.
      padding_value: the value of all other elements.

    Returns:
      A Tensor [..., rows, columns].

    Example:
      >>> tf.Session().run(tf.matrix_diag([1.0, 2.0]))
      array([[1., 0.],
             [0., 2.]], dtype=float32)

    Source: MatrixDiag, MatrixDiagV2 in core/ops/array_ops.cc.
    """
    if _is_main(
        k=(k, 0),
        rows=(num_rows, -1),
        columns=(num_cols, -1),
        padding=(padding_value, 0),
    ):
        return MatrixDiag()(diagonal, name=name)
    padding = _padding(diagonal, padding_value)
    op = MatrixDiagV2()
    return op(diagonal, k, num_rows, num_cols, padding, name=name)


@export("matrix_diag_part", "linalg.diag_part")
def matrix_diag_part(
    input: TensorLike,
    name: str | None = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
) -> Tensor:
    """Diagonals of matrices; unlike in TensorFlow 1.15, `k` has an effect.

    Args:
      input: Tensor [..., rows, columns].
      name: the op's name.
      k: the diagonal, or the lowest and highest of a band; see `tf.matrix_diag`.
      padding_value: the value that pads the shorter diagonals of a band.

    Returns:
      A Tensor [..., n], or [..., d, n] for a band.

    Source: MatrixDiagPart, MatrixDiagPartV2 in core/ops/array_ops.cc.
    """
    if _is_main(k=(k, 0), padding=(padding_value, 0)):
        return MatrixDiagPart()(input, name=name)
    padding = _padding(input, padding_value)
    return MatrixDiagPartV2()(input, k, padding, name=name)


@export("matrix_set_diag", "linalg.set_diag")
def matrix_set_diag(
    input: TensorLike,
    diagonal: TensorLike,
    name: str | None = "set_diag",
    k: TensorLike = 0,
) -> Tensor:
    """Matrices with diagonals replaced; unlike in TensorFlow 1.15, `k` has an effect.

    Args:
      input: Tensor [..., rows, columns].
      diagonal: Tensor [..., n], or [..., d, n] for a band.
      name: the op's name.
      k: the diagonal, or the lowest and highest of a band; see `tf.matrix_diag`.

    Returns:
      A Tensor like `input`.

    Source: MatrixSetDiag, MatrixSetDiagV2 in core/ops/array_ops.cc.
    """
    if _is_main(k=(k, 0)):
        return MatrixSetDiag()(input, diagonal, name=name)
    return MatrixSetDiagV2()(input, diagonal, k, name=name)


@export("matrix_band_part", "linalg.band_part")
def matrix_band_part(
    input: TensorLike,
    num_lower: TensorLike,
    num_upper: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Matrices with zeros outside a band around the diagonal.

    Args:
      input: Tensor [..., rows, columns].
      num_lower, num_upper: scalar int Tensors, the number of diagonals to preserve
        below and above the main one; all if negative.
      name: the op's name.

    Returns:
      A Tensor like `input`.

    Example:
      >>> tf.matrix_band_part(x, -1, 0)  # the lower triangle

    Source: MatrixBandPart in core/ops/array_ops.cc.
    """
    return MatrixBandPart()(input, num_lower, num_upper, name=name)


@export("diag", "linalg.tensor_diag")
def diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """A tensor of twice the rank with a given diagonal, zero elsewhere.

    Args:
      diagonal: Tensor of shape s.
      name: the op's name.

    Returns:
      A Tensor of shape s + s.

    Source: Diag in core/ops/array_ops.cc.
    """
    return Diag()(diagonal, name=name)


@export("diag_part", "linalg.tensor_diag_part")
def diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonal of a tensor of even rank.

    Args:
      input: Tensor of shape s + s.
      name: the op's name.

    Returns:
      A Tensor of shape s.

    Source: DiagPart in core/ops/array_ops.cc.
    """
    return DiagPart()(input, name=name)


@export("eye", "linalg.eye")
def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    batch_shape: Tensor | Sequence[int] | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices.

    Args:
      num_rows: an int or a scalar int32 Tensor.
      num_columns: like `num_rows`, and equal to it if None.
      batch_shape: list of ints or int32 Tensor, the leading axes.
      dtype: the element type.
      name: the name of the scope.

    Returns:
      A Tensor of shape batch_shape + [num_rows, num_columns].

    Raises:
      TypeError: a size is neither an int nor a Tensor.

    Source: python/ops/linalg_ops_impl.py.
    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        is_square = num_columns is None
        batch_shape = [] if batch_shape is None else batch_shape
        columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
            size: Any = Minimum()(num_rows, columns)
        elif not isinstance(num_rows, int | np.integer) or not isinstance(
            columns, int | np.integer
        ):
            raise TypeError("num_rows and num_columns must be positive integer values.")
        else:
            is_square, size = num_rows == columns, min(num_rows, columns)
        if isinstance(batch_shape, Tensor) or isinstance(size, Tensor):
            batch_shape = convert(batch_shape, int32, "shape")
            diagonal_shape: Any = concat((batch_shape, [size]), axis=0)
            if not is_square:
                whole: Any = concat((batch_shape, [num_rows, columns]), axis=0)
        else:
            diagonal_shape = [*batch_shape, size]
            whole = [*batch_shape, num_rows, columns]
        diagonal = ones(diagonal_shape, dtype=dtype)
        if is_square:
            return matrix_diag(diagonal)
        return matrix_set_diag(zeros(whole, dtype=dtype), diagonal)
