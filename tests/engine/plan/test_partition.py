"""Copies between devices, and the memory that simulated GPUs count."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tfteach.engine.devices.memory_ledger import GRANULE_BYTES, MemoryLedger

LOCAL = "/job:localhost/replica:0/task:0/device:"
CPU, GPU, GPU1 = (LOCAL + n for n in ("CPU:0", "GPU:0", "GPU:1"))
pytestmark = pytest.mark.usefixtures("no_cards")


def copies(sess: tf.Session) -> dict[tuple[str, str], tuple[int, int]]:
    return {
        (k[0].removeprefix(LOCAL), k[1].removeprefix(LOCAL)): (t.count, t.size_bytes)
        for k, t in sess.transfers.items()
    }


def test_one_copy_per_tensor_and_destination() -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [4], name="x")
    with tf.device("/gpu:0"):
        a, b = tf.add(x, 1.0), tf.multiply(x, 2.0)
    with tf.device("/gpu:1"):
        c = tf.add(a, b)
        d = tf.add(a, c)
    with tf.Session() as sess:
        for _ in range(15):
            got = sess.run([d, a], {x: [0.0, 1.0, 2.0, 3.0]})
            assert got[0].tolist() == [2.0, 6.0, 10.0, 14.0]
        assert copies(sess) == {
            ("CPU:0", "GPU:0"): (15, 15 * 16),  # x, which two ops take
            ("GPU:0", "GPU:1"): (30, 30 * 16),  # a (once for both) and b
            ("GPU:1", "CPU:0"): (15, 15 * 16),  # d
            ("GPU:0", "CPU:0"): (15, 15 * 16),  # a
        }
        assert sess.transfers.count == 75
        assert sess.transfers.size_bytes == 75 * 16


def test_pairs_stand_in_the_step_and_in_the_trace() -> None:
    tfteach.simulate_gpus(1)
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, x, name="y")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        step = sess.planner.plan([y], (x,))
        assert [(n.op.type, n.device.name) for n in step.nodes] == [
            ("_Send", CPU),
            ("_Recv", GPU),
            (y.op.type, GPU),
            ("_Send", GPU),
            ("_Recv", CPU),
        ]
        sess.run(
            y, {x: [1.0, 2.0]}, options=tf.RunOptions(trace_level=3),
            run_metadata=metadata,
        )  # fmt: skip
    stats = {d.device: [n.timeline_label for n in d.node_stats] for d in
             metadata.step_stats.dev_stats}  # fmt: skip
    assert set(stats) == {"/host:CPU", CPU, GPU}
    copies = {
        n.node_name: n.timeline_label.split(",")[1]
        for d in metadata.step_stats.dev_stats
        if d.device == "/host:CPU"
        for n in d.node_stats
        if "/_" in n.node_name
    }
    assert copies == {
        "_arg_x_0_0/_0:_Send": f"device={CPU}",
        "_arg_x_0_0/_1:_Recv": f"device={GPU}",
        "y/_2:_Send": f"device={GPU}",
        "y/_3:_Recv": f"device={CPU}",
    }
    assert stats[GPU] == ["_SOURCE = NoOp()", "y = Add(_arg_x_0_0/_1, _arg_x_0_0/_1)"]


def test_one_device_pays_nothing() -> None:
    y = tf.add(tf.placeholder(tf.float32, [2], name="x"), 1.0)
    with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as sess:
        step = sess.planner.plan([y], (y.op.inputs[0],))
        assert {n.op.type for n in step.nodes} == {y.op.type, "Const"}
        assert not sess.transfers


def test_two_cpus_count_copies() -> None:
    with tf.device("/cpu:1"):
        a = tf.add(tf.placeholder(tf.float32, [3], name="x"), 1.0)
    with tf.device("/cpu:0"):
        b = tf.multiply(a, 2.0)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        mine = np.zeros(3, np.float32)
        got = sess.run([b, a], {"x:0": mine})
        assert got[0].tolist() == [2.0] * 3
        assert copies(sess) == {
            ("CPU:0", "CPU:1"): (1, 12),
            ("CPU:1", "CPU:0"): (1, 12),
        }


def test_fetches_across_devices_are_the_callers_own() -> None:
    for config in (tf.ConfigProto(device_count={"CPU": 2}), None):
        tfteach.simulate_gpus(0 if config else 1)
        with tf.Graph().as_default(), tf.Session(config=config) as sess:
            with tf.device("/cpu:1" if config else "/gpu:0"):
                v = tf.Variable([1.0, 2.0])
                c = tf.constant([1.0, 2.0])
                x = tf.placeholder(tf.float32, [2])
                i = tf.identity(x)
            sess.run(v.initializer)
            mine = np.float32([1.0, 2.0])
            for _ in range(14):
                for array in sess.run([v, v.read_value(), c, i], {x: mine}):
                    assert array.tolist() == [1.0, 2.0]
                    array += 5.0
            assert mine.tolist() == [1.0, 2.0]


def test_variables_are_read_anew_by_each_reader() -> None:
    tfteach.simulate_gpus(1)
    with tf.device("/gpu:0"):
        v = tf.Variable(np.zeros(2, np.float32), name="v")
    with tf.device("/cpu:0"):
        before = tf.multiply(v._ref() if hasattr(v, "_ref") else v, 1.0)
    with tf.control_dependencies([before]):
        bump = v.assign_add([1.0, 1.0])
    with tf.control_dependencies([bump]), tf.device("/cpu:0"):
        after = tf.multiply(v.read_value(), 1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for i in range(14):
            got = sess.run([before, after])
            assert got[0].tolist() == [i, i]
            assert got[1].tolist() == [i + 1, i + 1]


@pytest.mark.parametrize("is_traced", [False, True])
def test_a_variable_is_sent_after_what_its_reader_waits_for(is_traced: bool) -> None:
    """Also where nodes run as soon as they can, as beside queues; see `Node.control`.

    TensorFlow sends it as soon as it can: the value before, or the one after.
    """
    tfteach.simulate_gpus(1)
    queue = tf.FIFOQueue(2, tf.float32, [[]])
    taken = queue.dequeue()
    with tf.device("/gpu:0"):
        v = tf.Variable(1.0, name="v")
        bump = v.assign_add(taken)
    with tf.control_dependencies([bump]), tf.device("/cpu:0"):
        after = v.read_value() * 1.0
    fetches = [after, queue.enqueue(2.0)]
    more: dict[str, Any] = {}
    if is_traced:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        more = {"options": options, "run_metadata": tf.RunMetadata()}
    with tf.Session() as sess:
        sess.run(v.initializer)
        for i in range(3):
            assert sess.run(fetches, **more) == [2.0 * i + 3.0, None]


def test_strings_and_shapes_cross() -> None:
    tfteach.simulate_gpus(1)
    with tf.device("/cpu:0"):
        texts = tf.constant(["ab", "c"])
    x = tf.placeholder(tf.float32, [None, 2])
    wide = tf.reshape(x, tf.stack([2, tf.size(x) // 2]))
    with tf.Session() as sess:
        got = sess.run([texts, wide], {x: np.arange(8.0).reshape(4, 2)})
        assert got[0].tolist() == [b"ab", b"c"]
        assert got[1].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_loops_and_branches_cross_devices() -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [])

    def body(i: Any, total: Any) -> Any:
        with tf.device("/gpu:1"):
            more = total * 2.0
        with tf.device("/gpu:0"):
            return i + 1, more + x

    _, total = tf.while_loop(lambda i, _: i < 5, body, [tf.constant(0), x])
    chosen = tf.cond(x > 1.0, lambda: total + 100.0, lambda: total)
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run([total, chosen], {x: 1.0}) == [63.0, 63.0]
            assert sess.run(chosen, {x: 2.0}) == 226.0
        assert sess.transfers[GPU, GPU1].count >= 5


def test_training_on_simulated_gpus_gives_what_a_cpu_gives() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(32, 5)).astype(np.float32)
    labels = (inputs @ rng.normal(size=(5, 1)) + 0.5).astype(np.float32)

    def train() -> list[np.ndarray[Any, Any]]:
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 5])
            y = tf.placeholder(tf.float32, [None, 1])
            w = tf.Variable(tf.zeros([5, 1]))
            b = tf.Variable(tf.zeros([1]))
            error = tf.matmul(x, w) + b - y
            loss = tf.reduce_mean(tf.square(error))
            grads = tf.gradients(loss, [w, b])
            updates = [
                v.assign_sub(0.1 * g) for v, g in zip([w, b], grads, strict=True)
            ]
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(20):
                    sess.run(updates, {x: inputs, y: labels})
                return sess.run([w, b, loss], {x: inputs, y: labels})

    expected = train()
    tfteach.simulate_gpus(1)
    for got, right in zip(train(), expected, strict=True):
        np.testing.assert_array_equal(got, right)
    assert expected[2] < 0.1


# ---- memory


def session(memory: str, **options: Any) -> tf.Session:
    tfteach.simulate_gpus(1, memory=memory)
    return tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(**options)))


def big(mib: float) -> np.ndarray[Any, Any]:
    return np.zeros(int(mib * (1 << 18)), np.float32)


def test_a_full_gpu_is_tfs_error_and_the_session_works_on() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.add(tf.multiply(x, 2.0, name="twice"), x, name="y")
    with session("8MiB") as sess:
        ledger = sess.devices[1].ledger
        for _ in range(15):
            with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
                sess.run(y, {x: big(3)})  # x, twice and y are 9 MiB
            assert str(caught.value).startswith(
                "OOM when allocating tensor with shape[786432] and type float on "
                "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
            )
            assert caught.value.op is y.op
            assert "simulated GPU" in str(caught.value)
            assert ledger.current_bytes == 0  # although the error is still there
            assert sess.run(y, {x: big(2)}).shape == (1 << 19,)
        assert ledger.current_bytes == 0
        assert ledger.peak_bytes == 6 << 20


def test_variables_hold_memory_until_the_session_closes() -> None:
    v = tf.Variable(big(1), name="v")
    bump = v.assign_add(big(1))
    sess = session("16MiB")
    ledger = sess.devices[1].ledger
    sess.run(v.initializer)
    held = ledger.current_bytes  # the variable and the constant it was set to
    assert held in (1 << 20, 2 << 20)
    for _ in range(20):
        sess.run(bump)
    gc.collect()
    steady = ledger.current_bytes
    assert steady <= 4 << 20
    for _ in range(20):
        sess.run(bump)
    assert ledger.current_bytes == steady
    assert sess.run(v).sum() == 0.0
    sess.close()
    gc.collect()
    assert ledger.current_bytes == 0


def test_what_is_handed_on_counts_once() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.add(tf.reshape(tf.identity(x), [-1, 1]), 1.0)
    with session("64MiB") as sess:
        sess.run(y, {x: big(1)})
        assert sess.devices[1].ledger.peak_bytes == 2 << 20


def test_a_long_chain_needs_two_buffers() -> None:
    x = y = tf.placeholder(tf.float32, [None])
    for _ in range(20):
        y = tf.add(y, 1.0)
    with session("64MiB") as sess:
        for _ in range(14):
            value = sess.run(y, {x: big(1)})
        assert (value == 20.0).all()
        assert sess.devices[1].ledger.peak_bytes == 2 << 20


def test_fetched_values_are_not_the_gpus() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.add(x, 1.0)
    with session("64MiB") as sess:
        kept = [sess.run(y, {x: big(1)}) for _ in range(14)]
        gc.collect()
        assert len(kept) == 14
        assert sess.devices[1].ledger.current_bytes == 0


def test_growth_is_visible() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.add(x, 1.0)
    with session("64MiB") as sess:
        assert sess.devices[1].ledger.reserved_bytes == 64 << 20
    with session("64MiB", per_process_gpu_memory_fraction=0.25) as sess:
        assert sess.devices[1].ledger.reserved_bytes == 16 << 20
    with session("64MiB", allow_growth=True) as sess:
        ledger = sess.devices[1].ledger
        assert ledger.reserved_bytes == 0
        seen = []
        for mib in (0.1, 1, 4, 1):
            sess.run(y, {x: big(mib)})
            seen.append(ledger.reserved_bytes)
            assert ledger.peak_bytes <= seen[-1] <= ledger.limit_bytes
        assert seen == sorted(seen)  # what is reserved is never given back
        assert seen[0] == 1 << 20
        assert seen[2] >= 8 << 20


def test_the_ledger_alone() -> None:
    ledger = MemoryLedger(GPU, 1024, allow_growth=True)
    small = np.zeros(1, np.float32)
    ledger.track(small)
    ledger.track(small[:1])  # a view of what counts already
    ledger.track(np.float32(3.0))
    ledger.track(None)
    assert (ledger.current_bytes, ledger.allocations) == (GRANULE_BYTES, 1)
    assert ledger.reserved_bytes == 1024  # a region, but no more than there is
    with pytest.raises(tf.errors.ResourceExhaustedError, match="type double on"):
        ledger.track(np.zeros(1000))
    assert (ledger.current_bytes, ledger.peak_bytes) == (256, 256)
    del small
    assert (ledger.current_bytes, ledger.peak_bytes) == (0, 256)
    assert "peak 256 B" in repr(ledger)


def test_partial_runs_and_callables_cross_devices() -> None:
    tfteach.simulate_gpus(1)
    a, b = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    v = tf.Variable([1.0, 1.0])
    one = tf.add(a, v)
    two = tf.multiply(one, b)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(3):
            handle = sess.partial_run_setup([one, two], [a, b])
            assert sess.partial_run(handle, one, {a: [1.0, 2.0]}).tolist() == [2, 3]
            assert sess.partial_run(handle, two, {b: [2.0, 2.0]}).tolist() == [4, 6]
        call = sess.make_callable(two, [a, b])
        assert call([1.0, 2.0], [1.0, 1.0]).tolist() == [2.0, 3.0]
