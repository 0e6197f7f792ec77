"""Feature crosses of `tf.contrib.layers`, with an older hash unless a key is given.

Source: contrib/layers/ops/sparse_feature_cross_op.cc,
contrib/layers/kernels/sparse_feature_cross_kernel.cc.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import DType, int64, string
from tfteach.framework.operation import Tensor
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import cast
from tfteach.ops.sparse.sparse_cross import Cross

_MASK = (1 << 64) - 1
DEFAULT_HASH_KEY = 0xDECAFCAFFE


_SIGNATURE = (
    "indices: N*int64, values: *sparse_types, shapes: N*int64, dense: *dense_types "
    "-> output_indices: int64, output_values: out_type, output_shape: int64"
)


class SparseFeatureCross(Cross):
    """A cross with an older hash.  Source: sparse_feature_cross_op.cc."""

    signature = _SIGNATURE
    N: int
    hashed_output: bool
    num_buckets: int
    sparse_types: tuple[DType, ...]
    dense_types: tuple[DType, ...]
    out_type: DType
    internal_type: DType

    def _hashed(self, features: tuple[Any, ...]) -> int:
        from tfteach.ops.text.hash_functions import fingerprint64

        result = DEFAULT_HASH_KEY
        for feature in features:
            number = fingerprint64(feature) if isinstance(feature, bytes) else feature
            # The right shift keeps the sign of a 64-bit integer.
            shifted = (result << 10) + (result - (result >> 63 << 64) >> 4)
            result ^= number + 0x9E3779B97F4A7800 + shifted & _MASK
        return result


class SparseFeatureCrossV2(Cross):
    """A cross with a hash of a key.  Source: sparse_feature_cross_op.cc."""

    signature = _SIGNATURE
    N: int
    hashed_output: bool
    num_buckets: int
    hash_key: int
    sparse_types: tuple[DType, ...]
    dense_types: tuple[DType, ...]
    out_type: DType
    internal_type: DType


def sparse_feature_cross(
    inputs: list[Any], num_buckets: int, hash_key: int | None, name: str | None = None
) -> SparseTensor:
    """Hashes of all combinations of the columns' features, row by row.

    Args:
      inputs: SparseTensors, and Tensors [batch, features], of strings or integers.
      num_buckets: the limit of the hashes.
      hash_key: the hash function's seed; None for the older function.
      name: the op's name.
    """
    sparse = [column for column in inputs if isinstance(column, SparseTensor)]
    dense = [_feature(c) for c in inputs if not isinstance(c, SparseTensor)]
    values = [_feature(column.values) for column in sparse]
    is_text = all(column.dtype is string for column in [*values, *dense])
    attrs: dict[str, Any] = {
        "N": len(sparse),
        "sparse_types": tuple(column.dtype for column in values),
        "dense_types": tuple(column.dtype for column in dense),
        "hashed_output": True,
        "num_buckets": num_buckets,
        "out_type": int64,
        "internal_type": string if is_text else int64,
    }
    op = (
        SparseFeatureCross(**attrs)
        if hash_key is None
        else SparseFeatureCrossV2(hash_key=hash_key, **attrs)
    )
    indices = [column.indices for column in sparse]
    sizes = [column.dense_shape for column in sparse]
    return SparseTensor(*op(indices, values, sizes, dense, name=name))


def _feature(column: Tensor) -> Tensor:
    return column if column.dtype is string else cast(column, int64)
