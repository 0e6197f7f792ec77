"""Set operations on rows: the last dimension of a tensor holds the elements of a set.

Source: core/ops/set_ops.cc, core/kernels/set_kernels.cc, python/ops/sets_impl.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_sparse
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.sparse_tensor import (
    SparseTensor,
    SparseTensorLike,
    convert_to_tensor_or_sparse_tensor,
)
from tfteach.ops.sparse.coo_arrays import check_ordered

MEMBERS = dtypes_of("int8 int16 int32 int64 uint8 uint16 string")

# Sets by their coordinates; coordinates without a set are missing.
_Sets = dict[tuple[int, ...], set[Any]]

_OPERATIONS: dict[str, Callable[[set[Any], set[Any]], set[Any]]] = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


def _sets(*tensor: Any) -> tuple[_Sets, tuple[int, ...]]:
    """The sets of a dense tensor, or of a sparse one's three parts; and the shape."""
    found: _Sets = {}
    if len(tensor) == 1:
        (dense,) = tensor
        if dense.ndim < 2:
            raise invalid_argument(
                f"Shape {shapes.text(dense.shape)} has rank {dense.ndim} < 2"
            )
        for place in np.ndindex(dense.shape[:-1]):
            found[place] = set(dense[place].tolist())
        return found, dense.shape
    indices, values, shape = tensor
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(place), set()).add(value)
    return found, tuple(shape.tolist())


def require_sets(indices: Any, values: Any, shape: Any) -> None:
    """Check the shapes of a sparse tensor's parts; its rank is at least 1."""
    require_sparse(indices, values, shape)
    require(len(shape) == 1 and shape[0], f"Invalid rank {len(shape)}.")


class _SetOperation(MultiOutputOp, abstract=True):
    T = MEMBERS
    on_gpu: ClassVar[bool] = False
    _parts: ClassVar[int]  # the number of inputs that make up the first set

    def infer_shape(self, *inputs: Shape) -> list[Shape]:
        parts = [inputs[: self._parts], inputs[self._parts :]]
        ranks = [_rank(*part) for part in parts]
        first, second = inputs[0], inputs[-1]
        if len(inputs) == 2 and first is not None and second is not None:
            shapes.merge(first[:-1], shapes.with_rank(second, len(first))[:-1])
        elif None not in ranks and ranks[0] != ranks[1]:
            raise ValueError(f"Dimension must be {ranks[0]} but is {ranks[1]}")
        rank = ranks[1] if ranks[0] is None else ranks[0]
        return [(None, rank), (None,), (rank,)]

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        for own in (shapes[: self._parts], shapes[self._parts :]):
            if len(own) == 3:
                require_sets(*own)

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        for own in (inputs[: self._parts], inputs[self._parts :]):
            if len(own) == 3:
                check_indices(self, own[0], own[2])
        (a, shape_a), (b, shape_b) = (
            _sets(*inputs[: self._parts]),
            _sets(*inputs[self._parts :]),
        )
        if shape_a[:-1] != shape_b[:-1]:
            raise invalid_argument(
                f"Mismatched shapes [{','.join(map(str, shape_a[:-1]))}] vs "
                f"[{','.join(map(str, shape_b[:-1]))}]."
            )
        kind = self.set_operation  # type: ignore[attr-defined]
        if kind not in _OPERATIONS:
            raise invalid_argument(f"Invalid set_operation {kind}.")
        operate = _OPERATIONS[kind]
        indices: list[tuple[int, ...]] = []
        values: list[Any] = []
        for place in sorted({*a, *b}):
            members = sorted(operate(a.get(place, set()), b.get(place, set())))
            indices += [(*place, i) for i in range(len(members))]
            values += members
        most = max((i[-1] + 1 for i in indices), default=0)
        dtype = inputs[0 if self._parts == 1 else 1].dtype
        return (
            np.array(indices, np.int64).reshape(-1, len(shape_a)),
            np.array(values, dtype),
            np.array((*shape_a[:-1], most), np.int64),
        )

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


def _rank(*parts: Shape) -> int | None:
    """The rank of a tensor of sets, from the static shapes of its parts."""
    if len(parts) == 1:
        dense = shapes.with_rank_at_least(parts[0], 2)
        return None if dense is None else len(dense)
    indices, shape = shapes.with_rank(parts[0], 2), shapes.with_rank(parts[2], 1)
    shapes.with_rank(parts[1], 1)
    shapes.same_size(indices[1], shape[0])
    return shape[0]


class DenseToDenseSetOperation(_SetOperation):
    """Set operation on two dense tensors.  Source: core/ops/set_ops.cc."""

    signature = (
        "set1: T, set2: T -> "
        "result_indices: int64, result_values: T, result_shape: int64"
    )
    _parts: ClassVar[int] = 1
    set_operation: str
    validate_indices: bool = True


class DenseToSparseSetOperation(_SetOperation):
    """Set operation on a dense and a sparse tensor.  Source: core/ops/set_ops.cc."""

    signature = (
        "set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> "
        "result_indices: int64, result_values: T, result_shape: int64"
    )
    _parts: ClassVar[int] = 1
    set_operation: str
    validate_indices: bool = True


class SparseToSparseSetOperation(_SetOperation):
    """Set operation on two sparse tensors.  Source: core/ops/set_ops.cc."""

    signature = (
        "set1_indices: int64, set1_values: T, set1_shape: int64, "
        "set2_indices: int64, set2_values: T, set2_shape: int64 -> "
        "result_indices: int64, result_values: T, result_shape: int64"
    )
    _parts: ClassVar[int] = 3
    set_operation: str
    validate_indices: bool = True


class SetSize(Op):
    """The number of distinct elements of each set.  Source: core/ops/set_ops.cc."""

    signature = "set_indices: int64, set_values: T, set_shape: int64 -> size: int32"
    T = MEMBERS
    validate_indices: bool = True
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, indices: Shape, values: Shape, shape: Shape) -> Shape:
        _rank(indices, values, shape)
        return None  # as in TensorFlow, although the rank is known

    def check_shapes(
        self,
        set_indices: tuple[int, ...],
        set_values: tuple[int, ...],
        set_shape: tuple[int, ...],
    ) -> None:
        require_sets(set_indices, set_values, set_shape)

    def compute(
        self, xp: ArrayModule, indices: Array, values: Array, shape: Any
    ) -> Any:
        check_indices(self, indices, shape)
        sets, whole = _sets(indices, values, shape)
        sizes = np.zeros(whole[:-1], np.int32)
        for place, members in sets.items():
            sizes[place] = len(members)
        return sizes

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None] * 3


def check_indices(op: Any, indices: Any, shape: Any) -> None:
    """If requested, raise unless indices are in range and in row-major order."""
    if op.validate_indices:
        check_ordered(np, indices, shape)


# ---- functions


@export("sets.size", "sets.set_size", "contrib.metrics.set_size")
def set_size(a: SparseTensorLike, validate_indices: bool = True) -> Tensor:
    """The number of distinct values in each row of a SparseTensor, as int32.

    Raises:
      TypeError: `a` is not sparse, or its values are neither integers nor strings.
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.values.dtype.base_dtype not in MEMBERS:
        raise TypeError(f"Invalid dtype {a.values.dtype}.")
    return SetSize(validate_indices)(a.indices, a.values, a.dense_shape)


@export(
    "sets.intersection", "sets.set_intersection", "contrib.metrics.set_intersection"
)
def set_intersection(
    a: TensorLike, b: TensorLike, validate_indices: bool = True
) -> SparseTensor:
    """Row-wise intersection of sets; arguments as for `tf.sets.union`."""
    a, b, _ = _pair(a, b)
    return _operate(a, b, "intersection", validate_indices)


@export("sets.difference", "sets.set_difference", "contrib.metrics.set_difference")
def set_difference(
    a: TensorLike, b: TensorLike, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """Row-wise set difference `a - b` (`b - a` if not `aminusb`).

    For the other arguments see `tf.sets.union`.
    """
    a, b, flipped = _pair(a, b)
    kind = "a-b" if aminusb != flipped else "b-a"
    return _operate(a, b, kind, validate_indices)


@export("sets.union", "sets.set_union", "contrib.metrics.set_union")
def set_union(
    a: TensorLike | SparseTensor, b: TensorLike, validate_indices: bool = True
) -> SparseTensor:
    """Row-wise union of sets (the last dimension holds a set).

    Args:
      a: Tensor or SparseTensor of integers or strings.
      b: the same, with equal sizes except the last.
      validate_indices: whether to check that sparse indices are in order.

    Returns:
      A SparseTensor; each row has its values in ascending order.

    Raises:
      TypeError: the types differ, or are not supported.

    Example:
      >>> tf.sets.union([[1, 2]], [[2, 5]]).values  # [1, 2, 5]
    """
    a, b, _ = _pair(a, b)
    return _operate(a, b, "union", validate_indices)


def _pair(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Both as tensors, the dense one first; and whether they were swapped."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if a.dtype.base_dtype not in MEMBERS:
        raise TypeError(f"'a' invalid dtype {a.dtype}.")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _operate(a: Any, b: Any, kind: str, validate: bool) -> SparseTensor:
    op: type[_SetOperation] = DenseToDenseSetOperation
    inputs = [a, b]
    if isinstance(b, SparseTensor):
        op = DenseToSparseSetOperation
        inputs = [a, b.indices, b.values, b.dense_shape]
    if isinstance(a, SparseTensor):
        op = SparseToSparseSetOperation
        inputs = [a.indices, a.values, a.dense_shape, *inputs[1:]]
    return SparseTensor(*op(kind, validate)(*inputs))
