"""What `tf.parse_example` needs to read the features and labels of an estimator.

Source: tensorflow_estimator/python/estimator/canned/parsing_utils.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework.dtypes import float32, int64
from tfteach.framework.export import export
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.estimator.heads.head_checks import WeightColumn
from tfteach.lib.feature_column.base_column import FeatureColumn
from tfteach.lib.feature_column.numeric_columns import NumericColumn, numeric_column
from tfteach.lib.feature_column.parse_spec import make_parse_example_spec
from tfteach.lib.parsing.features import FixedLenFeature


@export(
    "estimator.classifier_parse_example_spec",
    v2="estimator.classifier_parse_example_spec",
)
def classifier_parse_example_spec(
    feature_columns: Iterable[FeatureColumn],
    label_key: str,
    label_dtype: DTypeLike = int64,
    label_default: TensorLike | None = None,
    weight_column: WeightColumn = None,
) -> dict[str, Any]:
    """The features that a classifier reads, as the argument of `tf.parse_example`.

    Args:
      feature_columns: an iterable of columns.
      label_key: the label's key.
      label_dtype: the label's type: int64, or string with a vocabulary.
      label_default: the label of examples without one; None if all must have one.
      weight_column: the key of a feature of weights, or a numeric column.

    Returns:
      A dictionary from keys to `tf.FixedLenFeature` or `tf.VarLenFeature`.

    Raises:
      ValueError: label or weights are also features, or the column is not numeric.

    Example:
      >>> tf.estimator.classifier_parse_example_spec(columns, "kind", tf.string)

    Source: tensorflow_estimator/python/estimator/canned/parsing_utils.py.
    """
    label = FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


@export(
    "estimator.regressor_parse_example_spec",
    v2="estimator.regressor_parse_example_spec",
)
def regressor_parse_example_spec(
    feature_columns: Iterable[FeatureColumn],
    label_key: str,
    label_dtype: DTypeLike = float32,
    label_default: TensorLike | None = None,
    label_dimension: int = 1,
    weight_column: WeightColumn = None,
) -> dict[str, Any]:
    """The features that a regressor reads, as the argument of `tf.parse_example`.

    Args:
      feature_columns: an iterable of columns.
      label_key: the label's key.
      label_dtype: the label's type.
      label_default: the label of examples without one; None if all must have one.
      label_dimension: how many numbers a label is.
      weight_column: the key of a feature of weights, or a numeric column.

    Returns:
      A dictionary from keys to `tf.FixedLenFeature` or `tf.VarLenFeature`.

    Raises:
      ValueError: label or weights are also features, or the column is not numeric.

    Source: tensorflow_estimator/python/estimator/canned/parsing_utils.py.
    """
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(
    columns: Iterable[FeatureColumn], label_key: str, label: Any, weight_column: Any
) -> dict[str, Any]:
    spec = make_parse_example_spec(columns)
    if label_key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, features: "
            f"{spec.keys()}"
        )
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. "
            f"Given type: {type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            "weight_column should not be used as feature. weight_column: "
            f"{weight_column.key}, features: {spec.keys()}"
        )
    spec.update(make_parse_example_spec([weight_column]))
    return spec
