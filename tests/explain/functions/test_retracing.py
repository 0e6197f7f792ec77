from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.explain.functions.function_calls import FunctionLog, watch_functions
from tfteach.explain.functions.retracing import Retracing

pytestmark = pytest.mark.usefixtures("eagerly")


def verdict_on(run: Any) -> Retracing:
    with watch_functions() as log:
        run()
    assert isinstance(log, FunctionLog)
    return log.verdict


@tf.function
def power(x: Any, n: Any) -> Any:
    return x * tf.cast(n, tf.float32)


def test_python_numbers() -> None:
    def run() -> None:
        for n in range(4):
            power(tf.constant(2.0), n)

    found = verdict_on(run)
    assert found.kind == "python"
    assert found.is_waste
    assert found.line is not None
    assert found.line.text == "power(tf.constant(2.0), n)"
    assert found.headline(lambda line: line.text) == (
        "Retracing: power(tf.constant(2.0), n) calls `power`, and each of 4 calls "
        "traces anew: the Python value `n` changes, and a trace holds one."
    )
    assert found.code() == "power(tf.constant(2.0), tf.constant(n))"
    assert found.fix().startswith("Pass `n` as a Tensor")
    assert "spent on traces; a call that makes one takes" in found.cost()
    assert found.sign() == "traced 4 times"


def test_numbers_by_keyword_and_in_a_longer_line() -> None:
    def run() -> None:
        found = [power(n=2 * i, x=tf.constant(2.0)) for i in range(4)]
        del found

    code = "found = [power(n=tf.constant(2 * i), x=tf.constant(2.0)) for i in range(4)]"
    assert verdict_on(run).code() == code


def test_new_shapes() -> None:
    @tf.function
    def total(x: Any) -> Any:
        return tf.reduce_sum(x)

    def run() -> None:
        for n in range(1, 5):
            total(tf.ones([n, 3]))

    found = verdict_on(run)
    assert found.kind == "shape"
    assert found.code().splitlines() == [
        "@tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])",
        "def total(x: Any) -> Any:",
    ]
    assert "the shape of `x` changes, as in 4x3 after 3x3" in found.headline()


def test_new_shapes_beside_python_values() -> None:
    @tf.function
    def total(x: Any, scale: float = 2.0) -> Any:
        return tf.reduce_sum(x) * scale

    def run() -> None:
        for n in range(1, 5):
            total(tf.ones([n]))

    assert verdict_on(run).code().splitlines() == [
        "@tf.function(experimental_relax_shapes=True)",
        "def total(x: Any, scale: float = 2.0) -> Any:",
    ]


def test_a_function_made_in_the_loop() -> None:
    def step(x: Any) -> Any:
        return x

    def run() -> None:
        for _ in range(3):
            tf.function(step)(tf.constant(1.0))

    found = verdict_on(run)
    assert found.kind == "made"
    assert "a new tf.function is made for each" in found.headline()
    assert found.code() == "fast_step = tf.function(step)  # once, before the loop"


def test_a_lambda_in_the_loop() -> None:
    def run() -> None:
        for _ in range(3):
            double = tf.function(lambda x: x * 2.0)
            double(tf.constant(1.0))

    cure = "double = tf.function(lambda x: x * 2.0)  # once, before the loop"
    assert verdict_on(run).code() == cure


def test_a_decorated_function_in_the_loop() -> None:
    def run() -> None:
        for _ in range(3):

            @tf.function
            def own_step(x: Any) -> Any:
                return x

            own_step(tf.constant(1.0))

    assert verdict_on(run).code().splitlines() == [
        "@tf.function",
        "def own_step(x: Any) -> Any:  # once, before the loop",
    ]


def test_new_objects() -> None:
    f = tf.function(lambda x, options: x)

    def run() -> None:
        for _ in range(3):
            f(tf.constant(1.0), object())

    found = verdict_on(run)
    assert found.kind == "object"
    assert "`options` is each time another object object" in found.headline()
    assert found.fix().startswith("Pass the same object as `options`")


def test_new_types() -> None:
    f = tf.function(lambda x: x)

    def run() -> None:
        for dtype in (tf.float32, tf.float64, tf.int32):
            f(tf.constant(1, dtype))

    found = verdict_on(run)
    assert found.kind == "dtype"
    assert found.code() == "f(tf.cast(tf.constant(1, dtype), tf.float32))"


def test_other_ranks() -> None:
    f = tf.function(lambda x: x)

    def run() -> None:
        for rank in range(3):
            f(tf.ones([1] * rank))

    found = verdict_on(run)
    assert found.kind == "rank"
    assert "TensorSpec(None, tf.float32)" in found.code()


@pytest.mark.parametrize("calls", [1, 2, 12])
def test_a_few_traces_are_no_waste(calls: int) -> None:
    f = tf.function(lambda x, training: x)

    def run() -> None:
        for i in range(calls):
            f(tf.constant(1.0), i % 2 == 0)

    found = verdict_on(run)
    assert not found.is_waste
    assert found.kind == ("clean" if calls == 1 else "few")
    assert (found.fix(), found.code(), found.cost()) == ("", "", "")


def test_four_modes_in_many_calls_are_a_choice() -> None:
    f = tf.function(lambda x, mode: x)

    def run() -> None:
        for i in range(40):
            f(tf.constant(1.0), "abcd"[i % 4])

    assert verdict_on(run).kind == "few"


def test_the_worst_function_counts() -> None:
    good = tf.function(lambda x: x)

    def run() -> None:
        for n in range(3):
            good(tf.constant(1.0))
            power(tf.constant(1.0), n + 100)

    found = verdict_on(run)
    assert found.use is not None
    assert found.use.name == "power"


def test_the_text_has_the_verdict_and_the_cure() -> None:
    with watch_functions() as log:
        for n in range(12):
            power(tf.constant(2.0), n + 0.5)
    text = str(log)
    assert text.startswith("power (line ")
    assert ": 12 calls, 12 traces\n" in text
    assert "n is 1.5, before 0.5" in text
    assert "  and 4 traces more" in text
    assert "\nFix: Pass `n` as a Tensor" in text
    assert text.endswith("power(tf.constant(2.0), tf.constant(n + 0.5))")
    assert max(map(len, text.splitlines())) < 110
