"""Optimizers: slots, arguments, errors; the global step.

Graphs and numbers are held against TensorFlow in test_golden.py.
"""

import numpy as np
import pytest

import tfteach as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def variable(name="v", **kwargs):
    return tf.Variable([1.0, 2.0], name=name, **kwargs)


def sgd(rate=0.1):
    return tf.train.GradientDescentOptimizer(rate)


def trained(step, fetches, times=1):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(times):
            sess.run(step)
        return sess.run(fetches)


def test_descent_finds_the_minimum():
    v = variable()
    step = sgd(0.25).minimize(tf.square(v - [3.0, -1.0]))
    np.testing.assert_allclose(trained(step, v, 40), [3.0, -1.0], atol=1e-5)


def test_the_step_is_an_operation_in_the_collection(graph):
    step = sgd().minimize(tf.square(variable()))
    assert isinstance(step, tf.Operation)
    assert graph.get_collection(tf.GraphKeys.TRAIN_OP) == [step]


def test_a_rate_that_is_fed_or_a_function():
    v, rate = variable(), tf.placeholder_with_default(0.5, [])
    first = sgd(rate).minimize(v * 1.0)
    second = sgd(lambda: 0.25).minimize(v * 1.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(first)
        np.testing.assert_array_equal(sess.run(v), [0.5, 1.5])
        sess.run(first, {rate: 1.0})
        np.testing.assert_array_equal(sess.run(v), [-0.5, 0.5])
        sess.run(second)
        np.testing.assert_array_equal(sess.run(v), [-0.75, 0.25])


def test_what_is_fetched_beside_the_step_is_the_value_before_it():
    v = variable()
    loss = tf.reduce_sum(v)
    step = sgd(1.0).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [sess.run([loss, step])[0] for _ in range(3)] == [3.0, 1.0, -1.0]


def test_slots():
    v, u = variable("v"), variable("u", use_resource=True)
    adam = tf.train.AdamOptimizer(name="A")
    assert adam.get_slot_names() == []
    assert adam.get_slot(v, "m") is None
    adam.minimize(tf.square(v) * u)
    assert adam.get_slot_names() == ["m", "v"]
    assert adam.get_slot(v, "m").op.name == "v/A"
    assert adam.get_slot(u, "v").op.name == "u/A_1"
    assert adam.get_slot(u, "v").op.type == "VarHandleOp"
    assert adam.get_slot(v, "momentum") is None
    assert [w.name for w in adam.variables()] == [
        "beta1_power:0", "beta2_power:0", "u/A:0", "u/A_1:0", "v/A:0", "v/A_1:0",
    ]  # fmt: skip
    slots = [w for w in adam.variables() if "/" in w.name]
    assert not any(w in tf.trainable_variables() for w in slots)
    assert adam.get_name() == "A"


def test_the_same_optimizer_twice_keeps_its_slots():
    v = variable()
    momentum = tf.train.MomentumOptimizer(0.1, 0.9)
    momentum.minimize(v * 2.0)
    before = len(tf.global_variables())
    momentum.minimize(v * 3.0)
    assert len(tf.global_variables()) == before


def test_variables_of_another_graph_are_not_listed():
    adam = tf.train.AdamOptimizer()
    adam.minimize(tf.square(variable()))
    with tf.Graph().as_default():
        assert adam.variables() == []
        adam.minimize(tf.square(variable()))
        assert len(adam.variables()) == 4


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_constraint_sees_the_updated_variable(use_resource):
    v = variable(
        constraint=lambda t: tf.clip_by_value(t, -1.0, 1.5), use_resource=use_resource
    )
    step = sgd(1.0).minimize(v * tf.constant([1.0, -1.0]))
    np.testing.assert_array_equal(trained(step, v), [0.0, 1.5])
    np.testing.assert_array_equal(trained(step, v, 5), [-1.0, 1.5])


def test_a_constraint_on_rows():
    v = variable(constraint=tf.identity)
    with pytest.raises(RuntimeError, match="constraint function on a sparse variable"):
        sgd().minimize(tf.gather(v, [0]))


def test_gradients_may_be_changed_on_the_way():
    v, w = variable("v"), variable("w")
    optimizer = sgd(1.0)
    pairs = optimizer.compute_gradients(v * 100.0, var_list=[v, w])
    assert pairs[1] == (None, w)
    clipped = [(None if g is None else tf.clip_by_value(g, -1.0, 1.0), x)
               for g, x in pairs]  # fmt: skip
    np.testing.assert_array_equal(
        trained(optimizer.apply_gradients(clipped), [v, w]), [[0.0, 1.0], [1.0, 2.0]]
    )
    arrays = optimizer.apply_gradients([(np.float32([1.0, 1.0]), v)])
    np.testing.assert_array_equal(trained(arrays, v), [0.0, 1.0])


@pytest.mark.parametrize("use_resource", [False, True])
def test_the_global_step_counts(use_resource):
    with tf.variable_scope("", use_resource=use_resource):
        step = tf.train.get_or_create_global_step()
    assert tf.train.get_or_create_global_step() is step
    assert step.op.name == "global_step"
    train = sgd().minimize(tf.square(variable()), global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        assert tf.train.global_step(sess, step) == 3
        if not use_resource:
            assert tf.train.global_step(sess, "global_step:0") == 3


def test_global_steps_that_are_none(graph):
    assert tf.train.get_global_step() is None
    tf.constant(5, name="global_step")
    assert tf.train.get_global_step().op.name == "global_step"
    graph.add_to_collection(tf.GraphKeys.GLOBAL_STEP, tf.constant(1.0))
    with pytest.raises(TypeError, match="does not have integer type"):
        tf.train.get_global_step()
    with pytest.raises(TypeError, match="is not scalar"):
        tf.train.assert_global_step(tf.constant([1]))
    with pytest.raises(TypeError, match="must be a Variable or Tensor"):
        tf.train.assert_global_step("x")


def test_a_second_global_step():
    tf.train.create_global_step()
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()


# ---- errors


def test_nothing_to_optimize():
    with pytest.raises(ValueError, match=r"No variables to optimize\."):
        sgd().minimize(tf.constant(1.0))
    v = variable()
    with pytest.raises(ValueError, match="No gradients provided for any variable, ch"):
        sgd().minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match=r"No gradients provided for any variable: \["):
        sgd().apply_gradients([(None, v)])
    with pytest.raises(ValueError, match=r"No variables provided\."):
        sgd().apply_gradients([])


@pytest.mark.parametrize(
    ("error", "words", "arguments"),
    [
        (ValueError, "gate_gradients must be one of", {"gate_gradients": 5}),
        (NotImplementedError, "Trying to optimize unsupported", {"var_list": [1.0]}),
    ],
)
def test_wrong_arguments(error, words, arguments):
    v = variable()
    with pytest.raises(error, match=words):
        sgd().minimize(v * 2.0, **arguments)


def test_wrong_losses():
    v = variable()
    with pytest.raises(ValueError, match=r"Invalid type tf\.int32 for Cast:0, exp"):
        sgd().minimize(tf.cast(v, tf.int32))
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        sgd().minimize(lambda: v)  # a reference variable, which no tape watches
    x = tf.constant(1.0)
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        sgd().minimize(x * 2.0, var_list=[x])
    with pytest.raises(TypeError, match="Gradient must be convertible to a Tensor"):
        sgd().apply_gradients([(object(), v)])


def test_wrong_optimizers():
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        tf.train.GradientDescentOptimizer(0.1, name="")
    with pytest.raises(ValueError, match="initial_accumulator_value must be positive"):
        tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.0)


def test_an_uninitialized_variable():
    step = sgd().minimize(tf.square(variable("w")))
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value w"),
    ):
        sess.run(step)


# ---- schedules


def test_schedules_need_a_step():
    with pytest.raises(ValueError, match="None values not supported"):
        tf.train.exponential_decay(0.1, None, 10, 0.5)
    with pytest.raises(ValueError, match="must have the same dtype as x"):
        tf.train.piecewise_constant(1, [1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="elements all with the same dtype"):
        tf.train.piecewise_constant(1, [1], [1.0, 2])
    with pytest.raises(ValueError, match="1 less than the length of values"):
        tf.train.piecewise_constant(1, [1], [1.0])


def test_a_schedule_follows_the_global_step():
    v, step = variable(), tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(1.0, step, 1, 0.5)
    train = sgd(rate).minimize(v * 1.0, global_step=step)
    np.testing.assert_array_equal(trained(train, v, 3), [1.0 - 1.75, 2.0 - 1.75])


# ---- weight decay


def test_chosen_variables_shrink(caplog):
    v, u = variable("v", use_resource=True), variable("u", use_resource=True)
    optimizer = tf.contrib.opt.MomentumWOptimizer(0.5, 1.0, 0.0)
    pairs = [(tf.constant([1.0, 1.0]), v), (tf.constant([1.0, 1.0]), u)]
    step = optimizer.apply_gradients(pairs, decay_var_list=[u])
    found = trained(step, [v, u])
    np.testing.assert_array_equal(found, [[0.0, 1.0], [-0.5, 0.0]])
    step = optimizer.minimize(v + u, decay_var_list=[u])  # TF forgets the list
    np.testing.assert_array_equal(trained(step, v), [-0.5, 0.0])
    assert "minimize forgets decay_var_list" in caplog.text


def test_signs_have_no_row_updates_of_resources():
    v = variable(use_resource=True)
    rows = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    with pytest.raises(NotImplementedError, match="no sparse updates of resource"):
        tf.contrib.opt.PowerSignOptimizer(0.1).apply_gradients([(rows, v)])


def test_a_sign_rule_on_a_resource():
    v = variable(use_resource=True)
    step = tf.contrib.opt.AddSignOptimizer(0.5).minimize(v * 1.0)
    np.testing.assert_allclose(trained(step, v), [0.0, 1.0])  # 0.5 * (1 + 1) less
