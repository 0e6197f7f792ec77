from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tfteach.explain.profiling.critical_path import (
    critical_path_of,
    explain_critical_path,
)
from tfteach.explain.profiling.timing import OpTime, StepTimes

TASK = "/job:localhost/replica:0/task:0"
CPU, GPU0, GPU1 = (f"{TASK}/device:{name}" for name in ("CPU:0", "GPU:0", "GPU:1"))


def op(
    name: str,
    device: str,
    start_us: float,
    elapsed_us: float,
    *inputs: str,
    thread: int = 0,
    kind: str = "Exp",
    model: str = "",
) -> OpTime:
    return OpTime(
        name, kind, device, 0, start_us, elapsed_us, 0, inputs,
        model=model, host_thread=thread,
    )  # fmt: skip


def times(*ops: OpTime, **known: object) -> StepTimes:
    return StepTimes(ops, (max(op.end_us for op in ops),))._replace(**known)


def test_through_ops_copies_and_waits() -> None:
    """a on GPU:0, its copy and the gap before it, then c on GPU:1; b ends early."""
    path = critical_path_of(
        times(
            op("a", GPU0, 0, 40),
            op("b", GPU1, 0, 10),
            op("a/_0", GPU0, 40, 0, "a", kind="_Send"),
            op("a/_1", GPU1, 45, 5, "a/_0", kind="_Recv"),
            op("c", GPU1, 50, 30, "a/_1", "b"),
        )
    )
    assert [(part.op.name, part.start_us, part.elapsed_us, part.bound, part.is_wait)
            for part in path.parts] == [
        ("a", 0, 40, "the compute of GPU:0", False),
        ("a/_0", 40, 0, "copies", False),
        ("a/_1", 40, 5, "waiting for the host", True),
        ("a/_1", 45, 5, "copies", False),
        ("c", 50, 30, "the compute of GPU:1", False),
    ]  # fmt: skip
    assert [part.because for part in path.parts][3:] == ["needs a/_0", "needs a/_1"]
    assert [(bound.name, bound.share, bound.kind) for bound in path.bounds] == [
        ("the compute of GPU:0", 0.5, "compute"),
        ("the compute of GPU:1", 0.375, "compute"),
        ("copies", 0.0625, "copy"),
        ("waiting for the host", 0.0625, "host"),
    ]
    assert path.sentence == (
        "The compute of GPU:0 bounds the step: 50% of its critical path; then the "
        "compute of GPU:1 38%, copies 6%, waiting for the host 6%."
    )
    assert path.idle_sentence == (
        "Idle: GPU:0 50% (mostly waiting for GPU:1), "
        "GPU:1 44% (mostly waiting for GPU:0)."
    )
    assert (path.beside_us, path.chain_us) == (75, 75)
    assert str(path).splitlines()[-4:] == [
        "    0.0 us     40.0 us  the compute of GPU:0  a",
        "   40.0 us      5.0 us  waiting for the host  before a/_1",
        "   45.0 us      5.0 us  copies                a/_1",
        "   50.0 us     30.0 us  the compute of GPU:1  c",
    ]
    assert [bound.label for bound in path.bounds] == [
        "GPU:0",
        "GPU:1",
        "copies",
        "host",
    ]


def test_a_busy_device_is_waited_for() -> None:
    """b needs nothing of a, but its device is busy; constants are looked through."""
    path = critical_path_of(
        times(
            op("a", CPU, 0, 10),
            op("b", CPU, 10, 20),
            op("c", CPU, 30, 5, "^group"),
            through={"group": ("^b",)},
        )
    )
    assert [part.because for part in path.parts] == [
        "",
        "CPU:0 was busy with a",
        "needs b",
    ]
    assert "b  (CPU:0 was busy with a)\n" in str(path)
    assert (path.beside_us, path.chain_us) == (35, 25)
    assert path.sentence == (
        "The compute of CPU:0 bounds the step: 100% of its critical path. The longest "
        "chain of ops that need each other takes 25.0 us of 35.0 us."
    )
    assert path.idle_sentence == ""


def test_one_thread_for_two_devices() -> None:
    """Two towers of 40 one after the other; on a thread each they would take 50."""
    run = times(
        op("x", CPU, 0, 5, thread=7),
        op("t0", GPU0, 5, 40, "x", thread=7),
        op("t1", GPU1, 45, 40, "x", thread=7),
        op("sum", CPU, 90, 5, "t0", "t1", thread=7),
    )
    path = critical_path_of(run)
    assert path.is_shared
    assert path.beside_us == 50
    assert [(part.op.name, part.bound) for part in path.parts] == [
        ("x", "waiting for the host"),
        ("t1", "the compute of GPU:1"),
        ("sum", "waiting for the host"),
    ]
    spent = {bound.name: bound.elapsed_us for bound in path.bounds}
    assert spent == {
        "the compute of GPU:1": 40,
        "one thread": 40,
        "waiting for the host": 15,
    }
    assert "at the same time, the step could take 55.0 us of its 95.0 us" in str(path)
    told = critical_path_of(run._replace(one_thread="a loop stands on both"))
    assert told.sentence == f"{path.sentence} They cannot: a loop stands on both."
    waits = {idle.lane: dict(idle.waits) for idle in path.idle}
    assert waits["GPU:0"]["GPU:1"] == pytest.approx(40 / 95)
    assert waits["GPU:1"]["one thread"] == pytest.approx(40 / 95)


def test_two_threads_for_three_devices() -> None:
    """c was ready at 10, but both threads ran ops of other devices until 50."""
    path = critical_path_of(
        times(
            op("a", CPU, 0, 10, thread=1),
            op("b", GPU0, 10, 40, "a", thread=1),
            op("other", GPU1, 10, 45, "a", thread=2),
            op("c", CPU, 50, 60, "a", thread=1),
        )
    )
    assert [(part.op.name, part.bound) for part in path.parts] == [
        ("a", "waiting for the host"),
        ("c", "2 threads"),
        ("c", "waiting for the host"),
    ]
    assert path.parts[1].elapsed_us == 40
    assert not path.is_shared


def test_a_model_has_links_and_launches() -> None:
    """Two copies to one card follow each other; kernels run beside them."""
    path = critical_path_of(
        times(
            op("x", CPU, 0, 2),
            op("x/_0", CPU, 2, 0, "x", kind="_Send"),
            op("y/_0", CPU, 2, 0, "x", kind="_Send"),
            op("x/_1", GPU0, 2, 30, "x/_0", kind="_Recv", model="10 us"),
            op("a", GPU0, 32, 15, "x/_1", model="5 us"),
            op("y/_1", GPU0, 32, 30, "y/_0", kind="_Recv", model="10 us"),
            op("b", GPU0, 62, 25, "y/_1", "a", model="5 us"),
            cards={GPU0: "V100"},
        )
    )
    assert [part.op.name for part in path.parts if part.elapsed_us] == [
        "x", "x/_1", "y/_1", "b",
    ]  # fmt: skip
    assert path.parts[-2].because == "the link was busy with x/_1"
    assert [(b.name, b.elapsed_us, b.kind, b.of) for b in path.bounds] == [
        ("the link", 60, "copy", "the link"),
        ("the compute of GPU:0", 20, "compute", "the compute of GPU:0"),
        ("starting kernels on GPU:0", 5, "launch", "the compute of GPU:0"),
        ("waiting for the host", 2, "host", "waiting for the host"),
    ]
    assert str(path).startswith("87.0 us (modelled). The link bounds the step: 69%")


def test_only_inputs_count_where_a_device_runs_several_ops() -> None:
    """TensorFlow's CPU: b ends between a and c, but c does not need it."""
    path = critical_path_of(
        times(
            op("a", CPU, 0, 10),
            op("b", CPU, 5, 20),
            op("c", CPU, 26, 10, "a"),
        )
    )
    assert [part.op.name for part in path.parts] == ["a", "c", "c"]


def test_an_op_of_a_loop_waits_for_its_last_run() -> None:
    path = critical_path_of(
        times(
            op("next", CPU, 0, 10),
            op("next", CPU, 10, 10, "next"),
            op("exit", CPU, 20, 5, "next"),
        )
    )
    assert [part.start_us for part in path.parts] == [0, 10, 20]


def test_a_receive_that_waits_is_not_copying() -> None:
    """Between tasks a `_Recv` begins before what it receives was sent."""
    other = CPU.replace("task:0", "task:1")
    path = critical_path_of(
        times(
            op("a", other, 0, 40),
            op("a/_0", other, 40, 0, "a", kind="_Send"),
            op("a/_1", CPU, 1, 59, "a/_0", kind="_Recv"),
            op("b", CPU, 60, 40, "a/_1"),
        )
    )
    assert {b.name: b.elapsed_us for b in path.bounds}["the network"] == 20


def test_a_shape_waits_for_its_tensor_and_is_not_copied() -> None:
    """The CPU needs the shape of y, which is known once the GPU has computed y."""
    tf.simulate_gpus(1, like="V100")
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 64], name="x")
        with tf.device("/gpu:0"):
            y = tf.exp(x, name="y")
        with tf.device("/cpu:0"):
            shape = tf.identity(tf.shape(y)[0] + 1, name="shape")
        with tf.Session() as session:
            path = explain_critical_path(session, shape, {x: [[0.0] * 64] * 64}, 1)
    tf.simulate_gpus(0)
    assert "y" in [part.op.name for part in path.parts]
    received = [part for part in path.parts if part.op.op_type == "_Recv"]
    assert [part.elapsed_us > 0 for part in received] == [True, False]


def test_a_group_waits_for_the_ops_of_other_devices() -> None:
    tf.simulate_gpus(1, like="V100")
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [64, 64], name="x")
        with tf.device("/gpu:0"):
            y = tf.exp(x, name="y")
        with tf.device("/cpu:0"), tf.control_dependencies([y]):
            done = tf.no_op(name="done")
        with tf.Session() as session:
            path = explain_critical_path(session, done, {x: [[0.0] * 64] * 64}, 1)
    tf.simulate_gpus(0)
    names = [part.op.name for part in path.parts]
    assert names[0] == "x/_1"
    assert "y" in names


def test_of_a_session() -> None:
    tf.simulate_gpus(1, like="V100")
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [64, 64], name="x")
        with tf.device("/gpu:0"):
            y = tf.exp(x, name="y")
        with tf.device("/cpu:0"):
            z = tf.square(y, name="z")
        with tf.Session() as session:
            path = explain_critical_path(session, z, {x: [[0.0] * 64] * 64}, 1)
    tf.simulate_gpus(0)
    assert [part.op.op_type for part in path.parts if part.elapsed_us] == [
        "_Recv", "Exp", "_Recv", "Square",
    ]  # fmt: skip
    assert sum(part.elapsed_us for part in path.parts) == pytest.approx(path.wall_us)
    assert path.parts[-1].because == f"needs {path.parts[-2].op.name}"
    assert critical_path_of(StepTimes((), ())).sentence == ""


def test_a_run_says_why_it_is_on_one_thread() -> None:
    def both(y: Any) -> Any:
        with tf.device("/gpu:0"):
            y = y * 2.0
        with tf.device("/gpu:1"):
            return y + 1.0

    tf.simulate_gpus(2)
    try:
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [], name="x")
            y = tf.while_loop(lambda y: y < 9.0, both, [x])
            path = explain_critical_path(sess, y, {x: 0.0}, runs=1)
            assert path.one_thread == "the loop while stands on GPU:0 and GPU:1"
            plain = explain_critical_path(sess, x + 1.0, {x: 0.0}, runs=1)
            assert plain.one_thread == ""
    finally:
        tf.simulate_gpus(0)


def test_tasks_have_threads_of_their_own() -> None:
    """No thread of a cluster is waited for; the end of an op is sent as a constant."""
    ps, worker = (
        f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker")
    )
    run = times(
        op("a", ps, 0, 10, thread=1),
        op("b", worker, 12, 20, thread=2),
        op("b/_3", worker, 34, 1, "^b", kind="Const", thread=2),
        op("b/_4", worker, 36, 1, "b/_3", kind="_Send", thread=2),
        op("b/_5", ps, 37, 8, "b/_4", kind="_Recv", thread=1),
    )
    path = critical_path_of(run)
    assert {part.bound for part in path.parts if part.is_wait} == {
        "the time between ops"
    }
    assert [part.op.name for part in path.parts if not part.is_wait] == [
        "b", "b/_3", "b/_4", "b/_5"
    ]  # fmt: skip
    assert path.idle[1].lane == "worker:0"
    assert str(path.idle[1]).endswith("(mostly between ops)")


def test_devices_that_are_idle_alike_are_told_together() -> None:
    gpus = [f"{TASK}/device:GPU:{i}" for i in range(4)]
    path = critical_path_of(
        times(
            op("a", CPU, 0, 50),
            *(op(f"b{i}", gpus[i], 50, 50 - (i == 2), "a") for i in range(4)),
        )
    )
    assert path.idle_sentence == (
        "Idle: CPU:0 50% (waiting for GPU:0), "
        "GPU:0 to GPU:3 50% to 51% (waiting for the host)."
    )


def test_why_an_op_matters() -> None:
    path = critical_path_of(
        times(op("a", CPU, 0, 10), op("b", CPU, 10, 20, "a"), op("c", CPU, 10, 5, "a"))
    )
    assert path.why("b") == (
        "'b' is on the critical path of the last timed run: 20.0 us of 30.0 us. "
        "The compute of CPU:0 bounds the step."
    )
    assert path.why("c") == ""


def test_devices_that_need_each_other_gain_no_time_beside_each_other() -> None:
    """The time between the ops of a chain is not that of one thread."""
    run = times(
        op("a", GPU0, 0, 10, thread=7),
        op("b", GPU1, 20, 10, "a", thread=7),
        op("c", CPU, 40, 10, "b", thread=7),
    )
    path = critical_path_of(run)
    assert path.is_shared
    assert path.sentence.endswith("the compute of GPU:1 20%.")
