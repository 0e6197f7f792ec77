"""Single calls against real TensorFlow: nodes, values, errors (golden/calls.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import calls

GOLDEN: dict[str, Any] = json.loads(
    Path(calls.__file__).with_suffix(".json").read_text()
)


def close(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        same_size = isinstance(ours, list) and len(ours) == len(theirs)
        return same_size and all(map(close, ours, theirs))
    if isinstance(theirs, float):
        return bool(ours == pytest.approx(theirs, rel=1e-6, nan_ok=True))
    return bool(ours == theirs)


@pytest.mark.parametrize("call", calls.calls())
def test_call_builds_and_gives_what_tensorflow_does(call: str) -> None:
    ours, theirs = calls.record(tf, call), GOLDEN[call]
    if "error" in theirs:
        assert ours.get("error") == theirs["error"]
    else:
        assert close(ours.get("value"), theirs["value"]), ours
        assert ours["nodes"] == theirs["nodes"]


def test_every_call_was_put_to_tensorflow() -> None:
    assert set(calls.calls()) == GOLDEN.keys()
