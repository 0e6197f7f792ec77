from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.profiling.timing import OpTime, StepTimes, timed, times_of
from tfteach.framework import protos


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [64, 32], name="x")
        with tf.name_scope("layer"):
            w = tf.get_variable("w", [32, 10], initializer=tf.ones_initializer())
            h = tf.matmul(x, w, name="xw")
            tf.nn.relu(h, name="out")
        with tf.Session() as session:
            session.run(w.initializer)
            yield session


def test_totals_of_a_timed_run(session: tf.Session) -> None:
    times = timed(session, "layer/out:0", {"x:0": np.ones([64, 32])}, runs=3)
    assert len(times.wall_us) == 3
    names = [op.name for op in times.ops]
    assert names == ["w/read", "layer/xw", "layer/out"]
    matmul = times.ops[1]
    assert matmul.inputs == ("x:0", "w/read")
    assert matmul.size_bytes == 64 * 10 * 4
    assert matmul.end_us <= times.ops[2].start_us
    by_type = {total.name: total for total in times.by_type()}
    assert set(by_type) == {"Identity", "MatMul", "Relu"}
    assert by_type["Relu"].calls == 1
    assert sum(total.share for total in times.by_type()) == pytest.approx(1)
    assert times.busy_us <= max(times.wall_us)
    scopes = {total.name: total.calls for total in times.by_scope()}
    assert scopes == {"w/": 1, "layer/": 2}
    assert "layer/xw" in {total.name for total in times.by_scope(2)}
    text = str(times)
    assert text.startswith("3 runs, the fastest: ")
    assert max(op.end_us for op in times.ops) == pytest.approx(min(times.wall_us))
    assert "MatMul" in text


def test_what_tensorflow_wrote() -> None:
    metadata = protos.RunMetadata()
    host = metadata.step_stats.dev_stats.add(device="/host:CPU")
    host.node_stats.add(node_name="xw:MatMul", timeline_label="id=3")
    cpu = metadata.step_stats.dev_stats.add(
        device="/job:localhost/replica:0/task:0/device:CPU:0"
    )
    cpu.node_stats.add(
        node_name="xw",
        all_start_micros=1000,
        all_end_rel_micros=20,
        timeline_label="xw = MatMul(x, w, ^init)",
    )
    (op,) = times_of(metadata).ops
    assert (op.name, op.op_type, op.elapsed_us) == ("xw", "MatMul", 20)
    assert op.inputs == ("x", "w", "^init")
    cpu.node_stats.add(
        node_name="init", timeline_label="init = NoOp(^v)"
    ).all_start_nanos = 5
    assert times_of(metadata).through == {"init": ("^v",)}
    assert str(times_of(protos.RunMetadata())).startswith("Nothing was timed")


def test_the_end_of_an_op_is_sent_as_a_constant() -> None:
    """TensorFlow's name of a `_Send` has the op's, which may have no row."""
    metadata = protos.RunMetadata()
    cpu = "/job:ps/replica:0/task:0/device:CPU:0"
    ran = metadata.step_stats.dev_stats.add(device=cpu)
    ran.node_stats.add(
        node_name="group/_3",
        all_end_rel_micros=1,
        timeline_label="group/_3 = Const(^v)",
    )
    host = metadata.step_stats.dev_stats.add(device="/host:CPU")
    for half in ("group/_4:_Send", "x/_6:_Send"):
        host.node_stats.add(node_name=half, timeline_label=f"device={cpu}, bytes=4")
    inputs = {op.name: op.inputs for op in times_of(metadata).ops}
    assert inputs["group/_4"] == ("group/_3",)
    assert inputs["x/_6"] == ("x",)


def test_runs_are_counted_from_one(session: tf.Session) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        timed(session, "layer/out:0", runs=0)


def test_busy_shares_and_copies() -> None:
    """Ops that overlap count once; a copy is found by the name of its first half."""
    times = StepTimes(
        (
            OpTime("a", "Exp", "g", 0, 0.0, 4.0, 0, ()),
            OpTime("a/_0", "_Send", "g", 0, 2.0, 1.0, 0, ("a",)),
            OpTime("a/_1", "_Recv", "c", 0, 4.0, 1.0, 0, ("a/_0",)),
            OpTime("b", "Exp", "g", 0, 8.0, 2.0, 0, ()),
            OpTime("c/_3", "_Recv", "c", 0, 9.0, 1.0, 0, ("c/_2",)),
        ),
        (10.0,),
    )
    assert (times.busy_share("g"), times.busy_share("c")) == (0.6, 0.2)
    assert [(send.name, recv.name) for send, recv in times.copies()] == [
        ("a/_0", "a/_1")
    ]
    assert StepTimes((), (0.0,)).busy_share("g") == 0.0
