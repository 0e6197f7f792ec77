"""From the features of an `input_fn` to points.

Source: contrib/factorization/python/ops/{kmeans,gmm}.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.defaults import get_default_graph
from tfteach.lib.feature_column.base_column import FeatureColumn
from tfteach.lib.feature_column.input_layer import input_layer
from tfteach.ops.array.concat_split import concat

Columns = Sequence[FeatureColumn] | None


def points_of(features: Any, columns: Columns = None) -> Any:
    """The features as one Tensor [n, d], those of a dict in the order of their names.

    Args:
      features: a Tensor [n, d], or a dict of name -> Tensor or lists.
      columns: the columns of such a dict; None for all its features, each [n, ...].
    """
    if not isinstance(features, dict):
        return features
    if columns:
        return input_layer(features, columns)
    values = [features[key] for key in sorted(features)]
    with get_default_graph().colocate_with(values[0], ignore_existing=True):
        return concat(values, 1)
