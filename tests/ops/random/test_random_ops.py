"""Random numbers: TensorFlow's own for its seeds, and their distributions.

golden/random_numbers.py asks real TensorFlow 1.15 for them.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import tfteach as tf
from tests.golden import random_numbers
from tfteach.ops.random.philox import Philox, Stream, normal, uniform

FILE = Path(random_numbers.__file__).parent / "random_numbers.json"
GOLDEN = json.loads(FILE.read_text())
CASES = dict(random_numbers.cases(tf))
# In units of the last place: sin, cos and log are rounded here, cut in libm.
LAST_PLACES = {"float32": 2e-7, "float64": 1e-15, "float16": 1e-3}


@pytest.mark.parametrize("key", CASES)
def test_two_runs_give_tensorflows_numbers(key):
    for ours, theirs in zip(
        random_numbers.value(tf, CASES[key]), GOLDEN[key], strict=True
    ):
        if "normal" in key:
            tolerance = LAST_PLACES[key.split()[1]]
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
        elif "gamma" in key:
            np.testing.assert_allclose(ours, theirs, rtol=2e-7)
        else:
            assert ours == theirs


def test_every_case_is_in_the_file():
    assert set(CASES) == set(GOLDEN)


def test_philox_known_answers():
    """The vectors of the paper's Random123 library, kat_vectors, philox4x32-10."""
    zeros = Philox(0, (0, 0)).blocks(1)[0].tolist()
    assert zeros == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = Philox((1 << 128) - 1, (0xFFFFFFFF, 0xFFFFFFFF)).blocks(1)[0].tolist()
    assert ones == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    pi = Philox(0x0370734413198A2E85A308D3243F6A88, (0xA4093822, 0x299F31D0))
    assert pi.blocks(1)[0].tolist() == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_counters_carry_into_the_upper_half():
    edge = Philox((1 << 64) - 2, (1, 2))
    rows = edge.blocks(4)
    for i in range(4):
        np.testing.assert_array_equal(rows[i], edge.skipped(i).blocks(1)[0])
    last = Philox((1 << 128) - 1, (1, 2))
    np.testing.assert_array_equal(last.blocks(2)[1], Philox(0, (1, 2)).blocks(1)[0])


def test_long_and_short_draws_agree():
    generator = Stream(3, 4).reserve(1)
    for draw in (uniform, normal):
        long = draw(generator, 200_001, np.dtype(np.float32))
        short = draw(generator, 10, np.dtype(np.float32))
        np.testing.assert_array_equal(long[:10], short)


# ---- distributions


def drawn(make, runs=1):
    with tf.Graph().as_default(), tf.Session() as sess:
        tensor = make()
        return np.stack([sess.run(tensor) for _ in range(runs)])


def test_distributions():
    size = [40_000]
    p = 1e-3
    normals = drawn(lambda: tf.random_normal(size, 3.0, 2.0, seed=1)).ravel()
    assert stats.kstest((normals - 3) / 2, "norm").pvalue > p
    uniforms = drawn(lambda: tf.random_uniform(size, -1, 4, tf.float64, seed=1)).ravel()
    assert stats.kstest((uniforms + 1) / 5, "uniform").pvalue > p
    cut = drawn(lambda: tf.truncated_normal(size, dtype=tf.float64, seed=2)).ravel()
    assert stats.kstest(cut, stats.truncnorm(-2, 2).cdf).pvalue > p
    gamma = drawn(lambda: tf.random_gamma(size, 2.5, 4.0, tf.float64, seed=1)).ravel()
    assert stats.kstest(gamma, stats.gamma(2.5, scale=0.25).cdf).pvalue > p
    counts = drawn(lambda: tf.random_poisson(3.0, size, tf.int32, seed=1)).ravel()
    assert counts.dtype == np.int32
    assert counts.mean() == pytest.approx(3.0, rel=0.02)
    assert counts.var() == pytest.approx(3.0, rel=0.03)
    whole = drawn(lambda: tf.random_uniform(size, 3, 8, tf.int64, seed=1)).ravel()
    assert stats.chisquare(np.bincount(whole, minlength=8)[3:]).pvalue > p
    classes = drawn(
        lambda: tf.random.categorical(np.log([[1, 2, 5.0]]), 40_000, seed=1)
    )
    wanted = np.array([1, 2, 5]) / 8 * 40_000
    assert stats.chisquare(np.bincount(classes.ravel()), wanted).pvalue > p


def test_parameters_broadcast_per_number():
    shape = drawn(lambda: tf.random_gamma([5], [[1.0], [2.0]], [1.0, 2.0, 3.0])).shape
    assert shape == (1, 5, 2, 3)
    means = drawn(lambda: tf.random_poisson([1.0, 100.0], [500], seed=3)).mean((0, 1))
    np.testing.assert_allclose(means, [1, 100], rtol=0.2)
    assert drawn(lambda: tf.random_normal([2], [0.0, 50.0], seed=1))[0, 1] > 40


# ---- seeds and streams


def test_unseeded_sessions_differ_and_streams_go_on():
    with tf.Graph().as_default():
        tensor = tf.random_uniform([4])
        with tf.Session() as one, tf.Session() as other:
            first, second = one.run(tensor), one.run(tensor)
            assert (first != second).all()
            assert (other.run(tensor) != first).any()


def test_seeds_of_graph_and_op():
    with tf.Graph().as_default() as graph:
        assert tf.get_seed(None) == (None, None)
        assert tf.get_seed(3) == (87654321, 3)
        tf.set_random_seed(9)
        assert graph.seed == 9
        tf.constant(1.0)
        assert tf.get_seed(None) == (9, 1)
        assert tf.get_seed(2**31) == (9, 1)
        tf.set_random_seed(0)
        assert tf.get_seed(0) == (0, 2**31 - 1)


def test_equal_ops_have_streams_of_their_own():
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = tf.random_normal([3], seed=1), tf.random_normal([3], seed=1)
        first = sess.run([a, b])
        np.testing.assert_array_equal(*first)
        sess.run(a)
        assert (sess.run(a) != sess.run(b)).all()


def test_shuffle_is_a_permutation_and_crop_a_slice():
    rows = np.arange(60).reshape(20, 3)
    shuffled = drawn(lambda: tf.random_shuffle(rows))[0]
    assert sorted(shuffled.tolist()) == rows.tolist()
    assert (np.diff(shuffled) == 1).all()
    assert drawn(lambda: tf.random_shuffle(5))[0] == 5
    whole = np.arange(30).reshape(5, 6)
    for part in drawn(lambda: tf.random_crop(whole, [2, 3]), runs=20):
        top, left = divmod(int(part[0, 0]), 6)
        np.testing.assert_array_equal(part, whole[top : top + 2, left : left + 3])


def test_empty_results():
    for make in (tf.random_normal, tf.truncated_normal, tf.random_uniform):
        assert drawn(lambda make=make: make([0, 3])).shape == (1, 0, 3)
    assert drawn(lambda: tf.random_uniform([0], 0, 5, tf.int32)).shape == (1, 0)
    assert drawn(lambda: tf.multinomial(np.zeros((0, 3)), 4)).shape == (1, 0, 4)


def test_static_shapes():
    with tf.Graph().as_default():
        n = tf.placeholder(tf.int32, [])
        assert tf.random_normal([n, 3]).shape.as_list() == [None, 3]
        assert tf.random_uniform(tf.placeholder(tf.int32, [2])).shape.ndims == 2
        assert tf.multinomial([[1.0], [2.0]], 5).shape.as_list() == [2, 5]
        assert tf.random_gamma([2], tf.ones([3])).shape.as_list() == [2, 3]


REFUSED = {
    "text": (lambda fed: tf.random_uniform([2], dtype=tf.string), "Invalid dtype"),
    "no bound": (
        lambda fed: tf.random_uniform([2], dtype=tf.int32),
        "Must specify maxval for integer dtype tf.int32",
    ),
    "vector": (lambda fed: tf.multinomial([1.0, 2.0], 3), "Shape must be rank 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case):
    make, words = REFUSED[case]
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:  # noqa: PT011
        make(None)
    assert words in str(caught.value)


FAILING = {
    "bounds": (
        lambda fed: tf.random_uniform([2], 5, fed[0], dtype=tf.int32), [3],
        "Need minval < maxval, got 5 >= 3",
    ),
    "shape": (lambda fed: tf.random_normal(fed), [-1], "Dimension -1 must be >= 0"),
    "samples": (
        lambda fed: tf.multinomial([[1.0]], fed[0]), [-1],
        "num_samples should be nonnegative, got -1",
    ),
    "crop": (
        lambda fed: tf.random_crop(tf.ones([2]), fed), [3], "Need value.shape >= size"
    ),
    "alpha": (
        lambda fed: tf.random_gamma([2], tf.cast(fed, tf.float32)), [0], "alpha must be"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILING)
def test_fails_when_run(case):
    make, value, words = FAILING[case]
    with tf.Graph().as_default(), tf.Session() as sess:
        fed = tf.placeholder(tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(make(fed), {fed: value})
    assert words in caught.value.message


def test_gradient_of_gamma_numbers_by_their_shape():
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(3)
        alpha = tf.constant([0.5, 2.0, 7.0])
        (slope,) = tf.gradients(tf.random_gamma([2, 4], alpha, seed=5), alpha)
        assert slope.shape == [3]
        expected = [8.536048, 7.713997, 7.3152585]  # TensorFlow's
        np.testing.assert_allclose(sess.run(slope), expected, rtol=1e-6)


def test_random_shapes_are_refused_before_numbers_are_drawn() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        shape = tf.placeholder(tf.int32, [None])
        for build in (
            tf.random_uniform,
            tf.random_normal,
            lambda size: tf.random_poisson([2.0], size),
            lambda size: tf.random.stateless_uniform(size, [1, 2]),
        ):
            numbers = build(shape)
            with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= 0"):
                session.run(numbers, {shape: [-1]})
            for huge in ([2**31 - 1] * 3, [2**31 - 1] * 2):
                with pytest.raises(
                    (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)
                ):
                    session.run(numbers, {shape: huge})
