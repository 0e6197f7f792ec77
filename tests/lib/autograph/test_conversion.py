"""Converted functions: their code, its lines, and what they share with the original."""

from __future__ import annotations

import linecache
from types import FunctionType
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.lib.autograph.calls import converted_call
from tfteach.lib.autograph.conversion import (
    conversion_of,
    converted_source,
    is_converted,
)
from tfteach.lib.autograph.options import STANDARD


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    return converted_call(function, STANDARD, args, kwargs)


def countdown(n: Any, step: int = 1) -> Any:
    """Doc."""
    while n > 0:
        n -= step
        if n < -5:
            break
    return n


SOURCE = '''\
def tf__countdown(n: Any, step: int=1) -> Any:
    """Doc."""
    break_ = False

    def loop_test(break_, n):
        return ag__.and_(lambda: n > 0, lambda: ag__.not_(break_))

    def loop_body(break_, n):
        n -= step

        def if_true():
            break_ = True
            return break_

        def if_false():
            return break_
        break_ = ag__.if_stmt(n < -5, if_true, if_false, basic_symbol_names=('break_',))
        return (break_, n)
    break_, n = ag__.while_stmt(loop_test, loop_body, init_vars=(break_, n), \
basic_symbol_names=('break_', 'n'))
    return n'''


def test_the_source_and_the_lines_that_it_comes_from() -> None:
    found = converted_source(countdown)
    assert found.source == SOURCE
    assert found.file == __file__
    first = countdown.__code__.co_firstlineno
    lines = SOURCE.split("\n")
    came_from = {lines[n - 1].strip(): line - first for n, line in found.lines.items()}
    assert came_from["def tf__countdown(n: Any, step: int=1) -> Any:"] == 0
    assert came_from['"""Doc."""'] == 1
    assert came_from["def loop_body(break_, n):"] == 2
    assert came_from["n -= step"] == 3
    assert came_from["def if_true():"] == 4
    assert came_from["break_ = True"] == 5
    assert came_from["return n"] == 6
    blank = {n for n, line in enumerate(lines, 1) if not line}
    assert set(range(1, len(lines) + 1)) - found.lines.keys() == blank


def test_the_map_of_statements_on_several_lines() -> None:
    def f(x: Any) -> Any:
        """One.

        Two.
        """
        try:
            x = helper(
                x,
            )
        except ValueError:
            x = 0
        else:
            x = 1
        finally:
            x += 2
        return x

    found = converted_source(f)
    text = found.source.split("\n")
    first = f.__code__.co_firstlineno
    by_text = {text[n - 1].strip(): line - first for n, line in found.lines.items()}
    assert by_text["Two."] == 1
    assert by_text["x = ag__.converted_call(helper, x)"] == 6
    assert by_text["x = 0"] == 10
    assert by_text["x = 1"] == 12
    assert by_text["x += 2"] == 14


def helper(x: Any, y: Any = 1) -> Any:
    return x + y


def test_a_converted_function_is_like_the_original() -> None:
    limit = [3]

    def f(x: int, y: int = 2, *, z: int = 4) -> int:
        """Documented."""
        return x + y + z + limit[0] + len("ab")

    f.__defaults__ = (10,)  # what it has now counts, not what its source says
    made = tf.autograph.to_graph(f)
    assert isinstance(made, FunctionType)
    assert made.__name__ == "tf__f"
    assert made.__doc__ == "Documented."
    assert made.__module__ == f.__module__
    assert made.__annotations__ == f.__annotations__
    assert made.__kwdefaults__ == {"z": 4}
    assert made(1) == 1 + 10 + 4 + 3 + 2
    limit[0] = 100
    assert made(1, z=0) == 1 + 10 + 100 + 2


def test_its_code_has_the_users_file_lines_and_names() -> None:
    code = conversion_of(countdown, STANDARD).code
    assert code.co_filename == __file__
    assert code.co_name == "countdown"
    inner = [c for c in code.co_consts if hasattr(c, "co_name")]
    assert {c.co_name for c in inner} == {"countdown"}
    lines = {line for c in [code, *inner] for _, _, line in c.co_lines() if line}
    first = countdown.__code__.co_firstlineno
    assert min(lines) >= first
    assert max(lines) <= first + 6


def test_one_conversion_for_functions_with_the_same_code() -> None:
    def make(k: int) -> Any:
        def f(x: int) -> int:
            return x * k

        return f

    two, three = make(2), make(3)
    assert conversion_of(two, STANDARD) is conversion_of(three, STANDARD)
    assert (call(two, 5), call(three, 5)) == (10, 15)


def test_lambdas_that_share_a_line() -> None:
    # fmt: off
    one, two = lambda v: v + 1 if v > 0 else v, lambda v: v * 3 if v > 0 else v
    # fmt: on
    assert call(one, 2) == 3
    assert call(two, 2) == 6
    assert "v * 3" in converted_source(two).source
    assert converted_source(one).source.startswith(
        "tf__lambda = lambda v: ag__.if_stmt"
    )


class _Private:
    __factor = 3

    def __init__(self) -> None:
        self.__x = 5

    def __scaled(self, __y: int) -> int:
        return self.__x * self.__factor * __y

    def method(self, y: int) -> int:
        return self.__scaled(y)


def test_private_members() -> None:
    assert call(_Private().method, 2) == 30
    source = converted_source(_Private.method).source
    assert "ag__.converted_call(self._Private__scaled, y)" in source


def test_functions_without_a_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x if x > 0 else -x", namespace)
    with pytest.raises(ValueError, match="Unable to locate the source code"):
        converted_source(namespace["f"])
    assert call(namespace["f"], -2) == 2


def test_a_file_that_has_changed_since() -> None:
    file = "<changed>"
    namespace: dict[str, Any] = {}
    exec(compile("\n\ndef f(x):\n    return x", file, "exec"), namespace)
    linecache.cache[file] = (1, None, ["def g(x):\n", "    return x\n"], file)
    try:
        with pytest.raises(ValueError, match="Unable to identify source code"):
            converted_source(namespace["f"])
        linecache.cache[file] = (1, None, ["def g(x:\n"], file)
        with pytest.raises(ValueError, match="Unable to parse the source code"):
            converted_source(namespace["f"])
    finally:
        del linecache.cache[file]


def test_a_reserved_name() -> None:
    ag__ = 1

    def f() -> int:
        return ag__

    with pytest.raises(ValueError, match='uses the reserved symbol "ag__"'):
        converted_source(f)


def test_generators_are_refused() -> None:
    def f() -> Any:
        yield 1

    with pytest.raises(NotImplementedError, match="Generators are not supported"):
        converted_source(f)


def test_functions_made_in_converted_code_are_converted() -> None:
    def f() -> Any:
        def g() -> int:
            return len([1])

        class C:
            def method(self) -> int:
                return len([1])

        return g, lambda: len([1]), C().method

    found = call(f)
    assert [is_converted(g) for g in found] == [True, True, False]
    assert not is_converted(f)
    assert not is_converted(3)


def test_decorators_belong_to_the_original() -> None:
    calls = []

    def noted(f: Any) -> Any:
        calls.append(f.__name__)
        return f

    @noted
    def f(x: int) -> int:
        @noted
        def g(y: int) -> int:
            return y + 1

        return g(x)

    assert call(f, 1) == 2
    assert calls == ["f", "g"]


@pytest.mark.usefixtures("eagerly")
def test_ops_name_the_users_line() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y = tf.exp(x)
        else:
            y = tf.sin(x)
        return y

    traced: Any = tf.function(f)
    graph = traced.get_concrete_function(tf.constant(1.0)).graph
    (greater,) = (op for op in graph.get_operations() if op.type == "Greater")
    assert greater._origin is not None
    code, *_ = greater._origin
    assert (code.co_filename, code.co_name) == (__file__, "f")
