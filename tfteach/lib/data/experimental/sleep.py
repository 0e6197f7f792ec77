"""A transformation that slows a dataset down, for measurements and tests.

Source: python/data/experimental/ops/sleep.py.
"""

from __future__ import annotations

from collections.abc import Callable

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int64
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data.dataset import Dataset
from tfteach.ops.data.options import SleepDataset


def sleep(sleep_microseconds: TensorLike) -> Callable[[Dataset], Dataset]:
    """A transformation that pauses before each element.

    Args:
      sleep_microseconds: how long, in us.

    Returns:
      A function for `Dataset.apply`.
    """

    def transform(dataset: Dataset) -> Dataset:
        with name_scope(None, "SleepDataset") as scope:
            pause = convert(sleep_microseconds, int64, "sleep_microseconds")
            op = SleepDataset(*dataset.flat)
            return dataset.derived(op(dataset._variant_tensor, pause, name=scope))

    return transform
