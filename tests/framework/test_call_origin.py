"""The line of the user's code that a call came from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import tfteach as tf
from tfteach.framework import call_origin
from tfteach.framework.call_origin import SourceLine, calling_module, user_line

OURS = call_origin._PACKAGE + "lib/made_up.py"
INSTALLED = "/usr/lib/python3/site-packages/bar/std.py"


def compiled(file: str, text: str) -> dict[str, Any]:
    """The names of a module that stands in a file."""
    found: dict[str, Any] = {"user_line": user_line, "calling_module": calling_module}
    found["__name__"] = "made_up"
    exec(compile(text, file, "exec"), found)
    return found


asked: Callable[[], SourceLine | None] = compiled(
    OURS, "def asked(): return user_line()"
)["asked"]
bar: Callable[[Any], Any] = compiled(INSTALLED, "def bar(call):\n return call()")["bar"]


def here() -> SourceLine | None:
    return asked()


def test_the_line_that_calls() -> None:
    found = here()
    assert found is not None
    line = here.__code__.co_firstlineno + 1
    assert (found.file, found.line, found.function) == (__file__, line, "here")


def test_an_installed_package_between_is_passed_over() -> None:
    found = bar(asked)
    assert found is not None
    assert found.function == "test_an_installed_package_between_is_passed_over"


def test_pythons_own_modules_between_are_passed_over() -> None:
    @contextmanager
    def lines() -> Any:
        yield bar(asked)

    with lines() as found:
        assert found.function == "lines"


def test_a_thread_of_ours_has_no_line() -> None:
    found: list[Any] = []
    run = compiled(OURS, "def run(found): found.append(user_line())")["run"]
    thread = threading.Thread(target=run, args=(found,))
    thread.start()
    thread.join()
    assert found == [None]


def test_only_an_installed_package_on_the_stack() -> None:
    found: list[Any] = []
    call = compiled(INSTALLED, "def call(found, asked):\n found.append(asked())")[
        "call"
    ]
    thread = threading.Thread(target=call, args=(found, asked))
    thread.start()
    thread.join()
    assert (found[0].file, found[0].line) == (INSTALLED, 2)


def test_ops_built_behind_a_progress_bar_are_the_programs() -> None:
    with tf.Graph().as_default():
        op = bar(lambda: tf.constant(1.0)).op
    assert op.source.file == __file__


def test_the_module_outside_of_some_folders() -> None:
    text = "def module(*skipped): return calling_module(*skipped)"
    module = compiled(OURS, text)["module"]
    assert module() == "made_up"
    assert module("lib") == __name__
