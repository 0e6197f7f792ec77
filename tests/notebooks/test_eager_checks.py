"""The checks of the lessons on eager execution explain each mistake."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eager_program

# ---- lesson 19


def fits(rate: float = 0.1, start: float = 0.0, returns: bool = True) -> Any:
    def fit_line(x: Any, y: Any, steps: int = 300) -> Any:
        w, b = tf.Variable(start), tf.Variable(0.0)
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w * x + b - y))
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(rate * dw)
            b.assign_sub(rate * db)
        return (w.numpy(), b.numpy()) if returns else None

    return fit_line


@pytest.mark.parametrize(
    ("fit_line", "said"),
    [
        (fits(), "Right"),
        (fits(rate=0.0), "still 0"),
        (fits(rate=-0.5), "went further away"),
        (fits(rate=0.001), "but the best line has"),
        (fits(rate=0.2), "the first step takes w to 0.600"),
        (fits(returns=False), "returns None"),
        (lambda x, y, steps=300: tf.no_such_op(x), "it ends with AttributeError"),
    ],
)
def test_lesson_19(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], fit_line: Any, said: str
) -> None:
    with eager_program():
        checks.check_fit_line(fit_line)
    assert said in capsys.readouterr().out


# ---- lesson 20

NUMBERS = tf.TensorSpec([None], tf.float32)
NUMBER = tf.TensorSpec([], tf.float32)


def steps(decorator: Any, factor: float = 1.0) -> Any:
    def make_step(w: Any) -> Any:
        def step(x: Any, y: Any, rate: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w * x - y))
            w.assign_sub(rate * factor * tape.gradient(loss, w))
            return loss

        return decorator(step)

    return make_step


class RatesAsTensors:
    """A traced step that gets tensors; their sizes are not described."""

    def __init__(self, step: Any) -> None:
        self._traced = tf.function(step)

    @property
    def traces(self) -> Any:
        return self._traced.traces

    def __call__(self, x: Any, y: Any, rate: Any) -> Any:
        return self._traced(tf.constant(x), tf.constant(y), tf.constant(rate))


@pytest.mark.parametrize(
    ("make_step", "said"),
    [
        (steps(tf.function(input_signature=[NUMBERS, NUMBERS, NUMBER])), "Right"),
        (steps(tf.function), "4 steps made 4 traces, since the rate, a Python number"),
        (steps(RatesAsTensors), "4 steps made 2 traces, since the size of a batch"),
        (steps(lambda step: step), "is no `tf.function`"),
        (steps(tf.function, factor=-1.0), "w should be"),
        (lambda w: None, "returns None"),
    ],
)
def test_lesson_20(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], make_step: Any, said: str
) -> None:
    with eager_program():
        checks.check_one_trace(make_step)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("check", ["check_fit_line", "check_one_trace"])
def test_no_eager_program(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], check: str
) -> None:
    getattr(checks, check)(lambda *args: None)
    assert "Restart the kernel" in capsys.readouterr().out
