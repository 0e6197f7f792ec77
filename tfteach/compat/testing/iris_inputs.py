"""Fisher's irises for tests of estimators.

Source: contrib/learn/python/learn/estimators/test_data.py (API).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework.dtypes import float32, int32
from tfteach.framework.operation import Tensor
from tfteach.lib.contrib.learn.datasets.base import Dataset, load_iris
from tfteach.ops.core.constant import constant


def get_quantile_based_buckets(
    feature_values: Sequence[float], num_buckets: int
) -> list[float]:
    """The boundaries of buckets that hold equally many numbers.

    Args:
      feature_values: numbers.
      num_buckets: one more than the number of boundaries.
    """
    steps = np.arange(1.0, num_buckets + 1) / (num_buckets + 1.0)
    found: list[float] = np.percentile(feature_values, 100 * steps).tolist()
    return found


def prepare_iris_data_for_logistic_regression() -> Dataset:
    """The 100 irises of the first two kinds: float64 [100, 4] and int64 [100]."""
    iris = load_iris()
    rows = np.flatnonzero(iris.target < 2)
    return Dataset(iris.data[rows], iris.target[rows])


def _tensors(iris: Dataset) -> tuple[dict[str, Tensor], Tensor]:
    features: dict[str, Any] = {"feature": constant(iris.data, dtype=float32)}
    labels: Any = constant(iris.target.reshape(-1, 1), dtype=int32)
    return features, labels


def iris_input_multiclass_fn() -> tuple[dict[str, Tensor], Tensor]:
    """All irises: features {"feature": [150, 4]} and labels [150, 1]."""
    return _tensors(load_iris())


def iris_input_logistic_fn() -> tuple[dict[str, Tensor], Tensor]:
    """The irises of two kinds: features {"feature": [100, 4]} and labels [100, 1]."""
    return _tensors(prepare_iris_data_for_logistic_regression())
