"""Families of small ops against real TensorFlow: golden/family_calls.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import family_calls
from tests.ops.test_calls import close

GOLDEN: dict[str, Any] = json.loads(
    Path(family_calls.__file__).with_suffix(".json").read_text()
)


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
    assert close(ours["value"], theirs["value"]), ours["value"]
    assert ours["nodes"] == theirs["nodes"]


def test_every_call_was_put_to_tensorflow() -> None:
    assert {call for _, call in family_calls.calls()} == GOLDEN.keys()
