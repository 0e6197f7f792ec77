"""Statistics of pipelines as real TensorFlow 1.15 has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import dataset_statistics
from tfteach.compat import internals

RECORDED: dict[str, Any] = json.loads(
    (Path(dataset_statistics.__file__).with_suffix(".json")).read_text()
)
X = tf.data.experimental


@pytest.mark.parametrize("name", sorted(RECORDED["histograms"]))
def test_histograms(name: str) -> None:
    assert dataset_statistics.histograms(tf, name) == RECORDED["histograms"][name]


def test_tags_begin_with_the_prefix() -> None:
    found = dataset_statistics.histograms(tf, "strings", "some")
    assert found == RECORDED["prefixed"]


def test_nodes() -> None:
    assert dataset_statistics.nodes(tf) == RECORDED["nodes"]


def test_without_an_aggregator_nothing_is_recorded() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.range(2).apply(X.latency_stats("time"))
        element = dataset.make_one_shot_iterator().get_next()
        assert [session.run(element) for _ in range(2)] == [0, 1]


def test_an_aggregator_is_a_resource() -> None:
    stats_ops = internals.inner("data.experimental.ops.stats_ops")
    with tf.Graph().as_default():
        set_stats = stats_ops.set_stats_aggregator(X.StatsAggregator(), "prefix")
        dataset = tf.data.Dataset.range(3).apply(set_stats)
        with pytest.raises(ValueError, match="Failed to create a one-shot iterator"):
            dataset.make_one_shot_iterator()
        assert dataset.make_initializable_iterator()


def test_wrong_arguments() -> None:
    options = tf.data.Options()
    with pytest.raises(TypeError, match='Property "aggregator" must be of type'):
        options.experimental_stats.aggregator = 3
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Expected string"):
        tf.data.Dataset.range(3).apply(X.latency_stats(3))


def test_times_are_in_microseconds() -> None:
    from tfteach.ops.data.statistics import latency_us

    assert latency_us(0.0015, ()) == 1500.0
