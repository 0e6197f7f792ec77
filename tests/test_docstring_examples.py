"""The examples in the docstrings of tfteach.explain and tfteach.jupyter run."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tests.reference as reference
import tfteach as tf

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def documented() -> Iterator[tuple[str, Any]]:
    """Every function, class and member on the reference pages, by its full name."""
    for name, thing in reference.public_names():
        yield name, thing
        if isinstance(thing, type):
            for member, value in reference.members(thing):
                yield f"{name}.{member}", value


DOCUMENTED = dict(documented())
EXAMPLES = {
    name: thing for name, thing in DOCUMENTED.items() if ">>>" in (thing.__doc__ or "")
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    names = {short.rpartition(".")[2]: it for short, it in reference.public_names()}
    test = doctest.DocTestParser().get_doctest(
        inspect.cleandoc(EXAMPLES[name].__doc__), {**names, "tf": tf, "np": np},
        name, None, None,
    )  # fmt: skip
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said: list[str] = []
    with tf.Graph().as_default():
        runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstring_is_complete(name: str) -> None:
    thing = DOCUMENTED[name]
    doc = reference.parsed(thing)
    assert doc.summary
    if isinstance(thing, property):
        return
    if isinstance(thing, type):
        called = reference.is_called(thing)
        assert called or "Attributes" in doc.sections
        assert not called or "Example" in doc.sections
        thing = vars(thing)["__init__"] if called else None
    elif "." not in name.removeprefix("tfteach."):
        assert "Example" in doc.sections
        gives = inspect.signature(thing).return_annotation
        assert "Returns" in doc.sections or gives in (None, "None")
    if thing is not None:
        parameters = [*inspect.signature(thing).parameters]
        described = [n for n, _ in reference.items(doc.sections.get("Args", ""))]
        assert described == [p for p in parameters if p not in ("self", "cls")]
