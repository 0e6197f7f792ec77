"""Modelled times: a kernel's, a copy's, and those of a step on simulated cards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tfteach.engine.devices.card_models import CARDS, LINKS, model_of
from tfteach.explain.profiling.timing import OpTime, StepTimes, times_of

COARSE_US = 0.3  # of a float that holds microseconds since 1970
pytestmark = pytest.mark.usefixtures("no_cards")


def test_a_kernel_is_bound_by_arithmetic_or_by_memory() -> None:
    model = model_of("V100", "pcie3")
    by_arithmetic = model.kernel(157_000_000_000, 1000, "float32")
    assert by_arithmetic.seconds == pytest.approx(5e-6 + 0.01)
    by_memory = model.kernel(1000, 900_000_000, "float32")
    assert by_memory.seconds == pytest.approx(5e-6 + 0.001)
    assert by_memory.formula == (
        "5 us to launch + max(1 kFLOP / 15.7 TFLOP/s, 900 MB / 900 GB/s)"
    )
    assert model.kernel(125 * 10**9, 0, "float16").seconds == pytest.approx(0.001005)
    assert model.kernel(78 * 10**8, 0, "float64").seconds == pytest.approx(0.001005)


def test_a_copy_goes_over_the_link() -> None:
    copied = model_of("V100", "pcie3").copy(157_538_461)
    assert copied.seconds == pytest.approx(10e-6 + 0.01)
    assert copied.formula == "10 us to start + 158 MB / 15.8 GB/s of PCIe 3.0 x16"


def test_each_figure_has_its_source() -> None:
    assert all(card.source for card in CARDS.values())
    assert all(link.source for link in LINKS.values())
    with pytest.raises(ValueError, match="like='V1000' is not known; choose"):
        tfteach.simulate_gpus(1, like="V1000")
    with pytest.raises(ValueError, match="link='ethernet' is not known"):
        tfteach.simulate_gpus(1, like="V100", link="ethernet")


def traced(fetches: Any, feed: Any) -> StepTimes:
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(fetches, feed, options=options, run_metadata=metadata)
    return times_of(metadata)


def products(count: int, size: int) -> tuple[Any, list[Any]]:
    """A product of `size` on each of some GPUs, of matrices that come from the CPU."""
    x = tf.placeholder(tf.float32, [size, size], name="x")
    found = []
    for i in range(count):
        with tf.device(f"/gpu:{i}"):
            found.append(tf.matmul(x, x, name=f"product{i}"))
    return x, found


def test_a_step_is_laid_out_anew() -> None:
    tfteach.simulate_gpus(2, like="V100", link="pcie3")
    x, found = products(2, 64)
    times = traced(found, {x: np.ones((64, 64))})
    of: dict[tuple[str, str], OpTime] = {
        (t.op_type, t.device[-5:]): t for t in times.ops
    }
    for gpu in ("GPU:0", "GPU:1"):
        copy, kernel = of["_Recv", gpu], of["MatMul", gpu]
        assert copy.elapsed_us == pytest.approx(10 + 64 * 64 * 4 / 15753.8, abs=0.01)
        assert kernel.elapsed_us == pytest.approx(
            5 + max(2 * 64**3 / 15.7e6, 3 * 64 * 64 * 4 / 900e3), abs=0.01
        )
        assert kernel.start_us >= copy.end_us - COARSE_US
        assert kernel.model.startswith("5 us to launch + max(524 kFLOP / 15.7 TFLOP/s")
        assert copy.model.endswith("of PCIe 3.0 x16")
    # The two begin together, whatever order this machine ran them in.
    both = [of["MatMul", gpu].start_us for gpu in ("GPU:0", "GPU:1")]
    assert both[0] == pytest.approx(both[1], abs=COARSE_US)
    assert set(times.cards.values()) == {"V100"}
    assert "(a model of V100 at peak rates, not measured)" in times.summary


def test_one_gpu_computes_one_kernel_after_the_other() -> None:
    tfteach.simulate_gpus(1, like="T4")
    x = tf.placeholder(tf.float32, [64, 64], name="x")
    with tf.device("/gpu:0"):
        found = [tf.matmul(x, x, transpose_a=i > 0, name=f"p{i}") for i in range(2)]
    times = traced(found, {x: np.ones((64, 64))})
    first, second = [t for t in times.ops if t.op_type == "MatMul"]
    assert second.start_us == pytest.approx(first.end_us, abs=COARSE_US)


def test_a_copy_begins_when_its_value_is_there() -> None:
    tfteach.simulate_gpus(2, like="V100", link="nvlink2")
    x = tf.placeholder(tf.float32, [64, 64], name="x")
    with tf.device("/gpu:0"):
        first = tf.matmul(x, x, name="first")
    with tf.device("/gpu:1"):
        second = tf.exp(first, name="second")
    times = {t.name: t for t in traced(second, {x: np.ones((64, 64))}).ops}
    (copy,) = [t for t in times.values() if t.op_type == "_Recv" and "first" in t.name]
    assert copy.start_us >= times["first"].end_us - COARSE_US
    assert times["second"].start_us >= copy.end_us - COARSE_US
    assert copy.model == "10 us to start + 16.4 kB / 150 GB/s of NVLink of V100"


def test_values_and_memory_are_as_without_a_model() -> None:
    x, found = products(1, 8)
    feed = {x: np.arange(64.0).reshape(8, 8)}
    tfteach.simulate_gpus(1)
    with tf.Session() as sess:
        expected = sess.run(found, feed)
    tfteach.simulate_gpus(1, like="A100")
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(found, feed), expected)
        assert sess.devices[1].memory_limit_bytes == 40 << 30
        assert "simulated A100, its times modelled, with 40.00 GiB" in (
            sess.devices[1].physical_device_desc
        )
    tfteach.simulate_gpus(1, memory="1GiB", like="A100")
    with tf.Session() as sess:
        assert sess.devices[1].memory_limit_bytes == 1 << 30
    tfteach.simulate_gpus(1)
    times = traced(found, feed)
    assert not times.cards
    assert not any(t.model for t in times.ops)


@pytest.mark.parametrize(
    ("build", "shape", "flops"),
    [
        (lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 4, 8]), [1, 2, 2, 1], "SAME"),
         [2, 6, 6, 4], 2 * 2 * 3 * 3 * 8 * 3 * 3 * 4),
        (lambda x: tf.nn.depthwise_conv2d_native(
            x, tf.ones([3, 3, 4, 2]), [1, 1, 1, 1], "SAME"),
         [2, 6, 6, 4], 2 * 2 * 6 * 6 * 8 * 3 * 3),
        (lambda x: tf.matmul(x, x, transpose_a=True), [5, 7], 2 * 7 * 7 * 5),
        (lambda x: tf.matmul(x, x, transpose_b=True), [3, 5, 7], 2 * 3 * 5 * 5 * 7),
        (lambda x: tf.gather(x, tf.constant([1, 1])), [50, 4], 0),
        (tf.exp, [6, 7], 42),
    ],
)  # fmt: skip
def test_the_arithmetic_of_ops(build: Any, shape: list[int], flops: int) -> None:
    op = build(tf.placeholder(tf.float32, shape)).op
    inputs = [tuple(t.shape.as_list()) for t in op.inputs]
    assert op.spec.work(inputs, [tuple(op.outputs[0].shape.as_list())])[0] == flops


def test_the_arithmetic_of_gradients() -> None:
    """Each gradient of a convolution takes as many operations as the convolution."""
    x = tf.placeholder(tf.float32, [2, 6, 6, 4])
    filters = tf.placeholder(tf.float32, [3, 3, 4, 8])
    image = tf.nn.conv2d(x, filters, [1, 1, 1, 1], "VALID")
    tf.gradients(image, [x, filters])
    found = {
        op.type: op.spec.work(
            [tuple(t.shape.as_list() or ()) for t in op.inputs],
            [tuple(t.shape.as_list()) for t in op.outputs],
        )[0]
        for op in x.graph.get_operations()
        if op.type.startswith("Conv2D")
    }
    assert set(found.values()) == {2 * 2 * 4 * 4 * 8 * 3 * 3 * 4}
    assert len(found) == 3
