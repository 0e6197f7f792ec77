"""Matrix products, and functions based on them.

Source: core/ops/math_ops.cc (MatMul, BatchMatMulV2), python/ops/math_ops.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.contention import contention
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import bfloat16, dtypes_of, float32
from tfteach.framework.errors import InvalidArgumentError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_matrix
from tfteach.framework.threads import (
    PARTS_PER_THREAD,
    cores,
    own_threads,
    share,
    thread_count,
)
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import BroadcastGradientArgs
from tfteach.ops.core.identity_reshape import expand_dims, reshape, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg import product_by_tiles
from tfteach.ops.linalg.matrix_diag import MatrixDiagPart
from tfteach.ops.math.cast import cast
from tfteach.ops.math.complex import conj
from tfteach.ops.math.reduce_functions import reduce_sum

FACTORS = dtypes_of("bfloat16 half float double int32 int64 complex64 complex128")

# The number of multiplications from which BLAS uses several threads.
MIN_BLAS_THREADS_PRODUCT = 1 << 18
# The number from which ours share a product, and that of a part: smaller parts take a
# twentieth longer, because each lays out one of the factors again.
MIN_SHARED_PRODUCT = 1 << 25
MIN_PART = 1 << 23
# From this width NumPy's inner loop outruns BLAS if each element is one product.
MIN_OUTER_WIDTH = 8


def product(xp: ArrayModule, a: Any, b: Any) -> Any:
    """a @ b in a's type; two-byte floats are accumulated in four bytes."""
    dtype = a.dtype
    if a.shape[-1] == 1 and _is_outer(a, b):
        return a * b
    if dtype.itemsize == 2 and dtype.kind in "fV":
        wide = product(xp, a.astype(np.float32), b.astype(np.float32))
        return wide.astype(dtype)
    if a.size * b.shape[-1] >= MIN_BLAS_THREADS_PRODUCT and dtype.kind in "fc":
        return _large_product(a, b)
    return xp.matmul(a, b)


def _large_product(a: Any, b: Any) -> Any:
    """a @ b by tiles, by BLAS's threads, or by ours, if others take the cores."""
    if product_by_tiles.applies(a, b):
        with own_threads():
            return product_by_tiles.product(a, b)
    if cores() > 1:  # BLAS has one thread
        return _by_own_threads(a, b)
    if thread_count() == 1:
        return np.matmul(a, b)
    if contention.is_likely():
        with own_threads():
            return _by_own_threads(a, b)
    begun_s = perf_counter()
    result = np.matmul(a, b)
    now_s = perf_counter()
    elements = a.size + b.size + result.size
    contention.record(result.size * a.shape[-1], elements, now_s - begun_s, now_s)
    return result


def _product_on_card(xp: ArrayModule, a: Any, b: Any) -> Any:
    from tfteach.framework import card_products  # which CPUs do without

    return card_products.matmul(xp, a, b)


def _is_outer(a: Any, b: Any) -> bool:
    """Whether each element is a single product: 6 us, not 19, for 128 x 128 of them."""
    result: bool = (
        a.ndim == b.ndim == 2 and b.shape[0] == 1 and b.shape[1] >= MIN_OUTER_WIDTH
    )
    return result


def _by_own_threads(a: Any, b: Any) -> Any:
    """A product of which each part is computed by one thread."""
    work = a.size * b.shape[-1]
    is_valid = a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0]
    if not is_valid or work < MIN_SHARED_PRODUCT:
        return np.matmul(a, b)
    result = np.empty((a.shape[0], b.shape[1]), a.dtype)
    by_rows = a.shape[0] >= b.shape[1]
    size = result.shape[not by_rows]
    count = cores() * max(1, min(PARTS_PER_THREAD, work // (MIN_PART * cores())))
    # Each part has whole vector registers.
    step = -(-size // (16 * count)) * 16
    parts = [slice(i, i + step) for i in range(0, size, step)]

    def run(some: Sequence[slice]) -> None:
        for part in some:
            if by_rows:
                np.matmul(a[part], b, out=result[part])
            else:
                np.matmul(a, b[:, part], out=result[:, part])

    share(parts, run)
    return result


class MatMul(Op):
    """The product of two matrices.  Source: math_ops.cc, MatMul."""

    signature = "a: T, b: T -> product: T"
    transpose_a: bool = False
    transpose_b: bool = False
    T = FACTORS
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, a: Shape, b: Shape) -> Shape:
        m, k = shapes.with_rank(a, 2)
        k2, n = shapes.with_rank(b, 2)
        if self.transpose_a:
            m, k = k, m
        if self.transpose_b:
            k2, n = n, k2
        if k is not None and k2 is not None and k != k2:
            raise ValueError(f"Dimensions must be equal, but are {k} and {k2}")
        return m, n

    def work(
        self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        inner = inputs[0][0 if self.transpose_a else 1]
        return 2 * inner * math.prod(outputs[0]), super().work(inputs, outputs)[1]

    def check_shapes(self, a: tuple[int, ...], b: tuple[int, ...]) -> None:
        require_matrix(a, "In[0] is not a matrix. Instead it has shape %s")
        require_matrix(b, "In[1] is not a matrix. Instead it has shape %s")

    def compute(self, xp: ArrayModule, a: Array, b: Array) -> Any:
        left = a.T if self.transpose_a else a
        right = b.T if self.transpose_b else b
        try:
            return product(xp, left, right)
        except ValueError:
            raise self._mismatch(a, b) from None

    def compute_on_card(self, xp: ArrayModule, a: Array, b: Array) -> Any:
        left = a.T if self.transpose_a else a
        right = b.T if self.transpose_b else b
        try:
            return _product_on_card(xp, left, right)
        except ValueError:
            raise self._mismatch(a, b) from None

    def _mismatch(self, a: Array, b: Array) -> InvalidArgumentError:
        return invalid_argument(
            f"Matrix size-incompatible: In[0]: {shapes.text(a.shape)}, In[1]: "
            f"{shapes.text(b.shape)}"
        )

    def without_transpose(self) -> MatMul | None:
        return MatMul(self.transpose_a) if self.transpose_b else None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        a, b = conj(op.inputs[0]), conj(op.inputs[1])
        grad_a = grad_b = None
        if 0 in op.unneeded_gradients:
            pass
        elif self.transpose_a:
            first = MatMul(False, True) if not self.transpose_b else MatMul(True, True)
            grad_a = first(b, grad)
        else:
            grad_a = MatMul(False, not self.transpose_b)(grad, b)
        if 1 in op.unneeded_gradients:
            pass
        elif self.transpose_b:
            grad_b = MatMul(True, self.transpose_a)(grad, a)
        else:
            grad_b = MatMul(not self.transpose_a, False)(a, grad)
        return [grad_a, grad_b]


def adjoint_view(xp: ArrayModule, array: Any) -> Any:
    """The conjugate transposes of matrices, as a view where possible."""
    turned = xp.swapaxes(array, -1, -2)
    return xp.conj(turned) if array.dtype.kind == "c" else turned


class BatchMatMulV2(Op):
    """Products of matrices, with broadcasting of the batch dimensions.

    Source: BatchMatMulV2.
    """

    signature = "x: T, y: T -> output: T"
    adj_x: bool = False
    adj_y: bool = False
    T = FACTORS

    def infer_shape(self, x: Shape, y: Shape) -> Shape:
        shapes.with_rank_at_least(x, 2)
        shapes.with_rank_at_least(y, 2)
        m, k = (None, None) if x is None else x[-2:]
        k2, n = (None, None) if y is None else y[-2:]
        m, k = (k, m) if self.adj_x else (m, k)
        k2, n = (n, k2) if self.adj_y else (k2, n)
        if k is not None and k2 is not None and k != k2:
            raise ValueError(f"Dimensions must be equal, but are {k} and {k2}")
        outer = [None if shape is None else shape[:-2] for shape in (x, y)]
        batch = self.batch_shape(*outer)
        return None if batch is None else (*batch, m, n)

    def work(
        self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        inner = inputs[0][-2 if self.adj_x else -1]
        return 2 * inner * math.prod(outputs[0]), super().work(inputs, outputs)[1]

    def batch_shape(self, x: Shape, y: Shape) -> Shape:
        return shapes.broadcast(x, y)

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return self._multiply(product, xp, x, y)

    def compute_on_card(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        return self._multiply(_product_on_card, xp, x, y)

    def _multiply(
        self, product: Callable[..., Any], xp: ArrayModule, x: Array, y: Array
    ) -> Any:
        for i, matrix in enumerate((x, y)):
            if matrix.ndim < 2:
                raise invalid_argument(f"In[{i}] ndims must be >= 2: {matrix.ndim}")
        left = adjoint_view(xp, x) if self.adj_x else x
        right = adjoint_view(xp, y) if self.adj_y else y
        try:
            return product(xp, left, right)
        except ValueError:
            if left.shape[-1] == right.shape[-2]:
                raise invalid_argument(
                    "In[0] and In[1] must have compatible batch dimensions: "
                    f"{shapes.text(x.shape)} vs. {shapes.text(y.shape)}"
                ) from None
            raise invalid_argument(
                f"In[0] mismatch In[1] shape: {left.shape[-1]} vs. {right.shape[-2]}: "
                f"{shapes.text(x.shape)} {shapes.text(y.shape)} {int(self.adj_x)} "
                f"{int(self.adj_y)}"
            ) from None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y = op.inputs
        grad_x, grad_y = _batch_gradient(op, grad)
        if shapes.is_full(x._shape) and x._shape == y._shape:
            return [grad_x, grad_y]
        sx, sy = shape(x), shape(y)
        rx, ry = BroadcastGradientArgs()(sx[:-2], sy[:-2])
        grad_x = reshape(reduce_sum(grad_x, rx), sx)
        return [grad_x, reshape(reduce_sum(grad_y, ry), sy)]


def _batch_gradient(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    adj_x, adj_y = op.get_attr("adj_x"), op.get_attr("adj_y")
    if adj_x:
        grad_x = matmul(y, grad, adjoint_a=adj_y, adjoint_b=True)
    else:
        grad_x = matmul(grad, y, adjoint_b=not adj_y)
    if adj_y:
        return [grad_x, matmul(grad, x, adjoint_a=True, adjoint_b=adj_x)]
    return [grad_x, matmul(x, grad, adjoint_a=not adj_x)]


class BatchMatMul(BatchMatMulV2):
    """Products of matrices with equal batch dimensions.

    Source: math_ops.cc, BatchMatMul.
    """

    def batch_shape(self, x: Shape, y: Shape) -> Shape:
        return shapes.merge(x, y)

    def check_shapes(self, x: tuple[int, ...], y: tuple[int, ...]) -> None:
        message = "In[0] and In[1] has different ndims: %s vs. %s"
        require(len(x) == len(y), message, x, y)
        for i, (m, n) in enumerate(zip(x[:-2], y[:-2], strict=True)):
            message = f"In[0].dim({i}) and In[1].dim({i}) must be the same: %s vs %s"
            require(m == n, message, x, y)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [*_batch_gradient(op, grad)]


def _check_flags(which: str, transpose: bool, adjoint: bool) -> None:
    if transpose and adjoint:
        raise ValueError(
            f"Only one of transpose_{which} and adjoint_{which} can be True."
        )


@export("linalg.matmul", "matmul")
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of batches of them.

    product[i, j] = Σₖ a[i, k] * b[k, j]

    Args:
      a: number Tensor [..., m, k].
      b: Tensor [..., k, n] of the type of `a`; the leading axes broadcast.
      transpose_a, transpose_b: transpose this matrix first.
      adjoint_a, adjoint_b: transpose and conjugate this matrix first.
      a_is_sparse, b_is_sparse: hints that a matrix has many zeros; for float32 and
        bfloat16 the op is then SparseMatMul.
      name: the op's name.

    Returns:
      A Tensor [..., m, n] of that type.

    Raises:
      ValueError: the inner dimensions differ, or one matrix has both `transpose` and
        `adjoint` set.

    Example:
      >>> tf.Session().run(tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]))
      array([[11.]], dtype=float32)

    Source: MatMul, BatchMatMulV2 in core/ops/math_ops.cc.
    """
    with name_scope(name, "MatMul", [a, b]) as scope:
        _check_flags("a", transpose_a, adjoint_a)
        _check_flags("b", transpose_b, adjoint_b)
        a, b = convert(a, name="a"), convert(b, name="b")
        is_hinted = a_is_sparse or b_is_sparse
        if not is_hinted and (_may_be_batch(a) or _may_be_batch(b)):
            if transpose_a:
                a, adjoint_a = conj(a), True
            if transpose_b:
                b, adjoint_b = conj(b), True
            op: Op = BatchMatMulV2(adjoint_a, adjoint_b)
        else:
            if adjoint_a:
                a, transpose_a = conj(a), True
            if adjoint_b:
                b, transpose_b = conj(b), True
            is_half = a.dtype.base_dtype is bfloat16
            known = is_hinted and all(
                t.dtype.base_dtype in (bfloat16, float32) for t in (a, b)
            )
            if known or is_half is not (b.dtype.base_dtype is bfloat16):
                from tfteach.ops.linalg.sparse_matmul import sparse_matmul

                found = sparse_matmul(
                    a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse, scope
                )
                is_half &= b.dtype.base_dtype is bfloat16
                return cast(found, bfloat16) if is_half else found
            op = MatMul(transpose_a, transpose_b)
        return op(a, b, name=scope)


def _may_be_batch(tensor: Tensor) -> bool:
    shape = tensor._shape
    return shape is None or len(shape) > 2


@export("linalg.matvec")
def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix and a vector, or of batches of them.

    output[i] = Σₖ a[i, k] * b[k]

    Args:
      a: number Tensor [..., m, k].
      b: Tensor [..., k] of the type of `a`.
      transpose_a, adjoint_a, a_is_sparse, b_is_sparse: as in `tf.matmul`.
      name: the name of the scope of its ops.

    Returns:
      A Tensor [..., m] of that type.

    Example:
      >>> tf.Session().run(tf.linalg.matvec([[1.0, 2.0]], [3.0, 4.0]))
      array([11.], dtype=float32)

    Source: python/ops/math_ops.py.
    """
    with name_scope(name, "MatVec", [a, b]):
        column = expand_dims(b, axis=-1)
        output = matmul(
            a, column, transpose_a=transpose_a, adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse,
        )  # fmt: skip
        return squeeze(output, axis=-1)


@export("linalg.trace", "trace")
def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the diagonal of each matrix.

    output[...] = Σᵢ x[..., i, i]

    Args:
      x: number Tensor [..., m, n].
      name: the op's name.

    Returns:
      A Tensor [...] of that type.

    Example:
      >>> tf.Session().run(tf.trace([[1.0, 2.0], [3.0, 4.0]]))
      5.0

    Source: python/ops/math_ops.py.
    """
    with name_scope(name, "Trace", [x]) as scope:
        diagonal = MatrixDiagPart()(convert(x, name="x"), name="diag_part")
        return reduce_sum(diagonal, [-1], name=scope)
