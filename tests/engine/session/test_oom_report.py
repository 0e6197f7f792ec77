"""RunOptions.report_tensor_allocations_upon_oom: what is held when memory runs out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.session import oom_report

REPORT = tf.RunOptions(report_tensor_allocations_upon_oom=True)
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
HINT = (
    "Hint: If you want to see a list of allocated tensors when OOM happens, add "
    "report_tensor_allocations_upon_oom to RunOptions for current allocation info.\n"
)


@pytest.fixture
def session() -> Iterator[tf.Session]:
    tf.simulate_gpus(1, memory="4MiB")
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [256, 1024], name="x")  # 1 MiB
        y = tf.square(x, name="y")
        z = tf.add(tf.exp(y, name="e"), y, name="z")
        tf.concat([y, z, x, x, x], 0, name="huge")
        with tf.Session() as session:
            yield session
    tf.simulate_gpus(0)


def test_what_lives_is_listed_the_largest_first(session: tf.Session) -> None:
    feed = {"x:0": np.ones([256, 1024])}
    for _ in range(2):
        with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            session.run("huge:0", feed, REPORT)
        message = caught.value.message
        assert message.startswith(
            "OOM when allocating tensor with shape[1280,1024] and type float on "
            f"{GPU} by allocator GPU_0_bfc\n"
        )
        # The exponential was freed when the sum had been computed.
        assert message.endswith(
            f" ]]\n\nCurrent usage from device: {GPU}, allocator: GPU_0_bfc\n"
            "  1.00MiB from _arg_x_0_0/_1\n  1.00MiB from y\n  1.00MiB from z\n"
        )
        assert "Hint" not in message
    assert session.run("y:0", feed).sum() == 256 * 1024


def test_without_the_option_the_error_says_how_to_get_the_list(
    session: tf.Session,
) -> None:
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        session.run("huge:0", {"x:0": np.ones([256, 1024])})
    assert caught.value.message.endswith(f" ]]\n{HINT}")


def test_memory_of_the_host() -> None:
    x = tf.placeholder(tf.float32, [64, 1024], name="x")
    n = tf.placeholder(tf.int32, [2], name="n")
    small = tf.reduce_sum(x, 1, name="small")
    e = tf.exp(x, name="e")
    f = tf.exp(e, name="f")
    with tf.control_dependencies([small]):
        huge = tf.tile(f, n, name="huge") + e
    feed = {x: np.zeros([64, 1024]), n: [1 << 30, 1 << 20]}
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            session.run([huge, small], feed, REPORT, metadata)
        cpu = session.list_devices()[0].name
        assert caught.value.message.startswith("OOM when allocating tensor with shape")
        assert f" and type float on {cpu} by allocator cpu\n" in caught.value.message
        assert caught.value.message.endswith(
            f"\n\nCurrent usage from device: {cpu}, allocator: cpu\n"
            "  256.0KiB from e\n  256.0KiB from f\n  Remaining 1 nodes with 256B\n"
        )
        assert metadata.ByteSize() == 0
        # As in TensorFlow, the run is traced for it.
        assert session.run(small, feed, REPORT, metadata).tolist() == [0.0] * 64
        assert len(metadata.step_stats.dev_stats) == 1


@pytest.mark.parametrize(
    ("size", "text"),
    [(1023, "1023B"), (1024, "1.0KiB"), (1 << 20, "1.00MiB"), (999 << 30, "999.00GiB")],
)
def test_sizes_are_written_as_tensorflow_does(size: int, text: str) -> None:
    assert oom_report._readable(size) == text
