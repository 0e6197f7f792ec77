"""`tf.contrib.layers.recompute_grad` and `rev_block`: as TensorFlow 1.15.5 printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf

layers = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def run(tensors: Any) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [
            np.round(np.float64(value), 4).tolist() for value in session.run(tensors)
        ]


def dense(x: Any, kernel: list[float], activation: Any = None) -> Any:
    initializer = tf.constant_initializer(kernel)
    return tf.layers.dense(x, 2, activation, kernel_initializer=initializer)


# ---- reversible layers


def f(x: Any, side: Any = None) -> Any:
    found = dense(x, [0.1, 0.2, 0.3, 0.4], tf.tanh)
    return found * side[0] if side else found


def g(x: Any, side: Any = None) -> Any:
    found = dense(x, [0.1, -0.2, 0.3, 0.4])
    return found + side[0] * x if side else found


def outputs_and_gradients(sides: list[Any], **options: Any) -> list[Any]:
    x1, x2 = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, -1.0]])
    y1, y2 = layers.rev_block(x1, x2, f, g, num_layers=2, **options)
    loss = tf.reduce_sum(y1**2) + tf.reduce_sum(y2 * 3.0)
    sources = [x1, x2, *tf.trainable_variables(), *sides]
    return run([y1, y2, *tf.gradients(loss, sources)])


@pytest.mark.parametrize("is_training", [True, False])
def test_reversible_layers(is_training: bool) -> None:
    assert outputs_and_gradients([], is_training=is_training) == [
        [[1.2725, 2.7509]],
        [[4.7117, 0.5248]],
        [[1.5248, 11.1735]],
        [[6.5625, 10.4854]],
        [[4.5744, 32.2147], [-1.5248, -10.7382]],
        [1.5248, 10.7382],
        [[4.2624, 5.7326], [9.3661, 12.5967]],
        [4.2624, 5.7326],
        [[7.8128, 19.8216], [-0.6672, -1.6928]],
        [2.0783, 5.2728],
        [[3.8176, 3.8176], [8.2526, 8.2526]],
        [3.0, 3.0],
    ]
    assert [v.name for v in tf.trainable_variables()] == [
        f"revblock/revlayer_{i}/{part}/dense/{kind}:0"
        for i in (0, 1)
        for part in "fg"
        for kind in ("kernel", "bias")
    ]


@pytest.mark.parametrize("is_training", [True, False])
def test_side_inputs(is_training: bool) -> None:
    side = tf.constant([[0.5, 0.25]])
    options: dict[str, Any] = {"f_side_input": [side], "g_side_input": [side]}
    found = outputs_and_gradients([side], is_training=is_training, **options)
    assert found[:4] == [
        [[1.2155, 2.2279]],
        [[5.6125, 1.3371]],
        [[4.8668, 10.7747]],
        [[4.0879, 5.5669]],
    ]
    assert found[-1] == [[8.5381, 21.8188]]


def test_backward_inverts_forward(graph: tf.Graph) -> None:
    doubled = [lambda x: tf.tanh(x) * 2.0, lambda x: x * 0.5]
    block = layers.RevBlock(doubled, [tf.sin, tf.cos], num_layers=2)
    inputs = tf.constant([1.0, 2.0]), tf.constant([3.0, -1.0])
    outputs = block.forward(*inputs)
    assert run(block.backward(*outputs)) == [[1.0, 2.0], [3.0, -1.0]]
    assert run(outputs) == [[4.5656, 0.2063], [3.0046, 0.4377]]
    tf.gradients(outputs, inputs)
    kinds = [op.type for op in graph.get_operations()]
    assert kinds.count("Tanh") == 3  # forward, backward, and in the gradient
    with pytest.raises(ValueError, match="g must have 2 functions"):
        layers.RevBlock(doubled, [tf.sin], num_layers=2)


def test_variables_of_a_block() -> None:
    block = layers.RevBlock(f, g)
    block.forward(tf.ones([1, 2]), tf.ones([1, 2]))
    assert [len(block.trainable_weights), len(block.weights)] == [4, 4]


# ---- functions that are called again


@pytest.mark.parametrize(
    "options", [{}, {"tupleize_grads": True}, {"use_data_dep": True}]
)
def test_recomputed(graph: tf.Graph, options: Any) -> None:
    @layers.recompute_grad(**options)
    def function(x: Any, y: Any) -> Any:
        return f(x) * y

    def tanhs() -> int:
        return [op.type for op in graph.get_operations()].count("Tanh")

    x, y = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, -1.0]])
    with tf.variable_scope("a", use_resource=True):
        output = function(x, y)
    variables = tf.trainable_variables()
    assert [v.name for v in variables] == ["a/dense/kernel:0", "a/dense/bias:0"]
    assert tanhs() == 1
    grads = tf.gradients(tf.reduce_sum(output**2), [x, y, *variables])
    assert tanhs() == 2
    waiting = [op for op in graph.get_operations() if op.control_inputs]
    where = "gradients/a/IdentityN_grad/a/dense"
    assert [op.name for op in waiting][:2] == [
        f"{where}/MatMul/ReadVariableOp",
        f"{where}/BiasAdd/ReadVariableOp",
    ]
    assert run([output, *grads]) == [
        [[1.8131, -0.7616]],
        [[0.8184, 2.3274]],
        [[2.1916, -1.1601]],
        [[6.9051, 0.6397], [13.8102, 1.2794]],
        [6.9051, 0.6397],
    ]


def test_several_outputs_and_the_flag() -> None:
    flags = []

    @layers.recompute_grad
    def function(x: Any, y: Any, is_recomputing: bool) -> Any:
        flags.append(is_recomputing)
        return tf.sin(x) * y, x + y

    x, y = tf.constant(1.0), tf.constant(2.0)
    a, b = function(x, y)
    assert run([a, b, *tf.gradients(a * 2.0 + b, [x, y])]) == [
        *(1.6829, 3.0, 3.1612, 2.6829)
    ]
    assert flags == [False, True]


def test_what_cannot_be_recomputed() -> None:
    outer = tf.constant(1.0)
    with pytest.raises(ValueError, match=r"closes over Tensor Const:0 .*name: outer"):
        layers.recompute_grad(lambda x: x * outer)
    with pytest.raises(ValueError, match="All inputs to function must be Tensors"):
        layers.recompute_grad(lambda x: x)(1.0)
    calls: list[int] = []

    @layers.recompute_grad
    def changing(x: Any) -> Any:
        calls.append(1)
        scope = tf.variable_scope(
            f"s{len(calls)}", use_resource=True, reuse=tf.AUTO_REUSE
        )
        with scope:
            return x * tf.get_variable("w", [])

    with pytest.raises(ValueError, match="variables used on recompute were different"):
        tf.gradients(changing(outer), outer)
