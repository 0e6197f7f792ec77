"""Compiled chains over arrays of known shapes: NumPy's numbers, whatever comes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.engine.fusion import fuse_small
from tfteach.engine.fusion.fuse_small import ChainKernel, form_of
from tfteach.framework import threads, workers
from tfteach.framework.loops import compiled_loops

pytest.importorskip("llvmlite")


def unoptimized() -> tf.ConfigProto:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    return config


def check(fetches: Any, feeds: Any = None) -> None:
    """The optimized run gives what the ops give one by one."""
    with tf.Session() as session, tf.Session(config=unoptimized()) as plain:
        for s in (session, plain):
            s.run(tf.global_variables_initializer())
        ours, theirs = session.run(fetches, feeds), plain.run(fetches, feeds)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine.dtype == wanted.dtype
        np.testing.assert_array_equal(mine, wanted)


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    values = np.random.RandomState(len(shape)).randn(*shape).astype(dtype)
    values.flat[:4] = [np.nan, np.inf, -np.inf, -0.0]
    return values


@pytest.mark.parametrize(
    ("shape", "form"),
    [
        ((4, 5, 6), "whole"),
        ((), "number"),
        ((1, 1), "number"),
        ((6,), "row"),
        ((5, 6), "row"),
        ((1, 1, 6), "row"),
        ((4, 5, 1), "column"),
        ((5, 1), None),
        ((4, 1, 1), None),
        ((1, 4, 5, 6), None),
        ((None, 5, 6), None),
        (None, None),
    ],
)
def test_how_arguments_lie_along_results(shape: Any, form: str | None) -> None:
    assert form_of(shape, (4, 5, 6)) == form


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("other", [(), (1,), (40,), (1, 40), (30, 1), (30, 40), (1, 1)])
def test_shapes_that_broadcast(
    compiled: list[ChainKernel], other: tuple[int, ...], dtype: Any
) -> None:
    x = tf.constant(numbers(30, 40, dtype=dtype)) + tf.Variable(dtype(0))
    y = tf.Variable(numbers(*other, dtype=dtype) if other else dtype(1.5))
    z = tf.maximum(x * y - 3, -x) / 7
    check([z, tf.square(z) + x], {})
    assert len(compiled) == 1


def test_a_row_and_a_column_at_once(compiled: list[ChainKernel]) -> None:
    x = tf.Variable(numbers(30, 40))
    row, column = tf.Variable(numbers(40)), tf.Variable(numbers(30, 1))
    check([(x + row) * column - x])
    assert len(compiled) == 1


def test_rows_of_two_lengths_stay_with_numpy(compiled: list[ChainKernel]) -> None:
    x = tf.Variable(numbers(6, 20, 30))
    short, long = tf.Variable(numbers(30)), tf.Variable(numbers(20, 30))
    check([(x + short) * long - x])
    assert compiled == []


@pytest.mark.parametrize(
    "build",
    [
        lambda x: tf.sigmoid(x * x) * (1 - x),
        lambda x: tf.gradients(tf.sigmoid(x) * tf.tanh(x), x)[0],
        lambda x: tf.gradients(tf.nn.relu(x) * x, x)[0],
        lambda x: tf.nn.relu(x) - x,
        lambda x: tf.where(x > 0, x, -x),
        lambda x: tf.pow(x, 2) + tf.pow(x, 1) * 3,
        lambda x: tf.nn.bias_add(x, tf.ones(40)) * x,
        lambda x: tf.add_n([x, x * 2, x / 3]),
        lambda x: tf.nn.softsign(x) + abs(x),
    ],
)
def test_ops_are_numpys(compiled: list[ChainKernel], build: Any) -> None:
    check([build(tf.Variable(numbers(30, 40)))])
    assert compiled


def test_a_vector_of_truths_picks_rows(compiled: list[ChainKernel]) -> None:
    x = tf.Variable(np.arange(900, dtype=np.float32).reshape(30, 30))
    rows = tf.Variable(np.arange(30) % 2 == 0)
    picked = tf.where(rows, x * 2 + 1, -x)
    check([picked, tf.where(x > 3, picked, x)])


def test_channels_first(compiled: list[ChainKernel]) -> None:
    x = tf.Variable(numbers(2, 20, 3, 20))
    biased = tf.nn.bias_add(x * 2, tf.Variable(numbers(20)), data_format="NCHW")
    check([biased * x + x])


def test_arrays_that_do_not_lie_in_order(compiled: list[ChainKernel]) -> None:
    x = tf.placeholder(tf.float32, [30, 40])
    check([(x + 1) * x - 2], {x: numbers(40, 30).T})
    check([tf.transpose(x) * 2 + tf.ones([40, 30])], {x: numbers(60, 80)[::2, ::2]})
    assert len(compiled) == 2


def test_sigmoids_leave_what_is_fed_and_fetched(compiled: list[ChainKernel]) -> None:
    x = tf.placeholder(tf.float32, [30, 40])
    y = tf.sigmoid(x)
    fed = np.asfortranarray(numbers(30, 40))
    check([y, y * y + x, y > 0.5], {x: fed})
    with tf.Session() as session:
        first = session.run(y, {x: fed})
        kept = first.copy()
        for _ in range(3):
            session.run(y, {x: fed * 2})
        np.testing.assert_array_equal(first, kept)


def test_shapes_that_are_not_as_promised(compiled: list[ChainKernel]) -> None:
    x = tf.placeholder(tf.float32, None)
    y = tf.identity(x)
    y.set_shape([30, 40])  # a promise that the feed will break
    z = (y + tf.ones([30, 40])) * y
    with tf.Session() as session:
        for _ in range(2):
            session.run(z, {x: numbers(30, 40)})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
            session.run(z, {x: numbers(10, 10)})


def test_training_gives_the_same_numbers(compiled: list[ChainKernel]) -> None:
    x = tf.placeholder(tf.float32, [None, 40])
    w = tf.Variable(np.linspace(-1, 1, 1600, dtype=np.float32).reshape(40, 40))
    b = tf.Variable(tf.zeros([40]))
    loss = tf.reduce_mean(tf.pow(tf.sigmoid(tf.matmul(x, w) + b) - x, 2))
    train = tf.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
    fed = {x: np.random.RandomState(1).rand(50, 40)}
    losses = []
    for config in (None, unoptimized()):
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            losses.append([session.run([loss, train], fed)[0] for _ in range(30)])
    assert losses[0] == losses[1]
    assert compiled


def test_threads_share_large_chains(
    compiled: list[ChainKernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuse_small, "MIN_SHARED", 0)
    monkeypatch.setattr(threads, "MIN_PART", 100)
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    workers.forget_workers()
    calls: list[int] = []
    inner = threads.workers

    def counted(count: int) -> Any:
        calls.append(count)
        return inner(count)

    monkeypatch.setattr(threads, "workers", counted)
    x, other = (tf.Variable(numbers(31, 40)) for _ in range(2))
    row, column = tf.Variable(numbers(40)), tf.Variable(numbers(31, 1))
    number = tf.Variable(np.float32(3))
    with threads.own_threads():
        check([tf.nn.relu(x + row), (x - other) * x])
        check([(x + column) * row - number, x * column / number])
    assert len(compiled) == 4
    assert calls == [2] * 4
    workers.forget_workers()


def test_one_op_of_several_passes_is_compiled(compiled: list[ChainKernel]) -> None:
    x = tf.Variable(numbers(30, 40))
    [of_relu] = tf.gradients(tf.nn.relu(x), x, tf.identity(x))
    check([of_relu])
    assert len(compiled) == 1
    check([x * x])
    assert len(compiled) == 1


def test_chains_called_seldom_are_not_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    x = tf.Variable(numbers(30, 40))
    y = (x * 3 + x) / 17 - x
    before = set(compiled_loops._loops)
    with tf.Session() as session:
        session.run(x.initializer)
        for _ in range(fuse_small.CALLS_TO_COMPILE - 1):
            session.run(y)
        assert set(compiled_loops._loops) == before
        for _ in range(HOT_AFTER_RUNS + fuse_small.CALLS_TO_COMPILE):
            session.run(y)
        assert len(set(compiled_loops._loops) - before) == 1
