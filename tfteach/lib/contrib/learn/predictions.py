"""Predictions as examples, or as arrays of all.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np


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
