"""Optimizers and learning rates in eager programs, and in the bodies of functions."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tests.golden import eager_training

GOLDEN = json.loads(Path(eager_training.__file__).with_suffix(".json").read_text())
pytestmark = pytest.mark.usefixtures("eagerly")


def raises_error(kind, message):
    return pytest.raises(kind, match=re.escape(message))


def assert_trained(found, expected):
    for key in ("dense", "sparse"):
        for ours, theirs in zip(found.pop(key), expected[key], strict=True):
            np.testing.assert_allclose(ours, theirs, 2e-6, err_msg=key)
    variables = found.pop("variables")
    assert list(variables) == list(expected["variables"])
    for name, value in variables.items():
        theirs = expected["variables"][name]
        np.testing.assert_allclose(value, theirs, 1e-5, err_msg=name)
    assert found.items() <= expected.items()


@pytest.mark.parametrize("name", eager_training.OPTIMIZERS)
def test_steps(name):
    assert_trained(eager_training.trained(tf, name), GOLDEN["trained"][name])


@pytest.mark.parametrize("name", ["momentum", "adam", "ftrl", "adagrad da", "nadam"])
def test_steps_in_functions(name):
    found = eager_training.trained(tf, name, tf.function)
    assert_trained(found, GOLDEN["trained"][name])


@pytest.mark.parametrize("name", eager_training.RATES)
def test_learning_rates(name):
    found = eager_training.rates(tf, name)
    np.testing.assert_allclose(found, GOLDEN["rates"][name], 1e-6)


def test_an_optimizer_calls_its_learning_rate_at_each_step():
    v, step = tf.Variable(1.0), tf.Variable(0, dtype=tf.int64)
    rate = tf.train.exponential_decay(1.0, step, 1, 0.5)
    optimizer = tf.train.GradientDescentOptimizer(rate)
    values = []
    for _ in range(3):
        assert optimizer.minimize(lambda: 8.0 * v, global_step=step) is None
        values.append(float(v.numpy()))
    assert values == [-7.0, -11.0, -13.0]


def test_in_a_function_a_learning_rate_is_a_tensor():
    step = tf.Variable(10, dtype=tf.int64)

    @tf.function
    def rate():
        return tf.train.exponential_decay(0.1, step, 10, 0.9)

    np.testing.assert_allclose(rate().numpy(), 0.09, 1e-6)


def test_noise_is_drawn_at_each_call():
    rate = tf.train.noisy_linear_cosine_decay(0.1, 1, 10)
    assert rate().numpy() != rate().numpy()


def test_gradients_of_a_function():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)

    def loss():
        return w * w * v

    pairs = optimizer.compute_gradients(loss)  # in the order of creation
    assert [variable is x for (_, variable), x in zip(pairs, (v, w), strict=True)]
    assert [float(g.numpy()) for g, _ in pairs] == [9.0, 12.0]
    [(grad, variable)] = optimizer.compute_gradients(loss, [w], grad_loss=2.0)
    assert (float(grad.numpy()), variable is w) == (24.0, True)
    u = tf.Variable(1.0, trainable=False)
    [(grad, _)] = optimizer.compute_gradients(lambda: u * u, [u])
    assert float(grad.numpy()) == 2.0


def test_a_constraint():
    v = tf.Variable([1.0, 5.0], constraint=lambda x: tf.minimum(x, 3.0))
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    optimizer.minimize(lambda: -v)
    assert v.numpy().tolist() == [2.0, 3.0]
    with raises_error(RuntimeError, "Cannot use a constraint function on a sparse"):
        optimizer.minimize(lambda: tf.gather(v, [0]))


def test_variables_of_the_same_name_have_their_own_slots():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="v")
    optimizer = tf.train.MomentumOptimizer(1.0, 0.5)
    optimizer.minimize(lambda: v + 2.0 * w)
    assert optimizer.get_slot(v, "momentum").numpy() == 1.0
    assert optimizer.get_slot(w, "momentum").numpy() == 2.0
    assert optimizer.get_slot(w, "m") is None
    names = [slot.name for slot in optimizer.variables()]
    assert names == ["v/Momentum:0", "v/Momentum_1:0"]


def test_variables_of_each_graph():
    v = tf.Variable(1.0)
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(lambda: 1.0 * v)
    eager = optimizer.variables()
    with tf.Graph().as_default() as graph:
        assert optimizer.variables() == []
        w = tf.Variable(1.0, name="w")
        train = optimizer.minimize(w)
        assert (train.type, train.graph is graph) == ("NoOp", True)
        names = [v.name for v in optimizer.variables()]
        assert names == ["beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]
        powers = optimizer._get_beta_accumulators()
        assert all(power.graph is graph for power in powers)
    assert [a is b for a, b in zip(optimizer.variables(), eager, strict=True)]

    @tf.function
    def names_inside():
        return tf.constant([v.name for v in optimizer.variables()])

    assert len(names_inside().numpy()) == 4


def test_nodes_of_a_step_in_a_function():
    v, count = tf.Variable(1.0), tf.Variable(0)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(lambda: 1.0 * v)

    @tf.function
    def step(x):
        optimizer.minimize(lambda: v * x, global_step=count)

    operations = step.get_concrete_function(tf.constant(2.0)).graph.get_operations()
    names = [op.name for op in operations if op.name.startswith("Momentum")]
    assert names == [
        "Momentum/learning_rate",
        "Momentum/momentum",
        "Momentum/update_/Read/ReadVariableOp",
        "Momentum/update_/Identity",
        "Momentum/update_/ResourceApplyMomentum/accum",
        "Momentum/update_/ResourceApplyMomentum",
        "Momentum/update",
        "Momentum/Read/ReadVariableOp/resource",
        "Momentum/Read/ReadVariableOp",
        "Momentum/Identity",
        "Momentum/Const",
        "Momentum",
    ]
    step(tf.constant(2.0))
    assert count.numpy() == 1
    np.testing.assert_allclose(v.numpy(), 0.9 - 0.1 * (0.9 + 2.0), 1e-6)


def test_a_function_that_makes_its_optimizer_once():
    v = tf.Variable(1.0)
    optimizer = tf.train.AdamOptimizer(0.1)

    @tf.function
    def step():
        optimizer.minimize(lambda: v * v)

    for _ in range(3):
        step()
    np.testing.assert_allclose(v.numpy(), 0.7015874, 1e-6)
    assert len(optimizer.variables()) == 4


def test_a_callable_loss_in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(3.0, use_resource=True)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(lambda: v * v)
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(v) == 0.0


def test_refused_calls():
    v = tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with raises_error(
        RuntimeError,
        "`loss` passed to Optimizer.compute_gradients should be a function when eager "
        "execution is enabled.",
    ):
        optimizer.minimize(v * v)
    none = "No gradients provided for any variable, check your graph for ops that do "
    with raises_error(ValueError, none):
        optimizer.minimize(lambda: tf.constant(1.0), var_list=[v])
    with raises_error(ValueError, "No variables provided."):
        optimizer.apply_gradients([])
    with raises_error(
        ValueError,
        "No gradients provided for any variable: [\"<tf.Variable 'Variable:0' shape=() "
        'dtype=float32, numpy=1.0>"].',
    ):
        optimizer.apply_gradients([(None, v)])
    with raises_error(NotImplementedError, "Trying to update a Tensor "):
        optimizer.apply_gradients([(1.0, tf.constant(1.0))])


def test_learning_rates_check_their_boundaries_at_once():
    with raises_error(ValueError, "The length of boundaries should be 1 less than"):
        tf.train.piecewise_constant(tf.constant(1), [2, 5], [0.1, 0.01])
    rate = tf.train.exponential_decay(0.1, None, 10, 0.9)
    with pytest.raises(ValueError, match="None"):
        rate()
