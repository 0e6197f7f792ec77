"""The input of an older Estimator: arrays, or a function.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import FeedDict
from tfteach.lib.contrib.learn.data_feeder import setup_train_data_feeder


class Inputs(NamedTuple):
    """Where features and labels come from."""

    input_fn: Callable[[], Any]
    feed_fn: Callable[[], FeedDict] | None


def inputs_of(
    x: Any, y: Any, input_fn: Any, feed_fn: Any, batch_size: int | None, shuffle: bool,
    epochs: int | None,
) -> Inputs:  # fmt: skip
    """The input of a call, from arrays or a function.

    Args:
      x, y: arrays, dicts of them, iterators, or None.
      input_fn: a function that returns (features, labels), or None.
      feed_fn: a function that returns feeds for `input_fn`, or None.
      batch_size: the rows of a batch of `x`.
      shuffle: whether to draw them in a random order.
      epochs: how often to go through `x`; None for ever.

    Raises:
      ValueError: there is none of them, or several.
    """
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
        if feed_fn is not None:
            raise ValueError("Can not provide both feed_fn and x or y.")
        feeder = setup_train_data_feeder(
            x, y, None, batch_size, shuffle=shuffle, epochs=epochs
        )
        return Inputs(feeder.input_builder, feeder.get_feed_dict_fn())
    if x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    if batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")
    return Inputs(input_fn, feed_fn)
