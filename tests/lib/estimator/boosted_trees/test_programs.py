"""Programs with boosted trees as in TensorFlow: golden/boosted_trees_programs.py."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import boosted_trees_programs as programs
from tests.golden import training_loops

GOLDEN = json.loads(Path(programs.__file__).with_suffix(".json").read_text())


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """The estimators of boosted trees enable resource variables."""
    yield
    tf.disable_resource_variables()
    tf.summary.FileWriterCache.clear()
    tf.reset_default_graph()


def approximate(value: Any) -> Any:
    """The same with numbers that may differ in their last digits."""
    if isinstance(value, list):
        return [approximate(item) for item in value]
    if isinstance(value, float):
        return pytest.approx(value, rel=2e-5, abs=2e-6)
    return value


def lines(log: list[str]) -> list[str]:
    """Log lines with fewer digits, without what metrics warn of."""
    return [
        re.sub(r"\d+\.\d+", lambda m: f"{float(m[0]):.4g}", line)
        for line in log
        if "Trapezoidal rule" not in line
    ]


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program: Callable[[Any, str], Any]) -> None:
    expected = GOLDEN[program.__name__]
    found = json.loads(json.dumps(training_loops.run(tf, program)))
    assert found.keys() == expected.keys()
    assert len(found["found"]) == len(expected["found"])
    for ours, theirs in zip(found["found"], expected["found"], strict=True):
        assert ours == approximate(theirs)
    assert found.get("files") == expected.get("files")
    if program is programs.refused:  # some are refused earlier here
        return
    log, wanted = lines(found["log"]), lines(expected["log"])
    assert log == wanted
