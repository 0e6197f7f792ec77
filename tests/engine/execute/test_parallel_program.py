"""Which way a step on several devices takes: the faster one, by its first runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tfteach.engine.execute import parallel_program
from tfteach.engine.execute.parallel_program import ParallelProgram, Race

pytestmark = pytest.mark.usefixtures("no_cards")


def race(guess: bool, in_order_s: float, parallel_s: float) -> str:
    """The ways of the runs until it is over, and the winner."""
    found, ways = Race(guess), ""
    while not found.is_over:
        ways += "p" if found.is_parallel else "o"
        found.record(parallel_s if found.is_parallel else in_order_s)
    return f"{ways} {'p' if found.is_parallel else 'o'}"


@pytest.mark.parametrize(
    ("guess", "in_order_s", "parallel_s", "expected"),
    [
        (False, 0.1, 0.06, "oopopop p"),
        (True, 0.1, 0.06, "popopop p"),
        (True, 0.1, 0.11, "popopop o"),
        (False, 0.0009, 0.0001, "oooo o"),
        (True, 0.0009, 0.0001, "pooo o"),
    ],
)
def test_the_faster_way_wins(
    guess: bool, in_order_s: float, parallel_s: float, expected: str
) -> None:
    assert race(guess, in_order_s, parallel_s) == expected


def towers(size: int) -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [None, size, size, 1], name="x")
    found = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"):
            image = tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], "SAME")
            found.append(tf.reduce_sum(tf.nn.relu(image)))
    return x, found


class Clock:
    """A clock by which each run in parallel takes 6 ms, and each other one 10."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s, self.ways = 0.0, ""
        parallel = ParallelProgram.run_parallel
        loop = parallel_program.Program._run

        def run_parallel(program: Any, *arguments: Any) -> Any:
            self.now_s += 0.006
            self.ways += "p"
            return parallel(program, *arguments)

        def run(program: Any, *arguments: Any) -> Any:
            self.now_s += 0.010
            self.ways += "o"
            return loop(program, *arguments)

        monkeypatch.setattr(ParallelProgram, "run_parallel", run_parallel)
        monkeypatch.setattr(parallel_program.Program, "_run", run)
        monkeypatch.setattr(parallel_program, "perf_counter", lambda: self.now_s)


def config(threads: int, **options: Any) -> tf.ConfigProto:
    return tf.ConfigProto(
        inter_op_parallelism_threads=threads, use_per_session_threads=True, **options
    )


def test_each_shape_of_the_feeds_has_its_race(monkeypatch: pytest.MonkeyPatch) -> None:
    tfteach.simulate_gpus(2)
    clock = Clock(monkeypatch)
    x, found = towers(4)
    with tf.Session(config=config(2)) as sess:
        for count in (1, 2):
            clock.ways = ""
            for _ in range(9):
                sess.run(found, {x: np.ones((count, 4, 4, 1))})
            assert clock.ways == "popopop" + "pp"


def test_one_thread_stays_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    tfteach.simulate_gpus(2)
    clock = Clock(monkeypatch)
    x, found = towers(4)
    feed = {x: np.ones((1, 4, 4, 1))}
    alone = tf.ConfigProto.Experimental(executor_type="SINGLE_THREADED_EXECUTOR")
    for options in (config(1), config(3, experimental=alone)):
        with tf.Session(config=options) as sess:
            for _ in range(9):
                sess.run(found, feed)
    pools = config(3)
    for count in (3, 1):
        pools.session_inter_op_thread_pool.add(num_threads=count)
    assert "p" not in clock.ways
    clock.ways = ""
    with tf.Session(config=pools) as sess:
        for pool in (-1, 1, 0):
            chosen = tf.RunOptions(inter_op_thread_pool=pool)
            for _ in range(4):
                sess.run(found, feed, options=chosen)
    assert clock.ways == "oooo" + "oooo" + "popo"


def test_a_trace_shows_the_step_as_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the first run, if convolutions of two devices may overlap."""
    tfteach.simulate_gpus(2)
    clock = Clock(monkeypatch)
    x, found = towers(4)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.Session(config=config(2)) as sess:
        feed = {x: np.ones((1, 4, 4, 1))}
        sess.run(found, feed, options=options, run_metadata=metadata)
        assert clock.ways == "p"
        names = {
            device.device[-5:]: {node.node_name for node in device.node_stats}
            for device in metadata.step_stats.dev_stats
            if "device:GPU" in device.device
        }
        assert {"Conv2D", "Relu", "Sum"} <= names["GPU:0"]
        assert {"Conv2D_1", "Relu_1", "Sum_1"} <= names["GPU:1"]
        one_after_the_other = tf.reduce_sum(found[0] + x)
        sess.run(one_after_the_other, feed, options=options, run_metadata=metadata)
        assert clock.ways == "po"


def test_steps_of_one_device_are_as_before() -> None:
    tfteach.simulate_gpus(2)
    with tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.exp(x)
    with tf.Session() as sess:
        assert sess.run(y, {x: 0.0}) == 1.0
        assert type(sess._program((y,), (x,))[0]) is not ParallelProgram


def test_what_another_device_needs_goes_first() -> None:
    """The card with the variables sends them before it computes its own tower.

    Its products lead to the other device as well, by the update, but later.
    """
    tfteach.simulate_gpus(2)
    try:
        with tf.Graph().as_default(), tf.device("/gpu:0"):
            x = tf.placeholder(tf.float32, [2, 2], name="x")
            w = tf.Variable(tf.ones([2, 2]), name="w")
            last = tf.Variable(tf.ones([2, 2]), name="last")
            towers = []
            for i in range(2):
                with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower{i}"):
                    towers.append(tf.matmul(tf.matmul(x, w), last))
            total = towers[0] + towers[1]
            train = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(total, w)])
            with tf.Session() as session:
                session.run([w.initializer, last.initializer])
                session.run(train, {x: np.eye(2)})
                assert session.run(w).tolist() == [[-3.0, -3.0], [-3.0, -3.0]]
                program = session._program((train,), (x,))[0]
        plan = program.plan
        names = [
            plan.code[number].node.name
            for number in plan.by_rank
            if plan.code[number].node.device.name.endswith("GPU:0")
            and not plan.code[number].is_read
        ]
        own = names.index("tower0/MatMul")
        assert [name.partition("/_")[0] for name in names[:own]][:2] == [
            "w/read",
            "last/read",
        ]
    finally:
        tfteach.simulate_gpus(0)
