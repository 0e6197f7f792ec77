"""Sparse tensors split and concatenated.

Source: core/ops/sparse_ops.cc; python/ops/sparse_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_matrix,
    require_scalar,
    require_sparse,
    require_vector,
)
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.math.reduce_functions import reduce_max
from tfteach.ops.sparse.sparse_dense_math import as_sparse, parts_of
from tfteach.ops.sparse.sparse_shape import SparseShapeOp


class SparseSplit(SparseShapeOp, MultiOutputOp):
    """Parts of a sparse tensor along an axis.  Source: sparse_ops.cc, SparseSplit."""

    signature = (
        "split_dim: int64, indices: int64, values: T, shape: int64 "
        "-> output_indices: num_split*int64, output_values: num_split*T, "
        "output_shape: num_split*int64"
    )
    num_split: int
    minimum: ClassVar[dict[str, int]] = {"num_split": 1}

    def infer_shape(self, axis: Shape, i: Shape, v: Shape, s: Shape) -> list[Shape]:
        (count,) = shapes.with_rank(s, 1)
        pieces = self.num_split
        parts: list[Shape] = [(None, count)] * pieces
        return parts + [(None,)] * pieces + [s] * pieces

    def check_shapes(
        self,
        split_dim: tuple[int, ...],
        indices: tuple[int, ...],
        values: tuple[int, ...],
        shape: tuple[int, ...],
    ) -> None:
        require_scalar(split_dim, "split_dim must be a scalar, but got: %s")
        message = "Input {} should be a {} but received shape %s"
        require_matrix(indices, message.format("indices", "matrix"))
        require_vector(values, message.format("values", "vector"))
        require_vector(shape, message.format("shape", "vector"))
        require_sparse(indices, values, shape)

    def compute(
        self,
        xp: ArrayModule,
        split_dim: Array,
        indices: Array,
        values: Array,
        shape: Any,
    ) -> Any:
        axis, pieces = int(split_dim), self.num_split
        if not 0 <= axis < len(shape):
            raise invalid_argument(
                f"Input split_dim should be between 0 and rank ({len(shape)}), got "
                f"{axis}"
            )
        whole = int(shape[axis])
        if not 1 <= pieces <= whole:
            raise invalid_argument(
                f"Input num_split should be between 1 and the splitting dimension size "
                f"({whole}), got {pieces}"
            )
        # If the size is not divisible, the first parts are one longer.
        lengths = [whole // pieces + (i < whole % pieces) for i in range(pieces)]
        found: list[tuple[Any, Any, Any]] = []
        begin = 0
        for length in lengths:
            at = indices[:, axis]
            inside = (at >= begin) & (at < begin + length)
            piece, sizes = indices[inside].copy(), np.array(shape, np.int64)
            piece[:, axis] -= begin
            sizes[axis] = length
            found.append((piece, values[inside], sizes))
            begin += length
        return tuple(part for column in zip(*found, strict=True) for part in column)


@export("sparse_split", "sparse.split")
def sparse_split(
    keyword_required: Any = None,
    sp_input: SparseTensorLike | None = None,
    num_split: int | None = None,
    axis: TensorLike | None = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """A SparseTensor split into `num_split` parts along an axis; use keyword arguments.

    Args:
      keyword_required: must not be given.
      sp_input: a SparseTensor.
      num_split: the number of parts.
      axis: a scalar, the axis to split.
      name: the op's name.
      split_dim: older name of `axis`.

    Returns:
      A list of SparseTensors; the first ones are longer if the size is not divisible.

    Raises:
      ValueError: an argument is missing, or given without its keyword.

    Source: SparseSplit in core/ops/sparse_ops.cc.
    """
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    for what, value in (("sp_input", sp_input), ("num_split", num_split)):
        if value is None:
            raise ValueError(f"{what} is required")
    axis = deprecated_argument_lookup("axis", axis, "split_dim", split_dim)
    if axis is None:
        raise ValueError("axis is required")
    assert num_split is not None
    op = SparseSplit(num_split)
    flat = op(axis, *parts_of(as_sparse(sp_input)), name=name)
    return [SparseTensor(*flat[i::num_split]) for i in range(num_split)]


class SparseConcat(SparseShapeOp, MultiOutputOp):
    """Sparse tensors concatenated.  Source: sparse_ops.cc, SparseConcat."""

    signature = (
        "indices: N*int64, values: N*T, shapes: N*int64 "
        "-> output_indices: int64, output_values: T, output_shape: int64"
    )
    minimum: ClassVar[dict[str, int]] = {"N": 2}
    concat_dim: int

    def infer_shape(
        self, i: list[Shape], v: list[Shape], s: list[Shape]
    ) -> list[Shape]:
        total: int | None = 0
        columns: int | None = None
        shape: Shape = (None,)
        for indices, values, size in zip(i, v, s, strict=True):
            rows, rank = shapes.with_rank(indices, 2)
            count = shapes.same_size(rows, shapes.with_rank(values, 1)[0])
            total = None if total is None or count is None else total + count
            columns = shapes.same_size(columns, rank)
            shape = shapes.merge(shape, shapes.with_rank(size, 1))
        return [(total, columns), (total,), shape]

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        count = len(shapes) // 3
        parts = [shapes[i * count : (i + 1) * count] for i in range(3)]
        names = ("indices", "matrix"), ("values", "vector"), ("shapes", "vector")
        for own, (what, kind) in zip(parts, names, strict=True):
            rank = 2 if kind == "matrix" else 1
            message = f"Input {what} should be a {kind} but received shape %s"
            for i, shape in enumerate(own):
                require(len(shape) == rank, f"{message} at position {i}", shape)
        rank = parts[2][0][0]
        message = "Ranks of all input tensors must match: expected %s but got %s at "
        for i, (indices, values, shape) in enumerate(zip(*parts, strict=True)):
            require(shape == (rank,), f"{message}position {i}", rank, shape[0])
            require_sparse(indices, values, shape)

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        pieces = len(inputs) // 3
        indices, values, sizes = (
            inputs[i * pieces : (i + 1) * pieces] for i in range(3)
        )
        count = len(sizes[0])
        axis = self.concat_dim % count if count else 0
        if not -count <= self.concat_dim < count:
            raise invalid_argument(
                f"Concat dimension must be in range [{-count}, {count}), got "
                f"{self.concat_dim}"
            )
        for position, size in enumerate(sizes):
            for i, (n, expected) in enumerate(zip(size, sizes[0], strict=True)):
                if i != axis and n != expected:
                    raise invalid_argument(
                        f"Input shapes must match: expected {expected} for dimension "
                        f"{i} but got {n} at position {position}"
                    )
        moved, begin = [], 0
        for part, size in zip(indices, sizes, strict=True):
            part = part.copy()
            part[:, axis] += begin
            begin += int(size[axis])
            moved.append(part)
        whole = np.array(sizes[0], np.int64)
        whole[axis] = begin
        joined = np.concatenate(moved)
        order = np.lexsort(joined.T[::-1])
        return joined[order], np.concatenate(values)[order], whole

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


@export("sparse_concat", "sparse.concat")
def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """SparseTensors concatenated along an axis.

    Args:
      axis: an int, negative from the end.
      sp_inputs: a list of SparseTensors of one rank and type.
      name: the op's name.
      expand_nonconcat_dim: allow other axes to differ, and use the largest size.
      concat_dim: older name of `axis`.
      expand_nonconcat_dims: newer name of `expand_nonconcat_dim`.

    Returns:
      A SparseTensor with its entries in row-major order.

    Raises:
      tf.errors.InvalidArgumentError: in a run, sizes differ along another axis.

    Source: SparseConcat in core/ops/sparse_ops.cc.
    """
    if expand_nonconcat_dims is not None:
        expand_nonconcat_dim = expand_nonconcat_dims
    axis = concat_dim if axis is None else axis
    inputs = [as_sparse(value) for value in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    sizes = [value.dense_shape for value in inputs]
    if expand_nonconcat_dim:
        largest = reduce_max(concat([reshape(s, [1, -1]) for s in sizes], 0), 0)
        after = None if axis == -1 else axis + 1
        sizes = [
            concat([
                largest[:axis],
                size[-1:] if axis == -1 else size[axis : axis + 1],
                [] if after is None else largest[after:],
            ], 0)
            for size in sizes
        ]  # fmt: skip
    indices = [value.indices for value in inputs]
    values = [value.values for value in inputs]
    op = SparseConcat(axis)
    found, kept, whole = op(indices, values, sizes, name=name)
    known = [value.shape for value in inputs]
    if not expand_nonconcat_dim and all(s.is_fully_defined() for s in known):
        total = known[0].as_list()
        total[axis] = sum(s.as_list()[axis] or 0 for s in known)
        whole = constant(np.array(total, np.int64))
    return SparseTensor(found, kept, whole)
