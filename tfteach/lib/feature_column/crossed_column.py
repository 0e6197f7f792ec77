"""Crosses of features: the hash of each combination of their values.

Source: python/feature_column/feature_column_v2.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.lib.feature_column.base_column import (
    Cache,
    CategoricalColumn,
    StateManager,
)
from tfteach.lib.feature_column.categorical_columns import HashedCategoricalColumn
from tfteach.lib.feature_column.first_version import (
    CategoricalColumnV1,
    FeatureColumnV1,
    IdWeightPair,
)
from tfteach.lib.parsing.features import VarLenFeature
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.sparse.sparse_cross import sparse_cross_hashed


class _Crossed(NamedTuple):
    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None


class CrossedColumn(CategoricalColumn, _Crossed):
    """See `crossed_column`."""

    @property
    def name(self) -> str:
        names = [getattr(leaf, "name", leaf) for leaf in self._leaves()]
        return "_X_".join(sorted(names))

    @property
    def parents(self) -> list[Any]:
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        for key in self.keys:
            if isinstance(key, FeatureColumnV1):
                spec.update(key.parse_example_spec)
            else:
                spec[key] = VarLenFeature(string)
        return spec

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def _leaves(self) -> list[Any]:
        """Its keys and columns, with those of crosses inside it in their place."""
        found: list[Any] = []
        for key in self.keys:
            found += key._leaves() if isinstance(key, CrossedColumn) else [key]
        return found

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> SparseTensor:
        def ids_of(column: CategoricalColumn) -> IdWeightPair:
            return column.get_sparse_tensors(transformation_cache, state_manager)

        return self._crossed(transformation_cache, state_manager, ids_of)

    def _transform_feature(self, inputs: Any) -> SparseTensor:
        return self._crossed(
            inputs, None, lambda column: column._get_sparse_tensors(inputs)
        )

    def _crossed(
        self,
        transformation_cache: Cache,
        state_manager: StateManager | None,
        ids_of: Callable[[CategoricalColumn], IdWeightPair],
    ) -> SparseTensor:
        features = []
        for leaf in self._leaves():
            if isinstance(leaf, str):
                features.append(transformation_cache.get(leaf, state_manager))
                continue
            pair = ids_of(leaf)
            if pair.weight_tensor is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given "
                    f"column populates weight_tensor. Given column: {leaf.name}"
                )
            features.append(pair.id_tensor)
        return sparse_cross_hashed(features, self.hash_bucket_size, self.hash_key)


@export("feature_column.crossed_column")
def crossed_column(
    keys: Sequence[str | CategoricalColumn],
    hash_bucket_size: int,
    hash_key: int | None = None,
) -> CrossedColumn:
    """A column of all combinations of other features' values, as hashes.

    Args:
      keys: a list of at least two feature keys and categorical columns, other than
        hashed ones; the features of keys are strings or integers.
      hash_bucket_size: the number of ids.
      hash_key: the seed of the hash function.

    Returns:
      A CrossedColumn.

    Raises:
      ValueError: fewer than two keys, an unsupported one, or `hash_bucket_size` < 1.

    Example:
      >>> both = tf.feature_column.crossed_column(["city", "job"], 1000)

    Source: python/feature_column/feature_column_v2.py.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}"
        )
    if not isinstance(keys, list | tuple) or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str | CategoricalColumnV1):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical "
                f"column except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. "
                "Hashing before crossing will increase probability of collision. "
                f"Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
