"""The placer against TensorFlow's own log of placements, and its errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import placements

GOLDEN: dict[str, list[dict[str, Any]]] = json.loads(
    Path(placements.__file__).with_suffix(".json").read_text()
)
NAMES = [f"{function.__name__}/{n}" for function in placements.GRAPHS
         for n in placements.CPUS]  # fmt: skip


@pytest.mark.usefixtures("no_cards")
@pytest.mark.parametrize("name", NAMES)
def test_log_and_errors_are_tensorflows(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    function, _, cpus = name.partition("/")
    found = placements.runs_of(
        tf,
        getattr(placements, function),
        int(cpus),
        lambda: capsys.readouterr().out.splitlines(),
    )
    assert found == GOLDEN[name]


def test_every_graph_was_put_to_tensorflow() -> None:
    assert set(NAMES) == GOLDEN.keys()
    assert sum(len(run["log"]) for runs in GOLDEN.values() for run in runs) > 500
