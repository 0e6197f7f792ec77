"""A chain behind a convolution or a pool's gradient changes its parts, to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.engine.fusion.test_fuse_small import unoptimized
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.engine.fusion import epilogues
from tfteach.framework import machine_code, threads, workers
from tfteach.framework.errors import InvalidArgumentError
from tfteach.framework.loops import compiled_loops
from tfteach.ops.windows import compiled_pool, conv_by_tiles

pytestmark = pytest.mark.skipif(
    machine_code.vectors() is None, reason="nothing can be compiled here"
)
# Runs until chains are compiled for the fed shapes, and then some.
RUNS = 2 * HOT_AFTER_RUNS + 16


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All is compiled as early as possible, and three threads share all work."""
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    monkeypatch.setattr(compiled_pool, "MIN_ELEMENTS", 0)
    monkeypatch.setattr(compiled_pool, "_FINISHED", 1000)
    monkeypatch.setattr(conv_by_tiles, "MIN_WORK", 1000)
    monkeypatch.setattr(epilogues, "MIN_ELEMENTS", 1)
    monkeypatch.setattr(threads, "MIN_PART", 100)
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    workers.forget_workers()
    yield
    workers.forget_workers()


@pytest.fixture
def finished(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each call of a kernel and its chain: whether the parts were finished."""
    found: list[bool] = []
    call = epilogues.FollowedKernel.__call__

    def counting(self: epilogues.FollowedKernel, *arrays: Any) -> Any:
        done: list[tuple[int, int]] = []
        run_of = self._run

        def spy(others: Any) -> Callable[[Any, int, int], None] | None:
            run = run_of(others)
            if run is None:
                return None

            def noting(result: Any, begin: int, end: int) -> None:
                done.append((begin, end))
                run(result, begin, end)

            return noting

        self._run = spy  # type: ignore[method-assign]
        try:
            value = call(self, *arrays)
        finally:
            del self._run
        found.append(bool(done))
        if done:  # each element exactly once
            edges = [0, *(end for _, end in sorted(done))]
            assert [begin for begin, _ in sorted(done)] == edges[:-1]
            assert edges[-1] == value.size
        return value

    monkeypatch.setattr(epilogues.FollowedKernel, "__call__", counting)
    return found


def numbers(*shape: int, dtype: Any = np.float32, special: bool = True) -> Any:
    values = np.random.RandomState(len(shape)).randn(*shape).astype(dtype)
    if special:
        values.flat[:4] = [np.nan, np.inf, -np.inf, -0.0]
    return values


def check(fetches: Any, feeds: Any) -> None:
    """Each of many runs gives what the ops give one by one."""
    with tf.Session() as session, tf.Session(config=unoptimized()) as plain:
        for s in (session, plain):
            s.run(tf.global_variables_initializer())
        wanted = plain.run(fetches, feeds)
        for _ in range(RUNS):
            for mine, right in zip(session.run(fetches, feeds), wanted, strict=True):
                assert mine.dtype == right.dtype
                np.testing.assert_array_equal(mine, right)
                assert (np.signbit(mine) == np.signbit(right)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "filters", "strides"),
    [
        ((5, 12, 11, 3), (3, 3, 3, 16), 1),
        ((1, 40, 9, 3), (5, 5, 3, 16), 1),  # parts are rows
        ((6, 9, 9, 2), (3, 2, 2, 100), 2),  # several blocks of columns
        ((6, 7, 7, 2), (3, 3, 2, 21), 1),  # an incomplete vector
    ],
)
def test_bias_and_relu_behind_a_convolution(
    shape: Any, filters: Any, strides: int, dtype: str, finished: list[bool]
) -> None:
    x = tf.placeholder(dtype, [None, *shape[1:]])
    kernel = numbers(*filters, dtype=dtype, special=False)
    y = tf.nn.conv2d(x, kernel, [1, strides, strides, 1], "SAME")
    y = tf.nn.relu(tf.nn.bias_add(y, numbers(filters[-1], dtype=dtype)))
    check([y], {x: numbers(*shape, dtype=dtype)})
    assert finished[-1]


def test_a_chain_with_numbers_and_whole_arguments(finished: list[bool]) -> None:
    x = tf.placeholder("float32", [4, 8, 8, 3])
    other = tf.placeholder("float32", [4, 8, 8, 16])
    y = tf.nn.conv2d(x, numbers(3, 3, 3, 16, special=False), 1, "SAME")
    y = (other - y) * 3 + other
    check([y], {x: numbers(4, 8, 8, 3), other: numbers(4, 8, 8, 16)})
    assert finished[-1]


@pytest.mark.parametrize("window", [2, 3])
@pytest.mark.parametrize("channels", [16, 21])
def test_the_gradient_of_relu_behind_that_of_a_pool(
    window: int, channels: int, finished: list[bool]
) -> None:
    x = tf.placeholder("float32", [7, 9, 8, channels])
    relu = tf.nn.relu(x)
    pooled = tf.nn.max_pool(relu, [1, window, window, 1], [1, 2, 2, 1], "SAME")
    weights = numbers(*pooled.shape.as_list())
    (grad,) = tf.gradients(pooled, [x], [tf.constant(weights)])
    check([grad], {x: numbers(7, 9, 8, channels)})
    assert finished[-1]


def test_a_whole_convolution_trains_alike(finished: list[bool]) -> None:
    x = tf.placeholder("float32", [None, 12, 12, 3])
    filters = tf.Variable(numbers(3, 3, 3, 16, special=False))
    bias = tf.Variable(numbers(16, special=False))
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, 1, "SAME"), bias))
    loss = tf.reduce_sum(tf.nn.max_pool(y, 2, 2, "SAME") ** 2)
    train = tf.train.GradientDescentOptimizer(1e-4).minimize(loss)
    feeds = {x: numbers(6, 12, 12, 3, special=False)}
    with tf.Session() as session, tf.Session(config=unoptimized()) as plain:
        for s in (session, plain):
            s.run(tf.global_variables_initializer())
        for _ in range(RUNS):
            ours, theirs = (s.run([loss, train], feeds)[0] for s in (session, plain))
            np.testing.assert_array_equal(ours, theirs)
    assert finished[-2:] == [True, True]


def joined(fetches: Any, feeds: Any, found: list[bool]) -> bool:
    """Whether an epilogue finished parts in any of many runs, which are right."""
    check(fetches, feeds)
    return any(found)


def test_a_result_that_is_needed_itself_stays_as_it_is(finished: list[bool]) -> None:
    x = tf.placeholder("float32", [4, 8, 8, 3])
    y = tf.nn.conv2d(x, numbers(3, 3, 3, 16, special=False), 1, "SAME")
    z = tf.nn.relu(y + 1)
    feeds = {x: numbers(4, 8, 8, 3)}
    assert not joined([y, z], feeds, finished)
    assert not joined([z, tf.reduce_sum(y)], feeds, finished)


def test_channels_first_are_not_mistaken(finished: list[bool]) -> None:
    """The kernel's array has the same shape as the op's result, in another order."""
    x = tf.placeholder("float32", [16, 3, 16, 16])
    other = numbers(16, 16, 16, 16)
    filters = numbers(3, 3, 3, 16, special=False)
    y = tf.nn.conv2d(x, filters, 1, "SAME", data_format="NCHW")
    assert not joined([tf.nn.relu(y + other)], {x: numbers(16, 3, 16, 16)}, finished)


def test_a_bias_for_more_than_the_channels_runs_afterwards(
    finished: list[bool],
) -> None:
    x = tf.placeholder("float32", [4, 8, 8, 3])
    y = tf.nn.conv2d(x, numbers(3, 3, 3, 16, special=False), 1, "SAME")
    z = tf.nn.relu(y + numbers(8, 16))
    assert not joined([z], {x: numbers(4, 8, 8, 3)}, finished)


def test_small_convolutions_run_as_before(
    monkeypatch: pytest.MonkeyPatch, finished: list[bool]
) -> None:
    monkeypatch.setattr(conv_by_tiles, "MIN_WORK", 1 << 60)
    x = tf.placeholder("float32", [4, 8, 8, 3])
    y = tf.nn.conv2d(x, numbers(3, 3, 3, 16, special=False), 1, "SAME")
    assert not joined([tf.nn.relu(y + 1)], {x: numbers(4, 8, 8, 3)}, finished)
    assert finished  # it was asked


def test_an_update_between_keeps_them_apart(finished: list[bool]) -> None:
    """The convolution would hold the variable's array, which is updated in place."""
    variable = tf.Variable(numbers(4, 8, 8, 3, special=False))
    y = tf.nn.conv2d(variable, numbers(3, 3, 3, 16, special=False), 1, "SAME")
    with tf.control_dependencies([y]):
        assign = variable.assign_add(tf.ones([4, 8, 8, 3]))
    with tf.control_dependencies([assign]):
        one = tf.identity(tf.constant(1.0))
    z = tf.nn.relu(y * 2 + one)
    with tf.Session() as session, tf.Session(config=unoptimized()) as plain:
        for s in (session, plain):
            s.run(tf.global_variables_initializer())
        for _ in range(RUNS):
            np.testing.assert_array_equal(session.run(z), plain.run(z))
    assert not finished


def test_errors_name_the_convolution() -> None:
    x = tf.placeholder("float32", [4, 8, 8, None])
    y = tf.nn.conv2d(x, numbers(3, 3, 3, 16, special=False), 1, "SAME", name="conv")
    z = tf.nn.relu(y + 1)
    with tf.Session() as session:
        for _ in range(RUNS):
            session.run(z, {x: numbers(4, 8, 8, 3)})
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(z, {x: numbers(4, 8, 8, 2)})
    assert caught.value.op.name == "conv"
