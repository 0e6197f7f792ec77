"""Queues against real TensorFlow: tests/golden/queue_runs.py, run with this package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import queue_runs
from tfteach.ops.queues.barrier import Barriers

GOLDEN = Path(__file__).parents[2] / "golden" / "queue_runs.json"
EXPECTED: dict[str, Any] = json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("function", queue_runs.FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_tensorflow(function: Callable[[Any], Any]) -> None:
    assert queue_runs.run(tf, function) == EXPECTED[function.__name__]


def test_a_barrier_takes_strings() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        barrier = Barriers([tf.string, tf.string], [[], [2]])
        session.run(barrier.insert_many(0, ["k", "l"], ["a\0", "b"]))
        session.run(barrier.insert_many(1, ["k", "l"], [["c", "d"], ["e", "f\0"]]))
        _, keys, (scalars, pairs) = session.run(barrier.take_many(2))
    assert [*keys, *scalars] == [b"k", b"l", b"a\0", b"b"]
    assert pairs.tolist() == [[b"c", b"d"], [b"e", b"f\0"]]
