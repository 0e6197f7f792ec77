"""Feature crosses: all combinations of the columns' values, row by row.

Source: core/ops/sparse_ops.cc, core/kernels/sparse_cross_op.cc,
python/ops/sparse_ops.py.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, dtypes_of, int64, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule, Gradient, TensorLike
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import cast
from tfteach.ops.sparse.sparse_shape import SparseShapeOp

VALUES = dtypes_of("int64 string")
_DEFAULT_KEY = 0xDECAFCAFFE
LARGEST = (1 << 63) - 1


class Cross(SparseShapeOp, MultiOutputOp, abstract=True):
    """What SparseCross and those of tf.contrib share."""

    sparse_types_allowed = VALUES
    dense_types_allowed = VALUES
    out_type_allowed = VALUES
    internal_type_allowed = VALUES
    minimum: ClassVar[dict[str, int]] = {"N": 0, "num_buckets": 0}
    if TYPE_CHECKING:  # fields of the subclasses, in their own order
        N: int
        hashed_output: bool
        num_buckets: int
        hash_key: int
        out_type: DType

    def infer_shape(self, *inputs: Any) -> list[Shape]:
        return [(None, 2), (None,), (2,)]

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        columns = self._columns(inputs)
        batch = len(columns[0]) if columns else 0
        rows = [list(product(*row)) for row in zip(*columns, strict=True)]
        crossed = [self._crossed(features) for row in rows for features in row]
        values: Any = np.empty(len(crossed), object if self.out_type is string else int)
        values[:] = crossed
        places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
        most = max(map(len, rows), default=0)
        indices = np.array(places, np.int64).reshape(-1, 2)
        return indices, values, np.array([batch, most], np.int64)

    def _columns(self, inputs: Any) -> list[list[list[Any]]]:
        """The features of each row of each column, the sparse columns first."""
        count: int = self.N
        parts = (inputs[i * count : (i + 1) * count] for i in range(3))
        found: list[list[list[Any]]] = []
        batch = -1
        for i, (indices, values, sizes) in enumerate(zip(*parts, strict=True)):
            if indices.shape[1:] != (2,):
                raise invalid_argument(
                    f"Expected D2 of index to be 2 got {math.prod(indices.shape[1:])} "
                    f"at position {i}"
                )
            if sizes.shape != (2,):
                raise invalid_argument(
                    f"shape should imply a 2D tensor, but got "
                    f"{shapes.text(tuple(sizes.tolist()))} at position {i}"
                )
            if len(indices) != len(values):
                raise invalid_argument(
                    f"Expected size of values to be {len(indices)} got {len(values)} "
                    f"at position {i}"
                )
            batch = int(sizes[0]) if batch < 0 else batch
            if sizes[0] != batch:
                raise invalid_argument(
                    f"Expected batch size {batch} got {sizes[0]} at position {i}"
                )
            found.append(_rows_of(indices[:, 0].tolist(), values.tolist(), batch))
        for i, dense in enumerate(inputs[3 * count :]):
            if dense.ndim != 2:
                raise invalid_argument(
                    f"Dense inputs should be a matrix but received shape "
                    f"{shapes.text(dense.shape)} at position {i}"
                )
            batch = len(dense) if batch < 0 else batch
            if len(dense) != batch:
                raise invalid_argument(
                    f"Expected batch size {batch} got {len(dense)} at dense tensor {i}"
                )
            found.append(dense.tolist())
        return found

    def _crossed(self, features: tuple[Any, ...]) -> Any:
        """One combination: joined, or hashed."""
        if self.out_type == string:  # as TensorFlow, whatever `hashed_output` says
            return b"_X_".join(
                f if isinstance(f, bytes) else str(f).encode() for f in features
            )
        # Without buckets, the largest int64: no hash is negative.
        return self._hashed(features) % (self.num_buckets or LARGEST)

    def _hashed(self, features: tuple[Any, ...]) -> int:
        # `ops.text` is imported on first use, sparse tensors always.
        from tfteach.ops.text.hash_functions import fingerprint64, fingerprint_cat64

        result: int = self.hash_key
        for feature in features:
            number = feature
            if isinstance(feature, bytes):
                number = fingerprint64(feature)
            result = fingerprint_cat64(result, number)
        return result

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class SparseCross(Cross):
    """Combinations of features.  Source: sparse_ops.cc, SparseCross."""

    signature = (
        "indices: N*int64, values: *sparse_types, shapes: N*int64, "
        "dense_inputs: *dense_types -> output_indices: int64, "
        "output_values: out_type, output_shape: int64"
    )
    N: int
    hashed_output: bool
    num_buckets: int
    hash_key: int
    sparse_types: tuple[DType, ...]
    dense_types: tuple[DType, ...]
    out_type: DType
    internal_type: DType


def _rows_of(rows: list[int], values: list[Any], batch: int) -> list[list[Any]]:
    """The values of each row; entries after one that is out of order are dropped."""
    found: list[list[Any]] = []
    at = 0
    for row in range(batch):
        begin = at
        while at < len(rows) and rows[at] == row:
            at += 1
        found.append(values[begin:at])
    return found


@export("sparse.cross")
def sparse_cross(inputs: TensorLike, name: str | None = None) -> SparseTensor:
    """All combinations of the columns' features, joined by "_X_", row by row.

    Args:
      inputs: a list of SparseTensors and Tensors [batch, features] of strings or
        integers; in the result the sparse ones come first.
      name: the op's name.

    Returns:
      A string SparseTensor [batch, most combinations].

    Raises:
      TypeError: `inputs` is not a list of Tensors and SparseTensors.
      tf.errors.InvalidArgumentError: in a run, the batches differ in size.

    Example:
      >>> crossed = tf.sparse.cross([tf.constant([["a", "b"]]), tf.constant([[1]])])
      >>> tf.Session().run(crossed.values).tolist()
      [b'a_X_1', b'b_X_1']

    Source: SparseCross in core/ops/sparse_ops.cc.
    """
    return _cross(inputs, False, 0, None, name)


@export("sparse.cross_hashed")
def sparse_cross_hashed(
    inputs: TensorLike, num_buckets: int = 0, hash_key: int | None = None,
    name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """`tf.sparse.cross` with a hash in place of each combination.

    Args:
      inputs: as in `tf.sparse.cross`.
      num_buckets: the limit of the hashes; 0 for any non-negative int64.
      hash_key: the hash function's seed; 0xDECAFCAFFE if None.
      name: the op's name.

    Returns:
      An int64 SparseTensor [batch, most combinations].

    Raises:
      TypeError: `inputs` is not a list of Tensors and SparseTensors.
      tf.errors.InvalidArgumentError: in a run, the batches differ in size.

    Source: SparseCross in core/ops/sparse_ops.cc.
    """
    return _cross(inputs, True, num_buckets, hash_key, name)


def _cross(
    inputs: Any, is_hashed: bool, num_buckets: int, hash_key: Any, name: str | None
) -> SparseTensor:
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(value, SparseTensor | Tensor) for value in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [value for value in inputs if isinstance(value, SparseTensor)]
    dense = [value for value in inputs if not isinstance(value, SparseTensor)]
    values = [_feature(column.values) for column in sparse]
    dense = [_feature(column) for column in dense]
    is_text = all(column.dtype is string for column in [*values, *dense])
    op = SparseCross(
        N=len(sparse),
        sparse_types=tuple(column.dtype for column in values),
        dense_types=tuple(column.dtype for column in dense),
        hashed_output=is_hashed,
        num_buckets=num_buckets,
        hash_key=hash_key or _DEFAULT_KEY,
        out_type=int64 if is_hashed else string,
        internal_type=string if is_text else int64,
    )
    indices = [column.indices for column in sparse]
    sizes = [column.dense_shape for column in sparse]
    return SparseTensor(*op(indices, values, sizes, dense, name=name))


def _feature(column: Tensor) -> Tensor:
    return column if column.dtype is string else cast(column, int64)
