"""Quantized kernels give TensorFlow's results bit for bit, and sessions its arrays."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import quantization
from tfteach.framework.op import op_class

CALLS = {name: rest for name, *rest in quantization.calls()}
ANSWERS = json.loads(quantization.FILE.read_text())


def build(op_type: str, inputs: dict[str, Any], attributes: dict[str, Any]) -> Any:
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in attributes.items()}
    return op_class(op_type)(**given)(*inputs.values())


def test_tensorflow_was_asked_about_every_call() -> None:
    assert ANSWERS.keys() == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_results_are_tensorflows(name: str) -> None:
    op_type, inputs, attributes = CALLS[name]
    names = [arg.name for arg in op_class(op_type).inputs]
    found = quantization.run(tf, names, op_type, inputs, attributes, build)
    right = ANSWERS[name]
    if isinstance(right[0], str):  # an error, of which tfteach may say more
        assert found[0] == right[0]
        assert found[1].startswith(right[1])
    elif op_type == "QuantizedInstanceNorm":
        # TensorFlow takes an approximate reciprocal root from the processor.
        assert found[0] == right[0]
        for mine, theirs in zip(found[1:], right[1:], strict=True):
            ends = [np.frombuffer(base64.b64decode(x[2]), "f") for x in (mine, theirs)]
            np.testing.assert_allclose(*ends, rtol=1e-6)
    else:
        assert found == right


def test_sessions_return_plain_integers() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.quint8, [2])
        constant = tf.constant(np.array([3, 4], np.uint8), tf.quint8)
        feeds = {fed: np.array([1, 2], np.uint8)}
        found = session.run([tf.identity(fed), constant, fed], feeds)
        assert found[0].dtype == found[1].dtype == np.uint8
        assert found[0].tolist() == [1, 2]
        assert found[1].tolist() == [3, 4]
        assert found[2].dtype == tf.quint8.as_numpy_dtype  # as it is fed
        assert session.run({"x": constant})["x"].dtype == np.uint8
        assert session.make_callable(constant)().dtype == np.uint8


def test_fetched_integers_belong_to_the_caller() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        constant = tf.constant(np.array([3, 4], np.uint8), tf.quint8)
        session.run(constant)[:] = 0
        assert session.run(constant).tolist() == [3, 4]


def test_a_quantized_network_is_near_that_of_floats() -> None:
    """A dense layer by bytes: quantize, multiply, add, clip, requantize, dequantize."""
    random = np.random.RandomState(1)
    x, w = random.rand(5, 8).astype("f"), random.randn(8, 4).astype("f")
    with tf.Graph().as_default(), tf.Session() as session:
        left = tf.quantize(x, 0.0, 1.0, tf.quint8, "MIN_FIRST")
        right = tf.quantize(w, w.min(), w.max(), tf.quint8, "MIN_FIRST")
        product = op_class("QuantizedMatMul")()(
            left.output, right.output, *left[1:], *right[1:]
        )
        relu = op_class("QuantizedRelu")(tf.qint32)(*product)
        limits = op_class("RequantizationRange")()(*relu)
        small = op_class("Requantize")(tf.quint8)(*relu, *limits)
        found = session.run(tf.dequantize(*small, mode="MIN_FIRST"))
    np.testing.assert_allclose(found, np.maximum(x @ w, 0), atol=0.05)
