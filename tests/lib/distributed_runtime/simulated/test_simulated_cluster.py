"""The modelled clock of a cluster against times computed by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfteach as tf
from tfteach.lib.distributed_runtime.simulated.cluster_clock import (
    Network,
    Stragglers,
    gradients,
)

# 100 bytes over links of 100 bytes/s: 1 s alone, 2 s where 4 share 2 of them.
NETWORK = Network(100.0, 2, 100.0, 0.0)
FAST = Network(1e-9, 2, 100.0, 0.0)


def first(count, network, stragglers, workers, needed):
    arriving = gradients(network, stragglers, workers, needed, seed=0)
    return list(itertools.islice(arriving, count))


def test_a_synchronous_step_reads_computes_and_sends():
    """2 s to read, 1 s to compute, 2 s to send; the links are full for 4 of 5 s."""
    found = first(8, NETWORK, Stragglers(1.0), 4, 4)
    assert [(g.at_s, g.worker, g.read, g.version, g.full_s) for g in found] == [
        *((5.0, worker, 0, 0, 4.0) for worker in range(4)),
        *((10.0, worker, 1, 1, 8.0) for worker in range(4)),
    ]
    latency = first(1, NETWORK._replace(latency_s=0.25), Stragglers(1.0), 4, 4)
    assert latency[0].at_s == 5.5


def test_few_workers_do_not_share_a_link():
    assert first(1, NETWORK, Stragglers(1.0), 1, 1)[0].at_s == 3.0
    assert first(2, NETWORK, Stragglers(1.0), 2, 2)[1].at_s == 3.0


def test_who_comes_later_shares_what_is_left():
    """Worker 1 computes 2 s more: worker 0 sends alone, in 1 s of 2 servers' links.

    Both read alone until 1, compute until 2 and 4, and send until 3 and 5.
    """
    slow = Stragglers(1.0, slow_workers={1: 3.0})
    found = first(2, NETWORK, slow, 2, 2)
    assert [(g.worker, g.at_s) for g in found] == [(0, 3.0), (1, 5.0)]
    # With one server, both read at half the rate until 2.
    one = first(2, NETWORK._replace(ps=1), slow, 2, 2)
    assert [(g.worker, g.at_s) for g in one] == [(0, 4.0), (1, 6.0)]


def test_a_backup_worker_comes_too_late():
    """Worker 3 takes 2.5 s: its gradient of step 0 arrives in step 2, too late."""
    slow = Stragglers(1.0, slow_workers={3: 2.5})
    found = first(7, FAST, slow, 4, 3)
    assert [(g.worker, round(g.at_s, 6), g.is_used, g.staleness) for g in found] == [
        (0, 1.0, True, 0), (1, 1.0, True, 0), (2, 1.0, True, 0),
        (0, 2.0, True, 0), (1, 2.0, True, 0), (2, 2.0, True, 0),
        (3, 2.5, False, 2),
    ]  # fmt: skip


def test_asynchronous_gradients_are_stale_by_the_other_workers():
    found = first(40, FAST, Stragglers(1.0), 4, None)[8:]
    assert {g.staleness for g in found} == {3}
    assert {g.is_used for g in found} == {True}
    times = np.diff([g.at_s for g in found])
    np.testing.assert_allclose(times, 0.25, rtol=1e-6)


def test_stragglers_are_drawn_by_seed():
    some = Stragglers(1.0, share=0.25, slowdown=3.0)
    drawn = list(itertools.islice(some.times_s(5, seed=1), 2000))
    assert set(drawn) == {1.0, 3.0}
    assert drawn.count(3.0) / 2000 == pytest.approx(0.25, abs=0.03)
    assert drawn == list(itertools.islice(some.times_s(5, seed=1), 2000))
    assert drawn != list(itertools.islice(some.times_s(5, seed=2), 2000))


def test_where_the_network_saturates():
    """119 MB take 0.1003 s; 8 servers feed 8 x (0.2006 + 0.1) / 0.1003 = 24."""
    cluster = tf.simulate_cluster(64, 8, "10GbE", compute_s=0.1, model_bytes=119e6)
    transfer_s = 119e6 / (10e9 / 8 * 1460 / 1538)
    sync, backup, free = cluster.times
    assert sync.update_s == pytest.approx(2 * (50e-6 + 8 * transfer_s) + 0.1)
    assert sync.network_share == pytest.approx(16 * transfer_s / sync.update_s)
    assert sync.is_saturated
    assert (backup.name, cluster.backup_workers) == ("with 4 backup workers", 4)
    assert backup.dropped == pytest.approx(4 / 64, abs=0.001)
    assert free.gradients_per_s == pytest.approx(8 / transfer_s, rel=0.05)
    assert free.staleness == pytest.approx(63, abs=1)
    assert cluster.saturates_at == 24
    assert cluster.at(12).times[-1].network_share < 0.5
    assert cluster.at(32).times[-1].is_saturated
    assert [size.workers for size in cluster.at(6).scaling()] == [1, 2, 4, 8]
    text = str(cluster)
    assert "the links of the ps are full from 24 asynchronous workers on" in text
    assert (
        "2 x (50 us + 119 MB / 1.19 GB/s x 8 sharing a link) + the compute of" in text
    )


def test_by_the_slowest():
    """Every step of 2 workers waits for worker 1; with one backup for none."""
    cluster = tf.simulate_cluster(
        2, 2, "100GbE", compute_s=0.1, model_bytes=1.0, stragglers={1: 5.0}
    )
    sync, backup, free = cluster.times
    assert sync.update_s == pytest.approx(0.5, rel=0.001)
    assert backup.name == "with 1 backup worker"
    assert backup.update_s == pytest.approx(0.1, rel=0.002)
    assert free.gradients_per_s == pytest.approx(1 / 0.1 + 1 / 0.5, rel=0.02)


@pytest.fixture
def square():
    """(w - x)^2 at w = 3, whose gradient is 2 (w - x)."""
    with tf.Graph().as_default():
        w = tf.Variable(3.0, name="w")
        x = tf.placeholder(tf.float32, [], name="x")
        yield tf.square(w - x), x


def test_stale_gradients_by_hand(square):
    """Two workers, rate 0.25. Each gradient is computed at the version that was read.

    Synchronous: w <- w - 0.25 * 2w = w / 2: 3, 1.5, 0.75, so the loss 9, 2.25, 0.5625.
    Asynchronous: worker 1 begins half a cycle after worker 0, so that from the second
    on each gradient is one update old: w <- w - 0.5 * (w before): 3, 1.5, 0, -0.75,
    -0.75, ...
    """
    loss, x = square
    cluster = tf.simulate_cluster(
        2, 2, "100GbE", compute_s=0.1, model_bytes=1.0, backup_workers=0
    )
    curves = cluster.train(
        loss,
        lambda worker, k: {x: 0.0},
        tf.train.GradientDescentOptimizer(0.25),
        updates=2,
        points=50,
    ).curves
    sync = [(point.updates, point.loss) for point in curves["synchronous"]]
    assert sync == [(0, 9.0), (1, 2.25), (2, 0.5625)]
    assert curves["synchronous"][-1].at_s == pytest.approx(0.2, rel=0.01)
    free = [(point.updates, point.loss) for point in curves["asynchronous"]]
    assert free[:4] == [(0, 9.0), (1, 2.25), (2, 0.0), (3, 0.5625)]


def test_a_step_takes_the_mean_of_its_gradients(square):
    """x is the worker's number: the mean of 2 (3 - x) over 0..3 is 3; 3 - 0.5 * 3."""
    loss, x = square
    cluster = tf.simulate_cluster(4, 1, model_bytes=1.0, backup_workers=0)
    fed = []

    def feeds(worker, k):
        fed.append((worker, k))
        return {x: float(worker)}

    optimizer = tf.train.MomentumOptimizer(0.5, 0.9)
    curves = cluster.train(loss, feeds, optimizer, updates=2, evaluate={x: 0.0})
    points = curves.curves["synchronous"]
    # Momentum 0.9: w = 1.5 - 0.5 * (0.9 * 3 + 0) = 0.15.
    losses = [point.loss for point in points]
    assert losses == pytest.approx([9, 2.25, 0.0225], rel=1e-5)
    assert fed[:8] == [(worker, k) for k in range(2) for worker in range(4)]
    again = cluster.train(loss, feeds, optimizer, updates=2, evaluate={x: 0.0})
    assert again.curves == curves.curves
    assert str(curves).startswith("After 0.2 s of modelled time, 4 workers: the least")


def test_gradients_of_rows_and_unused_variables():
    with tf.Graph().as_default():
        table = tf.Variable([[1.0], [2.0]])
        tf.Variable(1.0, name="unused")
        loss = tf.reduce_sum(tf.gather(table, [1]))
        cluster = tf.simulate_cluster(1)
        assert cluster.network.model_bytes == 12
        curves = cluster.train(loss, lambda worker, k: {}, updates=3)
    assert curves.curves["synchronous"][-1].loss == pytest.approx(2 - 0.3)


def test_wrong_arguments(square):
    loss, _ = square
    for known, words in [
        ({"workers": 0}, "at least 1"),
        ({"link": "10GB"}, "link='10GB' is not known; choose one of 1GbE"),
        ({"stragglers": 1.5}, r"in \[0, 1\]"),
        ({"stragglers": {4: 2.0}}, "must map workers"),
        ({"slowdown": 0.5}, "slowdown at least 1"),
        ({"backup_workers": 4}, r"backup_workers must be in \[0, 4\)"),
    ]:
        with pytest.raises(ValueError, match=words):
            tf.simulate_cluster(**{"workers": 4, **known})
    cluster = tf.simulate_cluster(4)
    with pytest.raises(ValueError, match="way must be one of synchronous"):
        next(cluster.gradients("often"))
    with pytest.raises(ValueError, match="updates must be at least 1"):
        cluster.train(loss, lambda worker, k: {}, updates=0)
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="pass model_bytes"):
            tf.simulate_cluster(4)
        with pytest.raises(ValueError, match="depends on no trainable variable"):
            cluster.train(tf.constant(1.0), lambda worker, k: {})
