"""The older columns of crosses.

Source: contrib/layers/python/layers/feature_column.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.framework.export import export, export_value
from tfteach.lib.contrib.layers.column_embeddings import check_checkpoint
from tfteach.lib.contrib.layers.feature_column import IdColumn
from tfteach.lib.contrib.layers.real_valued_columns import _BucketizedColumn
from tfteach.lib.contrib.layers.sparse_columns import _SparseColumn
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.sparse.sparse_feature_cross import (
    DEFAULT_HASH_KEY,
    sparse_feature_cross,
)

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = DEFAULT_HASH_KEY
export_value(
    __name__,
    SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY="contrib.layers."
    "SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
)


class _Crossed(NamedTuple):
    columns: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None
    combiner: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None


class _CrossedColumn(IdColumn, _Crossed):
    """See `crossed_column`."""

    _no_input_layer = (
        "CrossedColumn is not supported in DNN. Please use embedding_column."
    )

    @property
    def name(self) -> str:
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def config(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for column in self.columns:
            found.update(column.config)
        return found

    @property
    def length(self) -> int:
        return self.hash_bucket_size

    @property
    def _linear_combiner(self) -> str:
        return self.combiner

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None or self.tensor_name_in_ckpt is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def leaves(self) -> list[Any]:
        """Its columns, with those of crosses inside it in their place."""
        found: list[Any] = []
        for column in self.columns:
            is_cross = isinstance(column, _CrossedColumn)
            found += column.leaves() if is_cross else [column]
        return found

    def _transform_feature(self, inputs: Any) -> SparseTensor:
        features: list[Any] = []
        for column in self.leaves():
            if isinstance(column, _SparseColumn):
                features.append(inputs.get(column.name))
            else:
                features.append(column.to_sparse_tensor(inputs.get(column)))
        return sparse_feature_cross(
            features, self.hash_bucket_size, self.hash_key, name="cross"
        )


@export("contrib.layers.crossed_column")
def crossed_column(
    columns: Iterable[_SparseColumn | _CrossedColumn | _BucketizedColumn],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> _CrossedColumn:
    """A column of all combinations of other columns' values, as hashes.

    Args:
      columns: at least two columns of ids, bucketized or crossed ones.
      hash_bucket_size: the number of ids.
      combiner: "sum", "mean" or "sqrtn" of an example's weights in a linear model.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name of a tensor in
        it, with which the weights of a linear model begin.
      hash_key: the seed of the hash function; None for an older one.

    Raises:
      TypeError: another kind of column.
      ValueError: fewer than two columns or buckets, or only one of checkpoint and
        tensor name.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    given = list(columns)
    for column in given:
        if not isinstance(column, _SparseColumn | _CrossedColumn | _BucketizedColumn):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or "
                f"_BucketizedColumn instances. (column {column} is a "
                f"{type(column).__name__})"
            )
    if len(given) < 2:
        raise ValueError(
            f"columns must contain at least 2 elements. columns: {columns}"
        )
    if hash_bucket_size < 2:
        raise ValueError(
            f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
        )
    check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    ordered = tuple(sorted(given, key=lambda column: column.name))
    return _CrossedColumn(
        ordered, hash_bucket_size, hash_key, combiner, ckpt_to_load_from,
        tensor_name_in_ckpt,
    )  # fmt: skip
