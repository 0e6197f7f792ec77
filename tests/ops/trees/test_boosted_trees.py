"""Boosted trees against real TensorFlow: tests/golden/boosted_trees.py, run here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import boosted_trees

GOLDEN = Path(boosted_trees.__file__).with_suffix(".json")
EXPECTED: dict[str, Any] = json.loads(GOLDEN.read_text())


def approximate(value: Any) -> Any:
    """The same with numbers that may differ in their last digits."""
    if isinstance(value, list):
        return [approximate(item) for item in value]
    if isinstance(value, float):
        return pytest.approx(value, rel=3e-6, abs=1e-7)
    return value


@pytest.mark.parametrize(
    "function", boosted_trees.FUNCTIONS, ids=lambda function: function.__name__
)
def test_as_in_tensorflow(function: Callable[[Any], Any]) -> None:
    found = boosted_trees.run(tf, function)
    expected = EXPECTED[function.__name__]
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == approximate(theirs)
