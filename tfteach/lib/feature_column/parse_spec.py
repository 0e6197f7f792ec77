"""What `tf.parse_example` needs to read the features of columns.

Source: python/feature_column/feature_column_v2.py (make_parse_example_spec).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework.export import export
from tfteach.lib.feature_column.base_column import FeatureColumn
from tfteach.lib.feature_column.first_version import FeatureColumnV1


@export(
    "feature_column.make_parse_example_spec",
    v2="feature_column.make_parse_example_spec",
)
def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """The features that columns read, as the argument of `tf.parse_example`.

    Args:
      feature_columns: an iterable of columns.

    Returns:
      A dictionary from keys to `tf.FixedLenFeature` or `tf.VarLenFeature`.

    Raises:
      ValueError: an item is not a column, or two columns read a key differently.

    Source: python/feature_column/feature_column_v2.py.
    """
    return _spec(feature_columns, FeatureColumnV1, "_FeatureColumn")


def make_parse_example_spec_v2(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """`make_parse_example_spec`, which accepts none of the first version's columns.

    Source: python/feature_column/feature_column_v2.py.
    """
    return _spec(feature_columns, FeatureColumn, "FeatureColumn")


def _spec(
    columns: Iterable[Any], kind: type[FeatureColumnV1], kind_name: str
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in columns:
        if not isinstance(column, kind):
            raise ValueError(
                f"All feature_columns must be {kind_name} instances. Given: {column}"
            )
        spec = column.parse_example_spec
        for key, value in spec.items():
            if key in found and value != found[key]:
                raise ValueError(
                    "feature_columns contain different parse_spec for key "
                    f"{key}. Given {value} and {found[key]}"
                )
        found.update(spec)
    return found
