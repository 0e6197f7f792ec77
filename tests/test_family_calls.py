"""Families of small ops against real TensorFlow: golden/family_calls.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import family_calls

GOLDEN: dict[str, Any] = json.loads(
    Path(family_calls.__file__).with_suffix(".json").read_text()
)


def same(ours: Any, theirs: Any) -> bool:
    """Whether values are equal, numbers up to the rounding of a dozen steps."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            same(ours[key], value) for key, value in theirs.items()
        )
    if isinstance(theirs, list):
        numbers = _numbers(theirs)
        if numbers is None or numbers.dtype.kind != "f":
            return len(ours) == len(theirs) and all(map(same, ours, theirs))
        found = _numbers(ours)
        finite = numbers[np.isfinite(numbers)]
        least = 5e-6 * np.abs(finite).max(initial=0)
        return (
            found is not None
            and found.shape == numbers.shape
            and np.allclose(found, numbers, rtol=2e-5, atol=least, equal_nan=True)
        )
    if isinstance(theirs, float):
        return bool(ours == pytest.approx(theirs, rel=1e-5, abs=1e-7, nan_ok=True))
    return bool(ours == theirs) and type(ours) is type(theirs)


def _numbers(value: Any) -> Any:
    try:
        found = np.asarray(value)
    except ValueError:  # arrays of different shapes
        return None
    return found if found.dtype.kind in "fi" else None


@pytest.mark.parametrize(("family", "call"), family_calls.calls())
def test_call_builds_and_returns_what_tensorflow_does(family: str, call: str) -> None:
    ours, theirs = family_calls.record(tf, call), GOLDEN[call]
    if "error" in theirs:
        kind, message = ours.get("error", ["none", ""])
        assert kind == theirs["error"][0]
        assert message.startswith(theirs["error"][1].rstrip("."))
        return
    assert "error" not in ours, ours["error"]
    assert ours["static"] == theirs["static"]
    assert same(ours["value"], theirs["value"]), ours["value"]
    assert family in family_calls.OTHER_NODES or ours["nodes"] == theirs["nodes"]


def test_every_call_was_put_to_tensorflow() -> None:
    assert {call for _, call in family_calls.calls()} == GOLDEN.keys()
