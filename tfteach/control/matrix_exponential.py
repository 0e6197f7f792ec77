"""`tf.linalg.expm`: scaling and squaring, with Padé approximants.

Paper: Higham, "The scaling and squaring method for the matrix exponential revisited"
(2005).
Source: python/ops/linalg/linalg_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.loop import while_loop
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import complex64, complex128, float16, float32, float64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import cast, shape, size
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import eye
from tfteach.ops.linalg.solve import matrix_solve
from tfteach.ops.math import binary
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.compare import less
from tfteach.ops.math.complex import abs
from tfteach.ops.math.exponential import log
from tfteach.ops.math.reduce_functions import reduce_max, reduce_sum
from tfteach.ops.math.rounding import floor

# Padé's coefficients by order, and the maximum norm for which an order is accurate.
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
    """The odd and the even part of the numerator."""
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


def _pade13(
    matrix: Tensor, b: Any, unit: Any, a2: Any, a4: Any, a6: Any
) -> tuple[Tensor, Tensor]:
    inner = a6 + b[11] * a4 + b[9] * a2
    odd = matmul(a6, inner) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * unit
    u = matmul(matrix, odd)
    inner = b[12] * a6 + b[10] * a4 + b[8] * a2
    even = matmul(a6, inner) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * unit
    return u, even


@export("linalg.expm")
def matrix_exponential(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponentials of square matrices, by scaling and squaring.

    exp(A) = Σ Aᵏ / k!

    Args:
      input: float or complex Tensor [..., n, n].
      name: the name of the scope.

    Returns:
      A Tensor of that shape and type.

    Raises:
      ValueError: the type is not supported.

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
    """exp(matrix / 2ˢ) and s, using the cheapest sufficient order for each matrix."""

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

    def chosen(cases: list[Any], bounds: tuple[float, ...]) -> Tensor:
        is_small = less(l1_norm, const(bounds[0]))
        rest = cases[1] if len(bounds) == 1 else chosen(cases[1:], bounds[1:])
        return where(is_small, cases[0], rest)

    u = chosen([part[0] for part in parts], limits)
    v = chosen([part[1] for part in parts], limits)
    numerator = u + v
    return matrix_solve(-u + v, numerator), squarings


def _squared(result: Tensor, squarings: Tensor, dtype: DTypeLike) -> Tensor:
    """Each matrix squared as many times as it was halved."""
    most = reduce_max(squarings)

    def step(i: Any, r: Any) -> Any:
        following = i + 1
        return following, where(less(i, squarings), matmul(r, r), r)

    start = constant(0.0, dtype)
    found: Tensor = while_loop(lambda i, _: less(i, most), step, [start, result])[1]
    return found
