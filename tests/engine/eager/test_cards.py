"""Eager programs on a card, and on the stand-in where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.eagerly import eager_program

LOCAL = "/job:localhost/replica:0/task:0/device:"
CPU, GPU = LOCAL + "CPU:0", LOCAL + "GPU:0"
MATRIX = [[1.0, 2.0], [3.0, 4.0]]


@pytest.fixture(
    autouse=True, params=[pytest.param("card", marks=pytest.mark.gpu), "stand-in"]
)
def program(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    if request.param == "stand-in":
        strict_card.install(monkeypatch)
    with eager_program():
        yield


def test_tensors_are_copied_to_the_card_and_back() -> None:
    assert tf.contrib.eager.num_gpus() == 1
    assert tf.contrib.eager.list_devices() == [CPU, GPU]
    x: Any = tf.constant(MATRIX)
    copied: Any = x.gpu()
    assert [x.device, copied.device, copied.cpu().device] == [CPU, GPU, CPU]
    assert copied.numpy().tolist() == MATRIX
    assert "numpy=\narray([[1., 2.],\n" in repr(copied)
    assert [row.numpy().tolist() for row in copied] == MATRIX
    assert float(copied[1, 0]) == 3.0
    assert bool(copied[0, 0] > 0)
    with pytest.raises(RuntimeError, match=r"GPU:1 unknown device\."):
        x.gpu(1)


def test_ops_run_on_the_card_unless_a_block_says_otherwise() -> None:
    x: Any = tf.constant(MATRIX)
    product: Any = tf.matmul(x.gpu(), x)
    assert product.device == GPU
    assert product.numpy().tolist() == [[7.0, 10.0], [15.0, 22.0]]
    with tf.device("/cpu:0"):
        assert tf.add(x.gpu(), 1.0).device == CPU
    with tf.device("/gpu:0"):
        assert tf.add(x, 1.0).device == GPU
        assert tf.range(3).device == CPU  # int32 is in host memory
    assert tf.where(x.gpu() > 2.0).numpy().tolist() == [[1, 0], [1, 1]]
    doubled: Any = tf.py_function(lambda a: a * 2, [x.gpu()], tf.float32)
    assert doubled.numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_training_gives_what_the_cpu_gives() -> None:
    x: Any = tf.constant(MATRIX)

    def losses(device: str) -> list[float]:
        with tf.device(device):
            w, b = tf.Variable([[1.0], [2.0]]), tf.Variable(3.0)
            optimizer = tf.train.AdamOptimizer(0.1)

            def step(features: Any) -> Any:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - b))
                grads = tape.gradient(loss, [w, b])
                optimizer.apply_gradients(zip(grads, [w, b], strict=True))
                return loss

            traced = tf.function(step)
            found = [float(step(x)) for _ in range(3)]
            found += [float(traced(x)) for _ in range(3)]
            assert w.device.endswith(device.upper()[1:])
            return found

    expected = losses("/cpu:0")
    np.testing.assert_allclose(losses("/gpu:0"), expected, rtol=1e-4)
    assert expected[0] == 34.0
    assert expected == sorted(expected, reverse=True)
