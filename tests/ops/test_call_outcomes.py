"""Calls, good and bad, have TensorFlow's outcome (golden/call_outcomes.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.fuzz.random_calls import difference
from tests.golden import call_outcomes

GOLDEN: dict[str, Any] = json.loads(
    Path(call_outcomes.__file__).with_suffix(".json").read_text()
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", call_outcomes.calls())
def test_outcome_is_that_of_tensorflow(call: str) -> None:
    ours = json.loads(json.dumps(call_outcomes.outcome(tf, call)))
    assert difference(ours, GOLDEN[call]) == "", (ours, GOLDEN[call])


def test_every_call_was_put_to_tensorflow() -> None:
    assert set(call_outcomes.calls()) == GOLDEN.keys()
