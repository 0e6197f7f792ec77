"""What several threads share is what one would have made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import tfteach as tf
from tfteach.framework import threads
from tfteach.ops import conv_kernels, reduce


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three threads share everything, however small."""
    for module in (threads, conv_kernels, reduce):
        monkeypatch.setattr(module, "thread_count", lambda: 3)
    monkeypatch.setattr(threads, "LARGE", 0)
    monkeypatch.setattr(reduce, "LARGE", 0)
    monkeypatch.setattr(reduce, "_BLOCK", 8)
    monkeypatch.setattr(conv_kernels, "MIN_SHARED_WORK", 0)
    threads._pool.cache_clear()
    yield
    threads._pool().shutdown()
    threads._pool.cache_clear()


@pytest.mark.parametrize("rows", [1, 2, 7, 9])
def test_by_rows(three: None, rows: int) -> None:
    array = np.arange(rows * 4.0).reshape(rows, 4)
    found = threads.by_rows(lambda some: some.sum(1), array, 8)
    np.testing.assert_array_equal(found, array.sum(1))


def blas_threads() -> list[int]:
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library.get_num_threads() for library in found]


def test_blas_gets_its_threads_back() -> None:
    before = blas_threads()
    assert before, "NumPy's BLAS is not known"
    with threads.one_blas_thread():
        with threads.one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def reductions(x: Any) -> list[Any]:
    axes: list[Any] = [None, 0, 1, [0, 1], [1, 2], -1, -3, []]
    kinds = (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_prod)
    results = [kind(x, axis) for kind in kinds for axis in axes]
    kept = [tf.reduce_sum(x, axis, keepdims=True) for axis in axes]
    return results + kept + [tf.nn.softmax(x), tf.nn.log_softmax(x)]


def convolutions(x: Any, filters: Any) -> list[Any]:
    y = tf.nn.conv2d(x, filters, strides=[1, 2, 1, 1], padding="SAME")
    return [y, *tf.gradients(y * y, [x, filters])]


def test_ops_give_what_one_thread_gives(request: pytest.FixtureRequest) -> None:
    rng = np.random.RandomState(3)
    x = tf.placeholder(tf.float64, [None, 5, 6])
    image = tf.placeholder(tf.float64, [None, 7, 6, 3])
    filters = tf.constant(rng.rand(3, 2, 3, 4))
    fetches = reductions(x) + convolutions(image, filters)
    fed = [
        {x: rng.rand(n, 5, 6), image: rng.rand(n, 7, 6, 3)} for n in (1, 2, 3, 4, 11)
    ]
    with tf.Session() as session:
        wanted = [session.run(fetches, feeds) for feeds in fed]
        request.getfixturevalue("three")
        found = [session.run(fetches, feeds) for feeds in fed]
    for ours, theirs in zip(found, wanted, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-12)
