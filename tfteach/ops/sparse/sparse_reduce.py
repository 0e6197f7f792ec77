"""Reductions of sparse tensors along axes: sums, maxima, softmax.

Source: core/ops/sparse_ops.cc; python/ops/sparse_ops.py, sparse_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_sparse,
    require_stored_entries,
    require_vector,
)
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import both
from tfteach.ops.math.reduce_ops import reduced_shape
from tfteach.ops.sparse.coo_arrays import (
    NUMBERS,
    REALS,
    check_inside,
    entries,
    flat,
    summed_by_place,
    unflat,
)
from tfteach.ops.sparse.sparse_dense_math import (
    SparseDenseCwiseAdd,
    parts_of,
    with_parts,
)

# ---- reductions


class SparseReduction(Op, abstract=True):
    """A sparse tensor's entries reduced along axes."""

    by_value: ClassVar[tuple[str, ...]] = ("input_shape", "reduction_axes")
    on_gpu: ClassVar[bool] = False

    def reduced(self, indices: Any, values: Any, shape: Any, axes: Any) -> Any:
        """(flat indices in the reduced shape, their values, the reduced shape)."""
        count = len(shape)
        listed = []
        for axis in np.ravel(axes).tolist():
            if not -count <= axis < count:
                raise invalid_argument(
                    f"Invalid reduction dimension {axis}, for input with {count} "
                    "dimensions."
                )
            listed.append(axis % count)
        # In TF an empty list means all axes.
        gone = set(listed) if listed else set(range(count))
        kept = [i for i in range(count) if i not in gone]
        places = flat(indices[:, kept], np.asarray(shape)[kept])
        found, combined = self.combine(places, np.asarray(values))
        keep_dims = getattr(self, "keep_dims", False)
        sizes = [
            int(1 if i in gone else n)
            for i, n in enumerate(shape)
            if keep_dims or i not in gone
        ]
        return found, combined, sizes

    def combine(self, places: Any, values: Any) -> tuple[Any, Any]:
        return summed_by_place(places, values)

    def check_shapes(
        self, input_indices: tuple[int, ...], input_values: tuple[int, ...],
        input_shape: tuple[int, ...],
        reduction_axes: tuple[int, ...],
    ) -> None:  # fmt: skip
        message = "Expected reduction_axes to be a scalar or a vector; got shape: %s"
        require(len(reduction_axes) <= 1, message, reduction_axes)
        message = "Expected input_shape to be a vector; got shape: %s"
        require_vector(input_shape, message)
        require_sparse(input_indices, input_values, input_shape)


def maxima_by_place(places: Any, values: Any) -> tuple[Any, Any]:
    """Distinct flat indices in order, and the largest value at each."""
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    if not len(places):
        return places, values
    starts = np.flatnonzero(np.r_[True, places[1:] != places[:-1]])
    return places[starts], np.maximum.reduceat(values, starts)


class ToDense(SparseReduction, abstract=True):
    """A reduction with a dense result."""

    signature = (
        "input_indices: int64, input_values: T, input_shape: int64, "
        "reduction_axes: int32 -> output: T"
    )
    keep_dims: bool = False

    def infer_shape(
        self, input_indices: Shape, input_values: Shape, shape: Any, axes: Any
    ) -> Shape:
        if shape is None or axes is None:
            return None
        count = len(shape)
        listed = [a % count for a in np.ravel(axes).tolist() if -count <= a < count]
        gone = set(listed) if np.size(axes) else set(range(count))
        return tuple(
            int(1 if i in gone else n)
            for i, n in enumerate(shape)
            if self.keep_dims or i not in gone
        )

    def compute(
        self,
        xp: ArrayModule,
        input_indices: Array,
        input_values: Array,
        input_shape: Array,
        reduction_axes: Array,
    ) -> Any:
        places, values, shape = self.reduced(
            input_indices, input_values, input_shape, reduction_axes
        )
        dense = np.zeros(int(np.prod(shape)), values.dtype)
        dense[places] = values
        return dense.reshape(shape)


class ToSparse(SparseReduction, MultiOutputOp, abstract=True):
    """A reduction with a sparse result."""

    signature = (
        "input_indices: int64, input_values: T, input_shape: int64, "
        "reduction_axes: int32 "
        "-> output_indices: int64, output_values: T, output_shape: int64"
    )
    keep_dims: bool = False

    def infer_shape(self, *_: Any) -> list[Shape]:
        return [None, None, None]

    def compute(
        self,
        xp: ArrayModule,
        input_indices: Array,
        input_values: Array,
        input_shape: Array,
        reduction_axes: Array,
    ) -> Any:
        places, values, shape = self.reduced(
            input_indices, input_values, input_shape, reduction_axes
        )
        return unflat(places, shape), values, np.array(shape, np.int64)


class SparseReduceSum(ToDense):
    """Sums along axes, dense.  Source: sparse_ops.cc, SparseReduceSum."""

    T = NUMBERS

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        indices, _, shape, axes = op.inputs
        kept = reduced_shape(shape, axes)
        grad = reshape(grad, kept)
        scale = shape // cast(kept, int64)
        return [None, gather_nd(grad, indices // scale), None, None]


class SparseReduceSumSparse(ToSparse):
    """Sums along axes, sparse.  Source: sparse_ops.cc, SparseReduceSumSparse."""

    T = NUMBERS


class SparseReduceMax(ToDense):
    """Maxima along axes, dense.  Source: sparse_ops.cc, SparseReduceMax."""

    T = REALS

    def combine(self, places: Any, values: Any) -> tuple[Any, Any]:
        return maxima_by_place(places, values)


class SparseReduceMaxSparse(ToSparse):
    """Maxima along axes, sparse.  Source: sparse_ops.cc, SparseReduceMaxSparse."""

    T = REALS

    def combine(self, places: Any, values: Any) -> tuple[Any, Any]:
        return maxima_by_place(places, values)


def reduce_sparse(
    op_class: Any,
    sp_input: SparseTensorLike,
    axis: Any,
    keepdims: bool | None,
    indices: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
) -> Any:
    """The result of a SparseReduction, a Tensor or a SparseTensor."""
    sp_input = with_parts(sp_input)
    axis, keepdims = both(axis, indices, keepdims, keep_dims)
    if axis is None:
        count = sp_input.dense_shape.shape.num_elements()
        axis = (
            range_of(0, rank(sp_input))
            if count is None
            else constant(np.arange(count, dtype=np.int32))
        )
    result = op_class(keepdims)(*parts_of(sp_input), axis, name=name)
    return SparseTensor(*result) if isinstance(result, list) else result


@export("sparse_reduce_sum", "sparse.reduce_sum")
def sparse_reduce_sum(
    sp_input: SparseTensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The sums of a SparseTensor along axes, as a dense Tensor.

    Args:
      sp_input: a numeric SparseTensor.
      axis: the axis or axes, negative from the end; all if None.
      keepdims: keep the reduced axes with size 1.
      reduction_axes: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of `sp_input`'s type.

    Raises:
      tf.errors.InvalidArgumentError: in a run, an axis is out of range.

    Example:
      >>> x = tf.SparseTensor([[0, 0], [0, 2]], [1, 2], [2, 3])
      >>> tf.sparse_reduce_sum(x, 1)  # [3, 0]

    Source: SparseReduceSum in core/ops/sparse_ops.cc.
    """
    result: Tensor = reduce_sparse(
        SparseReduceSum, sp_input, axis, keepdims, reduction_axes, keep_dims
    )
    return result


@export("sparse_reduce_sum_sparse", "sparse.reduce_sum_sparse")
def sparse_reduce_sum_sparse(
    sp_input: SparseTensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """`tf.sparse_reduce_sum` with a SparseTensor as the result.

    Source: SparseReduceSumSparse in core/ops/sparse_ops.cc.
    """
    result: SparseTensor = reduce_sparse(
        SparseReduceSumSparse, sp_input, axis, keepdims, reduction_axes, keep_dims
    )
    return result


@export("sparse_reduce_max", "sparse.reduce_max")
def sparse_reduce_max(
    sp_input: SparseTensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The maxima of the stored values along axes, as a dense Tensor; 0 where none are.

    Arguments and errors are those of `tf.sparse_reduce_sum`.

    Source: SparseReduceMax in core/ops/sparse_ops.cc.
    """
    result: Tensor = reduce_sparse(
        SparseReduceMax, sp_input, axis, keepdims, reduction_axes, keep_dims
    )
    return result


@export("sparse_reduce_max_sparse", "sparse.reduce_max_sparse")
def sparse_reduce_max_sparse(
    sp_input: SparseTensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """`tf.sparse_reduce_max` with a SparseTensor as the result.

    Source: SparseReduceMaxSparse in core/ops/sparse_ops.cc.
    """
    result: SparseTensor = reduce_sparse(
        SparseReduceMaxSparse, sp_input, axis, keepdims, reduction_axes, keep_dims
    )
    return result


# ---- softmax


class SparseSoftmax(Op):
    """Softmax over the stored values of each row.  Source: sparse_ops.cc."""

    signature = "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T"
    T = dtypes_of("float32 float64")
    on_gpu: ClassVar[bool] = False

    def infer_shape(
        self, sp_indices: Shape, sp_values: Shape, sp_shape: Shape
    ) -> Shape:
        entries(sp_indices, sp_values, sp_shape)
        return shapes.with_rank(sp_values, 1)

    def check_shapes(
        self,
        sp_indices: tuple[int, ...],
        sp_values: tuple[int, ...],
        sp_shape: tuple[int, ...],
    ) -> None:
        require_stored_entries(sp_indices, sp_values, sp_shape)

    def compute(
        self, xp: ArrayModule, sp_indices: Array, sp_values: Array, sp_shape: Array
    ) -> Any:
        if len(sp_shape) < 2:
            sizes = " ".join(map(str, sp_shape))
            raise invalid_argument(
                f"Input should have rank >= 2, but received shape: {sizes}"
            )
        check_inside(xp, sp_indices, sp_shape)
        rows = flat(sp_indices[:, :-1], sp_shape[:-1])
        _, group = np.unique(rows, return_inverse=True)
        groups = int(group.max(initial=-1)) + 1
        top = np.full(groups, -np.inf, sp_values.dtype)
        np.maximum.at(top, group, sp_values)
        powers = np.exp(sp_values - top[group])
        sums = np.zeros(groups, sp_values.dtype)
        np.add.at(sums, group, powers)
        return powers / sums[group]

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        indices, _, shape = op.inputs
        output = op.outputs[0]
        sp_output = SparseTensor(indices, output, shape)
        sp_grad = SparseTensor(indices, grad, shape)
        product = SparseTensor(indices, sp_output.values * sp_grad.values, shape)
        total = -sparse_reduce_sum(product, [-1], keepdims=True)
        spread = SparseDenseCwiseAdd()(indices, sp_grad.values, shape, total)
        return [None, spread * sp_output.values, None]


@export("sparse_softmax", "sparse.softmax")
def sparse_softmax(sp_input: SparseTensorLike, name: str | None = None) -> SparseTensor:
    """Softmax over the stored values of the last axis; missing ones have no weight.

    Args:
      sp_input: a float32 or float64 SparseTensor of rank 2 or more.
      name: the op's name.

    Returns:
      A SparseTensor with the same indices.

    Source: SparseSoftmax in core/ops/sparse_ops.cc.
    """
    sp_input = with_parts(sp_input)
    parts = parts_of(sp_input)
    with name_scope(name, "SparseSoftmax", parts):
        values = SparseSoftmax()(*parts)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)
