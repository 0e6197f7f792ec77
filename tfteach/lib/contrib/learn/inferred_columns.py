"""Columns of numbers for the features that an input has.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.lib.contrib.layers.feature_column_ops import infer_real_valued_columns
from tfteach.lib.contrib.learn.input import inputs_of
from tfteach.lib.contrib.learn.type_aliases import Rows


@export("contrib.learn.infer_real_valued_columns_from_input_fn")
def infer_real_valued_columns_from_input_fn(
    input_fn: Callable[[], Any],
) -> list[Any]:
    """A column of numbers for each feature of an input function.

    Args:
      input_fn: a function that returns (features, labels).

    Raises:
      ValueError: a feature is no number, or sparse.

    Example:
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input_fn(input_fn)

    Source: contrib/learn/python/learn/estimators/estimator.py.
    """
    with Graph().as_default():
        features, _ = input_fn()
        return list(infer_real_valued_columns(features))


@export("contrib.learn.infer_real_valued_columns_from_input")
def infer_real_valued_columns_from_input(x: Rows) -> list[Any]:
    """A column of numbers for an array, or for each in a dict.

    Args:
      x: an array [n, ...], or a dict of them.

    Raises:
      ValueError: an array is not of numbers, or `x` is None or a Tensor.

    Example:
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
      >>> tf.contrib.learn.DNNRegressor([10], columns)

    Source: contrib/learn/python/learn/estimators/estimator.py.
    """
    inputs = inputs_of(x, None, None, None, None, shuffle=False, epochs=1)
    return infer_real_valued_columns_from_input_fn(inputs.input_fn)
