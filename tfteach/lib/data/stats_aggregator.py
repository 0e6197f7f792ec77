"""`tf.data.experimental.StatsAggregator`.

Source: python/data/experimental/ops/stats_aggregator.py.
"""

from __future__ import annotations

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.ops.data.statistics import StatsAggregatorHandle, StatsAggregatorSummary


@export("data.experimental.StatsAggregator")
class StatsAggregator:
    """The statistics of the pipelines whose options name it.

    Recorded are the numbers of `tf.data.experimental.latency_stats` and
    `bytes_produced_stats`; of TensorFlow's own statistics of transformations see
    `tfteach.explain.watch_pipelines`.

    Example:
      >>> aggregator = tf.data.experimental.StatsAggregator()
      >>> options = tf.data.Options()
      >>> options.experimental_stats.aggregator = aggregator
      >>> summary = aggregator.get_summary()

    Source: python/data/experimental/ops/stats_aggregator.py.
    """

    def __init__(self) -> None:
        self._resource: Tensor = StatsAggregatorHandle()()

    def get_summary(self) -> Tensor:
        """The histograms as a serialized Summary, a string scalar Tensor."""
        found: Tensor = StatsAggregatorSummary()(self._resource)
        return found
