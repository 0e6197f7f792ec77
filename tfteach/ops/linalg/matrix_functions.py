"""Square roots and logarithms of matrices.

Computed from the eigenvectors where these are well separated, otherwise by the product
form of the Denman-Beavers iteration and by repeated square roots.
Paper: Higham, "Functions of matrices" (2008), 6.3 and 11.5.
Source: core/ops/linalg_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import (
    dtypes_of,
)
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import matrix_transpose
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.linalg.matrix_diag import eye
from tfteach.ops.linalg.solve import MATRIX_TYPES, check_square, matrix_solve, square
from tfteach.ops.math.binary import add, subtract
from tfteach.ops.math.reduce_functions import reduce_prod

_WELL_CONDITIONED = 1e7
_MOST_STEPS = 100
_NEAR_ONE = 0.05  # up to this distance from I a few terms of the series suffice


def _by_eigenvectors(matrix: Any, function: Any) -> Any:
    """function(matrix) in complex128; None where eigenvectors are nearly parallel."""
    try:
        values, vectors = np.linalg.eig(matrix)
        if not np.linalg.cond(vectors) < _WELL_CONDITIONED:
            return None
        return vectors @ np.diag(function(values)) @ np.linalg.inv(vectors)
    except np.linalg.LinAlgError:
        return None


def _root_by_iteration(matrix: Any) -> Any:
    """The principal square root, if no eigenvalue is 0 or negative."""
    unit = np.eye(len(matrix))
    product, root = matrix.copy(), matrix.copy()
    for _ in range(_MOST_STEPS):
        inverse = np.linalg.inv(product)
        root = root @ (unit + inverse) / 2
        product = unit / 2 + (product + inverse) / 4
        if not np.abs(product - unit).max() > 1e-14:
            break
    return root


def square_root(matrix: Any) -> Any:
    """The principal square root of one matrix, in complex128; nan if it has none."""
    wide = matrix.astype(np.complex128)
    if not np.isfinite(wide).all():
        return np.full(wide.shape, np.nan)
    found = _by_eigenvectors(wide, np.sqrt)
    if found is not None:
        return found
    try:
        return _root_by_iteration(wide)
    except np.linalg.LinAlgError:
        return np.full(wide.shape, np.nan)


def logarithm(matrix: Any) -> Any:
    """The principal logarithm of one matrix, in complex128."""
    wide = matrix.astype(np.complex128)
    found = _by_eigenvectors(wide, np.log)
    if found is not None:
        return found
    unit, halvings = np.eye(len(wide)), 0
    while np.abs(wide - unit).max() > _NEAR_ONE and halvings < _MOST_STEPS:
        wide, halvings = square_root(wide), halvings + 1
    step = wide - unit  # ln(I + X) = 2 artanh(X / (2I + X))
    ratio = step @ np.linalg.inv(2 * unit + step)
    power, total = ratio, np.zeros_like(ratio)
    for k in range(1, 20, 2):
        total = total + 2 * power / k
        power = power @ ratio @ ratio
    return total * 2.0**halvings


def _each(function: Any, input: Any) -> Any:
    """A function of one matrix applied to each matrix of a batch."""
    check_square(input)
    if not input.size:
        return input.copy()
    flat = input.reshape(-1, *input.shape[-2:])
    found = [function(matrix) for matrix in flat]
    whole = np.stack(found)
    whole = whole if input.dtype.kind == "c" else whole.real
    return whole.reshape(input.shape).astype(input.dtype)


class MatrixSquareRoot(Op):
    """R with R @ R = input.  Source: core/ops/linalg_ops.cc, MatrixSquareRoot."""

    signature = "input: T -> output: T"
    T = MATRIX_TYPES
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, input: Shape) -> Shape:
        batch, order = square(input)
        return None if input is None else (*batch, order, order)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return _each(square_root, input)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        """The Sylvester equation R dR + dR R = dA, solved as a linear system."""
        root = op.outputs[0]
        sizes = shape(root)
        order = sizes[-1]
        count = reduce_prod(sizes[0:-2])
        unit = reshape(eye(order, dtype=root.dtype), [-1])
        units = reshape(tile(unit, [count]), sizes)
        turned = matrix_transpose(root)
        first = _kronecker(units, turned)
        both = add(first, _kronecker(root, units))
        batch = slice(sizes, [0], [subtract(size(sizes), 2)])
        column = concat([batch, [order * order], [1]], 0)
        flat = reshape(matrix_transpose(grad), column)
        solved = reshape(matrix_solve(both, flat), sizes)
        return [matrix_transpose(solved)]


def _kronecker(a: Tensor, b: Tensor) -> Tensor:
    """The Kronecker products of two batches of square matrices."""
    sizes_a, sizes_b = shape(a), shape(b)
    m, n = sizes_a[-1], sizes_b[-1]
    batch = slice(sizes_a, [0], [subtract(size(sizes_a), 2)])
    wide_a = concat([batch, [m], [1], [m], [1]], 0)
    wide_b = concat([batch, [1], [n], [1], [n]], 0)
    a, b = reshape(a, wide_a), reshape(b, wide_b)
    order = m * n
    whole = concat([batch, [order], [order]], 0)
    return reshape(a * b, whole)


@export("linalg.sqrtm", "matrix_square_root")
def matrix_square_root(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square roots of square matrices.

    output @ output = input

    Args:
      input: float or complex Tensor [..., n, n].
      name: the op's name.

    Returns:
      A Tensor of that shape and type; nan where no root exists.

    Source: MatrixSquareRoot in core/ops/linalg_ops.cc.
    """
    return MatrixSquareRoot()(input, name=name)


class MatrixLogarithm(Op):
    """L with exp(L) = input.  Source: core/ops/linalg_ops.cc, MatrixLogarithm."""

    signature = "input: T -> output: T"
    T = dtypes_of("complex64 complex128")
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, input: Shape) -> Shape:
        batch, order = square(input)
        return None if input is None else (*batch, order, order)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return _each(logarithm, input)


@export("linalg.logm")
def matrix_logarithm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithms of square matrices.

    Args:
      input: complex Tensor [..., n, n].
      name: the op's name.

    Returns:
      A Tensor of that shape and type, without a gradient.

    Source: MatrixLogarithm in core/ops/linalg_ops.cc.
    """
    return MatrixLogarithm()(input, name=name)
