"""Loops of converted functions over datasets and their iterators."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tests.lib.autograph.test_programs import values

pytestmark = pytest.mark.usefixtures("eagerly")


def test_loops_over_datasets() -> None:
    numbers = tf.data.Dataset.range(5)

    def total(start: Any) -> Any:
        for x in numbers:
            start += x
        return start

    def with_break(start: Any) -> Any:
        for x in numbers:
            if x > 2:
                break
            start += x
        return start

    start = tf.constant(2, tf.int64)
    assert values(tf.function(total)(start)) == 12
    assert values(tf.function(with_break)(start)) == 5

    def numbered() -> Any:
        total = tf.constant(0, tf.int64)
        for i, x in enumerate(numbers.map(lambda v: v * 10)):
            total += i * x
        return total

    def zipped() -> Any:
        total = tf.constant(0, tf.int64)
        for a, b in zip(numbers, numbers.skip(1), strict=False):
            total += a * b
        return total

    assert values(tf.function(numbered)()) == 300
    assert values(tf.function(zipped)()) == 20


def test_loops_over_iterators() -> None:
    numbers = tf.data.Dataset.range(5)

    @tf.function
    def total(iterator: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for x in iterator:
            found += x
        return found

    @tf.function
    def small(iterator: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for x in iterator:
            if x > 2:
                break
            found += x
        return found

    assert values(total(iter(numbers))) == 10
    iterator = iter(numbers)
    assert values(small(iterator)) == 3
    assert values(total(iterator)) == 4

    @tf.function
    def made_inside(factor: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for x in iter(numbers.map(lambda v: v * factor)):
            found = found * 10 + x
        return found

    assert values(made_inside(tf.constant(1, tf.int64))) == 1234
    assert values(made_inside(tf.constant(2, tf.int64))) == 2468


def test_loops_over_datasets_for_their_effects(
    capfd: pytest.CaptureFixture[str],
) -> None:
    @tf.function
    def f() -> None:
        for x in tf.data.Dataset.range(3):
            tf.print(x, output_stream=sys.stdout)

    f()
    assert capfd.readouterr().out == "0\n1\n2\n"


def test_functions_of_datasets_are_converted() -> None:
    def positive(x: Any) -> Any:
        if x > 2:
            return x
        else:
            return -x

    found = [int(x) for x in tf.data.Dataset.range(5).map(positive)]
    assert found == [0, -1, -2, 3, 4]
