"""Initializers: distributions, fans, and what they refuse.

Names and seeded values against real TensorFlow: test_variables.py.
"""

import math

import numpy as np
import pytest

import tfteach as tf

SHAPE = [3, 3, 40, 80]
FAN_IN, FAN_OUT = 9 * 40, 9 * 80


def value(initializer, shape, **kwargs):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(initializer(shape, **kwargs))


# initializer -> (standard deviation, largest magnitude in standard deviations)
SPREADS = {
    "glorot_uniform": (math.sqrt(2 / (FAN_IN + FAN_OUT)), math.sqrt(3)),
    "glorot_normal": (math.sqrt(2 / (FAN_IN + FAN_OUT)), 2 / 0.8796),
    "he_normal": (math.sqrt(2 / FAN_IN), 2 / 0.8796),
    "he_uniform": (math.sqrt(2 / FAN_IN), math.sqrt(3)),
    "lecun_normal": (math.sqrt(1 / FAN_IN), 2 / 0.8796),
    "lecun_uniform": (math.sqrt(1 / FAN_IN), math.sqrt(3)),
}


@pytest.mark.parametrize("name", SPREADS)
def test_spread_follows_the_fans(name):
    stddev, largest = SPREADS[name]
    found = value(getattr(tf.initializers, name)(seed=1), SHAPE)
    assert found.shape == tuple(SHAPE)
    assert found.dtype == np.float32
    assert found.std() == pytest.approx(stddev, rel=0.01)
    assert abs(found.mean()) < 0.02 * stddev
    assert np.abs(found).max() <= largest * stddev * 1.001
    assert np.abs(found).max() > largest * stddev * 0.98


def test_variance_scaling_of_vectors_and_scalars():
    uniform = tf.variance_scaling_initializer(3.0, "fan_out", "uniform", seed=2)
    assert np.abs(value(uniform, [10000])).max() == pytest.approx(0.03, rel=1e-3)
    assert value(uniform, []).shape == ()
    normal = tf.variance_scaling_initializer(4.0, "fan_in", "untruncated_normal", 3)
    assert value(normal, [100, 200]).std() == pytest.approx(0.2, rel=0.02)
    scaled = tf.uniform_unit_scaling_initializer(2.0, seed=1)
    assert np.abs(value(scaled, [3, 100, 50])).max() == pytest.approx(0.2, rel=1e-2)


@pytest.mark.parametrize("shape", [[4, 9], [9, 4], [2, 3, 5]])
def test_orthogonal_columns_or_rows(shape):
    found = value(tf.orthogonal_initializer(2.0, seed=3), shape)
    assert found.shape == tuple(shape)
    flat = found.reshape(-1, shape[-1])
    short = flat if flat.shape[0] < flat.shape[1] else flat.T
    np.testing.assert_allclose(short @ short.T, 4 * np.eye(len(short)), atol=1e-5)


def test_identity_and_constants():
    identity = tf.initializers.identity(3.0)
    np.testing.assert_array_equal(value(identity, [2, 3]), 3 * np.eye(2, 3))
    ones = tf.ones_initializer(tf.int32)
    assert value(ones, [2]).dtype == np.int32
    assert value(ones, [2], dtype=tf.float64).dtype == np.float64
    filled = value(tf.constant_initializer([1, 2]), [2, 2], dtype=tf.int64)
    assert filled.tolist() == [[1, 2], [2, 2]]
    assert value(tf.constant_initializer(np.eye(2)), [4]).tolist() == [1, 0, 0, 1]
    assert value(tf.constant_initializer(True), [2], dtype=tf.bool).tolist() == [1, 1]


def test_parts_know_the_whole_shape():
    cut = tf.fixed_size_partitioner(4)
    with tf.Graph().as_default(), tf.Session() as sess:
        uniform = tf.initializers.lecun_uniform(seed=1)
        w = tf.get_variable("w", [8, 100], partitioner=cut, initializer=uniform)
        i = tf.get_variable(
            "i", [8, 8], partitioner=cut, initializer=tf.initializers.identity()
        )
        sess.run(tf.global_variables_initializer())
        largest = np.abs(sess.run(w.as_tensor())).max()
        assert largest == pytest.approx(math.sqrt(3 / 8), rel=0.02)
        assert (sess.run(i.as_tensor()) == np.eye(8)).all()


@pytest.mark.parametrize(
    "initializer",
    [
        tf.zeros_initializer(tf.int32),
        tf.ones_initializer(),
        tf.constant_initializer(3, tf.int64),
        tf.random_uniform_initializer(-1, 1, 5),
        tf.random_normal_initializer(1.0, 2.0, 3),
        tf.truncated_normal_initializer(1.0, 2.0, 3, tf.float64),
        tf.uniform_unit_scaling_initializer(2.0, 1),
        tf.variance_scaling_initializer(2.0, "fan_avg", "uniform", 4),
        tf.glorot_uniform_initializer(2),
        tf.glorot_normal_initializer(),
        tf.orthogonal_initializer(2.0, 1),
        tf.initializers.identity(2.0),
    ],
    ids=lambda i: type(i).__name__,
)
def test_configuration_round_trip(initializer):
    config = initializer.get_config()
    assert config["dtype"] == initializer.dtype.name
    again = type(initializer).from_config(config)
    assert again.get_config() == config
    assert vars(again) == vars(initializer)


REFUSED = {
    "constant": (lambda: tf.constant_initializer({}), TypeError, "Invalid type for"),
    "too many": (
        lambda: value(tf.constant_initializer([1, 2, 3]), [2]),
        ValueError,
        "Too many elements provided. Needed at most 2, but received 3",
    ),
    "other shape": (
        lambda: value(tf.constant_initializer([1, 2], verify_shape=True), [3]),
        TypeError,
        "Expected Tensor's shape: (3,), got (2,).",
    ),
    "whole numbers": (
        lambda: tf.random_normal_initializer(dtype=tf.int32),
        ValueError,
        "Expected floating point type, got <dtype: 'int32'>.",
    ),
    "scale": (
        lambda: tf.variance_scaling_initializer(-1.0), ValueError, "must be positive"
    ),
    "mode": (
        lambda: tf.variance_scaling_initializer(mode="x"), ValueError, "Invalid `mode`"
    ),
    "distribution": (
        lambda: tf.variance_scaling_initializer(distribution="x"),
        ValueError,
        "Invalid `distribution`",
    ),
    "vector": (
        lambda: value(tf.orthogonal_initializer(), [3]), ValueError, "two-dimensional"
    ),
    "cube": (
        lambda: value(tf.initializers.identity(), [3, 3, 3]),
        ValueError,
        "Identity matrix initializer can only be used for 2D matrices.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case):
    make, error, words = REFUSED[case]
    with pytest.raises(error) as caught:
        make()
    assert words in str(caught.value)


# In one eager program with the global seed 3: elements 0, 1 and 5 of a value [2, 3].
EAGER = [
    ("random_uniform", (-1, 2), {}, [-0.59901, 0.703559, 1.246194]),
    ("random_normal", (1.0, 2.0), {}, [4.332629, 2.410395, 1.534086]),
    ("truncated_normal", (), {}, [-1.401177, 0.343511, -0.421128]),
    ("uniform_unit_scaling", (2.0,), {}, [0.68228, -0.836436, -2.015745]),
    (
        "variance_scaling",
        (2.0, "fan_avg", "uniform"),
        {},
        [-1.201045, -1.200536, -0.072923],
    ),
    (
        "variance_scaling",
        (),
        {"distribution": "untruncated_normal", "seed": 5},
        [-0.802382, 0.527559, 0.118849],
    ),
    ("glorot_uniform", (), {}, [0.756739, 0.723234, -0.533204]),
    ("glorot_normal", (5,), {}, [-0.815884, 0.536436, 0.25832]),
    ("lecun_normal", (), {}, [1.389016, 1.396376, -1.041302]),
    ("he_uniform", (), {}, [-1.456878, 0.669432, -1.021296]),
    ("orthogonal", (2.0,), {}, [-0.684169, -1.870212, 1.976632]),
    ("identity", (3.0,), {}, [3.0, 0.0, 0.0]),
]


def test_seeds_of_eager_programs_give_tensorflows_numbers(eagerly):
    tf.set_random_seed(3)
    for name, args, kwargs, expected in EAGER:
        made = getattr(tf.initializers, name)(*args, **kwargs)([2, 3])
        np.testing.assert_allclose(made.numpy().ravel()[[0, 1, 5]], expected, atol=2e-6)


def test_eager_constants_are_complete_or_scalars(eagerly):
    assert tf.constant(3.0, shape=[2]).numpy().tolist() == [3.0, 3.0]
    assert tf.constant([1, 2, 3, 4], shape=[2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.constant(1.0, shape=[0]).shape == [0]
    with pytest.raises(
        TypeError, match=r"value has 3 elements, shape is \(3, 2\) with 6 elements"
    ):
        tf.initializers.constant([1, 2, 3])([3, 2])
    with pytest.raises(
        TypeError, match=r"Expected Tensor's shape: \(Dimension\(2\),\), got \(\)"
    ):
        tf.constant(1.0, shape=[2], verify_shape=True)
