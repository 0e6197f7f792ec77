"""`tf.compat.v2.feature_column`."""

from __future__ import annotations

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.feature_column.categorical_columns import (
    VocabularyFileCategoricalColumn,
    categorical_column_with_vocabulary_file,
)


@export(v2="feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file_v2(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    dtype: DTypeLike = string,
    default_value: int | None = None,
    num_oov_buckets: int = 0,
) -> VocabularyFileCategoricalColumn:
    """`tf.feature_column.categorical_column_with_vocabulary_file`.

    Its arguments are in TensorFlow 2's order.
    """
    return categorical_column_with_vocabulary_file(
        key,
        vocabulary_file,
        vocabulary_size,
        dtype=dtype,
        default_value=default_value,
        num_oov_buckets=num_oov_buckets,
    )
