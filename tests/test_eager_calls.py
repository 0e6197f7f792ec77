"""Calls in eager programs return and raise what they do in TensorFlow."""

import json

import pytest

import tfteach as tf
from tests.eagerly import eager_program
from tests.golden.eager_calls import FOLDER, answer, snippets

NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))
CALLS = [
    (name, i)
    for name in NAMES
    for i, _ in enumerate(json.loads((FOLDER / f"{name}.json").read_text()))
]


@pytest.mark.parametrize(("name", "number"), CALLS)
def test_an_eager_call(name, number):
    expected = json.loads((FOLDER / f"{name}.json").read_text())
    calls = snippets(name)
    assert len(calls) == len(expected), "run tests/golden/eager_calls.py"
    with eager_program():
        assert answer(tf, calls[number]) == expected[number], calls[number]
