"""Steps on several devices with ops that may wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tfteach.engine.execute import executors
from tfteach.engine.execute.executors import Executors
from tfteach.engine.execute.parallel_program import ParallelProgram
from tfteach.framework.waiting import Cancellation

pytestmark = pytest.mark.usefixtures("no_cards")
WAIT_S = 20.0  # a test that has to wait so long has failed
Shuffle = Callable[[int], list[str]]


def config(threads: int) -> Any:
    return tf.ConfigProto(
        inter_op_parallelism_threads=threads,
        use_per_session_threads=True,
        allow_soft_placement=True,
    )


class Towers:
    """Two towers, each of which dequeues its batch, and an op that enqueues both."""

    def __init__(self) -> None:
        tfteach.simulate_gpus(2)
        self.x = tf.placeholder(tf.float32, [2, 2], name="x")
        with tf.device("/cpu:0"):
            self.queue = tf.FIFOQueue(2, tf.float32, [[2]])
            batches = [self.queue.dequeue(name=f"batch{i}") for i in range(2)]
            self.enqueue = self.queue.enqueue_many([tf.exp(self.x)])
        self.losses = []
        for i in range(2):
            with tf.device(f"/gpu:{i}"):
                self.losses.append(tf.reduce_sum(batches[i] * 2.0, name=f"meet{i}"))
        self.fetches = [*self.losses, self.enqueue]

    def run(self, sess: Any, value: float = 0.0) -> list[Any]:
        feed = {self.x: [[value, value], [0.0, 0.0]]}
        return sorted(sess.run(self.fetches, feed)[:2])


def waiting_threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "tfteach-waiting-op"]


@pytest.mark.parametrize("threads", [1, 3])
def test_dequeues_wait_for_an_enqueue_of_the_same_run(
    shuffled: Shuffle, threads: int
) -> None:
    towers = Towers()
    with tf.Session(config=config(threads)) as sess:
        for seed in range(4):
            if threads > 1:
                shuffled(seed)
            assert towers.run(sess) == [4.0, 4.0]
        assert sess.run(towers.queue.size()) == 0
        program = sess._program(tuple(towers.fetches), (towers.x,))[0]
    assert isinstance(program, ParallelProgram)
    assert {n for n, waits in enumerate(program.plan.waits) if waits} == {
        n for n, i in enumerate(program.plan.code) if "ueue" in i.node.op.type
    }


def test_the_towers_compute_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    towers = Towers()
    barrier = threading.Barrier(2)
    inner = Executors._compute

    def compute(run: Executors, number: int, instruction: Any) -> None:
        if instruction.node.name in ("meet0", "meet1"):
            barrier.wait(WAIT_S)
        inner(run, number, instruction)

    monkeypatch.setattr(Executors, "_compute", compute)
    with tf.Session(config=config(3)) as sess:
        for _ in range(3):
            assert towers.run(sess) == [4.0, 4.0]


def test_the_rest_computes_while_an_op_waits(parallel: None) -> None:
    """What another run has to see before it enqueues, say."""
    towers = Towers()
    seen = threading.Event()
    with tf.device("/cpu:0"):
        [told] = tf.py_func(lambda v: [seen.set(), v][1:], [towers.x], [tf.float32])
    with tf.device("/gpu:0"):
        told = tf.exp(told)
    found: list[Any] = []
    with tf.Session(config=config(3)) as sess:

        def run() -> None:
            found.append(sess.run([*towers.losses, told], {towers.x: np.zeros((2, 2))}))

        waiting = threading.Thread(target=run, daemon=True)
        waiting.start()
        assert seen.wait(WAIT_S)
        sess.run(towers.enqueue, {towers.x: np.zeros((2, 2))})
        waiting.join(WAIT_S)
    assert found[0][:2] == [4.0, 4.0]


def test_py_funcs_may_wait_for_each_other(parallel: None) -> None:
    tfteach.simulate_gpus(1)
    barrier = threading.Barrier(2)
    x = tf.placeholder(tf.float32, [], name="x")

    def meet(value: Any) -> Any:
        barrier.wait(WAIT_S)
        return value

    with tf.device("/cpu:0"):
        both = [tf.py_func(meet, [x], tf.float32) for _ in range(2)]
    with tf.device("/gpu:0"):
        total = tf.add_n(both)
    with tf.Session(config=config(2)) as sess:
        for _ in range(3):
            assert sess.run(total, {x: 2.0}) == 4.0


def test_an_error_ends_what_waits_and_undoes_what_was_written(parallel: None) -> None:
    towers = Towers()
    with tf.device("/cpu:0"):
        v = tf.Variable(tf.zeros([2000]), name="v")
        write = v.assign_add(tf.ones([2000]))
    with tf.device("/gpu:0"), tf.control_dependencies([write]):
        fails = tf.check_numerics(tf.exp(towers.x), "oh", name="fails")
    with tf.Session(config=config(3)) as sess:
        sess.run(v.initializer)
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="oh") as caught:
                sess.run([*towers.losses, fails], {towers.x: np.full((2, 2), np.inf)})
            assert caught.value.op.name == "fails"
            assert not sess.run(v).any()
            assert not waiting_threads()
        assert towers.run(sess) == [4.0, 4.0]


def test_an_error_of_what_waits_names_it(parallel: None) -> None:
    towers = Towers()
    with tf.Session(config=config(3)) as sess:
        sess.run(towers.queue.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed") as caught:
            sess.run(towers.losses)
        assert caught.value.op.name in ("batch0", "batch1")


def test_a_time_limit_ends_waits(parallel: None) -> None:
    towers = Towers()
    with tf.Session(config=config(3)) as sess:
        options = tf.RunOptions(timeout_in_ms=50)
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(towers.losses, options=options)
        assert not waiting_threads()
        assert towers.run(sess) == [4.0, 4.0]


def test_closing_the_session_ends_waits(parallel: None) -> None:
    towers = Towers()
    sess = tf.Session(config=config(3))
    errors: list[Exception] = []

    def run() -> None:
        try:
            sess.run(towers.losses)
        except Exception as error:
            errors.append(error)

    waiting = threading.Thread(target=run, daemon=True)
    waiting.start()
    while not sess.resources.cancellation.condition_of_waits:
        waiting.join(0.001)
    sess.close()
    waiting.join(WAIT_S)
    assert [type(error) for error in errors] == [tf.errors.CancelledError]


def test_a_trace_has_a_row_for_what_waited(parallel: None) -> None:
    towers = Towers()
    options, metadata = tf.RunOptions(trace_level=1), tf.RunMetadata()
    with tf.Session(config=config(3)) as sess:
        feed = {towers.x: np.zeros((2, 2))}
        sess.run(towers.fetches, feed, options=options, run_metadata=metadata)
    [names] = [
        [node.node_name for node in device.node_stats]
        for device in metadata.step_stats.dev_stats
        if "CPU" in device.device
    ]
    for name in ("batch0", "batch1", towers.enqueue.name):
        assert names.count(name) == 1


def test_the_last_write_is_undone_when_another_device_fails(shuffled: Shuffle) -> None:
    """In the step's order nothing comes after it that could fail."""
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/gpu:0"):
        fails = tf.check_numerics(tf.exp(x), "oh")
    with tf.device("/gpu:1"):
        v = tf.Variable(0.0, name="v")
        write = v.assign_add(x, name="last").op
    with tf.Session(config=config(3)) as sess:
        for seed in range(6):
            ran = shuffled(seed)
            sess.run(v.initializer)
            with pytest.raises(tf.errors.InvalidArgumentError, match="oh"):
                sess.run([fails, write], {x: np.inf})
            assert sess.run(v) == 0.0
            assert ran


def test_branches_beside_ops_that_wait(parallel: None) -> None:
    towers = Towers()
    training = tf.placeholder(tf.bool, [], name="training")
    found = []
    for i, loss in enumerate(towers.losses):
        with tf.device(f"/gpu:{i}"):
            doubled = tf.cond(training, lambda v=loss: v * 2.0, lambda v=loss: v)
            found.append(doubled)
    with tf.Session(config=config(3)) as sess:
        for taken, expected in [(True, 8.0), (False, 4.0)]:
            feed = {towers.x: np.zeros((2, 2)), training: taken}
            assert sess.run([*found, towers.enqueue], feed)[:2] == [expected] * 2
        fetches = (*found, towers.enqueue)
        program = sess._program(fetches, (towers.x, training))[0]
        assert isinstance(program, ParallelProgram)


def test_ops_that_wait_in_a_branch_stay_on_one_thread() -> None:
    towers = Towers()
    training = tf.placeholder(tf.bool, [], name="training")
    with tf.device("/cpu:0"):
        more = tf.cond(training, towers.queue.dequeue, lambda: towers.x[0])
    with tf.Session(config=config(3)) as sess:
        feed = {towers.x: np.zeros((2, 2)), training: False}
        assert sess.run([*towers.fetches, more], feed)[:2] == [4.0, 4.0]
        fetches = (*towers.fetches, more)
        program = sess._program(fetches, (towers.x, training))[0]
    reason = "cond/fifo_queue_Dequeue may wait in a branch or loop"
    assert program.step.one_thread == reason


@pytest.mark.parametrize("gpus", [0, 1])
def test_ctrl_c_while_a_failed_run_ends(
    monkeypatch: pytest.MonkeyPatch, gpus: int
) -> None:
    """No op goes on waiting: it would take what a later run enqueues."""
    tfteach.simulate_gpus(gpus)
    cancel, interrupts = Cancellation.cancel, [KeyboardInterrupt()]

    def interrupted(self: Cancellation) -> None:
        if interrupts:
            raise interrupts.pop()
        cancel(self)

    monkeypatch.setattr(Cancellation, "cancel", interrupted)
    x = tf.placeholder(tf.float32, [], name="x")
    full, empty = (tf.FIFOQueue(1, tf.float32, [[]]) for _ in range(2))
    taken, waits = full.dequeue(), empty.dequeue()
    with tf.device(f"/device:{'GPU' if gpus else 'CPU'}:0"):
        fails = tf.check_numerics(x + taken, "oh")
    with tf.Session(config=config(1)) as sess:
        sess.run(full.enqueue(1.0))
        with pytest.raises(KeyboardInterrupt):
            sess.run([waits, fails], {x: np.inf})
        assert not waiting_threads()
        assert not interrupts
        sess.run([full.enqueue(1.0), empty.enqueue(2.0)])
        assert sess.run([waits, fails], {x: 0.0}) == [2.0, 1.0]


def test_which_error_is_that_of_a_run() -> None:
    ended, interrupt = tf.errors.CancelledError(None, None, ""), KeyboardInterrupt()
    first, second = ValueError(), ValueError()
    assert executors._replaces((1, first), (2, second))
    assert executors._replaces((9, interrupt), (2, second))
    for new, known in [
        ((3, first), (2, second)),
        ((1, second), (2, second)),  # the others hear of it
        ((1, ended), (2, second)),
        ((1, first), (9, interrupt)),
    ]:
        assert not executors._replaces(new, known)
