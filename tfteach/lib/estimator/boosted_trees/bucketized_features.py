"""Feature columns as the int32 vectors of buckets that trees split.

Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.estimator.boosted_trees.ensemble_resources import QuantileAccumulator
from tfteach.lib.feature_column.base_column import CategoricalColumn, DenseColumn
from tfteach.lib.feature_column.dense_columns import IndicatorColumn
from tfteach.lib.feature_column.numeric_columns import BucketizedColumn
from tfteach.lib.feature_column.transformation_cache import FeatureTransformationCache
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.core.stack_unstack import unstack
from tfteach.ops.math.cast import to_int32
from tfteach.ops.trees.quantile_ops import BoostedTreesBucketize


class FeatureGroup(NamedTuple):
    """Features with the same number of buckets, whose sums are stacked.

    Attributes:
      num_buckets: the number of buckets; some features may use fewer.
      feature_ids: the features' positions among all.
    """

    num_buckets: int
    feature_ids: list[int]


def sorted_columns(columns: Sequence[Any]) -> list[Any]:
    """The columns by name, which is the order of their features.

    Raises:
      ValueError: one of them is no column of numbers, buckets or indicators.
    """
    for column in columns:
        if isinstance(column, CategoricalColumn) and not isinstance(
            column, BucketizedColumn
        ):
            raise ValueError(
                f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}"
            )
    return sorted(columns, key=lambda column: str(column.name))


def is_numeric(column: Any) -> bool:
    """Whether a column's values are put into buckets by their quantiles."""
    return not isinstance(column, BucketizedColumn | IndicatorColumn)


def check_columns(columns: Sequence[Any]) -> None:
    """Raise ValueError for columns that cannot be split into buckets."""
    for column in columns:
        if is_numeric(column) and (
            not isinstance(column, DenseColumn) or not hasattr(column, "dtype")
        ):
            raise ValueError(
                "For now, only numeric_column, bucketized_column and indicator_column "
                f"are supported but got: {column}"
            )
        if is_numeric(column) and column.variable_shape.num_elements() != 1:
            raise ValueError(
                "For now, only 1-d numeric_column is supported, but column "
                f"{column.name} has shape {column.variable_shape}: make a column of "
                "each dimension"
            )


def column_names(columns: Sequence[Any]) -> list[str]:
    """For each feature the name of its column; for an indicator, of what it wraps."""
    names: list[str] = []
    for column in columns:
        if isinstance(column, IndicatorColumn):
            count = column.variable_shape.num_elements()
            names += [column.categorical_column.name] * (count or 0)
        else:
            names.append(column.name)
    return names


def feature_groups(columns: Sequence[Any], num_quantiles: int) -> list[FeatureGroup]:
    """The features by number of buckets.

    The features of numeric columns have one for each quantile, those of indicators two;
    all bucketized ones have as many as the largest of them.
    """
    groups: dict[int, list[int]] = {}
    numeric: list[int] = []
    indicators: list[int] = []
    bucketized: list[int] = []
    most, count = 0, 0
    for column in columns:
        if isinstance(column, IndicatorColumn):
            size = column.variable_shape.num_elements() or 0
            indicators += range(count, count + size)
            count += size
            continue
        if isinstance(column, BucketizedColumn):
            bucketized.append(count)
            most = max(most, len(column.boundaries) + 1)
        else:
            numeric.append(count)
        count += 1
    for size, ids in ((num_quantiles, numeric), (2, indicators), (most, bucketized)):
        if ids:
            groups.setdefault(size, []).extend(ids)
    return [FeatureGroup(size, ids) for size, ids in groups.items()]


def transformed_features(
    features: Mapping[str, Any], columns: Sequence[Any]
) -> dict[Any, Tensor]:
    """The columns' tensors, [batch, ...]."""
    found = {}
    with name_scope(None, "transform_features", list(features.values())):
        cache = FeatureTransformationCache(features)
        for column in columns:
            with name_scope(None, column.name):
                found[column] = cache.get(column)
    return found


def numeric_features(
    features: Mapping[str, Any], columns: Sequence[Any]
) -> list[Tensor]:
    """The float32 vectors of the numeric columns."""
    numeric = [column for column in columns if is_numeric(column)]
    tensors = transformed_features(features, numeric)
    return [values for c in numeric for values in unstack(tensors[c], axis=1)]


def bucketized_features(
    features: Mapping[str, Any],
    columns: Sequence[Any],
    boundaries: Mapping[Any, Tensor],
    indicators: Mapping[Any, Tensor] | None = None,
) -> list[Tensor]:
    """The int32 vectors of all features, in the order of the columns.

    Args:
      features: the features of a batch.
      columns: the sorted columns.
      boundaries: numeric column -> the boundaries of its buckets.
      indicators: the tensors of columns that are already transformed.
    """
    known, found = dict(indicators or {}), []
    missing = [column for column in columns if column not in known]
    tensors = {**known, **transformed_features(features, missing)}
    for column in columns:
        tensor = tensors[column]
        if isinstance(column, IndicatorColumn):
            found += unstack(to_int32(tensor), axis=1)
        elif isinstance(column, BucketizedColumn):
            found.append(squeeze(tensor, [1]))
        else:
            values = unstack(tensor, axis=1)
            found += BoostedTreesBucketize(1)(values, [boundaries[column]])
    return found


def transformed_indicators(
    features: Mapping[str, Any], columns: Sequence[Any]
) -> dict[Any, Tensor]:
    """The tensors of the indicator columns, whose tables no condition may hold."""
    return transformed_features(
        features, [c for c in columns if isinstance(c, IndicatorColumn)]
    )


def boundaries_of(
    columns: Sequence[Any], quantiles: QuantileAccumulator | None
) -> dict[Any, Tensor]:
    """Numeric column -> the boundaries of its buckets."""
    if quantiles is None:
        return {}
    numeric = [column for column in columns if is_numeric(column)]
    return dict(zip(numeric, quantiles.get_bucket_boundaries(), strict=True))
