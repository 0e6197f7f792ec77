"""Arithmetic of sparse and dense tensors, and conversion between them.

Source: core/ops/sparse_ops.cc; python/ops/sparse_ops.py, sparse_grad.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, int64, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_matrix,
    require_sparse,
    require_stored_entries,
    require_vector,
)
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.slicing import slice
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones, zeros, zeros_like
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.core.sparse_tensor import (
    SparseTensor,
    SparseTensorLike,
    SparseTensorValue,
)
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import not_equal
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import square
from tfteach.ops.sparse.coo_arrays import NUMBERS, check_inside, entries
from tfteach.ops.sparse.sparse_to_dense import sparse_to_dense

INDEX_TYPES = dtypes_of("int32 int64")


def as_sparse(value: Any) -> SparseTensor:
    """The SparseTensor of a SparseTensor or SparseTensorValue; TypeError for others."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def with_parts(value: Any) -> SparseTensor:
    """`as_sparse` where TF accepts any object that has the three parts.

    Raises:
      AttributeError: `value` does not have them.
    """
    if not isinstance(value, SparseTensor | SparseTensorValue):
        raise AttributeError(
            f"'{type(value).__name__}' object has no attribute 'indices'. Input must "
            "be a SparseTensor."
        )
    return as_sparse(value)


def parts_of(*values: SparseTensor) -> list[Tensor]:
    """The indices, values and shapes of all tensors, as one list."""
    return [p for v in values for p in (v.indices, v.values, v.dense_shape)]


# ---- conversion to dense and back


@export("sparse_tensor_to_dense", "sparse.to_dense")
def sparse_tensor_to_dense(
    sp_input: SparseTensorLike,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A SparseTensor as a dense Tensor.

    Args:
      sp_input: a SparseTensor.
      default_value: a scalar for the missing values; zero if None.
      validate_indices: whether indices must be ordered and distinct.
      name: the op's name.

    Returns:
      A Tensor of the shape and type of `sp_input`.

    Raises:
      TypeError: `sp_input` is not a SparseTensor.

    Example:
      >>> x = tf.SparseTensor([[0, 1]], [5], [1, 3])
      >>> tf.sparse_tensor_to_dense(x)  # [[0, 5, 0]]

    Source: SparseToDense in core/ops/sparse_ops.cc.
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = zeros([], dtype=sp_input.dtype)
    return sparse_to_dense(
        sp_input.indices,
        sp_input.dense_shape,
        sp_input.values,
        default_value,
        validate_indices,
        name,
    )


@export("sparse.from_dense")
def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The nonzero elements of a dense tensor, as a SparseTensor.

    Example:
      >>> tf.sparse.from_dense([[0, 3], [0, 0]]).values  # [3]

    Source: python/ops/sparse_ops.py.
    """
    with name_scope(name, "dense_to_sparse"):
        tensor = convert(tensor)
        zero = constant(b"" if tensor.dtype == string else 0, tensor.dtype)
        indices = where(not_equal(tensor, zero))
        values = gather_nd(tensor, indices)
        return SparseTensor(indices, values, shape(tensor, out_type=int64))


# ---- matrix product


class SparseTensorDenseMatMul(Op):
    """A sparse matrix times a dense one.  Source: sparse_ops.cc."""

    signature = "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T"
    adjoint_a: bool = False
    adjoint_b: bool = False
    Tindices = INDEX_TYPES
    Tindices_default = int64
    by_shape: ClassVar[tuple[str, ...]] = ("a_shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("a_shape",)

    def infer_shape(
        self, a_indices: Shape, a_values: Shape, a_shape: Shape, b: Shape
    ) -> Shape:
        entries(a_indices, a_values, None)
        rows, inner = shapes.with_rank(a_shape, 2)
        if self.adjoint_a:
            rows, inner = inner, rows
        b_inner, columns = shapes.with_rank(b, 2)
        if self.adjoint_b:
            b_inner, columns = columns, b_inner
        if inner is not None and b_inner is not None and inner != b_inner:
            raise ValueError(f"Dimensions must be equal, but are {inner} and {b_inner}")
        return (rows, columns)

    def check_shapes(
        self,
        a_indices: tuple[int, ...],
        a_values: tuple[int, ...],
        a_shape: tuple[int, ...],
        b: tuple[int, ...],
    ) -> None:
        require_matrix(b, "Tensor 'b' is not a matrix")
        require_vector(a_shape, "Tensor 'a_shape' is not a vector")
        require(a_shape == (2,), "Tensor 'a_shape' must have 2 elements")
        require_vector(a_values, "Tensor 'a_values' is not a vector")
        require_matrix(a_indices, "Tensor 'a_indices' is not a matrix")
        message = "of a_indices does not match number of entries in"
        rows = a_indices[0] == a_values[0]
        require(rows, f"Number of rows {message} a_values")
        require(a_indices[1] == 2, f"Number of columns {message} a_shape")

    def compute(
        self,
        xp: ArrayModule,
        a_indices: Array,
        a_values: Array,
        a_shape: Array,
        b: Array,
    ) -> Any:
        b = b.conj().T if self.adjoint_b else b
        values = a_values.conj() if self.adjoint_a else a_values
        row, inner = a_indices.T[::-1] if self.adjoint_a else a_indices.T
        rows, depth = (int(n) for n in (a_shape[::-1] if self.adjoint_a else a_shape))
        if depth != b.shape[0]:
            raise invalid_argument(
                "Cannot multiply A and B because inner dimension does not match: "
                f"{depth} vs. {b.shape[0]}.  Did you forget a transpose?  Dimensions "
                f"of A: [{rows}, {depth}).  Dimensions of B: {shapes.text(b.shape)}"
            )
        self._check(xp, "k", inner, depth)
        self._check(xp, "m", row, rows)
        product = xp.zeros((rows, b.shape[1]), b.dtype)
        if len(row):
            order = xp.argsort(row, kind="stable")
            row, terms = row[order], values[order, None] * b[inner[order]]
            starts = xp.flatnonzero(xp.diff(row, prepend=row[:1] - 1))
            product[row[starts]] = xp.add.reduceat(terms, starts, axis=0)
        return product

    def _check(self, xp: ArrayModule, which: str, index: Any, limit: int) -> None:
        outside = (index < 0) | (index >= limit)
        if bool(outside.any()):
            at = int(xp.argmax(outside))
            column = int((which == "k") != self.adjoint_a)
            raise invalid_argument(
                f"{which} ({int(index[at])}) from index[{at},{column}] out of bounds "
                f"(>={limit})"
            )

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        indices, values, a_shape, b = op.inputs
        if values.dtype.is_complex:
            raise NotImplementedError(
                "SparseTensorDenseMatMul op does not support complex gradients."
            )
        transposed = SparseTensorDenseMatMul(adjoint_a=not self.adjoint_a)
        b_grad = transposed(indices, values, a_shape, grad)
        if self.adjoint_b:
            b_grad = transpose(b_grad)
        rows, columns = indices[:, 0], indices[:, 1]
        if self.adjoint_a:
            rows, columns = columns, rows
        of_grad = gather(grad, rows)
        of_b = gather(transpose(b) if self.adjoint_b else b, columns)
        return [None, reduce_sum(of_grad * of_b, axis=1), None, b_grad]


@export("sparse_tensor_dense_matmul", "sparse.matmul", "sparse.sparse_dense_matmul")
def sparse_tensor_dense_matmul(
    sp_a: SparseTensorLike,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of a sparse and a dense matrix.

    Args:
      sp_a: a SparseTensor [m, k]; its indices may be in any order.
      b: a Tensor [k, n] of the same type.
      adjoint_a: use the conjugate transpose of `sp_a`.
      adjoint_b: use the conjugate transpose of `b`.
      name: the op's name.

    Returns:
      A dense Tensor [m, n].

    Raises:
      ValueError: the inner dimensions differ.

    Example:
      >>> a = tf.SparseTensor([[0, 1]], [2.0], [1, 3])
      >>> tf.sparse_tensor_dense_matmul(a, [[1.0], [3.0], [5.0]])  # [[6.0]]

    Source: SparseTensorDenseMatMul in core/ops/sparse_ops.cc.
    """
    sp_a = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [*parts_of(sp_a), b]):
        b = convert(b, name="b")
        return SparseTensorDenseMatMul(adjoint_a, adjoint_b)(*parts_of(sp_a), b)


# ---- sums, products and quotients with a dense tensor


def refuse_sizes(sparse: tuple[int, ...], dense: tuple[int, ...]) -> None:
    """Check that the two shapes are equal.  Raises: InvalidArgumentError."""
    if len(sparse) != len(dense):
        raise invalid_argument(
            f"Two operands have different ranks; received: {len(sparse)} and "
            f"{len(dense)}"
        )
    for i, (a, b) in enumerate(zip(sparse, dense, strict=True)):
        if a != b:
            raise invalid_argument(
                f"Dimension {i} does not equal (no broadcasting is supported): sparse "
                f"side {a} vs dense side {b}"
            )


class SparseTensorDenseAdd(Op):
    """The sum of a sparse and a dense tensor.  Source: sparse_ops.cc."""

    signature = "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T"
    T = NUMBERS
    Tindices = INDEX_TYPES
    on_gpu: ClassVar[bool] = False

    def infer_shape(
        self, a_indices: Shape, a_values: Shape, a_shape: Shape, b: Shape
    ) -> Shape:
        return b

    def check_shapes(
        self,
        a_indices: tuple[int, ...],
        a_values: tuple[int, ...],
        a_shape: tuple[int, ...],
    ) -> None:
        message = "Input a_indices should be a matrix but received shape: %s"
        require_matrix(a_indices, message)
        message = "Inputs a_values and a_shape should be vectors but received shapes: "
        vectors = len(a_values) == len(a_shape) == 1
        require(vectors, message + "%s and %s", a_values, a_shape)
        require_sparse(a_indices, a_values, a_shape)

    def compute(
        self,
        xp: ArrayModule,
        a_indices: Array,
        a_values: Array,
        a_shape: Array,
        b: Array,
    ) -> Any:
        sizes = tuple(int(n) for n in a_shape)
        refuse_sizes(sizes, b.shape)
        check_inside(xp, a_indices, a_shape)
        total = b.copy()
        np.add.at(total, tuple(a_indices.T), a_values)
        return total

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, gather_nd(grad, op.inputs[0]), None, grad]


class CwiseOp(Op, abstract=True):
    """The values combined with the dense tensor's elements at their indices."""

    signature = (
        "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T"
    )
    T = NUMBERS
    on_gpu: ClassVar[bool] = False

    def infer_shape(
        self, sp_indices: Shape, sp_values: Shape, sp_shape: Shape, dense: Shape
    ) -> Shape:
        entries(sp_indices, sp_values, sp_shape)
        return shapes.with_rank(sp_indices, 2)[:1]

    def check_shapes(
        self,
        sp_indices: tuple[int, ...],
        sp_values: tuple[int, ...],
        sp_shape: tuple[int, ...],
    ) -> None:
        require_stored_entries(sp_indices, sp_values, sp_shape)

    def compute(
        self,
        xp: ArrayModule,
        sp_indices: Array,
        sp_values: Array,
        sp_shape: Array,
        dense: Array,
    ) -> Any:
        sizes = tuple(int(n) for n in sp_shape)
        try:
            full = np.broadcast_to(dense, sizes)
        except ValueError:
            raise invalid_argument(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got "
                f"incompatible shapes: {shapes.text(sizes)} vs. "
                f"{shapes.text(np.shape(dense))}"
            ) from None
        check_inside(xp, sp_indices, sp_shape)
        return self.combine(sp_values, full[tuple(sp_indices.T)])

    def combine(self, values: Any, dense: Any) -> Any:
        raise NotImplementedError

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.sparse.sparse_add import sparse_add

        indices, values, sp_shape, dense = op.inputs
        dense_shape = cast(shape(dense), int64)
        added = expand_dims(size(sp_shape) - size(dense_shape), 0)
        scaling = sp_shape // concat([ones(added, int64), dense_shape], 0)
        indices = indices // scaling
        indices = slice(indices, concat([[0], added], 0), [-1, -1])
        elements = gather_nd(dense, indices)
        of_values, of_elements = self.partials(grad, values, elements)
        sparse = SparseTensor(indices, of_elements, dense_shape)
        return [None, of_values, None, sparse_add(zeros_like(dense), sparse)]

    def partials(self, grad: Any, values: Any, elements: Any) -> tuple[Any, Any]:
        """d loss / d values and d loss / d the corresponding dense elements."""
        raise NotImplementedError(
            f"Gradient for {self.op_type} is currently not implemented yet."
        )


class SparseDenseCwiseAdd(CwiseOp):
    """Sums at the sparse tensor's indices.  Source: sparse_ops.cc."""

    def combine(self, values: Any, dense: Any) -> Any:
        return values + dense


class SparseDenseCwiseMul(CwiseOp):
    """Products at the sparse tensor's indices.  Source: sparse_ops.cc."""

    def combine(self, values: Any, dense: Any) -> Any:
        return values * dense

    def partials(self, grad: Any, values: Any, elements: Any) -> tuple[Any, Any]:
        return grad * elements, grad * values


class SparseDenseCwiseDiv(CwiseOp):
    """Quotients at the sparse tensor's indices.  Source: sparse_ops.cc."""

    def combine(self, values: Any, dense: Any) -> Any:
        if values.dtype.kind in "iu":
            if not np.all(dense):
                raise invalid_argument("Integer division by zero")
            return values // dense
        return values / dense

    def partials(self, grad: Any, values: Any, elements: Any) -> tuple[Any, Any]:
        return grad / elements, grad * (-values / square(elements))


def _operator(kind: type[CwiseOp], name: str) -> Callable[[SparseTensor, Any], Any]:
    """The operator of sparse tensors with a dense right operand."""

    def combined(sparse: SparseTensor, dense: Any) -> SparseTensor:
        parts = sparse.indices, sparse.values, sparse.dense_shape
        with name_scope(None, name, [*parts, dense]) as scope:
            dense = convert(dense, sparse.dtype.base_dtype, "y")
            values = kind()(*parts, dense, name=scope)
        return SparseTensor(sparse.indices, values, sparse.dense_shape)

    return combined


SparseTensor.overload("__mul__", _operator(SparseDenseCwiseMul, "mul"))
SparseTensor.overload("__truediv__", _operator(SparseDenseCwiseDiv, "truediv"))
SparseTensor.overload("__div__", _operator(SparseDenseCwiseDiv, "div"))
