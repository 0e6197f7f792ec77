"""Queues against real TensorFlow: tests/golden/queue_runs.py, run with this package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import queue_runs

GOLDEN = Path(__file__).parents[2] / "golden" / "queue_runs.json"
EXPECTED: dict[str, Any] = json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("function", queue_runs.FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_tensorflow(function: Callable[[Any], Any]) -> None:
    assert queue_runs.run(tf, function) == EXPECTED[function.__name__]
