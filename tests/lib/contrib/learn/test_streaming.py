"""Predictions of a generator that is held open, and the batches of iterators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf

feeders = tf.contrib.learn.io.data_feeder


@pytest.mark.parametrize(
    ("batch_size", "batches"),
    [
        (None, [[[0.0, 0.0]], [[1.0, 1.0]], [[2.0, 2.0]]]),
        (2, [[[0.0, 0.0], [1.0, 1.0]], [[2.0, 2.0]]]),
    ],
)
def test_an_iterator_gives_examples(
    batch_size: int | None, batches: list[list[list[float]]]
) -> None:
    """Real TensorFlow 1.15's batches: of one example if no size is given."""
    examples = (np.full([2], n, np.float32) for n in range(3))
    feeder = feeders.setup_train_data_feeder(examples, None, None, batch_size)
    feeder.input_builder()
    feeds = feeder.get_feed_dict_fn()
    found = [next(iter(feeds().values())).tolist() for _ in batches]
    assert found == batches
    with pytest.raises(StopIteration):
        feeds()
    assert feeder.batch_size == (batch_size or 1)


def test_a_prediction_asks_the_generator_for_no_more_than_it_needs(
    tmp_path: Path,
) -> None:
    column = tf.contrib.layers.real_valued_column("", dimension=1)
    classifier = tf.contrib.learn.DNNClassifier(
        [4], [column], model_dir=str(tmp_path), n_classes=2
    )
    classifier.fit(np.ones([4, 1], np.float32), np.array([0, 1, 0, 1]), steps=1)
    asked: list[int] = []

    def features() -> Iterator[np.ndarray]:
        for n in range(100):
            asked.append(n)
            yield np.array([n], np.float32)

    predictions = classifier.predict(x=features(), batch_size=None)
    for n in range(5):
        next(predictions)
        assert asked[-1] == n
    predictions.close()


def test_predictions_of_a_trained_estimator_get_placeholders_of_labels(
    tmp_path: Path,
) -> None:
    """As in TensorFlow 1.15: model functions may use labels in any mode."""
    labels: list[tuple[str, str]] = []

    def model(features: tf.Tensor, target: tf.Tensor, mode: str) -> tuple[Any, ...]:
        labels.append((mode, f"{target}"))
        weights = tf.get_variable("w", [2, 1])
        found = tf.matmul(features, weights)
        step = tf.assign_add(tf.train.get_global_step(), 1)
        return {"p": found}, tf.reduce_sum(found), step

    estimator = tf.contrib.learn.Estimator(model, model_dir=str(tmp_path))
    rows = np.ones([4, 2], np.float32)
    estimator.fit(rows, np.arange(4), steps=1)
    list(estimator.predict(rows))
    fresh = tf.contrib.learn.Estimator(model, model_dir=str(tmp_path))
    list(fresh.predict(rows))
    assert labels == [
        ("train", 'Tensor("output:0", shape=(?,), dtype=int64)'),
        ("infer", 'Tensor("Placeholder:0", shape=(?,), dtype=int64)'),
        ("infer", "None"),
    ]


def test_examples_of_a_generator_have_the_same_keys() -> None:
    """The coordinator raises the error of the thread that fills the queue."""

    def examples() -> Iterator[dict[str, Any]]:
        yield {"a": np.ones(1)}
        yield {"b": np.ones(1)}

    with tf.Graph().as_default(), tf.Session() as session:
        batch = tf.contrib.learn.io.generator_input_fn(examples, shuffle=False)()
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(batch)
        with pytest.raises(KeyError, match="key mismatch between dicts"):
            coordinator.join(threads)


def test_a_generator_has_to_yield_something() -> None:
    """One that is empty in the second epoch is no endless loop."""
    calls = []

    def examples() -> Iterator[dict[str, Any]]:
        calls.append(1)
        if len(calls) <= 4:  # three look at the first example
            yield {"a": np.ones(1)}

    with tf.Graph().as_default(), tf.Session() as session:
        batch = tf.contrib.learn.io.generator_input_fn(examples, shuffle=False)()
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(batch)
        with pytest.raises(ValueError, match="yielded none"):
            coordinator.join(threads)
