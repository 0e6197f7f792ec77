"""Sums, and element-wise maxima and minima, of sparse tensors.

Source: core/ops/sparse_ops.cc; python/ops/sparse_ops.py, sparse_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.sparse.coo_arrays import NUMBERS, REALS, flat, summed_by_place, unflat
from tfteach.ops.sparse.sparse_dense_math import (
    SparseTensorDenseAdd,
    as_sparse,
    parts_of,
    with_parts,
)


def _check_alike(a_shape: Any, b_shape: Any) -> None:
    if len(a_shape) != len(b_shape):
        sizes = (" ".join(map(str, shape)) for shape in (a_shape, b_shape))
        raise invalid_argument(
            f"Operands do not have the same ranks; got shapes: {' and '.join(sizes)}"
        )
    for i, (a, b) in enumerate(zip(a_shape, b_shape, strict=True)):
        if a != b:
            raise invalid_argument(
                f"Operands' shapes do not match: got {a} and {b} for dimension {i}"
            )


class SparseAdd(MultiOutputOp):
    """The sum of two sparse tensors; small sums are dropped.  Source: sparse_ops.cc."""

    signature = (
        "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
        "b_shape: int64, thresh: Treal "
        "-> sum_indices: int64, sum_values: T, sum_shape: int64"
    )
    T = NUMBERS
    Treal = REALS
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, a_indices: Shape, a: Shape, a_shape: Shape, *b: Any) -> Any:
        (count,) = shapes.with_rank(a_shape, 1)
        return [(None, count), (None,), (count,)]

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        a, a_values, a_shape, b, b_values, b_shape, thresh = shapes
        message = "Input indices should be matrices but received shapes: %s and %s"
        require(len(a) == len(b) == 2, message, a, b)
        message = "Input values should be vectors but received shapes: %s and %s"
        require(len(a_values) == len(b_values) == 1, message, a_values, b_values)
        message = "Expected %s and %s non-empty input values, got %s and %s"
        given = a[0], b[0], a_values[0], b_values[0]
        require(given[:2] == given[2:], message, *given)
        message = "Input shapes should be a vector but received shapes %s and %s"
        require(len(a_shape) == len(b_shape) == 1, message, a_shape, b_shape)
        require_scalar(thresh, "The magnitude threshold must be a scalar: got shape %s")
        message = "Order length must be SparseTensor rank."
        require(a[1:] == a_shape and b[1:] == b_shape, message)

    def compute(
        self,
        xp: ArrayModule,
        a_indices: Array,
        a_values: Array,
        a_shape: Array,
        b_indices: Array,
        b_values: Array,
        b_shape: Array,
        thresh: Array,
    ) -> Any:
        _check_alike(a_shape, b_shape)
        a_places, b_places = flat(a_indices, a_shape), flat(b_indices, b_shape)
        places, values = summed_by_place(
            np.r_[a_places, b_places], np.r_[a_values, b_values]
        )
        # The threshold applies only to sums, not to entries of a single operand.
        sums = np.isin(places, np.intersect1d(a_places, b_places))
        kept = ~sums | (np.abs(values) >= thresh)
        indices = unflat(places[kept], a_shape)
        return indices, values[kept], np.array(a_shape, np.int64)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        a_indices, b_indices = op.inputs[0], op.inputs[3]
        a, b = SparseAddGrad()(grads[1], a_indices, b_indices, op.outputs[0])
        a.set_shape(op.inputs[1].shape)
        b.set_shape(op.inputs[4].shape)
        return [None, a, None, None, b, None, None]


class SparseAddGrad(MultiOutputOp):
    """The sum's gradient at each entry of the summands.  Source: sparse_ops.cc."""

    signature = (
        "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 "
        "-> a_val_grad: T, b_val_grad: T"
    )
    T = NUMBERS
    on_gpu: ClassVar[bool] = False
    stops_gradients: ClassVar[bool] = True

    def infer_shape(
        self, grad: Shape, a_indices: Shape, b_indices: Shape, total: Shape
    ) -> list[Shape]:
        parts = (a_indices, b_indices)
        return [(shapes.with_rank(part, 2)[0],) for part in parts]

    def check_shapes(
        self,
        backprop_val_grad: tuple[int, ...],
        a_indices: tuple[int, ...],
        b_indices: tuple[int, ...],
        sum_indices: tuple[int, ...],
    ) -> None:
        each = a_indices, b_indices, sum_indices
        message = "Input indices should be matrices but received shapes: "
        message += "%s and %s and %s"
        require(all(len(s) == 2 for s in each), message, *each)
        message = "Input backprop_val_grad should be a vector but received shape: %s"
        require_vector(backprop_val_grad, message)
        message = "The densified operands should have the same ndims; "
        message += "for A, B, sum got: %s%s%s"
        ranks = [s[1] for s in each]
        require(len(set(ranks)) == 1, message, *ranks)
        message = (
            "# elements of backprop_val_grad and # rows of sum_indices should match "
        )
        message += "(#nnz of sum): got %s and %s"
        counts = backprop_val_grad[0], sum_indices[0]
        require(counts[0] == counts[1], message, *counts)

    def compute(
        self,
        xp: ArrayModule,
        backprop_val_grad: Array,
        a_indices: Array,
        b_indices: Array,
        sum_indices: Array,
    ) -> Any:
        known = {
            tuple(i): g for i, g in zip(sum_indices, backprop_val_grad, strict=True)
        }
        zero = backprop_val_grad.dtype.type(0)

        def picked(indices: Any) -> Any:
            found = [known.get(tuple(index), zero) for index in indices]
            return np.array(found, backprop_val_grad.dtype)

        return picked(a_indices), picked(b_indices)


@export("sparse_add", "sparse.add")
def sparse_add(
    a: SparseTensorLike | TensorLike,
    b: SparseTensorLike | TensorLike,
    threshold: TensorLike | None = None,
    thresh: TensorLike | None = None,
) -> Any:
    """The sum of two tensors, at least one of which is sparse.

    Args:
      a, b: SparseTensors or Tensors of one shape.
      threshold: sums of two SparseTensors smaller than this are dropped; None means 0,
        which retains even sums of zero.
      thresh: older name of `threshold`.

    Returns:
      A SparseTensor if both are sparse, otherwise a Tensor.

    Raises:
      TypeError: neither is sparse.

    Example:
      >>> a = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
      >>> tf.sparse_add(a, tf.ones([2, 2]))  # [[2.0, 1.0], [1.0, 1.0]]

    Source: SparseAdd and SparseTensorDenseAdd in core/ops/sparse_ops.cc.
    """
    threshold = deprecated_argument_lookup("threshold", threshold, "thresh", thresh)
    sparse = [isinstance(x, SparseTensor) or hasattr(x, "dense_shape") for x in (a, b)]
    if not any(sparse):
        raise TypeError(
            "At least one input should be SparseTensor; do you mean to use tf.add()?"
        )
    if all(sparse):
        first, second = as_sparse(a), as_sparse(b)
        limit = first.dtype.real_dtype.base_dtype
        threshold = convert(0 if threshold is None else threshold, limit, "threshold")
        indices, values, shape = SparseAdd()(*parts_of(first, second), threshold)
        first.shape.assert_is_compatible_with(second.shape)
        known = shapes.broadcast(first.shape.dims_or_none, second.shape.dims_or_none)
        if shapes.is_full(known):
            return SparseTensor(indices, values, np.array(known, np.int64))
        return SparseTensor(indices, values, shape)
    if sparse[1]:
        a, b = b, a
    return SparseTensorDenseAdd()(*parts_of(as_sparse(a)), b)


class Pairwise(MultiOutputOp, abstract=True):
    """Two sparse tensors combined wherever either has a value."""

    signature = (
        "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
        "b_shape: int64 -> output_indices: int64, output_values: T"
    )
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, a_indices: Shape, *_: Any) -> list[Shape]:
        shapes.with_rank(a_indices, 2)
        return [(None, None), (None,)]

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        a, a_values, a_shape, b, b_values, b_shape = shapes
        message = (
            "Inputs a_indices and b_indices should be matrices but received shapes: "
        )
        require(len(a) == len(b) == 2, message + "%s, %s", a, b)
        message = "Inputs a_values and b_values should be vectors but received shapes: "
        vectors = len(a_values) == len(b_values) == 1
        require(vectors, message + "%s and %s", a_values, b_values)
        message = "Expected %s and %s non-empty input values, got %s and %s"
        given = a[0], b[0], a_values[0], b_values[0]
        require(given[:2] == given[2:], message, *given)
        message = "Inputs a_shape and b_shape should be vectors but received shapes: "
        vectors = len(a_shape) == len(b_shape) == 1
        require(vectors, message + "%s and %s", a_shape, b_shape)
        message = "Order length must be SparseTensor rank."
        require(a[1:] == a_shape and b[1:] == b_shape, message)

    def compute(
        self,
        xp: ArrayModule,
        a_indices: Array,
        a_values: Array,
        a_shape: Array,
        b_indices: Array,
        b_values: Array,
        b_shape: Array,
    ) -> Any:
        _check_alike(a_shape, b_shape)
        a_places, b_places = flat(a_indices, a_shape), flat(b_indices, b_shape)
        places = np.union1d(a_places, b_places)
        pair = []
        for own, values in ((a_places, a_values), (b_places, b_values)):
            full = np.zeros(len(places), values.dtype)
            full[np.searchsorted(places, own)] = values
            pair.append(full)
        return unflat(places, a_shape), self.combine(*pair)

    def combine(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        raise NotImplementedError(
            f"Gradient for {self.op_type} is currently not implemented yet."
        )


class SparseSparseMaximum(Pairwise):
    """The larger of two values at each index.  Source: sparse_ops.cc."""

    T = REALS

    def combine(self, a: Any, b: Any) -> Any:
        return np.maximum(a, b)


class SparseSparseMinimum(Pairwise):
    """The smaller of two values at each index.  Source: sparse_ops.cc."""

    T = NUMBERS

    def combine(self, a: Any, b: Any) -> Any:
        return np.minimum(a, b)


def _pairwise(op: Pairwise, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    sp_a, sp_b = with_parts(sp_a), with_parts(sp_b)
    parts = parts_of(sp_a, sp_b)
    with name_scope(name, op.op_type, parts) as scope:
        indices, values = op(*parts, name=scope)
    return SparseTensor(indices, values, sp_a.dense_shape)


@export("sparse_maximum", "sparse.maximum")
def sparse_maximum(
    sp_a: SparseTensorLike, sp_b: SparseTensorLike, name: str | None = None
) -> SparseTensor:
    """The larger value at each index where either SparseTensor has one.

    Missing values count as zero.

    Source: SparseSparseMaximum in core/ops/sparse_ops.cc.
    """
    return _pairwise(SparseSparseMaximum(), sp_a, sp_b, name)


@export("sparse_minimum", "sparse.minimum")
def sparse_minimum(
    sp_a: SparseTensorLike, sp_b: SparseTensorLike, name: str | None = None
) -> SparseTensor:
    """The smaller value at each index where either SparseTensor has one.

    Missing values count as zero.

    Source: SparseSparseMinimum in core/ops/sparse_ops.cc.
    """
    return _pairwise(SparseSparseMinimum(), sp_a, sp_b, name)
