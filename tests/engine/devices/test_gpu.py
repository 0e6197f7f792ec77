"""On a real card, through CuPy; and on a stand-in for it, where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_devices import POOL

LOCAL = "/job:localhost/replica:0/task:0/device:"
CPU, GPU = LOCAL + "CPU:0", LOCAL + "GPU:0"


@pytest.fixture(
    autouse=True, params=[pytest.param("card", marks=pytest.mark.gpu), "stand-in"]
)
def card(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "stand-in":
        strict_card.install(monkeypatch)


def placed(sess: tf.Session, name: str) -> str:
    return sess.placements[name].assigned


def test_the_card_is_listed_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
        listed = sess.list_devices()[1]
        sess.run(tf.add([1.0], [2.0], name="sum"))
    assert listed.name == GPU
    assert f"name: {name}, pci bus id: " in listed.physical_device_desc
    assert listed.memory_limit_bytes > 1 << 30
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Device mapping:"
    assert f"{GPU} -> {listed.physical_device_desc}" in lines
    assert any(line.startswith("sum: (Add") and line.endswith(GPU) for line in lines)
    with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as sess:
        assert len(sess.list_devices()) == 1


def test_asking_for_gpus() -> None:
    assert tf.test.is_gpu_available()
    assert tf.test.is_gpu_available(min_cuda_compute_capability=(3, 5))
    assert not tf.test.is_gpu_available(min_cuda_compute_capability=(99, 0))
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    assert tf.test.is_built_with_cuda()


def test_values_live_on_the_card_and_come_back() -> None:
    import cupy

    x = tf.placeholder(tf.float32, [None, 3], name="x")
    v = tf.Variable([[1.0, 2.0, 3.0]], name="v")
    y = tf.add(tf.multiply(x, v), 1.0, name="y")
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(15):
            mine = np.ones((2, 3), np.float32)
            got = sess.run([y, v], {x: mine})
            assert isinstance(got[0], np.ndarray)
            assert got[0].tolist() == [[2.0, 3.0, 4.0]] * 2
            got[1][:] = 9.0
        assert sess.run(v).tolist() == [[1.0, 2.0, 3.0]]
        assert placed(sess, "y") == GPU
        buffers = [c.value for _, c in sess.resources.items() if hasattr(c, "value")]
        assert [type(b) for b in buffers] == [cupy.ndarray]
        assert sess.transfers[CPU, GPU].size_bytes == 15 * 24


def test_strings_and_int32_stay_on_the_host() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    rows = tf.shape(x)[0]
    wide = tf.reshape(x, tf.stack([1, rows * 2]), name="wide")
    text = tf.string_join([tf.constant(["a"]), "b"], name="text")
    with tf.Session() as sess:
        got = sess.run([wide, rows, text], {x: np.ones((3, 2))})
        assert got[0].shape == (1, 6)
        assert got[1] == 3
        assert got[2].tolist() == [b"ab"]
        assert placed(sess, "text") == CPU
        assert sess.transfers[CPU, GPU].count == 1


def test_bfloat16_is_computed_on_the_host() -> None:
    """TensorFlow 1.15's kernels for GPUs only move it, CuPy's functions have none."""
    x = tf.placeholder(tf.float32, [3])
    with tf.device("/gpu:0"):
        short = tf.cast(x, tf.bfloat16, name="short")
        y = tf.cast(short * short, tf.float32)
    soft = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(config=soft) as sess:
        assert sess.run(y, {x: [1.0, 2.0, 1.0 / 3.0]}).tolist() == [
            1.0,
            4.0,
            0.111328125,
        ]
        assert placed(sess, "short") == CPU
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="no GPU kernel for bfloat"),
    ):
        sess.run(y, {x: [1.0, 2.0, 3.0]})


def test_halves_are_computed_on_the_card() -> None:
    x = tf.placeholder(tf.float16, [2, 6, 6, 3])
    maps = tf.nn.conv2d(
        x, tf.fill([3, 3, 3, 4], tf.constant(0.1, tf.float16)), 1, "SAME"
    )
    pooled = tf.nn.avg_pool(tf.nn.relu(maps), 2, 2, "VALID")
    loss = tf.reduce_mean(tf.square(pooled))
    fetches = [pooled, loss, *tf.gradients(loss, x)]
    feeds = {x: np.random.default_rng(0).random((2, 6, 6, 3))}
    found = []
    for config in ({"device_count": {"GPU": 0}}, {}):
        with tf.Session(config=tf.ConfigProto(**config)) as sess:
            found.append(sess.run(fetches, feeds))
    for right, got in zip(*found, strict=True):
        assert got.dtype == right.dtype == np.float16
        np.testing.assert_allclose(got, right, rtol=4e-3, atol=1e-4)
    assert placed(sess, "Conv2D") == GPU


def test_training_gives_what_the_cpu_gives() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(64, 8)).astype(np.float32)
    labels = rng.integers(0, 3, 64)

    def train(**config: Any) -> list[Any]:
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 8])
            y = tf.placeholder(tf.int64, [None])
            w1 = tf.Variable(0.1 * rng_weights[0])
            b1 = tf.Variable(tf.zeros([16]))
            w2 = tf.Variable(0.1 * rng_weights[1])
            hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=y, logits=tf.matmul(hidden, w2)
                )
            )
            variables = [w1, b1, w2]
            grads = tf.gradients(loss, variables)
            pairs = zip(variables, grads, strict=True)
            step = tf.group(*[v.assign_sub(0.5 * g) for v, g in pairs])
            with tf.Session(config=tf.ConfigProto(**config)) as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(50):
                    sess.run(step, {x: inputs, y: labels})
                assert placed(sess, "MatMul").endswith("CPU:0" if config else "GPU:0")
                return sess.run([loss, *variables], {x: inputs, y: labels})

    rng_weights = [rng.normal(size=s).astype(np.float32) for s in ((8, 16), (16, 3))]
    expected = train(device_count={"GPU": 0})
    for got, right in zip(train(), expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-3, atol=1e-4)
    assert expected[0] < 1.0


def test_loops_run_on_the_card() -> None:
    x = tf.placeholder(tf.float32, [3])
    _, total = tf.while_loop(
        lambda i, _: i < 10, lambda i, t: (i + 1, t * 2.0), [tf.constant(0), x]
    )
    with tf.Session() as sess:
        assert sess.run(total, {x: [1.0, 2.0, 3.0]}).tolist() == [
            1024.0,
            2048.0,
            3072.0,
        ]


def convolutional(x: Any) -> Any:
    images = tf.reshape(x, [-1, 4, 4, 1])
    maps = tf.layers.conv2d(images, 3, 3, padding="same", activation=tf.nn.relu)
    return tf.layers.flatten(tf.layers.max_pooling2d(maps, 2, 2))


def recurrent(x: Any) -> Any:
    steps = tf.reshape(x, [-1, 4, 4])
    cell = tf.nn.rnn_cell.GRUCell(5)
    return tf.nn.dynamic_rnn(cell, steps, dtype=tf.float32)[1]


def embedding(x: Any) -> Any:
    ids = tf.cast(tf.abs(x) * 3, tf.int32) % 7
    table = tf.get_variable("table", [7, 2])
    return tf.layers.flatten(tf.nn.embedding_lookup(table, ids))


@pytest.mark.parametrize("model", [convolutional, recurrent, embedding])
def test_models_learn_the_same_on_the_card(
    model: Any, request: pytest.FixtureRequest
) -> None:
    """The host waits once for all fetches, and once for the end of the step."""
    features = np.random.default_rng(1).normal(size=(6, 16)).astype(np.float32)

    def losses(**config: Any) -> list[float]:
        with tf.Graph().as_default():
            tf.set_random_seed(4)
            x = tf.placeholder(tf.float32, [None, 16])
            loss = tf.reduce_mean(tf.square(tf.layers.dense(model(x), 1) - 1.0))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            with tf.Session(config=tf.ConfigProto(**config)) as sess:
                sess.run(tf.global_variables_initializer())
                found = [sess.run([loss, train], {x: features})[0] for _ in range(12)]
                counts.append((POOL.waits, POOL.ends))
                found.append(sess.run([loss, train], {x: features})[0])
                counts.append((POOL.waits, POOL.ends))
        return found

    counts: list[tuple[int, int]] = []
    expected = losses(device_count={"GPU": 0})
    np.testing.assert_allclose(losses(), expected, rtol=1e-3)
    assert expected[-1] < expected[0]
    if "stand-in" in request.node.name:
        waits, ends = np.subtract(counts[3], counts[2])
        # Int32 arithmetic, as of the ids, has kernels for the host only.
        assert waits == (1 if model is embedding else 0)
        assert ends == 2


def test_a_run_ends_when_the_card_has_computed_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    strict_card.install(monkeypatch)  # it counts how often the host waits
    step = tf.add(tf.Variable([1.0]), 1.0).op
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        ends = POOL.ends
        sess.run(step)
        sess.make_callable(step)()
        assert POOL.ends == ends + 2


def test_a_full_card_is_an_oom_error_and_the_session_works_on() -> None:
    import cupy

    pool = cupy.get_default_memory_pool()
    old = pool.get_limit()
    x = tf.placeholder(tf.float32, [None])
    y = tf.add(tf.multiply(x, 2.0), 1.0)
    options = tf.GPUOptions(per_process_gpu_memory_fraction=0.001)
    try:
        with tf.Session(config=tf.ConfigProto(gpu_options=options)) as sess:
            limit = sess.list_devices()[1].memory_limit_bytes
            assert pool.get_limit() == limit
            with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when"):
                sess.run(y, {x: np.zeros(limit // 4, np.float32)})
            assert sess.run(y, {x: [1.0]}).tolist() == [3.0]
    finally:
        pool.set_limit(size=old)


def test_a_second_card() -> None:
    import cupy

    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one card only")
    with tf.device("/gpu:1"):
        v = tf.Variable([1.0, 2.0])
        y = tf.multiply(v, 2.0)
    with tf.device("/gpu:0"):
        z = tf.add(y, 1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(z).tolist() == [3.0, 5.0]
        assert sess.transfers[LOCAL + "GPU:1", GPU].count == 1
