"""`tf.compat.v2.feature_column`."""

from __future__ import annotations

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.lib.feature_column.categorical_columns import (
    categorical_column_with_vocabulary_file,
)

categorical_column_with_vocabulary_file_v2 = with_parameters(
    categorical_column_with_vocabulary_file,
    "key vocabulary_file | vocabulary_size dtype default_value num_oov_buckets",
    v2="feature_column.categorical_column_with_vocabulary_file",
)
