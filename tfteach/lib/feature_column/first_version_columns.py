"""The columns that `tf.feature_column` made until TensorFlow 1.12.

Programs import them from `tensorflow.python.feature_column.feature_column`, with names
that begin with an underscore.  They differ from today's in their names, and in that
models, also of today's columns made of them, create variables as the first version did.
Source: python/feature_column/feature_column.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from tfteach.lib.feature_column import categorical_columns, dense_columns
from tfteach.lib.feature_column.crossed_column import CrossedColumn, crossed_column
from tfteach.lib.feature_column.numeric_columns import (
    BucketizedColumn,
    NumericColumn,
    bucketized_column,
    numeric_column,
)


class _OfFirstVersion:
    """What the columns of the first version share."""

    @property
    def _is_v2_column(self) -> bool:
        return False


class _OfCategories(_OfFirstVersion, dense_columns.OfCategories):
    """Dense columns made of ids, with the first version's error messages."""

    _dense_layer = "input_layer"
    _sequence_layer = "sequence_input_layer"

    def _check_sequence(self, kind: str, expected: str) -> None:
        super()._check_sequence(kind, "_SequenceCategoricalColumn")


class _NumericColumn(_OfFirstVersion, NumericColumn):
    pass


class _BucketizedColumn(_OfFirstVersion, BucketizedColumn):
    pass


class _CrossedColumn(_OfFirstVersion, CrossedColumn):
    pass


class _IdentityCategoricalColumn(
    _OfFirstVersion, categorical_columns.IdentityCategoricalColumn
):
    pass


class _HashedCategoricalColumn(
    _OfFirstVersion, categorical_columns.HashedCategoricalColumn
):
    pass


class _VocabularyFileCategoricalColumn(
    _OfFirstVersion, categorical_columns.VocabularyFileCategoricalColumn
):
    pass


class _VocabularyListCategoricalColumn(
    _OfFirstVersion, categorical_columns.VocabularyListCategoricalColumn
):
    pass


class _WeightedCategoricalColumn(
    _OfFirstVersion, categorical_columns.WeightedCategoricalColumn
):
    pass


class _IndicatorColumn(_OfCategories, dense_columns.IndicatorColumn):
    pass


class _EmbeddingColumn(_OfCategories, dense_columns.EmbeddingColumn):
    pass


def _made_as(kind: Any, make: Callable[..., Any]) -> Callable[..., Any]:
    """A function with another's arguments, whose column has the first version's class.

    Args:
      kind: the class.
      make: the function that makes today's column, which has the same fields.
    """

    @wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        return kind(*make(*args, **kwargs))

    return made


_numeric_column = _made_as(_NumericColumn, numeric_column)
_crossed_column = _made_as(_CrossedColumn, crossed_column)
_categorical_column_with_identity = _made_as(
    _IdentityCategoricalColumn, categorical_columns.categorical_column_with_identity
)
_categorical_column_with_hash_bucket = _made_as(
    _HashedCategoricalColumn, categorical_columns.categorical_column_with_hash_bucket
)
_categorical_column_with_vocabulary_file = _made_as(
    _VocabularyFileCategoricalColumn,
    categorical_columns.categorical_column_with_vocabulary_file,
)
_categorical_column_with_vocabulary_list = _made_as(
    _VocabularyListCategoricalColumn,
    categorical_columns.categorical_column_with_vocabulary_list,
)
_weighted_categorical_column = _made_as(
    _WeightedCategoricalColumn, categorical_columns.weighted_categorical_column
)
_indicator_column = _made_as(_IndicatorColumn, dense_columns.indicator_column)
_embedding_column = _made_as(_EmbeddingColumn, dense_columns.embedding_column)


def _bucketized_column(source_column: Any, boundaries: Any) -> _BucketizedColumn:
    """See `tf.feature_column.bucketized_column`.

    Raises:
      ValueError: as there; also, another message, if `boundaries` is None.
    """
    if boundaries is None:
        raise ValueError("boundaries must be a sorted list.")
    return _BucketizedColumn(*bucketized_column(source_column, boundaries))
