"""What several threads share is what one would have made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import tfteach as tf
from tfteach.engine.execute import compile
from tfteach.framework import threads, workers
from tfteach.framework.contention import contention
from tfteach.ops.linalg import matmul
from tfteach.ops.math import reduce_ops
from tfteach.ops.windows import conv_kernels


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three threads share everything, however small."""
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    monkeypatch.setattr(threads, "LARGE", 0)
    monkeypatch.setattr(compile, "LARGE", 0)
    monkeypatch.setattr(reduce_ops, "LARGE", 0)
    monkeypatch.setattr(reduce_ops, "_BLOCK", 8)
    monkeypatch.setattr(matmul, "MIN_SHARED_PRODUCT", 0)
    monkeypatch.setattr(conv_kernels, "MIN_SHARED_WORK", 0)
    workers.forget_workers()
    yield
    workers.forget_workers()


@pytest.mark.parametrize("rows", [1, 2, 7, 9])
def test_by_rows(three: None, rows: int) -> None:
    array = np.arange(rows * 4.0).reshape(rows, 4)
    with threads.own_threads():
        found = threads.by_rows(lambda some: some.sum(1), array, 8)
    np.testing.assert_array_equal(found, array.sum(1))


def blas_threads() -> list[int]:
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library.get_num_threads() for library in found]


def test_blas_gets_its_threads_back(three: None) -> None:
    before = blas_threads()
    assert before, "NumPy's BLAS is not known"
    assert threads.cores() == 1
    with threads.own_threads():
        with threads.own_threads():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
        assert threads.cores() == 3
    assert blas_threads() == before
    assert threads.cores() == 1


def test_any_thread_limits_blas_and_gives_its_threads_back(three: None) -> None:
    """Also a second one; threadpoolctl lets only the first thread set limits."""
    before = blas_threads()
    with threads.own_threads():
        pass
    found: list[list[int]] = []

    def limit() -> None:
        with threads.own_threads():
            found.append(blas_threads())
        found.append(blas_threads())

    other = threading.Thread(target=limit)
    other.start()
    other.join()
    assert found == [[1] * len(before), before]


def test_products_leave_blas_threads_while_others_take_the_cores(
    three: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = np.random.default_rng(0).random((2, 96, 96))
    before, seen = blas_threads(), set()
    whole = np.matmul
    monkeypatch.setattr(
        np,
        "matmul",
        lambda *args, **out: seen.update(blas_threads()) or whole(*args, **out),
    )
    for is_likely in (False, True):
        monkeypatch.setattr(contention, "is_likely", lambda found=is_likely: found)
        seen.clear()
        np.testing.assert_allclose(matmul.product(np, a, b), whole(a, b), rtol=1e-12)
        assert seen == ({1} if is_likely else {*before})
        assert blas_threads() == before


def products(x: Any) -> list[Any]:
    """More rows than columns and the other way round; transposed, too."""
    wide = tf.reshape(x, [3, -1])
    return [
        tf.matmul(wide, wide, transpose_b=True),
        tf.matmul(wide, wide, transpose_a=True),
        tf.matmul(wide, tf.ones([10 * tf.shape(x)[0], 50], tf.float64)),
    ]


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
    fetches = reductions(x) + products(x) + convolutions(image, filters)
    fed = [
        {x: rng.rand(n, 5, 6), image: rng.rand(n, 7, 6, 3)} for n in (1, 2, 3, 4, 11)
    ]
    with tf.Session() as session:
        wanted = [session.run(fetches, feeds) for feeds in fed]
    request.getfixturevalue("three")
    with tf.Session() as session:
        found = [session.run(fetches, feeds) for feeds in fed]
    for ours, theirs in zip(found, wanted, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_only_heavy_runs_use_the_own_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    seen = []

    def note(array: Any) -> Any:
        seen.append(threads.cores())
        return array

    small, large = tf.ones([4]), tf.get_variable("v", [1 << 20])
    image = tf.placeholder(tf.float32, [None, 4, 4, 1])
    convolved = tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], "SAME")
    noted = [tf.py_func(note, [t], tf.float32) for t in (small, large[:4], convolved)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for tensor in noted:
            session.run(tensor, {image: np.zeros([1, 4, 4, 1])})
    assert seen == [1, 3, 3]
