"""The checks of the lessons on queues and datasets explain each mistake."""

from __future__ import annotations

import threading
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest

import tfteach as tf


def means(
    column: int = 1,
    smaller: bool = True,
    batches: int = 1000,
    left_alive: threading.Event | None = None,
) -> Any:
    def mean_of_column(files: list[str]) -> float:
        with tf.Graph().as_default():
            names = tf.train.string_input_producer(files, num_epochs=1)
            _, line = tf.TextLineReader().read(names)
            columns = tf.decode_csv(line, [[0.0], [0.0]])
            batch = tf.train.batch(columns, 4, allow_smaller_final_batch=smaller)
            session = tf.Session()
            session.run(tf.local_variables_initializer())
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coord)
            values: list[float] = []
            with suppress(tf.errors.OutOfRangeError):
                for _ in range(batches):
                    values.extend(session.run(batch[column]))
            coord.request_stop()
            coord.join(threads)
            session.close()
            if left_alive is not None:
                threading.Thread(target=left_alive.wait).start()
            return sum(values) / max(len(values), 1)

    return mean_of_column


end_of_test = threading.Event()


@pytest.mark.parametrize(
    ("mean", "said"),
    [
        (means(), "Right"),
        (means(batches=1), "only the first batch was counted"),
        (means(smaller=False), "8 of 10 rows were counted"),
        (means(column=0), "not 0"),
        (lambda files: means()(files) if len(files) > 1 else 3.0, "is 5.5, not 3"),
        (lambda files: None, "returns None"),
        (means(left_alive=end_of_test), "threads are still alive"),
    ],
)
def test_lesson_16(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], mean: Any, said: str
) -> None:
    end_of_test.clear()
    checks.check_mean_of_column(mean)
    end_of_test.set()
    printed = capsys.readouterr()
    assert said in printed.out
    assert "INFO" not in printed.err


def rows_of(files: list[str], skipped: int = 1) -> tf.data.Dataset:
    return (
        tf.data.Dataset.from_tensor_slices(files)
        .flat_map(lambda file: tf.data.TextLineDataset(file).skip(skipped))
        .map(lambda line: tuple(tf.decode_csv(line, [[0.0], [0.0]])))
    )


@pytest.mark.parametrize(
    ("epochs", "said"),
    [
        (lambda files: rows_of(files).shuffle(100).batch(4).repeat(2), "Right"),
        (lambda files: rows_of(files, 0).batch(4).repeat(2), "InvalidArgumentError"),
        (lambda files: rows_of(files).shuffle(100).batch(4).repeat(), "does not end"),
        (lambda files: rows_of(files).batch(4), "are 52; here 26"),
        (lambda files: rows_of(files).batch(4).repeat(2), "an order of its own"),
        (
            lambda files: rows_of(files).repeat(2).shuffle(100, 1).batch(4),
            "some row twice",
        ),
        (
            lambda files: rows_of(files).shuffle(100).repeat(2).batch(4),
            "the end of one epoch",
        ),
        (
            lambda files: rows_of(files).shuffle(2, 1).batch(4).repeat(2),
            "the files are not mixed",
        ),
        (lambda files: rows_of(files).shuffle(100).repeat(2), "here is a batch"),
        (
            lambda files: rows_of(files).map(lambda x, y: (x, x)).batch(4),
            "each y is twice its x",
        ),
        (lambda files: rows_of(files).map(lambda x, y: x).batch(4), "should be a pair"),
        (lambda files: files, "not a tf.data.Dataset"),
    ],
)
def test_lesson_17(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], epochs: Any, said: str
) -> None:
    checks.check_epochs_of(epochs)
    assert said in capsys.readouterr().out
