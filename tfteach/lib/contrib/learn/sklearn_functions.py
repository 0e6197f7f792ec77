"""scikit-learn's functions that `tf.contrib.learn` has for programs without it.

Source: contrib/learn/python/learn/estimators/_sklearn.py (API, order of the split).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.type_aliases import Array

_TRAIN_SIZE = 0.75


def accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of equal labels.

    Args:
      y_true: the labels, an array.
      y_pred: the predicted labels.
    """
    return float(np.mean(y_true == y_pred))


def mean_squared_error(y_true: Array, y_pred: Array) -> float:
    """The mean of the squared differences; labels [n, 1] are taken as [n].

    Args:
      y_true: numbers, an array.
      y_pred: the predicted numbers, an array.
    """
    if y_true.ndim > 1:
        y_true = np.squeeze(y_true)
    if y_pred.ndim > 1:
        y_pred = np.squeeze(y_pred)
    return float(np.average((y_true - y_pred) ** 2))


def train_test_split(*args: Array, **options: Any) -> tuple[Array, ...]:
    """Arrays in two parts, in the same random order.

    As in TensorFlow, this seeds NumPy's global generator.

    Args:
      *args: arrays of one length.
      **options: `train_size`, the share of the first part, or `test_size`, that of
        the second, and `random_state`, the seed; without it the order is another one
        each time.

    Returns:
      For each array its first part and its second.

    Raises:
      IndexError: there is no array.
    """
    train_size = options.get("train_size")
    if train_size is None:
        test_size = options.get("test_size")
        train_size = _TRAIN_SIZE if test_size is None else 1 - test_size
    count = args[0].shape[0]
    cut = int(train_size * count)
    np.random.seed(options.get("random_state"))
    order = np.random.permutation(count)
    parts = slice(cut), slice(cut, None)
    return tuple(array[order[part]] for array in args for part in parts)
