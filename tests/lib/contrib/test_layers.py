"""contrib.framework, contrib.layers and slim: scopes, and what is refused."""

import numpy as np
import pytest

import tfteach as tf

slim = tf.contrib.slim
layers = tf.contrib.layers
framework = tf.contrib.framework
X = np.ones([2, 3], np.float32)
IMAGE = np.ones([2, 6, 5, 3], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


# ---- scopes of arguments


@framework.add_arg_scope
def shown(x, a=1, b=2, *, c=3):
    return x, a, b, c


def test_arguments_come_from_the_call_then_inner_then_outer_scopes():
    with slim.arg_scope([shown], a=10, b=20) as outer:
        with slim.arg_scope([shown], b=30, c=40):
            assert shown(0) == (0, 10, 30, 40)
            assert shown(0, b=5) == (0, 10, 5, 40)
        assert shown(0) == (0, 10, 20, 3)
        with slim.arg_scope({}):
            assert shown(0) == (0, 1, 2, 3)
    assert shown(0) == (0, 1, 2, 3)
    with slim.arg_scope(outer):
        assert shown(0) == (0, 10, 20, 3)
    assert framework.has_arg_scope(shown)
    assert framework.arg_scoped_arguments(shown) == ("a", "b", "c")


def test_scopes_end_after_an_error():
    with pytest.raises(ZeroDivisionError), slim.arg_scope([shown], a=9):
        raise ZeroDivisionError
    assert framework.current_arg_scope() == {}


def _open(*args, **kwargs):
    with slim.arg_scope(*args, **kwargs):
        pass


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: _open([print], a=1), ValueError, "not decorated with @add_arg_scope"),
        (lambda: _open(shown, a=1), TypeError, "must either be a list/tuple"),
        (lambda: _open({}, a=1), ValueError, "kwargs must be empty"),
        (
            lambda: layers.fully_connected(X, 2.0),
            ValueError,
            "num_outputs type should be one of",
        ),
        (
            lambda: layers.fully_connected(X[0], 2),
            ValueError,
            "Input 0 of layer fully_connected is incompatible with the layer: : "
            "expected min_ndim=2, found ndim=1",
        ),
        (
            lambda: layers.conv2d(X, 2, 3),
            ValueError,
            "Convolution expects input with rank 4, got 2",
        ),
        (
            lambda: layers.conv2d(IMAGE, 2, 3, data_format="X"),
            ValueError,
            "Invalid data_format: 'X'",
        ),
        (
            lambda: layers.max_pool2d(IMAGE, 2, data_format="NDHWC"),
            ValueError,
            "data_format has to be either NCHW or NHWC.",
        ),
        (
            lambda: layers.batch_norm(tf.placeholder(tf.float32, [None, None])),
            ValueError,
            "`C` dimension must be known but is None",
        ),
        (
            lambda: layers.batch_norm(
                X, adjustment=lambda _: (X, X), updates_collections=None
            ),
            NotImplementedError,
            "TensorFlow ignores `adjustment`",
        ),
        (lambda: layers.l2_regularizer(1), ValueError, "scale cannot be an integer: 1"),
        (
            lambda: layers.l1_regularizer(-0.5),
            ValueError,
            "Setting a scale less than 0 on a regularizer: -0.5",
        ),
        (
            lambda: layers.variance_scaling_initializer(mode="x"),
            TypeError,
            "Unknown mode",
        ),
        (
            lambda: layers.layer_norm(X, begin_norm_axis=2),
            ValueError,
            "must be < rank(inputs) (2)",
        ),
        (
            lambda: layers.optimize_loss(tf.constant(1.0), None, 0.1, "X"),
            ValueError,
            "Optimizer name should be one of [Adagrad, Adam, Ftrl, Momentum, RMSProp, "
            "SGD], you provided X.",
        ),
        (
            lambda: layers.optimize_loss(tf.constant(1.0), None, 1, "SGD"),
            ValueError,
            "Learning rate should be 0d Tensor or float. Got 1 of type <class 'int'>",
        ),
        (
            lambda: framework.get_unique_variable("x"),
            ValueError,
            "Couldn't find variable x",
        ),
    ],
)
def test_what_is_refused(build, error, words):
    with pytest.raises(error) as caught:
        build()
    assert words in str(caught.value)


# ---- training


def test_batch_norm_that_updates_at_once_learns_the_moments():
    x = tf.placeholder(tf.float32, [None, 1])
    training = tf.placeholder(tf.bool, [])
    y = layers.batch_norm(
        x, decay=0.5, is_training=training, updates_collections=None, fused=False
    )
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    data = np.array([[1.0], [3.0]], np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(12):
            result = sess.run(y, {x: data, training: True})
        np.testing.assert_allclose(result, [[-1], [1]], atol=1e-3)
        mean, variance = framework.get_variables_by_suffix("moving_.*")
        np.testing.assert_allclose(sess.run([mean, variance]), [[2], [1]], atol=1e-3)
        result = sess.run(y, {x: data, training: False})
        np.testing.assert_allclose(result, [[-1], [1]], atol=2e-3)


def test_named_outputs():
    layers.fully_connected(X, 2, scope="a", outputs_collections="outputs")
    layers.max_pool2d(IMAGE, 2, scope="b", outputs_collections="outputs")
    found = slim.utils.convert_collection_to_dict("outputs")
    assert list(found) == ["a", "b"]
    assert [t.name for t in found.values()] == ["a/Relu:0", "b/MaxPool:0"]
