"""Predictions as examples, or as arrays of all.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfteach.framework.graph import Graph
from tfteach.framework.type_aliases import FeedDict
from tfteach.lib.training.monitored_session import MonitoredSession
from tfteach.lib.training.session_creators import SessionCreator


def only(predictions: Any, outputs: Sequence[str] | None) -> Any:
    """The predictions of some keys.

    Raises:
      ValueError: the predictions are no dict, or have none of the keys.
    """
    if not outputs:
        return predictions
    if not isinstance(predictions, Mapping):
        raise ValueError(
            "outputs argument is not valid in case of non-dict predictions."
        )
    found = {key: value for key, value in predictions.items() if key in outputs}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided "
            f"{outputs}."
        )
    return found


def predicted(
    graph: Graph,
    creator: SessionCreator,
    predictions: Any,
    feed_fn: Callable[[], FeedDict] | None,
    only_once: bool,
) -> Iterator[Any]:
    """The values of predictions, of one batch after the other.

    The session begins with the call, as in TensorFlow, not with the first batch.

    Args:
      graph: their graph.
      creator: what makes the session.
      predictions: Tensors.
      feed_fn: a function that returns the feeds of each batch, or None.
      only_once: whether there is one batch.
    """
    with graph.as_default():
        session = MonitoredSession(creator)
    return _run(session, predictions, feed_fn, only_once)


def _run(
    session: MonitoredSession,
    predictions: Any,
    feed_fn: Callable[[], FeedDict] | None,
    only_once: bool,
) -> Iterator[Any]:
    with session:
        while not session.should_stop():
            feeds = None
            if feed_fn is not None:
                try:
                    feeds = feed_fn()
                except StopIteration:
                    break
            yield session.run(predictions, feeds)
            if only_once:
                break


def examples(batches: Iterator[Any]) -> Iterator[Any]:
    """The examples of batches, one by one."""
    for batch in batches:
        if not isinstance(batch, Mapping):
            yield from batch
            continue
        length = len(next(iter(batch.values())))
        for i in range(length):
            yield {key: value[i] for key, value in batch.items()}


def joined(batches: Iterator[Any]) -> Any:
    """Batches as one array, or a dict of arrays."""
    every = list(batches)
    if not every:
        return every
    if isinstance(every[0], Mapping):
        return {
            key: np.concatenate([batch[key] for batch in every]) for key in every[0]
        }
    return np.concatenate(every)
