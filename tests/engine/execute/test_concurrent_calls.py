"""py_funcs of one run that wait for each other, as on TensorFlow's pool of threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute.concurrent_program import ConcurrentProgram
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.engine.flow.dataflow import DataflowProgram

TIMEOUT_S = 60.0


def meeting(count: int) -> Callable[[], np.float32]:
    """A function that returns once `count` threads are in it."""
    barrier = threading.Barrier(count)
    return lambda: np.float32(barrier.wait(TIMEOUT_S))


def call(function: Callable[..., Any], *inputs: Any) -> Any:
    return tf.py_func(function, list(inputs), tf.float32)


def test_three_functions_meet_in_every_run() -> None:
    meet = meeting(3)
    results = [call(meet) for _ in range(3)]
    with tf.Session() as session:
        for _ in range(HOT_AFTER_RUNS + 1):
            assert sorted(session.run(results)) == [0, 1, 2]
            assert session.run(tf.add_n(results)) == 3.0


def test_a_consumer_may_be_built_before_its_producer() -> None:
    items: queue.Queue[Any] = queue.Queue()
    start = tf.placeholder(tf.float32, [])
    taken = call(lambda: items.get(timeout=TIMEOUT_S)) * 2.0
    first = call(lambda x: x, start)  # the producer waits for another function
    put = call(lambda x: items.put(x + 1.0) or x, first * 1.0)
    with tf.Session() as session:
        assert session.run([taken, put], {start: 3.0}) == [8.0, 3.0]
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        got = session.run([taken, put], {start: 4.0}, options, metadata)
        assert got == [10.0, 4.0]
        assert "PyFunc_2" in {
            node.node_name
            for device in metadata.step_stats.dev_stats
            for node in device.node_stats
        }


def test_beside_a_loop() -> None:
    meet = meeting(2)
    loop = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
    with tf.Session() as session:
        assert session.run([loop, call(meet), call(meet)])[0] == 5


def test_an_error_ends_the_run_while_another_function_waits() -> None:
    event = threading.Event()

    def wait() -> np.float32:
        event.wait(TIMEOUT_S)
        return np.float32(0)

    def fail() -> None:
        raise ValueError("no use waiting")

    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    fetches = [call(wait), call(fail), v.assign_add(1.0)]
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="no use") as caught:
            session.run(fetches)
        assert caught.value.op.type == "PyFunc"
        assert session.run(v) == 0.0
        event.set()


@pytest.mark.parametrize("in_a_branch", [False, True])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (SystemExit(3), (tf.errors.UnknownError, "SystemExit: 3")),  # TensorFlow's
        (GeneratorExit(), (tf.errors.UnknownError, "GeneratorExit: ")),
        (KeyboardInterrupt("^C"), (KeyboardInterrupt, "C")),
    ],
)
def test_whatever_a_function_raises_ends_the_run(
    raised: BaseException, expected: Any, count: int, in_a_branch: bool
) -> None:
    def fail() -> None:
        raise raised

    x = tf.placeholder(tf.bool, [])
    fetches = [call(fail), call(lambda: np.float32(1.0))][:count]
    if in_a_branch:
        fetches.append(tf.cond(x, lambda: 1.0, lambda: 2.0))
    with tf.Session() as session:
        kind, message = expected
        with pytest.raises(kind, match=message):
            session.run(fetches, {x: True})
        assert session.run(tf.constant(2.0)) == 2.0


def test_a_function_of_constants_is_called_while_planning() -> None:
    """Its part must not wait for a call that no run makes."""
    three = tf.py_func(lambda t: t + 1, [2.0], tf.float32, stateful=False)
    waiting = tf.FIFOQueue(1, tf.float32, [[]])
    put = waiting.enqueue([three * 2.0])
    with tf.Session() as session:
        assert session.run([put, waiting.dequeue(), three]) == [None, 6.0, 3.0]


def test_functions_in_a_row_need_no_threads() -> None:
    first = call(lambda: np.float32(threading.get_ident() % 1000))
    second = call(lambda x: x, first)
    with tf.Session() as session:
        assert session.run([first, second])[1] == np.float32(
            threading.get_ident() % 1000
        )
        programs = [program for program, _ in session._programs.values()]
        assert not any(isinstance(p, DataflowProgram) for p in programs)


def queue_of(values: Any) -> Any:
    array = np.asarray(values, np.float32)
    queue = tf.FIFOQueue(len(array), tf.float32, [array.shape[1:]])
    return queue, queue.enqueue_many([array])


def test_ops_that_passes_removed_still_order_effects() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        first, fill_first = queue_of(range(20))
        second, fill_second = queue_of(range(20))
        v = tf.get_variable("v", initializer=0.0)
        update = v.assign_add(first.dequeue())
        with tf.control_dependencies([tf.group(tf.identity(update))]):
            total = v.read_value() + second.dequeue()
        session.run([v.initializer, fill_first, fill_second])
        found = [session.run(total) for _ in range(20)]
        sums = np.cumsum(range(20))
        assert found == [sums[i] + i for i in range(20)]


def test_a_loss_of_two_queues() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        features, fill = queue_of(np.linspace(-1, 1, 40).reshape(20, 1, 2))
        labels, fill_labels = queue_of(np.ones([20, 1]))
        logits = tf.layers.dense(features.dequeue(), 3)
        chosen = tf.cast(labels.dequeue(), tf.int32)
        loss = tf.losses.sparse_softmax_cross_entropy(chosen, logits)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        session.run(tf.global_variables_initializer())
        session.run([fill, fill_labels])
        losses = [session.run([loss, train])[0] for _ in range(20)]
        assert losses[-1] < losses[0]
        programs = [program for program, _ in session._programs.values()]
        assert any(isinstance(p, ConcurrentProgram) for p in programs)


def test_a_dequeue_may_wait_for_an_enqueue_of_the_same_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        source, fill = queue_of(range(HOT_AFTER_RUNS + 3))
        empty = tf.FIFOQueue(1, tf.float32, [[]])
        received = empty.dequeue()  # first, and nothing is in the queue yet
        sent = empty.enqueue(source.dequeue() * 2.0 + 1.0)
        session.run(fill)
        for i in range(HOT_AFTER_RUNS + 3):  # also as specialized parts
            assert session.run([received * 10.0, sent])[0] == 10.0 * (2 * i + 1)


def test_an_error_in_a_part_ends_the_calls_that_wait() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        source, fill = queue_of([[1.0, 2.0]])
        empty = tf.FIFOQueue(1, tf.float32, [[]])
        v = tf.get_variable("v_of_parts", initializer=0.0)
        row = source.dequeue()
        with tf.control_dependencies([v.assign_add(1.0)]):
            bad = tf.check_numerics(row / 0.0, "no numbers")
        session.run([v.initializer, fill])
        with pytest.raises(tf.errors.InvalidArgumentError, match="no numbers"):
            session.run([empty.dequeue(), bad])
        assert session.run(v) == 0.0
