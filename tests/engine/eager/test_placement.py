"""Where eager ops run, and copies between devices; messages are TensorFlow's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

import tfteach
import tfteach as tf
from tests.eagerly import eager_program
from tfteach.engine.devices import devices
from tfteach.engine.session.config import eager_settings

CONFLICT = (
    "Tensors on conflicting devices: cannot compute AddV2 as input #0 was expected to "
    "be on /job:localhost/replica:0/task:0/device:GPU:0 but is actually on "
    "/job:localhost/replica:0/task:0/device:CPU:0 (operation running on "
    "/job:localhost/replica:0/task:0/device:GPU:0) Tensors can be copied explicitly "
    "using: `with tf.device(device_name): x = tf.identity(x)` or transparently copied "
    "by using tf.config.experimental.set_device_policy('silent'). Copying tensors "
    "between devices may slow down your model [Op:AddV2] name: add/"
)


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An eager program on a machine with a simulated GPU."""
    monkeypatch.setattr(devices, "_simulated", None)
    monkeypatch.setattr(eager_settings, "device_policy", 2)
    monkeypatch.setattr(eager_settings, "is_async", False)
    tfteach.simulate_gpus(1)
    with eager_program():
        yield


def where(tensor: Any) -> str:
    return str(tensor.device)[-5:]


def test_ops_run_on_the_first_gpu_that_can() -> None:
    x = tf.constant([1.0, 2.0])
    assert where(x) == "CPU:0"  # values of Python stay where they are
    assert where(x + x) == "GPU:0"
    assert where(tf.random.uniform([2])) == "GPU:0"
    assert where(tf.strings.join(["a", "b"])) == "CPU:0"
    assert where(tf.constant(1) + 1) == "CPU:0"  # int32 is computed on the host
    assert where(tf.Variable(1.0).read_value()) == "GPU:0"


def test_blocks_choose_the_device() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.device("/cpu:0"):
        assert where(x * x) == "CPU:0"
        v = tf.Variable(1.0)
    assert where(v.read_value()) == "CPU:0"
    with tf.device("/gpu:0"):
        held = tf.constant(3.0), tf.constant(3), tf.constant("a")
        assert [where(t) for t in held] == ["GPU:0", "CPU:0", "CPU:0"]
        assert where(tf.strings.join(["a", "b"])) == "CPU:0"


def test_tensors_move() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x.gpu() * 3.0
        z = y.cpu()
    assert [where(t) for t in (y, z)] == ["GPU:0", "CPU:0"]
    assert z.numpy().tolist() == [3.0, 6.0]
    assert tape.gradient(z, x).numpy().tolist() == [3.0, 3.0]
    assert x.cpu() is x
    with pytest.raises(RuntimeError, match=r"\AGPU:3 unknown device\.\Z"):
        x.gpu(3)


def test_unknown_devices() -> None:
    with tf.device("/gpu:7"):
        assert where(tf.constant(1) + 1) == "CPU:0"  # placed softly
        with pytest.raises(RuntimeError) as failed:
            tf.constant(1.0)
    assert str(failed.value) == (
        "/job:localhost/replica:0/task:0/device:GPU:7 unknown device."
    )
    with pytest.raises(RuntimeError, match="does not support functions"):
        tf.device(lambda op: "/cpu:0").__enter__()


def test_a_policy_may_refuse_copies() -> None:
    x = tf.constant([1.0, 2.0])
    y = x.gpu()
    tf.config.experimental.set_device_policy("explicit")
    with pytest.raises(tf.errors.InvalidArgumentError) as failed:
        x + y
    assert failed.value.message == CONFLICT
    assert (y + y).cpu().numpy().tolist() == [2.0, 4.0]
    # A GPU's kernel reads shapes in host memory.
    assert tf.reshape(y, tf.constant([2, 1])).shape == (2, 1)
    with tf.device("/cpu:0"):
        assert where(x + x) == "CPU:0"
    tf.config.experimental.set_device_policy("silent_for_int32")
    assert tf.config.experimental.get_device_policy() == "silent_for_int32"
    with pytest.raises(tf.errors.InvalidArgumentError, match="conflicting devices"):
        x + y
    tf.config.experimental.set_device_policy(None)
    assert (x + y).cpu().numpy().tolist() == [2.0, 4.0]


def test_a_policy_may_warn(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.constant([1.0, 2.0])
    tf.config.experimental.set_device_policy("warn")
    with caplog.at_level(logging.WARNING, "tensorflow"):
        assert where(x + x) == "GPU:0"
    assert caplog.messages[0] == (
        "before computing AddV2 input #0 was expected to be on "
        "/job:localhost/replica:0/task:0/device:GPU:0 but is actually on "
        "/job:localhost/replica:0/task:0/device:CPU:0 (operation running on "
        "/job:localhost/replica:0/task:0/device:GPU:0). This triggers a copy which can "
        "be a performance bottleneck."
    )


def test_programs_may_ask_for_other_threads() -> None:
    tfe = tf.contrib.eager
    with tfe.execution_mode(tfe.ASYNC):
        assert not tf.config.experimental.get_synchronous_execution()
        with pytest.raises(tf.errors.InvalidArgumentError):  # at once
            tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
        tfe.async_wait()
        tfe.async_clear_error()
    assert tf.config.experimental.get_synchronous_execution()
    with pytest.raises(ValueError, match=r"None/SYNC/ASYNC\. Got 9"):
        tfe.set_execution_mode(9)


def test_options_are_those_of_the_first_call() -> None:
    tfe = tf.contrib.eager
    tf.enable_eager_execution()
    tf.enable_eager_execution(device_policy=tfe.DEVICE_PLACEMENT_EXPLICIT)
    tf.enable_eager_execution(execution_mode=tfe.ASYNC, config=tf.ConfigProto())
    assert eager_settings.device_policy == tfe.DEVICE_PLACEMENT_SILENT
    assert not eager_settings.is_async
