"""Maps against real TensorFlow: tests/golden/map_runs.py, run with this package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import map_runs, queue_runs
from tfteach.ops.queues.map_staging import MapStagingArea

GOLDEN = Path(__file__).parents[2] / "golden" / "map_runs.json"
EXPECTED: dict[str, Any] = json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("function", map_runs.FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_tensorflow(function: Callable[[Any], Any]) -> None:
    assert map_runs.run(tf, function) == EXPECTED[function.__name__]


def test_a_full_area_waits_and_a_closed_session_ends_the_wait() -> None:
    with tf.Graph().as_default():
        area = MapStagingArea([tf.float32], [[]], capacity=1)
        key = tf.placeholder(tf.int64, [])
        put, get = area.put(key, [tf.constant(2.0)], [0]), area.get(key)[1]
        session = tf.Session()
        found = queue_runs.Waiting(session, get, {key: 7})
        session.run(put, {key: 1})
        full = queue_runs.Waiting(session, put, {key: 7})
        assert session.run(area.size()) == 1
        session.run(area.get()[1])
        assert full.end() is None  # it could put
        assert found.end() == [2.0]
        waiting = queue_runs.Waiting(session, get, {key: 7})
        session.close()
        assert waiting.end() == "CancelledError: Unstage operation was cancelled"
