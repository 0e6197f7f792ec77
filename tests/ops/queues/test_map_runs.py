"""Maps against real TensorFlow: tests/golden/map_runs.py, run with this package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import map_runs

GOLDEN = Path(__file__).parents[2] / "golden" / "map_runs.json"
EXPECTED: dict[str, Any] = json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("function", map_runs.FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_tensorflow(function: Callable[[Any], Any]) -> None:
    assert map_runs.run(tf, function) == EXPECTED[function.__name__]
