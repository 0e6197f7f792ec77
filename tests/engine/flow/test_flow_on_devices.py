"""Branches and loops of several devices, which run beside each other."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tfteach.engine.execute.block_kernel import parts_of
from tfteach.engine.flow.dataflow import DataflowProgram
from tfteach.engine.flow.device_blocks import CompiledBlock
from tfteach.engine.flow.flow_on_devices import FlowOnDevices
from tfteach.explain import record

pytestmark = pytest.mark.usefixtures("no_cards")
WAIT_S = 20.0  # a test that has to wait so long has failed
SECOND = tf.ConfigProto(
    inter_op_parallelism_threads=3,
    use_per_session_threads=True,
    allow_soft_placement=True,
)
Shuffle = Callable[[int], list[str]]


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The blocks of a step end only if two run at the same time; their names."""
    barrier, met = threading.Barrier(2), list[str]()
    inner = CompiledBlock.__call__

    def call(block: CompiledBlock, *values: Any) -> Any:
        barrier.wait(WAIT_S)
        met.append(block.instructions[-1].node.device.name[-5:])
        return inner(block, *values)

    def run_observed(block: CompiledBlock, *arguments: Any) -> Any:
        barrier.wait(WAIT_S)
        return observed(block, *arguments)

    observed = CompiledBlock.run_observed
    monkeypatch.setattr(CompiledBlock, "__call__", call)
    monkeypatch.setattr(CompiledBlock, "run_observed", run_observed)
    return met


def power(x: Any, steps: int = 3) -> Any:
    """x * 2 ** steps, by a loop."""
    return tf.while_loop(lambda i, _: i < steps, lambda i, y: (i + 1, y * 2.0), [0, x])[
        1
    ]


def towers(made: Callable[[Any], Any]) -> tuple[Any, list[Any]]:
    x = tf.placeholder(tf.float32, [2], name="x")
    found = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower{i}"):
            found.append(made(x + float(i)))
    return x, found


def program_of(sess: Any, fetches: Any, *feeds: Any) -> Any:
    return sess._program(tuple(fetches), feeds)[0]


def test_loops_of_two_devices_run_at_the_same_time(
    meeting: list[str], parallel: None
) -> None:
    tfteach.simulate_gpus(2)
    x, found = towers(power)
    with tf.Session(config=SECOND) as sess:
        for _ in range(3):
            values = sess.run(found, {x: [1.0, 2.0]})
            assert np.stack(values).tolist() == [[8.0, 16.0], [16.0, 24.0]]
    assert sorted(meeting) == ["GPU:0"] * 3 + ["GPU:1"] * 3


def test_branches_of_one_predicate_are_divided(
    meeting: list[str], parallel: None
) -> None:
    """`is_training`, say: each device tests it, and runs what is its own."""
    tfteach.simulate_gpus(2)
    training = tf.placeholder(tf.bool, [], name="training")
    x, found = towers(lambda v: tf.cond(training, lambda: v * 2.0, lambda: v))
    with tf.Session(config=SECOND) as sess:
        for taken, expected in [(True, [2.0, 4.0]), (False, [1.0, 2.0])]:
            values = sess.run(found, {x: [1.0, 1.0], training: taken})
            assert np.stack(values).T.tolist() == [expected, expected]
        program = program_of(sess, found, x, training)
    assert sorted(meeting) == ["GPU:0", "GPU:0", "GPU:1", "GPU:1"]
    blocks = [i for i in program.plan.code if parts_of(i) != (i,)]
    for block in blocks:
        assert {p.node.device.name for p in parts_of(block)} == {block.node.device.name}


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_training_step_of_two_recurrent_towers(
    shuffled: Shuffle, is_forced: bool
) -> None:
    tfteach.simulate_gpus(2)
    tf.set_random_seed(1)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    found, feeds = [], {}
    for i in range(2):
        with tf.device(f"/gpu:{i}"), tf.variable_scope("net", reuse=i > 0):
            x = tf.placeholder(tf.float32, [2, 4, 3])
            cell = tf.nn.rnn_cell.BasicRNNCell(5)
            outputs, _ = tf.nn.dynamic_rnn(cell, x, [4, 2], dtype=tf.float32)
            loss = tf.reduce_sum(outputs**2)
            found.append([g for g, _ in optimizer.compute_gradients(loss)])
            feeds[x] = np.arange(24.0).reshape(2, 4, 3) / (20 + i)
    with tf.device("/cpu:0"):
        variables = tf.trainable_variables()
        means = [(a + b) / 2 for a, b in zip(*found, strict=True)]
        train = optimizer.apply_gradients(zip(means, variables, strict=True))
    start = tf.global_variables_initializer()

    def trained(config: Any) -> list[Any]:
        with tf.Session(config=config) as sess:
            sess.run(start)
            for _ in range(2):
                sess.run(train, feeds)
            wanted = FlowOnDevices if config is SECOND else DataflowProgram
            assert isinstance(program_of(sess, [train], *feeds), wanted)
            return sess.run(variables)  # type: ignore[no-any-return]

    node_by_node = tf.ConfigProto(allow_soft_placement=True)
    node_by_node.graph_options.optimizer_options.opt_level = -1
    expected = trained(node_by_node)
    if is_forced:
        shuffled(0)
    for value, wanted in zip(trained(SECOND), expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-6)


def test_a_loop_of_two_devices_stays_on_one_thread() -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [2], name="x")

    def both(i: Any, y: Any) -> Any:
        with tf.device("/gpu:0"):
            y = y * 2.0
        with tf.device("/gpu:1"):
            return i + 1, y + 1.0

    y = tf.while_loop(lambda i, _: i < 3, both, [0, x])[1]
    with tf.Session(config=SECOND) as sess:
        assert sess.run(y, {x: [0.0, 1.0]}).tolist() == [7.0, 15.0]
        program = program_of(sess, [y], x)
    assert isinstance(program, DataflowProgram)
    assert program.step.one_thread == "the loop while stands on GPU:0 and GPU:1"


def test_an_error_in_a_loop_names_its_op_and_changes_nothing(parallel: None) -> None:
    tfteach.simulate_gpus(2)

    def tower(x: Any) -> Any:
        v = tf.get_variable("v", initializer=tf.zeros([2000]))
        with tf.control_dependencies([v.assign_add(tf.ones([2000]))]):
            return tf.while_loop(
                lambda i, _: i < 3,
                lambda i, y: (i + 1, tf.check_numerics(y / x, "oh", name="fails")),
                [0, tf.identity(x)],
            )[1]

    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        x, found = towers(tower)
    with tf.Session(config=SECOND) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="oh") as caught:
                sess.run(found, {x: [0.0, 1.0]})
            assert caught.value.op.name == "net/tower0/while/fails"
            assert not np.any(sess.run(tf.global_variables()))
        sess.run(found, {x: [1.0, 1.0]})
        [v] = sess.run(tf.global_variables())
        assert v.tolist() == [2.0] * 2000


def endless(x: Any) -> Any:
    return tf.while_loop(lambda y: y < 1.0, lambda y: y * 0.5, [x])


def test_an_error_ends_the_loop_of_another_device(parallel: None) -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/gpu:0"):
        never = endless(x)
    with tf.device("/gpu:1"):
        y = tf.exp(x)
        y = tf.cond(y < 2.0, lambda: y / 0.0, lambda: y)
        fails = tf.check_numerics(y, "oh")
    with tf.Session(config=SECOND) as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="oh"):
                sess.run([never, fails], {x: 0.5})
        assert sess.run(never, {x: 2.0}) == 2.0


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_loops_of_all_devices(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> None:
    """Both compute when it comes; no thread is left to go on."""
    tfteach.simulate_gpus(2)
    barrier = threading.Barrier(2, _thread.interrupt_main)
    inner = CompiledBlock.__call__

    def call(block: CompiledBlock, *values: Any) -> Any:
        barrier.wait(WAIT_S)
        return inner(block, *values)

    x, found = towers(lambda v: endless(v[0]))
    with tf.Session(config=SECOND) as sess:
        with monkeypatch.context() as patch:
            patch.setattr(CompiledBlock, "__call__", call)
            with pytest.raises(KeyboardInterrupt):
                sess.run(found, {x: [-1.0, 0.0]})
        assert sess.run(found, {x: [2.0, 0.0]}) == [2.0, 3.0]


def test_a_time_limit_ends_loops(parallel: None) -> None:
    tfteach.simulate_gpus(2)
    x, found = towers(lambda v: endless(v[0]))
    with tf.Session(config=SECOND) as sess:
        options = tf.RunOptions(timeout_in_ms=50)
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(found, {x: [-1.0, 0.0]}, options=options)
        assert sess.run(found, {x: [2.0, 0.0]}) == [2.0, 3.0]


def rows_of(metadata: Any) -> dict[str, list[str]]:
    return {
        device.device[-5:]: [node.node_name for node in device.node_stats]
        for device in metadata.step_stats.dev_stats
        if "/device:" in device.device
    }


def test_a_trace_shows_each_iteration_on_its_thread(
    meeting: list[str], parallel: None
) -> None:
    tfteach.simulate_gpus(2)
    x, found = towers(power)
    options, metadata = tf.RunOptions(trace_level=3), tf.RunMetadata()
    with tf.Session(config=SECOND) as sess:
        sess.run(found, {x: [1.0, 2.0]}, options=options, run_metadata=metadata)
    rows = rows_of(metadata)
    for i in range(2):
        names = rows[f"GPU:{i}"]
        assert names.count(f"tower{i}/while/mul") == 3
        assert names.count(f"tower{i}/add") == 1
    threads = {
        node.node_name.partition(":")[0]: node.thread_id
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
        if "/host" in device.device
    }
    assert threads["tower0/while/mul"] != threads["tower1/while/mul"]


@pytest.mark.parametrize("taken", [False, True])
def test_a_trace_has_rows_for_what_ran(parallel: None, taken: bool) -> None:
    """The memory of a loop is released as it iterates, also in a traced run."""
    tfteach.simulate_gpus(2, memory="16MiB")
    training = tf.placeholder(tf.bool, [], name="training")
    x = tf.placeholder(tf.float32, [1 << 18], name="x")  # 1 MiB

    def long(y: Any) -> Any:
        for _ in range(8):
            y = tf.sin(y)
        return y

    found = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower{i}"):
            y = tf.cond(training, lambda: long(tf.exp(x)), lambda: long(-x))
            found.append(tf.reduce_sum(power(tf.exp(y * 0.0), 20)))
    options, metadata = tf.RunOptions(trace_level=1), tf.RunMetadata()
    with tf.Session(config=SECOND) as sess:
        feed = {x: np.zeros(1 << 18), training: taken}
        expected = sess.run(found, feed)
        assert sess.run(found, feed, options, metadata) == expected
        peaks = [device.ledger.peak_bytes for device in sess.devices[1:]]
    assert max(peaks) <= 6 << 20
    for i in range(2):
        names = rows_of(metadata)[f"GPU:{i}"]
        assert (f"tower{i}/cond/Exp" in names) == taken
        assert (f"tower{i}/cond/Neg" in names) == (not taken)
        assert f"tower{i}/while/mul" in names


def test_an_observer_of_one_thread_follows_the_step_in_order(parallel: None) -> None:
    tfteach.simulate_gpus(2)
    x, found = towers(power)
    with tf.Session(config=SECOND) as sess:
        run = record(sess, found, {x: [1.0, 2.0]})
        names = [step.op for step in run if step.op.endswith("while/mul")]
    assert names == ["tower0/while/mul"] * 3 + ["tower1/while/mul"] * 3


def test_tensor_arrays_of_a_device_need_no_other_thread(parallel: None) -> None:
    """They are of one run, and of one device: nothing else uses them."""
    tfteach.simulate_gpus(2)
    x, found = towers(lambda v: tf.map_fn(lambda e: e * e, v))
    with tf.Session(config=SECOND) as sess:
        values = sess.run(found, {x: [1.0, 2.0]})
        assert np.stack(values).tolist() == [[1.0, 4.0], [4.0, 9.0]]
        plan = program_of(sess, found, x).plan
    assert not any(plan.on_caller)
    names = {i: plan.code[i].node.name for i in range(len(plan.code))}
    for i, sources in enumerate(plan.sources):
        scopes = {names[j].partition("/")[0] for j in (i, *sources)}
        assert not {"tower0", "tower1"} <= scopes


def test_variables_that_a_branch_writes_are_read_in_order(shuffled: Shuffle) -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/cpu:0"):
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
    found = []
    for i in range(4):
        with tf.device("/cpu:0"), tf.control_dependencies(found[-1:]):

            def write(i: int = i) -> Any:
                with tf.control_dependencies([v.assign_add(x)]):
                    return tf.identity(x)

            wrote = tf.cond(x > 0.0, write, lambda: x)
        with tf.control_dependencies([wrote]), tf.device(f"/gpu:{i % 2}"):
            found.append(tf.exp(v.read_value() * 0.0) * v.read_value())
    with tf.Session(config=SECOND) as sess:
        for seed in range(5):
            shuffled(seed)
            sess.run(v.initializer)
            assert sess.run(found, {x: 2.0}) == [3.0, 5.0, 7.0, 9.0]
            assert sess.run(found, {x: -2.0}) == [9.0] * 4
