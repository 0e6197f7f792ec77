"""The placer: what each op asked for, what it got, and why."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tfteach.engine.session.device_list import native_log

LOCAL = "/job:localhost/replica:0/task:0/device:"
INVALID = tf.errors.InvalidArgumentError
pytestmark = pytest.mark.usefixtures("no_cards")


def session(soft: bool = False, cpus: int = 1, **options: Any) -> tf.Session:
    return tf.Session(
        config=tf.ConfigProto(
            allow_soft_placement=soft, device_count={"CPU": cpus}, **options
        )
    )


def placed(sess: tf.Session) -> dict[str, tuple[str, str]]:
    return {
        p.name: (p.assigned.removeprefix(LOCAL), p.reason)
        for p in sess.placements.values()
    }


def product(name: str = "mm") -> tf.Tensor:
    return tf.multiply(tf.constant([1.0], name="a"), [2.0], name=name)


# ---- one device


@pytest.mark.parametrize(
    "request_", ["/cpu:0", "/device:CPU:0", "/CPU:0", "/job:localhost", "/task:0",
                 "/device:CPU:*", "/job:localhost/replica:0/task:0/device:CPU:0", ""],
)  # fmt: skip
def test_forms_that_name_the_only_device(request_: str) -> None:
    with tf.device(request_):
        y = product()
    with session() as sess:
        assert sess.run(y) == 2.0
        assert placed(sess)["mm"] == (
            "CPU:0", "explicit" if request_ else "default: the only device",
        )  # fmt: skip
        assert sess.placements["mm"].requested == y.op.device
        assert sess.placements["mm"].op_type == "Mul"


@pytest.mark.parametrize(
    ("request_", "canonical", "gpu"),
    [
        ("/device:GPU:2", "/device:GPU:2", True),
        ("/gpu:*", "/device:GPU:*", True),
        ("/cpu:1", "/device:CPU:1", False),
        ("/device:FOO:0", "/device:FOO:0", False),
        ("/job:ps/task:0", "/job:ps/task:0", False),
        ("/job:ps/task:0/cpu:1", "/job:ps/task:0/device:CPU:1", False),
        ("/replica:1", "/replica:1", False),
    ],
)
def test_an_absent_device_is_tfs_error(
    request_: str, canonical: str, gpu: bool
) -> None:
    with tf.device(request_):
        y = product()
    fine = tf.constant(1.0)
    with session() as sess:
        for fetch in (y, y, fine):  # TF places the whole graph, so nothing of it runs
            with pytest.raises(INVALID) as caught:
                sess.run(fetch)
        message = str(caught.value)
        assert re.search(
            r"Cannot assign a device for operation mm: node mm \(defined at .*"
            r"test_place.py:\d+\)  was explicitly assigned to "
            + re.escape(
                f"{canonical} but available devices are [ {LOCAL}CPU:0 ]. Make sure "
                "the device specification refers to a valid device."
            )
            + (" The requested device appears to be a GPU, but CUDA" if gpu else "\n"),
            message,
        )
        assert caught.value.op is y.op
        assert 'tf.constant([1.0], name="a")' in message  # the user's line


def test_the_list_of_devices_is_whole_and_sorted() -> None:
    tfteach.simulate_gpus(1)
    with tf.device("/gpu:5"):
        y = product()
    with (
        session(cpus=2) as sess,
        pytest.raises(
            INVALID,
            match=re.escape(f"[ {LOCAL}CPU:0, {LOCAL}CPU:1, {LOCAL}GPU:0 ]"),
        ),
    ):
        sess.run(y)


@pytest.mark.parametrize("request_", ["/gpu:2", "/cpu:5", "/device:FOO:0"])
def test_soft_placement(request_: str) -> None:
    with tf.device(request_):
        y = product()
    with session(soft=True) as sess:
        assert sess.run(y) == 2.0
        device, reason = placed(sess)["mm"]
        assert device == "CPU:0"
        assert reason == f"soft placement: {y.op.device} is not among the 1 devices"
    tfteach.simulate_gpus(1)
    with session(soft=True) as sess:
        sess.run(y)
        assert placed(sess)["mm"][0] == "GPU:0"  # as TF: the best that has a kernel


def test_soft_placement_does_not_reach_other_jobs() -> None:
    with tf.device("/job:ps/task:0"):
        y = product()
    for cpus in (1, 2):
        with (
            session(soft=True, cpus=cpus) as sess,
            pytest.raises(
                INVALID, match="was explicitly assigned to /job:ps/task:0 but available"
            ),
        ):
            sess.run(y)


def test_a_device_given_later_is_checked_too() -> None:
    y = product()
    with session() as sess:
        sess.run(y)
        y.op._set_device("/gpu:0")
        with pytest.raises(INVALID, match="assigned to /gpu:0 but"):
            sess.run(y)
        y.op._set_device("/cpu:0")
        assert sess.run(y) == 2.0
        with tf.device("/gpu:1"):
            z = product("late")
        with pytest.raises(INVALID, match="assigned to /device:GPU:1"):
            sess.run(z)


# ---- several devices


def test_gpu_first() -> None:
    tfteach.simulate_gpus(2)
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, [1.0, 2.0], name="y")
    s = tf.identity(tf.constant(["a"], name="text"), name="s")
    m = tf.cast(x, tf.int32, name="ints")
    p = tf.py_func(lambda v: v, [y], tf.float32, name="py")
    with tf.device("/gpu:1"):
        z = tf.multiply(y, 2.0, name="z")
    with tf.device("/cpu:0"):
        c = tf.multiply(y, 3.0, name="c")
    with session() as sess:
        sess.run([y, s, m, p, z, c], {x: [1.0, 2.0]})
        sess.run(x, {x: [1.0, 2.0]})
        got = placed(sess)
    assert got["y"] == ("GPU:0", "default: GPU first")
    assert got["y/y"] == ("GPU:0", "beside its consumer y")
    # TF has Identity for every type on every device; strings stay in host memory.
    assert got["s"] == ("GPU:0", "default: GPU first; computed in host memory")
    assert got["text"] == ("CPU:0", "no GPU kernel for string")
    assert got["ints"] == ("GPU:0", "default: GPU first")
    assert got["py"] == ("CPU:0", "no GPU kernel for PyFunc")
    assert got["z"] == ("GPU:1", "explicit")
    assert got["c"] == ("CPU:0", "explicit")


def test_int32_stays_in_host_memory() -> None:
    tfteach.simulate_gpus(1)
    a = tf.constant([1, 2], name="a")
    b = tf.add(a, [3, 4], name="b")
    v = tf.Variable(0, name="steps")
    x = tf.placeholder(tf.float32, [2, None], name="x")
    size = tf.shape(x, name="size")
    flat = tf.reshape(x, [-1], name="flat")
    with session() as sess:
        sess.run(v.initializer)
        assert sess.run(b).tolist() == [4, 6]
        assert sess.run(v.assign_add(1, name="bump")) == 1
        for got in (sess.run([size, flat], {x: np.ones((2, 3))}) for _ in range(2)):
            assert got[0].tolist() == [2, 3]
            assert got[1].shape == (6,)
        found = placed(sess)
        pairs = {k: t.count for k, t in sess.transfers.items()}
    assert found["b"] == ("GPU:0", "default: GPU first; computed in host memory")
    assert found["steps"] == ("CPU:0", "no GPU kernel for int32 VariableV2")
    assert found["bump"] == ("CPU:0", "colocated with steps")
    assert found["size"][0] == "GPU:0"
    assert found["flat"] == ("GPU:0", "default: GPU first")
    # x goes to the GPU and flat comes back, in each of two runs; shapes never move.
    assert pairs == {
        (LOCAL + "CPU:0", LOCAL + "GPU:0"): 2, (LOCAL + "GPU:0", LOCAL + "CPU:0"): 2,
    }  # fmt: skip


def test_two_cpus_default_to_the_first() -> None:
    with tf.device("/cpu:1"):
        a = tf.placeholder(tf.float32, [], name="a")
        a1 = tf.identity(a, name="a1")
    b = tf.add(a1, 1.0, name="b")
    with session(cpus=2) as sess:
        assert sess.run(b, {a: 1.0}) == 2.0
        assert placed(sess)["a1"] == ("CPU:1", "explicit")
        assert placed(sess)["b"] == ("CPU:0", "default: the first CPU")


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_writes_a_variable_goes_where_it_is(use_resource: bool) -> None:
    with tf.device("/cpu:1"):
        w = tf.Variable(1.0, name="w", use_resource=use_resource)
    with tf.device("/cpu:0"):
        update = w.assign(2.0)
        other = tf.identity(w, name="other")
    with tf.colocate_with(w.op):
        beside = tf.identity(other, name="beside")
    with session(cpus=2) as sess:
        sess.run(w.initializer)
        sess.run([update, beside])
        assert sess.run(w) == 2.0
        got = placed(sess)
    assert got["w"] == ("CPU:1", "explicit")
    assert got["w/Assign"][0] == "CPU:1"
    assert got["other"] == ("CPU:0", "explicit")
    assert got["beside"] == ("CPU:1", "colocated with w")
    kinds = {p.name: p.op_type for p in sess.placements.values()}
    assigns = [n for n in got if "Assign" in kinds[n] and n != "w/Assign"]
    assert len(assigns) == 1
    ignored = "; its own request /device:CPU:0 does not count" if use_resource else ""
    assert got[assigns[0]] == ("CPU:1", "colocated with w" + ignored)


def test_a_variable_stays_where_it_first_was() -> None:
    tfteach.simulate_gpus(2)
    w = tf.Variable([1.0, 2.0], name="w")
    with session() as sess:
        sess.run(w.initializer)
        assert placed(sess)["w"] == ("GPU:0", "default: GPU first")
        with tf.device("/gpu:1"):
            y = tf.multiply(w, 2.0, name="y")
        assert sess.run(y).tolist() == [2.0, 4.0]
        assert placed(sess)["w"][0] == "GPU:0"
        assert placed(sess)["y"] == ("GPU:1", "explicit")


def test_contradicting_colocation() -> None:
    with tf.device("/cpu:1"):
        w = tf.Variable(1.0, name="w")
    with tf.colocate_with(w.op):
        q = tf.identity(1.0, name="q")
    q.op._set_device("/cpu:0")
    with session(cpus=2) as sess, pytest.raises(INVALID) as caught:
        sess.run(q)
    message = str(caught.value)
    assert re.search(r"Cannot colocate nodes node q \(defined at .*\)  placed", message)
    assert (
        "Cannot merge devices with incompatible ids: '/device:CPU:1' and "
        "'/device:CPU:0'"
    ) in message
    with session(cpus=2, soft=True) as sess:
        assert sess.run(q) == 1.0


def test_no_kernel_on_the_device_asked_for() -> None:
    tfteach.simulate_gpus(1)
    with tf.device("/gpu:0"):
        v = tf.Variable(0, name="steps")
    with (
        session() as sess,
        pytest.raises(
            INVALID,
            match=r"Cannot assign a device for operation steps.*: Could not satisfy "
            r"explicit device specification '/device:GPU:0' because no supported "
            r"kernel for GPU devices is available",
        ),
    ):
        sess.run(v.initializer)
    with session(soft=True) as sess:
        sess.run(v.initializer)
        assert placed(sess)["steps"] == (
            "CPU:0", "soft placement: no GPU kernel for int32 VariableV2",
        )  # fmt: skip


def test_device_functions_place_too() -> None:
    tfteach.simulate_gpus(2)
    with tf.device(lambda op: "/gpu:1" if op.type == "Mul" else "/cpu:0"):
        y = product()
    with session() as sess:
        assert sess.run(y) == 2.0
        assert placed(sess)["mm"] == ("GPU:1", "explicit")
        assert placed(sess)["a"] == ("CPU:0", "explicit")


# ---- the log


def test_log_on_one_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    y = product()
    with session(log_device_placement=True) as sess:
        sess.run(y)
        sess.run(y)
        sess.run(tf.add(y, 1.0, name="more"))
    out, err = capsys.readouterr()
    assert err == ""  # once: whoever sees one stream sees both
    first = ["mm: (Mul)", "a: (Const)", "mm/y: (Const)"]
    then = ["mm: (Mul)", "more: (Add)", "a: (Const)", "mm/y: (Const)",
            "more/y: (Const)"]  # fmt: skip
    assert out.splitlines() == [
        "Device mapping: no known devices.",
        *(f"{line}: {LOCAL}CPU:0" for line in first + then),
    ]


def test_log_is_on_stderr_too_where_that_leads_elsewhere() -> None:
    code = (
        "import tfteach as tf\n"
        "y = tf.add(1.0, 2.0, name='y')\n"
        "config = tf.ConfigProto(log_device_placement=True)\n"
        "tf.Session(config=config).run(y)\n"
    )

    def run(stderr: Any) -> tuple[list[str], list[str]]:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=stderr,
            text=True, check=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"},
        )  # fmt: skip
        return done.stdout.splitlines(), (done.stderr or "").splitlines()

    out, err = run(subprocess.PIPE)
    assert out == ["Device mapping: no known devices."] + [
        f"{line}: {LOCAL}CPU:0" for line in ("y: (Add)", "y/x: (Const)", "y/y: (Const)")
    ]
    assert len(err) == 5  # the mapping ends with a line
    stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: I tensorflow/core/common_runtime/"
    assert re.match(stamp + r"direct_session\.cc:\d+\] Device mapping:$", err[0])
    for line, plain in zip(err[2:], out[1:], strict=True):
        assert re.match(stamp + r"placer\.cc:\d+\] " + re.escape(plain) + "$", line)
    assert run(subprocess.STDOUT) == (out, [])


def test_the_level_of_the_native_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for least, shown in (("0", "IW"), ("1", "W"), ("2", ""), ("none", "IW")):
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", least)
        for level in "IW":
            native_log(level, "placer.cc:54] words")
        lines = capsys.readouterr().err.splitlines()
        assert [line.split(" ")[2] for line in lines] == list(shown)


def test_log_calls_simulated_gpus_so(capsys: pytest.CaptureFixture[str]) -> None:
    tfteach.simulate_gpus(1, memory="2GiB")
    y = product()
    with session(log_device_placement=True) as sess:
        sess.run(y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "Device mapping:",
        f"{LOCAL}GPU:0 -> device: 0, name: simulated GPU with 2.00 GiB, computed by "
        "NumPy on the CPU",
    ]
    assert f"mm: (Mul): {LOCAL}GPU:0" in lines


def test_nothing_is_logged_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    with session() as sess:
        sess.run(product())
    assert capsys.readouterr() == ("", "")
