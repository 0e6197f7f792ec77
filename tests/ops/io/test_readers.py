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


def test_record_input_shuffles_by_its_seed(tmp_path: Path) -> None:
    path = tmp_path / "r.tfrecord"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for number in range(50):
            writer.write(b"%d" % number)

    def epochs(seed: int) -> list[list[bytes]]:
        with tf.Graph().as_default(), tf.Session() as session:
            batch = tf.contrib.framework.RecordInput(
                str(path), batch_size=50, buffer_size=20, seed=seed
            ).get_yield_op()
            return [list(session.run(batch)) for _ in range(2)]

    first, second = epochs(3)
    assert first != second
    assert sorted(first) == sorted(second)
    assert epochs(3) == [first, second]
    assert epochs(4)[0] != first
    # A record leaves the buffer of 20 at most 19 places early.
    assert all(int(record) < place + 20 for place, record in enumerate(first))


def test_record_input_reads_as_many_files_at_a_time_as_it_may(tmp_path: Path) -> None:
    for name in "abcd":
        with tf.python_io.TFRecordWriter(str(tmp_path / name)) as writer:
            for _ in range(3):
                writer.write(name.encode())

    def order(parallelism: int) -> str:
        with tf.Graph().as_default(), tf.Session() as session:
            batch = tf.contrib.framework.RecordInput(
                str(tmp_path / "*"), 12, buffer_size=1, parallelism=parallelism
            ).get_yield_op()
            return b"".join(session.run(batch)).decode()

    assert all(len(set(order(1)[i : i + 3])) == 1 for i in range(0, 12, 3))
    assert len(set(order(2)[:6])) == 2
    assert len(set(order(4)[:4])) == 4


def test_record_input_shifts_the_files_of_later_epochs(tmp_path: Path) -> None:
    for name in "abcd":
        with tf.python_io.TFRecordWriter(str(tmp_path / name)) as writer:
            writer.write(name.encode())

    def epochs(shift_ratio: float) -> list[str]:
        with tf.Graph().as_default(), tf.Session() as session:
            batch = tf.contrib.framework.RecordInput(
                str(tmp_path / "*"), 4, shift_ratio=shift_ratio
            ).get_yield_op()
            return [b"".join(session.run(batch)).decode() for _ in range(2)]

    first, second = epochs(0.0)
    assert epochs(0.25) == [first, second[1:] + second[:1]]
