"""Random numbers drawn by a card: the CPU's, on the stand-in for CuPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_arrays import to_host
from tests.card_capture import STATE
from tests.eagerly import eager_program
from tests.golden import random_numbers
from tests.ops.random.test_random_ops import CASES, GOLDEN
from tests.strict_card import CARD
from tfteach.engine.execute.cuda_graph import CAPTURE_AFTER
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.ops.random import philox
from tfteach.ops.random.philox_on_card import draw, state_of

# The counter's lower half overflows after three blocks.
GENERATOR = philox.Philox((7 << 64) | (2**64 - 3), (123, 2**32 - 5))
TYPES = np.float32, np.float64, np.float16, ml_dtypes.bfloat16
FLOATS = [np.dtype(kind) for kind in TYPES]
ON_HOST = {
    "uniform": philox.uniform,
    "normal": philox.normal,
    "truncated_normal": philox.truncated_normal,
}


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)


@pytest.mark.parametrize("distribution", ON_HOST)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats(distribution: str, dtype: np.dtype[Any]) -> None:
    for sizes in ((), (0, 3), (1,), (7,), (2, 5, 103)):
        count = int(np.prod(sizes))
        found = draw(CARD, distribution, sizes, dtype, state_of(GENERATOR))
        right = ON_HOST[distribution](GENERATOR, count, dtype)
        assert (found.shape, found.dtype) == (sizes, dtype)
        # The logarithm, the sine and the product of a float32 are rounded.
        is_rounded = distribution != "uniform" and dtype == np.float32
        np.testing.assert_allclose(
            to_host(found).reshape(-1).astype(np.float64),
            right.astype(np.float64),
            rtol=3e-7 if is_rounded else 0,
        )


@pytest.mark.parametrize(
    "key", [key for key in GOLDEN if "1 [7, 5]" in key or "[1, 2]" in key]
)
def test_tensorflows_numbers(key: str) -> None:
    found = random_numbers.value(tf, CASES[key])
    np.testing.assert_allclose(found, GOLDEN[key], 1e-3 if "float16" in key else 4e-7)


@pytest.mark.parametrize("bounds", [(0, 7), (-(2**31), 2**31 - 1), (-5, 12345678)])
@pytest.mark.parametrize("dtype", [np.dtype(np.int32), np.dtype(np.int64)], ids=str)
def test_integers(bounds: tuple[int, int], dtype: np.dtype[Any]) -> None:
    for count in (1, 6, 1027):
        state = state_of(GENERATOR, *bounds)
        found = to_host(draw(CARD, "integers", (count,), dtype, state))
        right = philox.uniform_int(GENERATOR, count, *bounds, dtype)
        np.testing.assert_array_equal(found, right)


def with_state(x: Any, n: Any) -> list[Any]:
    return [
        tf.random_uniform([3, 5], seed=1) * x,
        tf.random_normal([7], seed=2) + x,
        tf.truncated_normal([9], seed=3, dtype=tf.float64),
        tf.random_uniform([4], -3, 1000, tf.int32, seed=4),
        tf.random_uniform([4], -3, 1 << 40, tf.int64, seed=5),
        tf.nn.dropout(x * tf.ones([20]), rate=0.5, seed=6),
    ]


def without_state(x: Any, n: Any) -> list[Any]:
    seed = tf.stack([n, 5])
    return [
        tf.random.stateless_uniform([3, 5], seed) + x,
        tf.random.stateless_normal([7], [3, 4]) * x,
        tf.random.stateless_truncated_normal([2, 2], seed, dtype=tf.float64),
        tf.random.stateless_uniform([4], seed, 2, 90, tf.int32),
        tf.random.stateless_uniform([4], [5, 6], 2, 90, tf.int64),
    ]


def of_fed_size(x: Any, n: Any) -> list[Any]:
    """The size is known when a run knows it."""
    return [tf.random_uniform([n, 2], seed=7) * x, tf.random_normal([n], seed=8)]


def in_a_loop(x: Any, n: Any) -> list[Any]:
    def more(i: Any, total: Any) -> tuple[Any, Any]:
        return i + 1, total * 0.5 + tf.random_uniform([3], seed=9)

    start = [tf.constant(0), tf.zeros([3]) + x]
    return [tf.while_loop(lambda i, _: i < 3, more, start)[1]]


PROGRAMS = [with_state, without_state, of_fed_size, in_a_loop]


def runs(program: Callable[[Any, Any], list[Any]], gpus: int) -> list[list[Any]]:
    config = tf.ConfigProto(device_count={"GPU": gpus})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        x, n = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
        fetches = program(x, n)
        found = []
        for i in range(HOT_AFTER_RUNS + CAPTURE_AFTER + 3):
            found.append(sess.run(fetches, {x: i, n: 3 + i % 2}))
            sess.run(
                fetches[0], {x: 1.0, n: 2}
            )  # another step draws from the same stream
        return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_sessions_draw_what_the_cpu_draws(
    program: Callable[[Any, Any], list[Any]],
) -> None:
    launches = STATE.launches
    for run, expected in zip(runs(program, 1), runs(program, 0), strict=True):
        for found, right in zip(run, expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-6)
    assert STATE.launches > launches


def test_a_graph_draws_without_copies_of_numbers() -> None:
    numbers = [tf.random_uniform([1000], seed=i) for i in (1, 2)]
    total = tf.reduce_sum(numbers[0] * numbers[1]).op
    with tf.Session() as sess:
        for _ in range(HOT_AFTER_RUNS + CAPTURE_AFTER + 1):
            kernels, launches = STATE.kernels, STATE.launches
            sess.run(total)
        assert (STATE.kernels, STATE.launches) == (kernels, launches + 1)
        assert not sess.transfers


def test_errors_are_those_of_the_cpu() -> None:
    least = tf.placeholder(tf.int32, [])
    numbers = tf.random_uniform([2], least, 5, tf.int32)
    stateless = tf.random.stateless_uniform([2], [1, 2], least, 5, tf.int32)
    size = tf.placeholder(tf.int32, [1])
    sized = tf.random_normal(size)
    message = "Need minval < maxval, got 5 >= 5"
    with tf.Session() as sess:
        for fetch in (numbers, stateless):
            for i in range(HOT_AFTER_RUNS + CAPTURE_AFTER + 2):
                assert sess.run(fetch, {least: 4}).tolist() == [4, 4]
                if i % 5 == 0 or i > HOT_AFTER_RUNS + CAPTURE_AFTER:
                    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                        sess.run(fetch, {least: 5})
        with pytest.raises(tf.errors.InvalidArgumentError, match="-1 must be >= 0"):
            sess.run(sized, {size: [-1]})


def test_an_eager_program_draws_on_the_card() -> None:
    def drawn(device: str) -> list[Any]:
        tf.set_random_seed(3)  # the streams begin anew
        with tf.device(device):
            made = [tf.random_uniform([5]), tf.random_normal([5])]
        return [value.numpy().tolist() for value in made]

    with eager_program():
        np.testing.assert_allclose(drawn("gpu:0"), drawn("cpu:0"), rtol=1e-6)
