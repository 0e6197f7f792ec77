"""Statistics of pipelines.

Source: python/data/experimental/ops/{stats_aggregator,stats_ops}.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.stats_aggregator import StatsAggregator
from tfteach.ops.data.statistics import (
    BytesProducedStatsDataset,
    LatencyStatsDataset,
    SetStatsAggregatorDataset,
)

Transformation = Callable[[Dataset], Dataset]


@export("data.experimental.latency_stats")
def latency_stats(tag: TensorLike) -> Transformation:
    """A transformation that records how long each element takes, in microseconds.

    Args:
      tag: the name of the histogram, a string scalar.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> dataset = tf.data.Dataset.range(9)
      >>> dataset = dataset.apply(tf.data.experimental.latency_stats("latency"))
      >>> options = tf.data.Options()
      >>> options.experimental_stats.aggregator = (
      ...     tf.data.experimental.StatsAggregator())
      >>> dataset = dataset.with_options(options)
    """
    return _observed(LatencyStatsDataset, tag)


@export("data.experimental.bytes_produced_stats")
def bytes_produced_stats(tag: TensorLike) -> Transformation:
    """A transformation that records the size of each element in bytes.

    Strings have 8 bytes more than characters, as in TensorFlow's memory.

    Args:
      tag: the name of the histogram, a string scalar.

    Returns:
      A function for `Dataset.apply`; see `tf.data.experimental.latency_stats`.
    """
    return _observed(BytesProducedStatsDataset, tag)


def _observed(op: Any, tag: TensorLike) -> Transformation:
    def transform(dataset: Dataset) -> Dataset:
        name: Tensor = convert(tag, string)
        return dataset.derived(op(*dataset.flat)(dataset._variant_tensor, name))

    return transform


def set_stats_aggregator(
    stats_aggregator: StatsAggregator,
    prefix: TensorLike = "",
    counter_prefix: TensorLike = "",
) -> Transformation:
    """A transformation with `tf.data.experimental.StatsOptions` of these values."""

    def transform(dataset: Dataset) -> Dataset:
        op = SetStatsAggregatorDataset(*dataset.flat)
        variant = op(
            dataset._variant_tensor, stats_aggregator._resource, prefix, counter_prefix
        )
        return dataset.derived(variant)

    return transform
