"""What calls in converted code convert, and what they leave as it is."""

from __future__ import annotations

import collections
import functools
import random
import re
import unittest
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.framework.autograph_status import (
    ControlStatusCtx,
    Status,
    control_status_ctx,
)
from tfteach.lib.autograph.calls import (
    call_with_unspecified_conversion_status,
    convert,
    converted_call,
    tf_convert,
)
from tfteach.lib.autograph.conversion import is_converted
from tfteach.lib.autograph.options import STANDARD, ConversionOptions
from tfteach.lib.autograph.untouched import is_untouched


def asks() -> Any:
    # A lambda that a conversion changes tells whether its function is converted.
    return lambda: not 0


class Callable:
    def __call__(self) -> Any:
        return lambda: not 0

    def method(self) -> Any:
        return lambda: not 0


class Meta(type):
    def __call__(cls) -> Any:
        return lambda: not 0


class OfMeta(metaclass=Meta):
    pass


class Constructed:
    def __init__(self) -> None:
        self.made = lambda: not 0


class Case(unittest.TestCase):
    def method(self) -> Any:
        return lambda: not 0


@functools.lru_cache
def cached() -> Any:
    return lambda: not 0


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    return converted_call(function, STANDARD, args, kwargs)


def test_what_is_converted() -> None:
    for function in (
        asks,
        lambda: lambda: not 0,
        Callable(),
        Callable().method,
        functools.partial(asks),
        functools.partial(functools.partial(asks)),
        OfMeta,
    ):
        assert is_converted(call(function)), function


def test_what_is_called_as_it_is() -> None:
    left_alone: Any = tf.autograph.experimental.do_not_convert(asks)
    assert not is_converted(call(Constructed).made)
    for function in Case().method, cached, left_alone:
        assert not is_converted(call(function))
    only_builtins = ConversionOptions(internal_convert_user_code=False)
    assert not is_converted(converted_call(asks, only_builtins, (), None))


@pytest.mark.parametrize(
    "function",
    [
        tf.add,
        tf.Variable,
        tf.constant(1).get_shape,
        np.add,
        np.mean,
        re.compile,
        random.randint,
        collections.namedtuple,
        collections.OrderedDict,
        functools.reduce,
    ],
)
def test_functions_of_libraries(function: Any) -> None:
    assert is_untouched(function)


def test_subclasses_of_library_classes() -> None:
    class Mine(tf.train.Optimizer):  # type: ignore[misc]
        def own(self) -> Any:
            return lambda: not 0

    mine = Mine(False, "mine")
    assert not is_untouched(mine.own)
    assert is_untouched(mine.minimize)
    assert is_converted(call(mine.own))


def test_a_wrapper_in_a_library_of_a_function_of_the_program() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x, lambda dy: dy

    assert is_untouched(f)


def test_builtin_functions_have_their_arguments() -> None:
    assert call(int, "12", 8) == 10
    assert call(int, "12", base=8) == 10
    assert call(sorted, [2, 1], reverse=True) == [2, 1]
    assert call(len, "abc") == 3
    assert call([1, 2].index, 2) == 1
    assert call(dict, a=1) == {"a": 1}


def test_partial_arguments_come_first() -> None:
    def f(a: Any, b: Any, c: Any = 3, d: Any = 4) -> Any:
        return a, b, c, d

    part = functools.partial(functools.partial(f, 1, c=5), 2, d=6)
    assert call(part) == (1, 2, 5, 6)
    assert call(part, c=7) == (1, 2, 7, 6)


def test_a_warning_once_for_what_cannot_be_converted(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x + 1", "<nowhere>", "exec"), namespace)
    for _ in range(2):
        assert call(namespace["f"], 1) == 2
    (record,) = caplog.records
    assert re.fullmatch(
        r"Entity <function f at 0x\w+> could not be transformed and will be executed "
        r"as-is. Please report this to the AutoGraph team. When filing the bug, set "
        r"the verbosity to 10 \(on Linux, `export AUTOGRAPH_VERBOSITY=10`\) and attach "
        r"the full output. Cause: Unable to locate the source code of .*",
        record.getMessage(),
    )
    exec(compile("def g(x):\n    return x", "<nowhere>", "exec"), namespace)
    monkeypatch.setenv("AUTOGRAPH_STRICT_CONVERSION", "1")
    with pytest.raises(ValueError, match="Unable to locate the source code"):
        call(namespace["g"], 1)


def test_code_of_exec_is_called_without_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x + 1", namespace)
    assert call(namespace["f"], 1) == 2
    assert caplog.records == []


def test_generators_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    def numbers() -> Any:
        yield 1

    assert list(call(numbers)) == [1]
    assert "appears to be a generator function" in caplog.text


# ---- the status


def status() -> Status:
    return control_status_ctx().status


def test_the_status_within_functions() -> None:
    @convert(recursive=True)
    def converted() -> list[Status]:
        return [status(), left_alone(), unspecified(), status()]

    left_alone: Any = tf.autograph.experimental.do_not_convert(status)
    unspecified = call_with_unspecified_conversion_status(status)
    assert status() is Status.UNSPECIFIED
    assert converted() == [
        Status.ENABLED,
        Status.DISABLED,
        Status.UNSPECIFIED,
        Status.ENABLED,
    ]
    assert status() is Status.UNSPECIFIED


def test_libraries_convert_as_the_program_asked() -> None:
    def found(context: Status, **options: Any) -> Any:
        return is_converted(tf_convert(asks, ControlStatusCtx(context), **options)())

    assert found(Status.ENABLED) is True
    assert found(Status.DISABLED) is False
    assert found(Status.UNSPECIFIED) is True
    assert found(Status.UNSPECIFIED, convert_by_default=False) is False
    assert is_converted(tf_convert(asks)())
    once = tf_convert(asks)
    assert tf_convert(once) is once
    with ControlStatusCtx(Status.DISABLED):
        assert not is_converted(tf_convert(asks)())


@pytest.mark.usefixtures("eagerly")
def test_traced_functions() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append((status(), is_converted(lambda: not 0)))
        return x

    x = tf.constant(1)
    tf.function(f)(x)
    tf.function(f, autograph=False)(x)
    tf.contrib.eager.defun(f)(x)
    tf.contrib.eager.defun(f, autograph=False)(x)
    on, off = (Status.ENABLED, True), (Status.DISABLED, False)
    assert seen == [on, off, on, off]
    traced = tf.function(f)
    tf.function(lambda x: traced(x))(x)
    assert seen[4:] == [on]
    assert not is_converted(f)
