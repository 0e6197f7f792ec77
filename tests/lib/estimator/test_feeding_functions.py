"""Queues fed with arrays, DataFrames and generators."""

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import feeding_functions
from tfteach.lib.estimator.feeding_queue_runner import FeedingQueueRunner

RECORDED = json.loads(Path(feeding_functions.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize(
    "program", feeding_functions.PROGRAMS, ids=lambda program: program.__name__
)
def test_as_in_tensorflow(program):
    found = feeding_functions.run(tf, program)
    for key, value in RECORDED[program.__name__].items():
        assert found[key] == value, key


def test_runners_feed_their_ops():
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(10, [tf.int32], [[]])
        given = tf.placeholder(tf.int32)
        op = queue.enqueue(given)
        numbers = iter([3, 4])

        def feed_fn():
            for number in numbers:
                return {given: number}
            raise tf.errors.OutOfRangeError(None, None, "no more")

        for wrong in ([], [feed_fn, feed_fn]):
            with pytest.raises(ValueError, match="same length as enqueue_ops"):
                FeedingQueueRunner(queue, [op], feed_fns=wrong)
        runner = FeedingQueueRunner(queue, [op], feed_fns=[feed_fn])
        with pytest.raises(NotImplementedError, match="serialization to proto"):
            runner.to_proto()
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coordinator, start=True)
        assert [session.run(queue.dequeue()) for _ in range(2)] == [3, 4]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(queue.dequeue())
        coordinator.request_stop()
        coordinator.join(threads)
