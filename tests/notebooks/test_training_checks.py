"""The checks of the lessons on training explain each mistake."""

from __future__ import annotations

import pytest

import tfteach as tf


def own_momentum(rate=0.01, new=True, trainable=False, assign=True):
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 1.0], name="w")
        loss = tf.reduce_sum([50.0, 0.5] * tf.square(w), name="loss")
        velocity = tf.Variable(tf.zeros([2]), trainable=trainable, name="velocity")
        (gradient,) = tf.gradients(loss, [w])
        moved = velocity.assign(0.9 * velocity + gradient)
        if not assign:
            return graph, moved.op
        with tf.control_dependencies([moved]):
            used = moved if new else tf.constant([0.0, 0.0])
            return graph, w.assign_sub(rate * used + (0.0 if new else 0.5))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: own_momentum(), "Right"),
        (lambda: own_momentum(trainable=True), "not to be trained"),
        (lambda: own_momentum(assign=False), "`w` stays where it is"),
        (lambda: own_momentum(rate=0.1), "with the new velocity it is"),
        (lambda: own_momentum(new=False), "with the new velocity it is"),
    ],
)
def test_gradients_and_optimizers(checks, capsys, made, said) -> None:
    checks.check_gradients_and_optimizers(*made())
    assert said in capsys.readouterr().out


def averaged(build):
    with tf.Graph().as_default() as graph:
        w = tf.Variable(4.0, name="w")
        descent = tf.train.GradientDescentOptimizer(0.25)
        descend = descent.minimize(tf.square(w), name="descend")
        average = tf.train.ExponentialMovingAverage(0.5)
        return graph, build(w, descend, average)


def ordered(w, descend, average):
    with tf.control_dependencies([descend]):
        return average.apply([w])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (ordered, "Right"),
        (lambda w, descend, average: descend, "no average yet"),
        (lambda w, descend, average: average.apply([w]), "does not descend"),
        (lambda w, descend, average: (average.apply([w]), descend)[1], "stays at 4.0"),
        (lambda w, descend, average: tf.group(descend, average.apply([w])), "Not yet"),
    ],
)
def test_control_dependencies(checks, capsys, build, said) -> None:
    checks.check_control_dependencies(*averaged(build))
    assert said in capsys.readouterr().out


def fibonacci(begin=1, loops=1):
    def build(n):
        for _ in range(loops):
            _, a, _ = tf.while_loop(
                lambda i, a, b: i < n,
                lambda i, a, b: (i + 1, b, a + b),
                (begin, 1, 1),
            )
        return a

    return build


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (fibonacci(), "Right"),
        (lambda n: 3, "not a tensor"),
        (lambda n: n, "there are 0 loops"),
        (fibonacci(loops=2), "there are 2 loops"),
        (fibonacci(begin=0), "Begin with (1, 1, 1)"),
        (lambda n: tf.while_loop(lambda i: i < n, lambda i: i, [0]), "does not end"),
        (lambda n: tf.constant(range(n)), "Your line: `(lambda n: tf.constant(range"),
    ],
)
def test_while_loop(checks, capsys, build, said) -> None:
    checks.check_while_loop(build)
    assert said in capsys.readouterr().out


def sparse_loss(table, ids, of_all=False, rate=0.1):
    rows = tf.nn.embedding_lookup(table, ids)
    data_loss = tf.reduce_mean(tf.square(rows))
    return data_loss + rate * tf.nn.l2_loss(table if of_all else rows)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (sparse_loss, "Right"),
        (lambda table, ids: sparse_loss(table, ids, of_all=True), "is dense"),
        (lambda table, ids: sparse_loss(table, ids, rate=0.5), "16.5 + 0.1 * 33"),
        (lambda table, ids: tf.constant(1.0), "does not depend on the table"),
        (lambda table, ids: table, "not a tensor"),
        (lambda table, ids: table + 1.0, "the loss has shape (3, 2)"),
    ],
)
def test_embeddings(checks, capsys, build, said) -> None:
    checks.check_embeddings(build)
    assert said in capsys.readouterr().out


def conv_relu(inputs, filters, scope, size=3, reuse=tf.AUTO_REUSE):
    with tf.variable_scope(scope, reuse=reuse):
        depth = inputs.shape[-1].value
        kernel = tf.get_variable("kernel", [size, size, depth, filters])
        bias = tf.get_variable("bias", [filters])
        return tf.nn.relu(tf.nn.conv2d(inputs, kernel, [1, 1, 1, 1], "SAME") + bias)


def block(scoped=True, pooled=True, shared=True, apart=True):
    def build(inputs, filters, scope_name):
        scope = scope_name if apart else "a"
        if not shared:
            scope = tf.get_default_graph().unique_name(scope_name)
        with tf.variable_scope(scope if scoped else "other"):
            net = conv_relu(conv_relu(inputs, filters, "first"), filters, "second")
            if not pooled:
                return net
            return tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")

    return build


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (block(), "Right"),
        (lambda inputs, filters, scope_name: inputs, "return the output"),
        (block(scoped=False), "Build both convolutions inside"),
        (block(pooled=False), "(?, 6, 4, 4)"),
        (block(shared=False), "makes new variables"),
    ],
)
def test_convnet(checks, capsys, build, said) -> None:
    checks.check_convnet(build, None, None)
    assert said in capsys.readouterr().out
