from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfteach as tf
from tfteach.explain.profiling.memory import (
    MemoryWatch,
    Point,
    memory_of,
    thinned,
    watch_memory,
)

FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
MIB = 1 << 20


@pytest.fixture
def gpu() -> Iterator[None]:
    tf.simulate_gpus(1, memory="4MiB")
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [256, 1024], name="x")  # 1 MiB
        y = tf.square(x, name="y")
        z = tf.add(tf.exp(y, name="e"), y, name="z")
        tf.reduce_sum(z, name="total")
        tf.concat([y, z, x, x, x], 0, name="huge")
        yield
    tf.simulate_gpus(0)


def test_one_run_and_what_lives_at_its_peak(gpu: None) -> None:
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run("total:0", {"x:0": [[0.5] * 1024] * 256}, FULL, metadata)
    curves = {curve.title: curve for curve in memory_of(metadata)}
    curve = curves["GPU:0"]
    assert curve.is_simulated
    assert curve.peak.taken_bytes >= 3 * MIB
    names = {holder.name for holder in curve.holders}
    assert {"y", "e"} <= names
    assert curve.points[1].taken_bytes == MIB  # the copy of what is fed
    (copy,) = (
        row
        for row in metadata.step_stats.dev_stats[0].node_stats
        if row.node_name == "_arg_x_0_0/_1:_Recv"
    )
    records = copy.memory[0].allocation_records
    assert [record.alloc_bytes for record in records] == [MIB, -MIB]
    assert curve.points[-1].taken_bytes < MIB
    assert "MiB  y" in str(curve)


def test_growing_against_a_fixed_share(gpu: None) -> None:
    grows = tf.ConfigProto()
    grows.gpu_options.allow_growth = True
    half = tf.ConfigProto()
    half.gpu_options.per_process_gpu_memory_fraction = 0.5
    feed = {"x:0": [[0.5] * 1024] * 256}
    first, second = tf.Session(config=grows), tf.Session(config=half)
    with watch_memory(grows=first, half=second) as watch:
        first.run("total:0", feed)
        with pytest.raises(tf.errors.ResourceExhaustedError):
            second.run("huge:0", feed)
    growing, fixed = watch.curves
    assert growing.title == "grows · GPU:0"
    assert growing.points[0].reserved_bytes == 0
    assert growing.peak.taken_bytes >= 3 * MIB
    assert growing.points[-1].taken_bytes < MIB
    reserved = growing.points[-1].reserved_bytes
    assert reserved is not None
    assert reserved >= growing.peak.taken_bytes  # nothing is given back
    assert (growing.runs[0].fetches, growing.runs[0].error) == (("total:0",), "")
    assert fixed.limit_bytes == 2 * MIB
    assert {p.reserved_bytes for p in fixed.points} == {2 * MIB}
    (moment,) = fixed.exhausted
    assert moment.needed_bytes > 2 * MIB - fixed.peak.taken_bytes
    assert fixed.runs[0].error == "ResourceExhaustedError"
    assert "ran out once" in str(watch)
    assert "OOM when allocating" in str(watch)
    for session in (first, second):
        assert not session.devices[1].ledger.watchers
        session.close()


def test_no_simulated_gpu() -> None:
    with tf.Session(graph=tf.Graph()) as session:
        watch = MemoryWatch({"sess": session})
        assert "no simulated GPU" in str(watch)
        watch.close()


def test_thinning_keeps_peaks() -> None:
    points = [Point(i, 100 if i == 6 else i, 0) for i in range(11)]
    kept = thinned(points)
    assert len(kept) == 6
    assert max(p.taken_bytes for p in kept) == 100
    assert kept[-1] == points[-1]
