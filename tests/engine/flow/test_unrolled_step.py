"""Loops of which the host knows each iteration, as CUDA graphs, on the stand-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_capture import STATE
from tfteach.engine.execute.cuda_graph import CAPTURE_AFTER, GraphedStep
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.engine.flow import unrolled_step

RUNS = HOT_AFTER_RUNS + CAPTURE_AFTER + 3


def trained(outputs: Any) -> list[Any]:
    loss = tf.reduce_mean(tf.square(outputs - 1.0))
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)]


def recurrent(cell: Any) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        steps = tf.reshape(x, [-1, 4, 2])
        return trained(tf.nn.dynamic_rnn(cell(3), steps, dtype=tf.float32)[0])

    return program


def of_known_lengths(x: Any) -> Any:
    steps = tf.reshape(x, [2, 4, 2])
    cell = tf.nn.rnn_cell.GRUCell(3)
    outputs, state = tf.nn.dynamic_rnn(cell, steps, [2, 4], dtype=tf.float32)
    return [*trained(outputs), state]


def loop_with_gradient(x: Any) -> Any:
    w = tf.get_variable("w", [8], initializer=tf.ones_initializer())
    _, y = tf.while_loop(
        lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y * w)), [tf.constant(0), x]
    )
    return trained(y)


def known_condition(x: Any) -> Any:
    return [tf.cond(tf.equal(tf.size(x), 16), lambda: x * 2.0, lambda: x * 3.0)]


def mapped(x: Any) -> Any:
    return [tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)]


def scanned(x: Any) -> Any:
    return [tf.scan(lambda total, row: total * 0.5 + row, x)]


def loops_in_loops(x: Any) -> Any:
    def outer(i: Any, y: Any) -> Any:
        _, inner = tf.while_loop(
            lambda j, _: j < i, lambda j, z: (j + 1, z * 1.5 + x), [tf.constant(0), y]
        )
        return i + 1, inner

    return [tf.while_loop(lambda i, _: i < 4, outer, [tf.constant(0), x])[1]]


def swapped_in_a_loop(x: Any) -> Any:
    start = [tf.constant(0), x, x + 1.0]
    found = tf.while_loop(lambda i, *_: i < 3, lambda i, a, b: (i + 1, b, a), start)
    return [found[1] * 2.0, found[2]]


PROGRAMS = {
    "swapped in a loop": swapped_in_a_loop,
    "LSTM": recurrent(tf.nn.rnn_cell.BasicLSTMCell),
    "GRU": recurrent(tf.nn.rnn_cell.GRUCell),
    "known lengths": of_known_lengths,
    "loop with gradient": loop_with_gradient,
    "known condition": known_condition,
    "map_fn": mapped,
    "scan": scanned,
    "loops in loops": loops_in_loops,
}


def a_condition_of_the_card(x: Any) -> Any:
    return [tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x * 3.0)]


def until_it_is_small(x: Any) -> Any:
    return [
        tf.while_loop(lambda y: tf.reduce_max(tf.abs(y)) > 0.5, lambda y: y * 0.5, [x])
    ]


UNKNOWN = {"condition": a_condition_of_the_card, "loop": until_it_is_small}


def runs(program: Callable[[Any], Any]) -> tuple[list[Any], Any, tuple[int, int]]:
    """The fetched values of all runs, the hot functions, and what the last launched."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(2)
        x = tf.placeholder(tf.float32, [None, 8])
        fetches = program(x)
        sess.run(tf.global_variables_initializer())
        feeds = np.random.default_rng(1).normal(size=(RUNS, 2, 8))
        found = []
        for feed in feeds:
            kernels, launches = STATE.kernels, STATE.launches
            found.append([v for v in sess.run(fetches, {x: feed}) if v is not None])
        counts = STATE.kernels - kernels, STATE.launches - launches
        programs = [program for program, _ in sess._programs.values()]
        hot = [s for p in programs for s in getattr(p, "hot", {}).values()]
        return found, hot, counts


def compared(program: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    expected, *_ = runs(program)
    strict_card.install(monkeypatch)
    found, hot, counts = runs(program)
    for values, right in zip(found, expected, strict=True):
        for value, reference in zip(values, right, strict=True):
            np.testing.assert_allclose(value, reference, rtol=2e-4, atol=1e-5)
    return hot, counts


@pytest.mark.parametrize("name", PROGRAMS)
def test_iterations_are_one_graph(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [script], counts = compared(PROGRAMS[name], monkeypatch)
    step = script.generated
    assert isinstance(step, GraphedStep)
    assert step.reason == ""
    has_variables = name in ("LSTM", "GRU", "known lengths", "loop with gradient")
    assert counts == (0, 1 + has_variables)
    assert " while " not in step.source


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_only_a_run_knows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hot, _ = compared(UNKNOWN[name], monkeypatch)
    assert not any(isinstance(script.generated, GraphedStep) for script in hot)


def test_a_long_loop_is_not_unrolled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled_step, "MAX_INSTRUCTIONS", 5)
    [script], _ = compared(loop_with_gradient, monkeypatch)
    assert not isinstance(script.generated, GraphedStep)
