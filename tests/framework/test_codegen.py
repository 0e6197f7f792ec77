"""Generated functions: what is written, what is reused, and what tracebacks show."""

from __future__ import annotations

import gc
import linecache
import re
import traceback
from pathlib import Path

import pytest

from tfteach.framework import codegen
from tfteach.framework.codegen import SourceWriter


def test_blocks_are_indented_and_empty_ones_pass() -> None:
    writer = SourceWriter[str]("pick", ["x"])
    with writer.block("if x > 1:"):
        with writer.block("while x < 10:"):
            writer.line("x += 4")
        with writer.block("for _ in range(3):"):
            pass
    writer.line(f"return x, {writer.bind('c', 7)}")
    assert writer.source.split("\n") == [
        "def pick(x):",
        " if x > 1:",
        "  while x < 10:",
        "   x += 4",
        "  for _ in range(3):",
        "   pass",
        " return x, c",
    ]
    pick = writer.compile("test").function
    assert pick(1) == (1, 7)
    assert pick(3) == (11, 7)


def test_released_temporaries_are_assigned_again() -> None:
    writer = SourceWriter[str]("f", [])
    first, second = writer.temporary(), writer.temporary()
    assert first != second
    writer.release(first)
    assert writer.temporary() == first
    assert writer.temporary() not in (first, second)


def test_an_exception_is_traced_back_to_the_origin_of_its_line() -> None:
    writer = SourceWriter[str]("divide", ["x"])
    writer.line("y = 1", "a constant")
    with writer.block("while y / x:", "the condition"):
        writer.line("x = x - 1", "the body")
    generated = writer.compile("test")
    with pytest.raises(ZeroDivisionError) as division:
        generated.function(2)
    assert generated.origin_of(division.value) == "the condition"
    with pytest.raises(TypeError) as call:
        generated.function()
    assert generated.origin_of(call.value) is None
    assert writer.compile("test").origin_of(division.value) is None


def test_tracebacks_show_the_source_while_the_function_lives() -> None:
    writer = SourceWriter[str]("divide", ["x"])
    writer.line("return 1 / x")
    generated = writer.compile("test")
    file = generated.file
    with pytest.raises(ZeroDivisionError) as division:
        generated.function(0)
    assert "return 1 / x" in "".join(traceback.format_exception(division.value))
    linecache.checkcache()  # as IPython does before each cell
    assert linecache.getline(file, 2) == " return 1 / x"
    del generated
    gc.collect()
    assert file not in linecache.cache


def test_nothing_else_executes_its_own_source() -> None:
    package = Path(codegen.__file__).parents[1]
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"(?<![\w.])exec\(", path.read_text(encoding="utf-8"))
    }
    found -= {f"compat/running/{name}.py" for name in ("run", "own_modules")}  # users'
    assert found == {"framework/codegen.py"}
