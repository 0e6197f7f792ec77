"""Sparse tensors reordered, reshaped, sliced, and filled with defaults.

Source: core/ops/sparse_ops.cc; python/ops/sparse_ops.py, sparse_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int64
from tfteach.framework.errors import InternalError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_matrix,
    require_scalar,
    require_sparse,
    require_vector,
)
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.gather import gather
from tfteach.ops.array.static_values import constant_value_as_shape
from tfteach.ops.array.transpose_reverse import invert_permutation
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.sparse.coo_arrays import NUMBERS, flat, unflat
from tfteach.ops.sparse.sparse_dense_math import as_sparse, parts_of


class SparseShapeOp(Op, abstract=True):
    """An op on indices, which runs on the CPU."""

    on_gpu: ClassVar[bool] = False


class SparseReorder(SparseShapeOp, MultiOutputOp):
    """Entries in row-major order.  Source: sparse_ops.cc, SparseReorder."""

    signature = (
        "input_indices: int64, input_values: T, input_shape: int64 "
        "-> output_indices: int64, output_values: T"
    )

    def infer_shape(self, indices: Shape, values: Shape, size: Shape) -> list[Shape]:
        return [shapes.with_rank(indices, 2), shapes.with_rank(values, 1)]

    def check_shapes(
        self,
        input_indices: tuple[int, ...],
        input_values: tuple[int, ...],
        input_shape: tuple[int, ...],
    ) -> None:
        message = "Input {} should be a {} but received shape %s"
        require_matrix(input_indices, message.format("indices", "matrix"))
        require_vector(input_values, message.format("values", "vector"))
        require_vector(input_shape, message.format("shape", "vector"))
        require_sparse(input_indices, input_values, input_shape)

    def compute(self, xp: ArrayModule, indices: Array, values: Array, size: Any) -> Any:
        order = np.lexsort(indices.T[::-1]) if indices.shape[1] else slice(None)
        return indices[order], values[order]

    def gradient(self, op: Operation, _: Any, grad: Tensor) -> list[Gradient]:
        indices, _values, size = op.inputs
        entries = range_of(shape(indices)[0])
        ordered = sparse_reorder(SparseTensor(indices, entries, size))
        return [None, gather(grad, invert_permutation(ordered.values)), None]


@export("sparse_reorder", "sparse.reorder")
def sparse_reorder(sp_input: SparseTensorLike, name: str | None = None) -> SparseTensor:
    """The same SparseTensor with its entries in row-major order.

    Example:
      >>> x = tf.SparseTensor([[2, 0], [0, 1]], [1, 2], [3, 4])
      >>> tf.sparse_reorder(x).values  # [2, 1]

    Source: SparseReorder in core/ops/sparse_ops.cc.
    """
    sp_input = as_sparse(sp_input)
    indices, values = SparseReorder()(*parts_of(sp_input), name=name)
    known = sp_input.shape
    if known.is_fully_defined():
        return SparseTensor(indices, values, np.array(known.as_list(), np.int64))
    return SparseTensor(indices, values, identity(sp_input.dense_shape))


class SparseReshape(SparseShapeOp, MultiOutputOp):
    """Indices for a new dense shape.  Source: sparse_ops.cc, SparseReshape."""

    signature = (
        "input_indices: int64, input_shape: int64, new_shape: int64 "
        "-> output_indices: int64, output_shape: int64"
    )

    def infer_shape(self, indices: Shape, size: Shape, new: Shape) -> list[Shape]:
        (count,) = shapes.with_rank(new, 1)
        return [(shapes.with_rank(indices, 2)[0], count), (count,)]

    def check_shapes(
        self,
        input_indices: tuple[int, ...],
        input_shape: tuple[int, ...],
        new_shape: tuple[int, ...],
    ) -> None:
        message = "should be a vector but received shape %s"
        require_matrix(
            input_indices, "Input indices should be a matrix but received shape %s"
        )
        require_vector(input_shape, f"Input shape {message}")
        require_vector(new_shape, f"Target shape {message}")
        message = "Order length must be SparseTensor rank."
        require(input_indices[1:] == input_shape, message)

    def compute(
        self, xp: ArrayModule, indices: Array, size: Any, new_shape: Array
    ) -> Any:
        new = [int(n) for n in new_shape]
        total = int(np.prod(size))
        if new.count(-1) > 1:
            raise invalid_argument(
                "only one output dimension may be -1, not both "
                f"{new.index(-1)} and {len(new) - 1 - new[::-1].index(-1)}"
            )
        if -1 in new:
            rest = int(np.prod([n for n in new if n != -1]))
            filled = tuple(total // (rest or 1) if n < 0 else n for n in new)
            if rest == 0 or total % rest:
                raise invalid_argument(
                    f"Input to reshape is a SparseTensor with {total} dense values, "
                    f"but the requested shape requires a multiple of {rest}. "
                    f"input_shape={shapes.text(tuple(size.tolist()))} "
                    f"output_shape={shapes.text(filled)}"
                )
            new[new.index(-1)] = total // rest
        elif int(np.prod(new)) != total:
            raise invalid_argument(
                f"Input to reshape is a tensor with {total} dense values, but the "
                f"requested shape has {int(np.prod(new))}. "
                f"input_shape={shapes.text(tuple(size.tolist()))} "
                f"output_shape={shapes.text(tuple(new))}"
            )
        if new == size.tolist():
            # Indices out of range remain, as in TensorFlow.
            return indices.copy(), np.array(new, np.int64)
        # As in TensorFlow, indices out of range are moved like others.
        places = flat(indices, size, is_checked=False)
        return unflat(places, new), np.array(new, np.int64)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, None, None]


@export("sparse_reshape", "sparse.reshape")
def sparse_reshape(
    sp_input: SparseTensorLike, shape: TensorLike, name: str | None = None
) -> SparseTensor:
    """A SparseTensor reshaped, with its values in the same order.

    Args:
      sp_input: a SparseTensor.
      shape: int Tensor [new rank]; one size may be -1.
      name: the op's name.

    Raises:
      ValueError: the shapes have different numbers of elements.

    Example:
      >>> x = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 4])
      >>> tf.sparse_reshape(x, [2, -1]).indices  # [[0, 1], [1, 2]]

    Source: SparseReshape in core/ops/sparse_ops.cc.
    """
    sp_input = as_sparse(sp_input)
    shape = cast(shape, int64)
    with name_scope(name, "SparseReshape", [sp_input.indices]) as scope:
        indices, sizes = SparseReshape()(
            sp_input.indices, sp_input.dense_shape, shape, name=scope
        )
        old = sp_input.shape
        if old.is_fully_defined():
            new = constant_value_as_shape(shape)
            if new.ndims is not None and new.as_list().count(None) <= 1:
                known = [-1 if n is None else n for n in new.as_list()]
                sizes = constant(_known_sizes(old.num_elements(), known))
        return SparseTensor(indices, identity(sp_input.values), sizes)


def _known_sizes(total: Any, new: list[int]) -> Any:
    """The new shape, with -1 resolved; raises ValueError if that is impossible."""
    rest = int(np.prod([n for n in new if n != -1]))
    found = [total // max(rest, 1) if n == -1 else n for n in new]
    if int(np.prod(found)) != total:
        sizes = [None if n == -1 else n for n in new]
        raise ValueError(
            f"Cannot reshape a tensor with {total} elements to shape {sizes} "
            f"({int(np.prod(found))} elements)."
        )
    return np.array(found, np.int64)


class SparseSlice(SparseShapeOp, MultiOutputOp):
    """The entries inside a block.  Source: sparse_ops.cc, SparseSlice."""

    signature = (
        "indices: int64, values: T, shape: int64, start: int64, size: int64 "
        "-> output_indices: int64, output_values: T, output_shape: int64"
    )

    def infer_shape(self, i: Shape, v: Shape, s: Shape, *box: Shape) -> list[Shape]:
        (count,) = shapes.with_rank(s, 1)
        return [(None, count), (None,), s]

    def check_shapes(
        self,
        indices: tuple[int, ...],
        values: tuple[int, ...],
        shape: tuple[int, ...],
        start: tuple[int, ...],
        size: tuple[int, ...],
    ) -> None:
        message = "Input {} should be a {} but received shape %s"
        require_matrix(indices, message.format("indices", "matrix"))
        require_vector(values, message.format("values", "vector"))
        require_vector(shape, message.format("shape", "vector"))
        require_vector(start, message.format("start", "vector"))
        require_vector(size, message.format("size", "vector"))
        rank = shape[0]
        message = "Expected start to be a vector of length %s but got length %s"
        require(start[0] == rank, message, rank, start[0])
        message = "Expected size to be a vector of length %s but got length %s"
        require(size[0] == rank, message, rank, size[0])
        require_sparse(indices, values, shape)

    def compute(
        self,
        xp: ArrayModule,
        indices: Array,
        values: Array,
        shape: Any,
        start: Array,
        size: Any,
    ) -> Any:
        inside = ((indices >= start) & (indices < start + size)).all(axis=1)
        sizes = np.clip(np.minimum(size, shape - start), 0, None)
        return indices[inside] - start, values[inside], sizes

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        indices, values, _, start, _ = op.inputs
        grad = SparseSliceGrad()(grads[1], indices, start, op.outputs[0])
        grad.set_shape(values.shape)
        return [None, grad, None, None, None]


class SparseSliceGrad(SparseShapeOp):
    """The gradient of a slice, at each entry of the input.  Source: sparse_ops.cc."""

    signature = (
        "backprop_val_grad: T, input_indices: int64, input_start: int64, "
        "output_indices: int64 -> val_grad: T"
    )
    T = NUMBERS

    def infer_shape(self, grad: Shape, indices: Shape, *_: Shape) -> Shape:
        return (shapes.with_rank(indices, 2)[0],)

    def check_shapes(
        self, backprop_val_grad: tuple[int, ...], input_indices: tuple[int, ...],
        input_start: tuple[int, ...],
        output_indices: tuple[int, ...],
    ) -> None:  # fmt: skip
        message = "Input and output indices should be matrices but received shapes: "
        both = len(input_indices) == len(output_indices) == 2
        require(both, message + "%s and %s", input_indices, output_indices)
        message = "Input backprop_val_grad should be a vector but received shape: %s"
        require_vector(backprop_val_grad, message)
        message = "The input_start should be a vector but received shape %s"
        require_vector(input_start, message)
        (rows, rank), (taken, own) = input_indices, output_indices
        message = "The input and output should have the same ndims: got: %s and %s"
        require(rank == own, message, rank, own)
        message = "# rows of output_indices should be not greater than of "
        message += "input_indices, got %s and %s"
        require(taken <= rows, message, taken, rows)
        message = "# elements of backprop_val_grad and # rows of output_indices should "
        message += "match (#nnz of sum): got %s and %s"
        require(backprop_val_grad == (taken,), message, backprop_val_grad[0], taken)

    def compute(
        self, xp: ArrayModule, grad: Array, indices: Array, start: Array, taken: Array
    ) -> Any:
        whole = {tuple(index): i for i, index in enumerate(indices - start)}
        found = np.zeros(len(indices), grad.dtype)
        for used, (index, value) in enumerate(zip(taken, grad, strict=True)):
            place = whole.get(tuple(index))
            if place is None:
                raise InternalError(
                    None,
                    None,
                    "Elements of backprop_val_grad aren't all propagated. Num elements:"
                    f"{len(grad)}, used: {used}",
                )
            found[place] = value
        return found


@export("sparse_slice", "sparse.slice")
def sparse_slice(
    sp_input: SparseTensorLike,
    start: TensorLike,
    size: TensorLike,
    name: str | None = None,
) -> SparseTensor:
    """The block of a SparseTensor from `start` with the given `size`.

    Args:
      sp_input: a SparseTensor.
      start: int64 Tensor [rank].
      size: int64 Tensor [rank]; clipped to the tensor.
      name: the op's name.

    Example:
      >>> x = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 4])
      >>> tf.sparse_slice(x, [1, 0], [2, 2]).values  # [2]

    Source: SparseSlice in core/ops/sparse_ops.cc.
    """
    sp_input = as_sparse(sp_input)
    start, size = convert(start, int64), convert(size, int64)
    with name_scope(name, "SparseSlice", [sp_input.indices]) as scope:
        return SparseTensor(
            *SparseSlice()(*parts_of(sp_input), start, size, name=scope)
        )


class SparseFillEmptyRows(SparseShapeOp, MultiOutputOp):
    """A default value for each empty row.  Source: sparse_ops.cc."""

    signature = (
        "indices: int64, values: T, dense_shape: int64, default_value: T "
        "-> output_indices: int64, output_values: T, empty_row_indicator: bool, "
        "reverse_index_map: int64"
    )

    by_shape: ClassVar[tuple[str, ...]] = ("dense_shape",)

    def infer_shape(
        self, indices: Shape, values: Shape, dense: Shape, default: Shape
    ) -> list[Shape]:
        count, rank = shapes.with_rank(indices, 2)
        count = shapes.same_size(count, shapes.with_rank(values, 1)[0])
        shapes.with_rank(default, 0)
        if dense is None:
            return [(None, None), (None,), (None,), (count,)]
        shapes.same_size(rank, len(dense))
        return [(None, len(dense)), (None,), dense[:1], (count,)]

    def check_shapes(
        self,
        indices: tuple[int, ...],
        values: tuple[int, ...],
        dense_shape: tuple[int, ...],
        default_value: tuple[int, ...],
    ) -> None:
        require_vector(dense_shape, "dense_shape must be a vector, saw: %s")
        require_matrix(indices, "indices must be a matrix, saw: %s")
        require_vector(values, "values must be a vector, saw: %s")
        require_scalar(default_value, "default_value must be a scalar, saw: %s")
        require_sparse(indices, values, dense_shape)

    def compute(
        self,
        xp: ArrayModule,
        indices: Array,
        values: Array,
        dense_shape: Array,
        default_value: Array,
    ) -> Any:
        rows = int(dense_shape[0])
        for i, row in enumerate(indices[:, 0]):
            if not 0 <= row < rows:
                raise invalid_argument(f"indices({i}, 0) is invalid: {row} >= {rows}")
        empty = np.ones(rows, bool)
        empty[indices[:, 0]] = False
        added = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
        added[:, 0] = np.flatnonzero(empty)
        fillers = np.empty(len(added), values.dtype)
        fillers[...] = default_value
        every = np.concatenate([indices, added])
        order = np.argsort(every[:, 0], kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        filled = np.concatenate([values, fillers])[order]
        return every[order], filled, empty, places[: len(indices)]

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        values, default = SparseFillEmptyRowsGrad()(op.outputs[3], grads[1])
        return [None, values, None, default]


class SparseFillEmptyRowsGrad(SparseShapeOp, MultiOutputOp):
    """The gradients of the values and of the default.  Source: sparse_ops.cc."""

    signature = (
        "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T"
    )

    def infer_shape(self, places: Shape, grad: Shape) -> list[Shape]:
        return [shapes.with_rank(places, 1), ()]

    def check_shapes(
        self, reverse_index_map: tuple[int, ...], grad_values: tuple[int, ...]
    ) -> None:
        require_vector(reverse_index_map, "reverse_index_map must be a vector, saw: %s")
        require_vector(grad_values, "grad_values must be a vector, saw: %s")

    def compute(
        self, xp: ArrayModule, reverse_index_map: Array, grad_values: Array
    ) -> Any:
        size = len(grad_values)
        outside = (reverse_index_map < 0) | (reverse_index_map >= size)
        if outside.any():
            index = reverse_index_map[int(outside.argmax())]
            raise invalid_argument(
                f"Elements in reverse index must be in [0, {size}) but got {index}"
            )
        is_new = np.ones(len(grad_values), bool)
        is_new[reverse_index_map] = False
        total = grad_values[is_new].sum(dtype=grad_values.dtype)
        return grad_values[reverse_index_map], total


@export("sparse_fill_empty_rows", "sparse.fill_empty_rows")
def sparse_fill_empty_rows(
    sp_input: SparseTensorLike, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """A SparseTensor with `default_value` at column 0 of each empty row.

    Args:
      sp_input: a SparseTensor [rows, columns].
      default_value: a scalar of its type.
      name: the op's name.

    Returns:
      The filled SparseTensor, and a bool Tensor [rows]: whether each row was empty.

    Source: SparseFillEmptyRows in core/ops/sparse_ops.cc.
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input.indices]):
        default_value = convert(default_value, sp_input.values.dtype)
        indices, values, empty, _ = SparseFillEmptyRows()(
            *parts_of(sp_input), default_value
        )
        return SparseTensor(indices, values, sp_input.dense_shape), empty
