"""Ops that read and decode against real TensorFlow: golden/input_calls.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import input_calls

GOLDEN: dict[str, Any] = json.loads(
    Path(input_calls.__file__).with_suffix(".json").read_text()
)
# Messages of libraries that are other ones here: what comes before them is compared.
OTHER_WORDS = ("Error while parsing JSON: ",)


def same(ours: Any, theirs: Any) -> bool:
    """Whether values are equal; floats up to the rounding of one product."""
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, rtol=1.5e-7, atol=0, equal_nan=True))
    return bool(ours == theirs) and type(ours) is type(theirs)


@pytest.mark.parametrize("call", [call for _, call in input_calls.calls()])
def test_call_builds_and_returns_what_tensorflow_does(
    call: str, tmp_path: Path
) -> None:
    input_calls.make_files(str(tmp_path))
    ours, theirs = input_calls.record(tf, call, str(tmp_path)), GOLDEN[call]
    if "error" in theirs:
        kind, message = ours.get("error", ["none", ""])
        words = theirs["error"][1].rstrip(".")
        for start in OTHER_WORDS:
            words = start if words.startswith(start) else words
        assert [kind, message[: len(words)]] == [theirs["error"][0], words]
        return
    assert "error" not in ours, ours["error"]
    assert ours["static"] == theirs["static"]
    assert same(ours["value"], theirs["value"]), ours["value"]
    assert ours["nodes"] == theirs["nodes"]


def test_every_call_was_put_to_tensorflow() -> None:
    assert {call for _, call in input_calls.calls()} == GOLDEN.keys()
