"""Sigmoid and softmax in one compiled pass, against NumPy's in float64."""

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework import machine_code, threads
from tfteach.framework.machine_code import Vectors
from tfteach.ops.math import vector_exp

pytestmark = pytest.mark.skipif(
    machine_code.vectors() is None, reason="nothing can be compiled here"
)
EDGES = np.float32(
    [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 88.7, -88.7, 89, -103, 104, 3e38]
)


@pytest.fixture(params=[Vectors(64, 32), Vectors(32, 16), Vectors(16, 32)])
def _processor(request, monkeypatch):
    vector_exp._function.cache_clear()
    monkeypatch.setattr(vector_exp, "vectors", lambda: request.param)
    yield
    vector_exp._function.cache_clear()


def ulps(found, expected):
    """The error in units in the last place, not finer than the least normal number."""
    size = np.maximum(np.abs(expected), np.finfo(np.float32).tiny)
    return np.abs(found - expected) / np.spacing(size.astype(np.float32))


def softmax_of(x):
    shifted = (x - x.max(axis=-1, keepdims=True)).astype(np.float64)
    return np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)


@pytest.mark.usefixtures("_processor")
def test_sigmoid():
    rng = np.random.default_rng(0)
    x = np.float32([*EDGES, *(rng.standard_normal(5000) * 30)])
    found = vector_exp.sigmoid(x)
    with np.errstate(over="ignore"):
        expected = 1 / (1 + np.exp(-x.astype(np.float64)))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(x))
    normal = expected > 1e-37  # below, the exponential overflows, as in NumPy
    assert ulps(found, expected)[normal].max() <= 3
    assert (found[expected < 1e-37] < 1e-37).all()


@pytest.mark.usefixtures("_processor")
@pytest.mark.parametrize("length", [1, 3, 15, 16, 17, 63, 64, 65, 1000])
def test_softmax(length):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((7, length)) * 20).astype(np.float32)
    found = vector_exp.softmax(x)
    assert ulps(found, softmax_of(x)).max() <= 5
    assert found.shape == x.shape


def test_softmax_of_infinities_and_nan():
    x = np.zeros((5, 20), np.float32)
    x[0, 3], x[1], x[2, 5], x[3, 1:] = np.nan, -np.inf, np.inf, -np.inf
    found = vector_exp.softmax(x)
    assert np.isnan(found[:3]).all()
    assert found[3].tolist() == [1] + [0] * 19
    np.testing.assert_allclose(found[4], 0.05, rtol=1e-6)


def test_no_element_beyond_the_end_is_written():
    for count in range(1, 70):
        source, room = np.zeros(count, np.float32), np.full(count + 64, np.float32(7))
        vector_exp._function("sigmoid")(source.ctypes.data, room.ctypes.data, count, 1)
        assert (room[:count] == 0.5).all()
        assert (room[count:] == 7).all()


def test_the_number_of_threads_does_not_matter(monkeypatch):
    x = np.random.default_rng(0).random((1100, 1001), np.float32)
    results = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "cores", lambda count=count: count)
        monkeypatch.setattr(threads, "thread_count", lambda: 3)
        functions = vector_exp.sigmoid, vector_exp.softmax
        results.append([function(x).tobytes() for function in functions])
    assert results[0] == results[1] == results[2]


def test_ops_use_it_for_large_arrays_of_any_memory_order():
    x = np.random.default_rng(0).standard_normal((200, 130)).astype(np.float32)
    assert vector_exp.applies(x.size, x.dtype)
    assert not vector_exp.applies(100, x.dtype)
    assert not vector_exp.applies(x.size, np.dtype(np.float64))
    fed = tf.placeholder(tf.float32, [130, 200])
    turned = tf.transpose(fed)
    with tf.Session() as session:
        results = session.run(
            [tf.sigmoid(turned), tf.nn.softmax(turned)], {fed: x.T.copy()}
        )
    assert results[0].tobytes() == vector_exp.sigmoid(x).tobytes()
    assert results[1].tobytes() == vector_exp.softmax(x).tobytes()


def test_blocks_of_a_chain_give_the_numbers_of_the_op():
    """A block would otherwise be too small for the compiled function."""
    size = (1 << 22) + 100
    fed = tf.placeholder(tf.float32, [size])
    chain = tf.sigmoid(fed * 3.0) + 1.0
    x = np.random.default_rng(0).random(size, np.float32)
    with tf.Session() as session:
        result = session.run(chain, {fed: x})
    expected = vector_exp.sigmoid(x * np.float32(3)) + np.float32(1)
    assert result.tobytes() == expected.tobytes()
