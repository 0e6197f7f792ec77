"""Functions of matrices: roots, logarithms, exponentials, pseudo-inverses, norms.

Roots and logarithms come from the eigenvectors where those are well apart, else from
the product form of Denman and Beavers' iteration and from repeated roots.
Papers: Higham, "Functions of matrices" (2008), 6.3 and 11.5; Higham, "The scaling and
squaring method for the matrix exponential revisited" (2005).
Source: core/ops/linalg_ops.cc, python/ops/linalg/linalg_impl.py, nn_impl.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import (
    complex64,
    complex128,
    dtypes_of,
    float16,
    float32,
    float64,
    int32,
)
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.shape import Shape, TensorShape
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice
from tfteach.ops.array.tile_broadcast import tile
from tfteach.ops.array.transpose_reverse import matrix_transpose
from tfteach.ops.array.where_select import where, where_v2
from tfteach.ops.core.broadcast_gradients import upward
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import expand_dims, identity, reshape
from tfteach.ops.core.shape_ops import cast, shape, size
from tfteach.ops.linalg.matmul import matmul, norm
from tfteach.ops.linalg.matrix_diag import eye
from tfteach.ops.linalg.solve import MATRIX_TYPES, check_square, matrix_solve, square
from tfteach.ops.linalg.svd import svd
from tfteach.ops.math import binary
from tfteach.ops.math.binary import add, maximum, subtract
from tfteach.ops.math.compare import less
from tfteach.ops.math.complex import abs
from tfteach.ops.math.exponential import log
from tfteach.ops.math.reduce_functions import reduce_max, reduce_prod, reduce_sum
from tfteach.ops.math.rounding import floor

_WELL_CONDITIONED = 1e7
_MOST_STEPS = 100
_NEAR_ONE = 0.05  # up to this distance from I a few terms give the logarithm


def _by_eigenvectors(matrix: Any, function: Any) -> Any:
    """function(matrix) in complex128, or None where eigenvectors are too alike."""
    try:
        values, vectors = np.linalg.eig(matrix)
        if not np.linalg.cond(vectors) < _WELL_CONDITIONED:
            return None
        return vectors @ np.diag(function(values)) @ np.linalg.inv(vectors)
    except np.linalg.LinAlgError:
        return None


def _root_by_iteration(matrix: Any) -> Any:
    """The principal square root, where no eigenvalue is 0 or negative."""
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
    """A function of one matrix on each of a batch."""
    check_square(input)
    flat = input.reshape(-1, *input.shape[-2:])
    found = [function(matrix) for matrix in flat]
    whole = np.stack(found) if found else np.zeros(flat.shape)
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

    def compute(self, xp: Any, input: Any) -> Any:
        return _each(square_root, input)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        """Sylvester's equation R dR + dR R = dA, solved as a system of its elements."""
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
def matrix_square_root(input: Any, name: str | None = None) -> Tensor:
    """The principal square roots of square matrices.

    output @ output = input

    Args:
      input: float or complex Tensor [..., n, n].
      name: the op's name.

    Returns:
      A Tensor of that shape and type; nan where there is no root.

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

    def compute(self, xp: Any, input: Any) -> Any:
        return _each(logarithm, input)


@export("linalg.logm")
def matrix_logarithm(input: Any, name: str | None = None) -> Tensor:
    """The principal logarithms of square matrices.

    Args:
      input: complex Tensor [..., n, n].
      name: the op's name.

    Returns:
      A Tensor of that shape and type.  It has no gradient.

    Source: MatrixLogarithm in core/ops/linalg_ops.cc.
    """
    return MatrixLogarithm()(input, name=name)


# ---- exponential

# Padé's coefficients by order, and up to which norm an order is exact enough.
_PADE = {
    3: (120.0, 60.0, 12.0),
    5: (30240.0, 15120.0, 3360.0, 420.0, 30.0),
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0),
    9: (17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0,
        110880.0, 3960.0, 90.0),
    13: (64764752532480000.0, 32382376266240000.0, 7771770303897600.0,
         1187353796428800.0, 129060195264000.0, 10559470521600.0, 670442572800.0,
         33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0),
}  # fmt: skip
_SINGLE = 3.925724783138660, (4.258730016922831e-001, 1.880152677804762e000)
_DOUBLE = 5.371920351148152, (
    1.495585217958292e-002, 2.539398330063230e-001, 9.504178996162932e-001,
    2.097847961257068e000,
)  # fmt: skip


def _pade(matrix: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """The odd and the even part of the numerator of an order."""
    b = [constant(x, matrix.dtype) for x in _PADE[order]]
    rows = shape(matrix)[-2]
    unit = eye(rows, batch_shape=shape(matrix)[:-2], dtype=matrix.dtype)
    second = matmul(matrix, matrix)
    powers = [second]
    if order >= 5:
        powers.append(matmul(second, second))
    for _ in range(3, {7: 3, 9: 4, 13: 3}.get(order, 2) + 1):
        powers.append(matmul(powers[-1], second))
    if order == 13:
        return _pade13(matrix, b, unit, *powers)
    odd: Any = powers[-1]
    for i in range(len(powers) - 2, -1, -1):
        odd = odd + b[2 * i + 3] * powers[i]
    odd = odd + b[1] * unit
    u = matmul(matrix, odd)
    even: Any = None
    for i in range(len(powers) - 1, -1, -1):
        term = b[2 * i + 2] * powers[i]
        even = term if even is None else even + term
    return u, even + b[0] * unit


def _pade13(matrix: Tensor, b: Any, unit: Any, a2: Any, a4: Any, a6: Any) -> Any:
    inner = a6 + b[11] * a4 + b[9] * a2
    odd = matmul(a6, inner) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * unit
    u = matmul(matrix, odd)
    inner = b[12] * a6 + b[10] * a4 + b[8] * a2
    even = matmul(a6, inner) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * unit
    return u, even


@export("linalg.expm")
def matrix_exponential(input: Any, name: str | None = None) -> Tensor:
    """The exponentials of square matrices, by scaling and squaring.

    exp(A) = Σ Aᵏ / k!

    Args:
      input: float or complex Tensor [..., n, n].
      name: the name of the scope.

    Returns:
      A Tensor of that shape and type.

    Raises:
      ValueError: another type.

    Source: python/ops/linalg/linalg_impl.py.
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert(input, name="input")
        if matrix._shape is not None and matrix._shape[-2:] == (0, 0):
            return matrix
        batch: Any = matrix.shape[:-2]
        if not batch.is_fully_defined():
            batch = shape(matrix)[:-2]
        own = shape(matrix)[-2:]
        matrix = reshape(matrix, concat(([-1], own), axis=0))
        sizes = abs(matrix)
        l1_norm = reduce_max(reduce_sum(sizes, size(shape(matrix)) - 2), axis=-1)
        result, squarings = _pade_quotient(matrix, l1_norm)
        result = _squared(result, squarings, l1_norm.dtype)
        if not matrix.shape.is_fully_defined():
            return reshape(result, concat((batch, shape(result)[-2:]), axis=0))
        return reshape(result, batch.concatenate(result.shape[-2:]))


def _pade_quotient(matrix: Tensor, l1_norm: Tensor) -> tuple[Tensor, Tensor]:
    """exp(matrix / 2ˢ) and s, for each matrix the cheapest order that will do."""

    def const(x: float) -> Tensor:
        return constant(x, l1_norm.dtype)

    if matrix.dtype in (float16, float32, complex64):
        (largest, limits), orders = _SINGLE, (3, 5, 7)
    elif matrix.dtype in (float64, complex128):
        (largest, limits), orders = _DOUBLE, (3, 5, 7, 9, 13)  # type: ignore[assignment]
    else:
        raise ValueError(
            f"tf.linalg.expm does not support matrices of type {matrix.dtype}"
        )
    most = const(largest)
    halvings = log(l1_norm / most) / log(const(2.0))
    squarings = maximum(floor(halvings), 0)
    parts = [_pade(matrix, order) for order in orders[:-1]]
    two = constant(2.0, dtype=matrix.dtype)
    scale = binary.pow(two, cast(squarings, matrix.dtype))
    parts.append(_pade(matrix / scale[..., None, None], orders[-1]))

    def chosen(cases: list[Any], bounds: tuple[float, ...]) -> Any:
        is_small = less(l1_norm, const(bounds[0]))
        rest = cases[1] if len(bounds) == 1 else chosen(cases[1:], bounds[1:])
        return where(is_small, cases[0], rest)

    u = chosen([part[0] for part in parts], limits)
    v = chosen([part[1] for part in parts], limits)
    numerator = u + v
    return matrix_solve(-u + v, numerator), squarings


def _squared(result: Tensor, squarings: Tensor, dtype: Any) -> Tensor:
    """Each matrix squared as often as it was halved."""
    while_loop = upward("while_loop")
    most = reduce_max(squarings)

    def step(i: Any, r: Any) -> Any:
        following = i + 1
        return following, where(less(i, squarings), matmul(r, r), r)

    start = constant(0.0, dtype)
    return while_loop(lambda i, _: less(i, most), step, [start, result])[1]


# ---- ranks, pseudo-inverses, unit vectors


def _checked(a: Tensor, validate_args: bool) -> Tensor:
    """The matrix, if it is one of floats."""
    if not a.dtype.is_floating:
        raise TypeError(
            f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name})."
        )
    known = a.shape.rank
    if known is not None and known < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {known}).")
    if known is None and validate_args:
        words = "Input `a` must have at least 2 dimensions."
        check = upward("assert_rank_at_least")(a, rank=2, message=words)
        with control_dependencies([check]):
            return identity(a)
    return a


@export("linalg.matrix_rank")
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Rank of each matrix: the number of nonzero singular values.

    Args:
      a: float Tensor [..., m, n].
      tol: what counts as 0 (by default eps * max(m, n) * the largest one).
      validate_args: check the rank in a run, if it is unknown.
      name: the name of the scope.

    Returns:
      An int32 Tensor [...].

    Source: python/ops/linalg/linalg_impl.py.
    """
    with name_scope(name or "matrix_rank"):
        a = _checked(convert(a, None, "a", float32), validate_args)
        s = svd(a, compute_uv=False)
        if tol is None:
            known = None if a._shape is None else a._shape[-2:]
            if shapes.is_full(known):
                longest: Any = np.max(known)  # type: ignore[arg-type]
            else:
                longest = reduce_max(shape(a)[-2:])
            eps = np.finfo(a.dtype.numpy_dtype).eps
            least = eps * cast(longest, a.dtype)
            tol = least * reduce_max(s, axis=-1, keepdims=True)
        return reduce_sum(cast(s > tol, int32), axis=-1)


@export("linalg.pinv")
def pinv(
    a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The pseudo-inverses of matrices (Moore and Penrose's).

    pinv(u @ diag(s) @ vᵀ) = v @ diag(1 / s) @ uᵀ, small s taken as infinite

    Args:
      a: float Tensor [..., m, n].
      rcond: what share of the largest singular value is small; by default
        10 * max(m, n) * eps.
      validate_args: check the rank in a run, if it is unknown.
      name: the name of the scope.

    Returns:
      A Tensor [..., n, m] of that type.

    Raises:
      TypeError: `a` holds no floats.

    Source: python/ops/linalg/linalg_impl.py.
    """
    with name_scope(name or "pinv"):
        a = _checked(convert(a, name="a"), validate_args)
        dtype = a.dtype.numpy_dtype
        if rcond is None:
            rcond = 10.0 * _longest_side(a) * np.finfo(dtype).eps
        rcond = convert(rcond, a.dtype, "rcond")
        s, u, v = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reduce_max(s, axis=-1)
        is_large = s > expand_dims(cutoff, -1)
        s = where_v2(is_large, s, np.array(np.inf, dtype))
        found = matmul(v / expand_dims(s, -2), u, adjoint_b=True)
        if a.shape.rank is not None:
            *batch, rows, columns = a.shape.as_list()
            found.set_shape(TensorShape([*batch, columns, rows]))
        return found


def _longest_side(a: Tensor) -> Any:
    known = [None, None] if a._shape is None else a._shape[-2:]
    rows, columns = [
        own if own is not None else shape(a)[axis]
        for axis, own in zip((-2, -1), known, strict=True)
    ]
    if isinstance(rows, int) and isinstance(columns, int):
        return float(max(rows, columns))
    return cast(maximum(rows, columns), a.dtype)


@export("linalg.normalize")
def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A tensor over its norm, and the norm.

    Args:
      tensor: float or complex Tensor.
      ord, axis: as for `tf.norm`.
      name: the name of the scope.

    Returns:
      (normalized, norm): a Tensor of the shape and type of `tensor`, and its norms, the
      axes kept.

    Source: python/ops/nn_impl.py.
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert(tensor)
        length = cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / length, length
