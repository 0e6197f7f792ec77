"""Mistakes in calls give TensorFlow's errors (golden/bad_calls.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import bad_calls, calls
from tests.ops.test_calls import close

GOLDEN: dict[str, Any] = json.loads(
    Path(bad_calls.__file__).with_suffix(".json").read_text()
)


def first_sentence(error: list[str]) -> tuple[str, str]:
    """Class and first sentence of an error; what follows may say more than TF does."""
    return error[0], error[1].split("\n")[0].split(". ")[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", bad_calls.calls())
def test_mistake_gives_the_error_of_tensorflow(call: str) -> None:
    ours, theirs = calls.record(tf, call), GOLDEN[call]
    assert ("error" in ours) == ("error" in theirs), (ours, theirs)
    if "error" in theirs:
        assert first_sentence(ours["error"]) == first_sentence(theirs["error"])
    else:
        assert close(json.loads(json.dumps(ours["value"])), theirs["value"]), ours


def test_every_mistake_was_put_to_tensorflow() -> None:
    assert set(bad_calls.calls()) == GOLDEN.keys()
