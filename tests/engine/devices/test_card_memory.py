"""The memory of a card, and what happens when it is full, on the stand-in for CuPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_devices import POOL
from tfteach.engine.devices.card_memory import CardLedger
from tfteach.explain import MemoryWatch

GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
MIB = 1 << 20
LIMIT_BYTES = int((8 << 30) * 0.001)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.Session]:
    strict_card.install(monkeypatch)
    options = tf.GPUOptions(per_process_gpu_memory_fraction=0.001)
    with tf.Session(config=tf.ConfigProto(gpu_options=options)) as session:
        yield session
    POOL.set_limit(size=0)


def test_tensorflows_words_then_who_holds_what(session: tf.Session) -> None:
    x = tf.placeholder(tf.float32, [256, 1024], name="x")  # 1 MiB
    y = tf.square(x, name="y")
    huge = tf.concat([y, y, x, x, x, x, x], 0, name="huge")
    feed = {x: np.ones([256, 1024])}
    assert session.run(y, feed).sum() == 256 * 1024
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        session.run(huge, feed)
    lines = caught.value.message.split("\n")
    assert lines[0] == (
        f"OOM when allocating tensor with shape[1792,1024] and type float on {GPU} by "
        "allocator GPU_0_bfc"
    )
    assert lines[1].startswith("It needs 7.00 MiB; of this card's 8.19 MiB, 2.00 MiB")
    assert caught.value.op is huge.op
    assert "Hint: If you want to see a list of allocated tensors" in lines[-2]
    assert session.run(y, feed).sum() == 256 * 1024

    options = tf.RunOptions(report_tensor_allocations_upon_oom=True)
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        session.run(huge, feed, options)
    assert caught.value.message.endswith(
        f"Current usage from device: {GPU}, allocator: GPU_0_bfc\n"
        "  1.00MiB from _arg_x_0_0/_1\n  1.00MiB from y\n"
    )


def test_a_feed_that_does_not_fit(session: tf.Session) -> None:
    x = tf.placeholder(tf.float32, [None])
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        session.run(x * 2.0, {x: np.zeros(LIMIT_BYTES)})
    count = -(-LIMIT_BYTES // 128) * 128
    assert f"with shape[{count}] and type float on {GPU}" in caught.value.message


def test_a_hot_step_does_not_take_the_memory_for_a_graph(session: tf.Session) -> None:
    """Then it goes on as before."""
    size = 5 * MIB // 8  # 2.5 MiB: three arrays fit, four do not
    x = tf.placeholder(tf.float32, [size])
    y = tf.reduce_sum(tf.cumsum(x) - x)
    for _ in range(20):
        assert session.run(y, {x: np.zeros(size)}) == 0.0
    [step] = [s for p, _ in session._programs.values() for s in p.hot.values()]
    assert step.graph is None
    assert "OOM" in step.reason


def test_what_a_ledger_tells(session: tf.Session) -> None:
    ledger = session.devices[1].ledger
    assert isinstance(ledger, CardLedger)
    assert ledger.limit_bytes == POOL.get_limit() == LIMIT_BYTES
    watch = MemoryWatch({"session": session})
    v = tf.Variable(tf.zeros([MIB]))
    before = ledger.current_bytes
    session.run(v.initializer)
    watch.close()
    [curve] = watch.curves
    assert ledger.current_bytes == before + 4 * MIB
    assert [point.taken_bytes - before for point in curve.points] == [0, 4 * MIB]
    assert ledger.peak_bytes >= 4 * MIB
    assert "reserved as it is needed" in str(watch)
    assert repr(ledger).startswith(f"<CardLedger {GPU}: ")
