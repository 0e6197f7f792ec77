"""Executors beside each other: values, state, errors, interrupts, user code."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tfteach.engine.execute.executors import Executors
from tfteach.engine.execute.parallel_program import ParallelProgram

pytestmark = pytest.mark.usefixtures("no_cards")
WAIT_S = 60.0  # a test that has to wait so long has failed
SECOND = tf.ConfigProto(inter_op_parallelism_threads=3, use_per_session_threads=True)
Shuffle = Callable[[int], list[str]]


class Meeting:
    """Kernels that end only if they run at the same time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
        self.barrier = threading.Barrier(count)
        self.threads: dict[str, int] = {}
        inner = Executors._compute

        def compute(run: Executors, number: int, instruction: Any) -> None:
            name = instruction.node.name
            if name.startswith("meet") and "/" not in name:
                self.threads[name] = threading.get_ident()
                self.barrier.wait(WAIT_S)
            inner(run, number, instruction)

        monkeypatch.setattr(Executors, "_compute", compute)


def test_devices_compute_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    tfteach.simulate_gpus(2)
    meeting = Meeting(monkeypatch, 3)
    x = tf.placeholder(tf.float32, [2], name="x")
    found = []
    for device in ("/cpu:0", "/gpu:0", "/gpu:1"):
        with tf.device(device):
            found.append(tf.exp(x, name=f"meet{device[1:4]}{device[-1]}"))
    with tf.device("/cpu:0"):
        total = tf.add_n(found)
    with tf.Session(config=SECOND) as sess:
        for _ in range(3):
            assert sess.run(total, {x: [0.0, 1.0]}).tolist() == [
                3.0,
                np.float32(3 * np.exp(np.float32(1.0))),
            ]
    assert len(set(meeting.threads.values())) == 3


def test_as_many_threads_as_asked_for(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    tfteach.simulate_gpus(3)
    used: set[int] = set()
    inner = Executors._compute

    def compute(run: Executors, number: int, instruction: Any) -> None:
        used.add(threading.get_ident())
        inner(run, number, instruction)

    monkeypatch.setattr(Executors, "_compute", compute)
    x = tf.placeholder(tf.float32, [2], name="x")
    found = []
    for i in range(3):
        with tf.device(f"/gpu:{i}"):
            found.append(tf.exp(x) * 2.0)
    config = tf.ConfigProto(
        inter_op_parallelism_threads=2, use_per_session_threads=True
    )
    with tf.Session(config=config) as sess:
        for _ in range(20):
            sess.run(found, {x: [0.0, 1.0]})
    assert 1 <= len(used) <= 2


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("size", [2, 5000])
def test_state_is_read_and_written_in_the_order_of_the_step(
    shuffled: Shuffle, use_resource: bool, size: int
) -> None:
    tfteach.simulate_gpus(2)
    with tf.device("/cpu:0"):
        v = tf.get_variable(
            "v", initializer=tf.zeros([size]), use_resource=use_resource
        )
    reads = []
    for i in range(6):
        with tf.device(f"/gpu:{i % 2}"):
            before = tf.reduce_sum(tf.exp(v.read_value() if use_resource else v * 1.0))
        reads.append(before)
        with tf.device("/cpu:0"), tf.control_dependencies([before]):
            write = v.assign_add(tf.ones([size]))
        with tf.control_dependencies([write]), tf.device(f"/gpu:{1 - i % 2}"):
            reads.append(tf.reduce_sum(tf.identity(v.read_value())))

    def values(threads: int) -> list[Any]:
        config = tf.ConfigProto(
            inter_op_parallelism_threads=threads, use_per_session_threads=True
        )
        with tf.Session(config=config) as sess:
            sess.run(v.initializer)
            return [sess.run(reads), sess.run(reads), sess.run(v).tolist()]

    in_order = values(1)
    for seed in range(8):
        shuffled(seed)
        assert values(2) == in_order


def test_a_read_that_waits_for_another_device_comes_before_a_later_write(
    shuffled: Shuffle,
) -> None:
    """No edge orders the two: TensorFlow may run either first, one thread this one."""
    tfteach.simulate_gpus(1)
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/cpu:0"):
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.device("/gpu:0"):
        late = tf.exp(tf.exp(x))
    with tf.device("/cpu:0"):
        with tf.control_dependencies([tf.check_numerics(late, "late")]):
            read = v.read_value() * 1.0
        write = v.assign(5.0, read_value=False)
    with tf.Session(config=SECOND) as sess:
        for seed in range(8):
            ran = shuffled(seed)
            sess.run(v.initializer)
            assert sess.run([read, write], {x: 0.0}) == [1.0, None]
            assert sess.run(v) == 5.0
            assert ran


def test_writes_of_all_threads_are_undone(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    tfteach.simulate_gpus(2)
    meeting = Meeting(monkeypatch, 2)
    x = tf.placeholder(tf.float32, [], name="x")
    variables, writes = [], []
    for i in range(2):
        with tf.device(f"/gpu:{i}"):
            v = tf.get_variable(f"v{i}", initializer=tf.zeros([2000]))
            variables.append(v)
            writes.append(tf.assign_add(v, tf.ones([2000]), name=f"meet{i}"))
    with tf.device("/cpu:0"), tf.control_dependencies(writes):
        checked = tf.check_numerics(x, "oh")
    with tf.Session(config=SECOND) as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="oh"):
            sess.run(checked, {x: np.inf})
        assert not np.any(sess.run(variables))
        sess.run(checked, {x: 1.0})
        assert np.all(np.equal(sess.run(variables), 1.0))
    assert len(set(meeting.threads.values())) == 2


def test_a_training_step_of_two_towers(shuffled: Shuffle) -> None:
    """Its updates are deferred to the end of the run, and made there."""
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [2, 40], name="x")
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", initializer=tf.ones([40, 40]))
    towers = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"):
            loss = tf.reduce_sum(tf.matmul(x[i : i + 1], w) ** 2)
            towers.append(optimizer.compute_gradients(loss, [w])[0][0])
    with tf.device("/cpu:0"):
        train = optimizer.apply_gradients([(tf.add_n(towers) / 2, w)])

    def trained(threads: int) -> Any:
        config = tf.ConfigProto(
            inter_op_parallelism_threads=threads, use_per_session_threads=True
        )
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train, {x: np.arange(80.0).reshape(2, 40) / 1000})
            return sess.run(w)

    expected = trained(1)
    assert not np.array_equal(expected, np.ones([40, 40]))
    for seed in range(3):
        shuffled(seed)
        np.testing.assert_array_equal(trained(2), expected)


def test_control_edges_between_devices_are_kept(shuffled: Shuffle) -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/gpu:0"):
        first = tf.exp(tf.exp(x, name="a"), name="b")
    with tf.device("/gpu:1"), tf.control_dependencies([tf.group(first)]):
        last = tf.exp(x, name="last")
    with tf.Session(config=SECOND) as sess:
        for seed in range(5):
            ran = shuffled(seed)
            sess.run([first, last], {x: 0.0})
            assert ran.index("b") < ran.index("last")


def test_an_error_ends_the_others_and_the_session_works_on(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.int32, [], name="x")
    with tf.device("/cpu:0"):
        v = tf.Variable(0, name="v")
        queue = tf.FIFOQueue(1, tf.int32)
        waits = queue.dequeue(name="waits")
        write = v.assign_add(1)
    with tf.device("/gpu:0"), tf.control_dependencies([write]):
        fails = tf.check_numerics(1.0 / tf.cast(x, tf.float32), "oh", name="fails")
    with tf.Session(config=SECOND) as sess:
        sess.run(v.initializer)
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="oh") as caught:
                sess.run([waits, fails], {x: 0})
            assert caught.value.op.name == "fails"
            assert sess.run(v) == 0  # the write was undone
        sess.run(queue.enqueue(7))
        assert sess.run([waits, fails], {x: 1}) == [7, 1.0]
        assert sess.run(v) == 1


def test_the_error_of_the_first_op_is_reported(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    """Both fail at the same time: as in order, the first op's error counts."""
    tfteach.simulate_gpus(2)
    Meeting(monkeypatch, 2)
    x = tf.placeholder(tf.float32, [1], name="x")
    found = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"):
            found.append(tf.check_numerics(x, f"number {i}", name=f"meet{i}"))
    with tf.Session(config=SECOND) as sess:
        for _ in range(5):
            with pytest.raises(tf.errors.InvalidArgumentError, match="number 0"):
                sess.run(found[::-1], {x: [np.inf]})


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_all_executors(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    """Ctrl-C while another thread computes: it is raised when that kernel has ended."""
    tfteach.simulate_gpus(2)
    interrupts = True
    ran: list[str] = []
    inner = Executors._compute

    def compute(run: Executors, number: int, instruction: Any) -> None:
        inner(run, number, instruction)
        ran.append(instruction.node.name)
        if instruction.node.name == "interrupts" and interrupts:
            _thread.interrupt_main()

    monkeypatch.setattr(Executors, "_compute", compute)
    with tf.device("/cpu:0"):
        v = tf.Variable(tf.zeros([3000]), name="v")
        write = v.assign_add(tf.ones([3000]))
        queue = tf.FIFOQueue(1, tf.int32)
        waits = queue.dequeue()
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/gpu:0"), tf.control_dependencies([write]):
        y = tf.exp(x, name="interrupts")
    with tf.device("/gpu:1"), tf.control_dependencies([waits]):
        z = tf.add(x, y, name="after")
    with tf.Session(config=SECOND) as sess:
        sess.run(v.initializer)
        with pytest.raises(KeyboardInterrupt):
            sess.run([z, waits], {x: 0.0})
        assert "after" not in ran
        assert not sess.run(v).any()
        interrupts = False
        sess.run(queue.enqueue(3))
        assert sess.run([z, waits], {x: 0.0}) == [1.0, 3]


def test_python_runs_on_the_thread_of_the_caller(parallel: None) -> None:
    tfteach.simulate_gpus(2)
    threads = []
    x = tf.placeholder(tf.float32, [], name="x")

    def where(value: Any) -> Any:
        threads.append(threading.get_ident())
        return value

    value = x
    for i in range(2):
        with tf.device(f"/gpu:{i}"):
            before = tf.exp(value)
        with tf.device("/cpu:0"):
            value = tf.py_func(where, [before], tf.float32)
    with tf.Session(config=SECOND) as sess:
        for _ in range(5):
            sess.run(value, {x: 0.0})
        [(program, _)] = sess._programs.values()
    assert set(threads) == {threading.get_ident()}
    # By chance the caller may have been the first to look; another thread finds none.
    run = Executors(program.plan, program.compiled.registers.copy())
    number = program.plan.on_caller.index(True)
    run._make_ready(number)
    assert run._startable(program.plan.executor_of[number], False) is None
    assert run._startable(0, True) == len(program.plan.devices)


def test_the_caller_hears_of_what_only_it_can_run(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    """Another thread runs all else, while the caller, no main thread, sleeps."""
    tfteach.simulate_gpus(1)
    inner = Executors._startable

    def startable(run: Executors, preferred: int, is_caller: bool) -> int | None:
        if is_caller:
            last = len(run._ready) - 1
            return last if run._ready[last] and not run._is_busy[last] else None
        return inner(run, preferred, is_caller)

    compute = Executors._compute

    def pausing(run: Executors, number: int, instruction: Any) -> None:
        while instruction.node.name == "pauses" and not run._changed._waiters:
            time.sleep(0.001)
        compute(run, number, instruction)

    monkeypatch.setattr(Executors, "_startable", startable)
    monkeypatch.setattr(Executors, "_compute", pausing)
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/gpu:0"):
        y = tf.exp(x)
    with tf.device("/cpu:0"):
        y = tf.sqrt(y, name="pauses")
        z = tf.py_func(lambda v: v + np.float32(1.0), [y], tf.float32)
    found: list[Any] = []
    with tf.Session(config=SECOND) as sess:
        calling = threading.Thread(
            target=lambda: found.append(sess.run(z, {x: 0.0})), daemon=True
        )
        calling.start()
        calling.join(WAIT_S)
        assert found == [2.0]


def test_a_dataset_runs_on_the_thread_of_the_caller(parallel: None) -> None:
    tfteach.simulate_gpus(2)
    threads = []

    def elements() -> Any:
        while True:
            threads.append(threading.get_ident())
            yield 1.0

    with tf.device("/cpu:0"):
        dataset = tf.data.Dataset.from_generator(elements, tf.float32, [])
        element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"):
            found.append(tf.exp(element * 0.0))
    with tf.Session(config=SECOND) as sess:
        for _ in range(5):
            assert sess.run(found) == [1.0, 1.0]
        program = sess._program(tuple(found), ())[0]
        assert isinstance(program, ParallelProgram)
        on_caller = zip(program.plan.code, program.plan.on_caller, strict=True)
        assert {i.node.name for i, is_there in on_caller if is_there} == {
            element.op.name
        }
    assert set(threads) == {threading.get_ident()}


def test_random_numbers_are_those_of_a_run_in_order(shuffled: Shuffle) -> None:
    tfteach.simulate_gpus(2)
    tf.set_random_seed(3)
    found = []
    for i in range(4):
        with tf.device(f"/gpu:{i % 2}"):
            found.append(tf.random_uniform([3]) + tf.random_normal([3]))

    def values(threads: int) -> list[Any]:
        config = tf.ConfigProto(
            inter_op_parallelism_threads=threads, use_per_session_threads=True
        )
        with tf.Session(config=config) as sess:
            return [np.stack(sess.run(found)).tolist() for _ in range(2)]

    in_order = values(1)
    for seed in range(4):
        shuffled(seed)
        assert values(2) == in_order


def test_memory_is_released_at_the_last_use(shuffled: Shuffle) -> None:
    tfteach.simulate_gpus(2, memory="64MiB")
    x = tf.placeholder(tf.float32, [1 << 18], name="x")  # 1 MiB
    found = []
    for i in range(2):
        value = x
        with tf.device(f"/gpu:{i}"):
            for _ in range(20):
                value = tf.exp(value * 0.0)
            found.append(tf.reduce_sum(value))
    with tf.Session(config=SECOND) as sess:
        for seed in range(3):
            shuffled(seed)
            sess.run(found, {x: np.ones(1 << 18)})
        peaks = [device.ledger.peak_bytes for device in sess.devices[1:]]
        assert max(peaks) <= 4 << 20
        assert isinstance(sess._program(tuple(found), (x,))[0], ParallelProgram)


def test_a_run_inside_of_a_run(parallel: None) -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/gpu:0"):
        a = tf.exp(x)
    with tf.device("/gpu:1"):
        b = tf.exp(a)
    sess = tf.Session(config=SECOND)
    with tf.device("/cpu:0"):
        again = tf.py_func(lambda v: sess.run(b, {x: v}), [b], tf.float32)
    with sess:  # b is 1 at first
        got = sess.run(again, {x: -np.inf})
    assert got == pytest.approx(np.exp(np.e), rel=1e-6)
