"""Readers against real TensorFlow: golden/reader_runs.json."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import reader_runs

GOLDEN: dict[str, Any] = json.loads(
    Path(reader_runs.__file__).with_suffix(".json").read_text()
)


def without_numbers(text: str) -> str:
    """A text without the number that is part of a queue's name."""
    return re.sub(r"'_\d+_fifo_queue'", "'_fifo_queue'", text)


def agrees(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(agrees, ours, theirs))
    if isinstance(theirs, str):  # messages may say more
        return without_numbers(ours).startswith(without_numbers(theirs).rstrip("."))
    return bool(ours == theirs)


@pytest.mark.parametrize("call", reader_runs.calls())
def test_reader_returns_what_tensorflow_does(call: str, tmp_path: Path) -> None:
    reader_runs.make_files(tf, str(tmp_path))
    ours, theirs = reader_runs.record(tf, call, str(tmp_path)), GOLDEN[call]
    assert agrees(ours["value"], theirs["value"]), ours["value"]
    assert ours["nodes"] == theirs["nodes"]


def test_a_reader_that_waits_ends_with_its_session(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(1, tf.string, [[]])
        key, _ = tf.TextLineReader().read(queue)
        session = tf.Session()
        errors: list[BaseException] = []
        begun = threading.Event()

        def wait() -> None:
            begun.set()
            try:
                session.run(key)
            except tf.errors.OpError as error:
                errors.append(error)

        threads = [threading.Thread(target=wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        begun.wait()
        session.close()
        for thread in threads:
            thread.join(60)
        assert len(errors) == 3
        assert not any(thread.is_alive() for thread in threads)
