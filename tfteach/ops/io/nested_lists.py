"""Lists of lists of values as one array, and where each value was.

For the sparse and padded features of SequenceExamples (parse_sequence_example.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework.dtypes import DType


def joined(parts: Sequence[Any], dtype: DType) -> Any:
    """The values of all lists, of this type even if there are none."""
    return np.concatenate([np.zeros(0, dtype.numpy_dtype), *parts])


def pairs(parts: Sequence[Any]) -> Any:
    """[row, position] of each value of lists."""
    counts = np.array([len(part) for part in parts], np.int64)
    starts = np.cumsum(counts) - counts
    rows = np.repeat(np.arange(len(parts)), counts)
    places = np.arange(int(counts.sum())) - np.repeat(starts, counts)
    return np.stack([rows, places], 1).astype(np.int64)


def longest(parts: Sequence[Any]) -> int:
    """The length of the longest list, 0 without one."""
    return max((len(part) for part in parts), default=0)


def triples(steps: Sequence[Sequence[Any]]) -> Any:
    """[row, step, position] of each value of lists of lists."""
    found = [np.zeros((0, 3), np.int64)]
    for row, parts in enumerate(steps):
        places = pairs(parts)
        found.append(np.insert(places, 0, row, axis=1))
    return np.concatenate(found)
