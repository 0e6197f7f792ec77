"""Functions that a traced one calls: which are converted, how they are called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tests.lib.autograph.test_programs import run

pytestmark = pytest.mark.usefixtures("eagerly")


class Scaler:
    """An object that can be called, with methods of all kinds."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __call__(self, x: Any) -> Any:
        if x > self.limit:
            return x
        else:
            return -x

    def method(self, x: Any, limit: Any = 3) -> Any:
        if x > limit:
            return x
        else:
            return -x

    @classmethod
    def of_class(cls, x: Any) -> Any:
        if x > 3:
            return x
        else:
            return -x

    @staticmethod
    def static(x: Any) -> Any:
        if x > 3:
            return x
        else:
            return -x

    @property
    def doubled(self) -> Any:
        return self.limit * 2


class SpecialScaler(Scaler):
    def method(self, x: Any, limit: Any = 3) -> Any:
        if x > 100:
            return x
        else:
            return super().method(x) * 10

    def with_super(self, x: Any) -> Any:
        return super().method(x, limit=1)


def test_calls_of_all_kinds_are_converted() -> None:
    def f(x: Any) -> Any:
        o, special = Scaler(1), SpecialScaler(1)
        return (
            o(x),
            o.method(x),
            functools.partial(o.method, limit=1)(x),
            Scaler.of_class(x),
            Scaler.static(x),
            o.static(x),
            special.method(x),
            special.with_super(x),
            special.doubled,
        )

    assert run(f, 2) == (2, -2, 2, -2, -2, -2, -20, 2, 2)


@pytest.mark.parametrize(
    "function",
    [Scaler(2), Scaler(2).method, functools.partial(Scaler(2).method, limit=2)],
)
def test_a_traced_object_method_or_partial(function: Any) -> None:
    assert run(function, 1) == -1


def adds_one(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs) + 1

    return wrapper


@adds_one
def decorated(x: Any) -> Any:
    if x > 0:
        return x
    else:
        return -x


def factorial(n: Any) -> Any:
    if n < 2:
        return 1
    return n * factorial(n - 1)


def outer_generator() -> Any:
    yield 1
    yield 2


def test_decorated_recursive_and_generator_functions() -> None:
    assert run(lambda x: decorated(x), -2) == 3
    assert tf.function(lambda: factorial(5))().numpy() == 120

    def with_generators(x: Any) -> Any:
        def inner() -> Any:
            yield from range(3)

        if x > 0:
            x = x * 2
        for i in inner():
            x += i
        for i in outer_generator():
            x += i
        return x

    assert run(with_generators, 2) == 10


def test_arguments_of_all_kinds() -> None:
    def f(x: Any) -> Any:
        scale = 3

        def g(a: Any, *args: Any, b: Any = scale * 2, **kwargs: Any) -> Any:
            if a > 1:
                return a + b + sum(args) + sum(kwargs.values())
            else:
                return a

        return g(x, *[1, 2], **{"c": 5}), g(x, b=x)

    assert run(f, 2) == (16, 4)


def test_closures_that_change_variables() -> None:
    def f(n: Any) -> Any:
        total = 0
        items = [0]

        def add(v: Any) -> None:
            nonlocal total
            total = total + v
            items[0] = items[0] + 1

        for _ in range(3):
            add(n)
        return total, items[0]

    assert run(f, 5) == (15, 3)


level = 1


def test_a_global_variable_that_a_branch_assigns() -> None:
    def f(n: Any) -> Any:
        if n is not None:
            global level
            level = 2
        return n

    run(f, 1)
    assert level == 2


def test_methods_of_classes_in_a_function_are_converted() -> None:
    def f(x: Any) -> Any:
        class Inner:
            factor = 3

            def method(self, y: Any) -> Any:
                if y > 0:
                    return y * self.factor
                else:
                    return y

        return Inner().method(x)

    assert run(f, 3) == 9


def test_functions_that_are_arguments() -> None:
    def apply(f: Any, x: Any) -> Any:
        return f(x)

    def f(x: Any) -> Any:
        return apply(lambda t: t if t > 0 else -t, x), apply(abs, x), apply(tf.abs, x)

    assert run(f, -3) == (3, 3, 3)


def test_evaluated_text_sees_the_variables() -> None:
    def f(x: Any) -> Any:
        y = 5  # noqa: F841  used in the text
        return eval("x + y")

    assert run(f, 2) == 7
