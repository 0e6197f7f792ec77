from __future__ import annotations

from typing import Any

from tfteach.explain.functions.autograph_code import converted_code


def halved(n: Any) -> Any:
    while n > 1:
        n = n // 2
    return n


def plain(x: Any) -> Any:
    return abs(x)


def test_each_line_with_the_line_that_it_comes_from() -> None:
    code = converted_code(halved)
    first = halved.__code__.co_firstlineno
    by_text = {text.strip(): origin for text, origin in code.lines}
    assert by_text["n = n // 2"] == first + 2
    assert code.lines[0] == ("def tf__halved(n: Any) -> Any:", first) or (
        code.lines[0] == ("def tf__halved(n):", first)
    )
    assert code.is_changed
    assert "ag__.while_stmt" in str(code)


def test_rewritten_calls_are_no_change() -> None:
    code = converted_code(plain)
    assert "ag__.converted_call(abs, x)" in str(code)
    assert not code.is_changed


def test_what_is_not_converted() -> None:
    assert converted_code(len).problem == "AutoGraph converts functions only."

    def numbers() -> Any:
        yield 1

    assert "as it is" in str(converted_code(numbers))
