"""Checks of the lessons on input pipelines: queues and datasets."""

from __future__ import annotations

import tempfile
import threading
from contextlib import suppress
from itertools import chain, permutations
from pathlib import Path
from typing import Any

import numpy as np

import tfteach as tf

from .verdict import quiet, report

# ---- lesson 16


def check_mean_of_column(mean_of_column: Any) -> None:
    """Check that each row counts once, and that the threads have ended."""
    report(_problem_of_mean, mean_of_column)


def _problem_of_mean(mean_of_column: Any) -> str | None:
    before = set(threading.enumerate())
    parts = [[3.0, 1.0, 4.0, 1.0, 5.0], [9.0, 2.0], [6.0, 5.0, 35.0]]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, quiet():
        files = []
        for number, column in enumerate(parts):
            path = Path(folder) / f"part-{number}.csv"
            path.write_text("".join(f"0,{value}\n" for value in column))
            files.append(str(path))
        mean = mean_of_column(files)
        few = mean_of_column(files[1:2])
    values = list(chain(*parts))
    if mean is None:
        return "`mean_of_column` returns None. Is there a `return` missing?"
    orders = [list(chain(*order)) for order in permutations(parts)]
    if any(np.allclose(mean, np.mean(order[:4])) for order in orders):
        return (
            "only the first batch was counted. Run `y` until the queue is closed: a "
            "loop in `try`, which `except tf.errors.OutOfRangeError` ends."
        )
    if any(np.allclose(mean, np.mean(order[:8])) for order in orders):
        return (
            "8 of 10 rows were counted: the last two don't fill a batch. "
            "`tf.train.batch` has an argument for that."
        )
    if not np.allclose(mean, np.mean(values)):
        return f"the mean of {values} is {np.mean(values):g}, not {mean:g}."
    if not np.allclose(few, 5.5):
        return f"of a file with the two rows 9 and 2 the mean is 5.5, not {few:g}."
    alive = set(threading.enumerate()) - before
    if alive:
        return (
            f"the mean is right, but {len(alive)} threads are still alive. "
            "`coord.request_stop()` and `coord.join(threads)` belong into a `finally`."
        )
    return None


# ---- lesson 17


def check_epochs_of(epochs_of: Any) -> None:
    """Check that each epoch has each row once, in an order and batches of its own."""
    report(_problem_of_epochs, epochs_of)


def _problem_of_epochs(epochs_of: Any) -> str | None:
    rows = list(range(26))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, quiet():
        files = []
        for number, part in enumerate((rows[:11], rows[11:])):
            path = Path(folder) / f"part-{number}.csv"
            lines = ["x,y\n", *(f"{x},{2 * x}\n" for x in part)]
            path.write_text("".join(lines))
            files.append(str(path))
        with tf.Graph().as_default(), tf.Session() as session:
            dataset = epochs_of(files)
            if not isinstance(dataset, tf.data.Dataset):
                return "what `epochs_of` returns is not a tf.data.Dataset."
            element = tf.data.make_one_shot_iterator(dataset).get_next()
            if not isinstance(element, tuple) or len(element) != 2:
                return f"an element should be a pair (x, y); here it is {element}."
            batches = _at_most(100, session, element)
    for x, y in batches:
        if np.shape(x) == () or not np.allclose(2 * x, y):
            return f"each y is twice its x; here is a batch {x}, {y}."
    return _problem_of_order([x.tolist() for x, _ in batches], rows)


def _at_most(count: int, session: tf.Session, element: Any) -> list[Any]:
    batches = []
    with suppress(tf.errors.OutOfRangeError):
        for _ in range(count):
            batches.append(session.run(element))
    return batches


def _problem_of_order(batches: list[list[float]], rows: list[int]) -> str | None:
    if len(batches) == 100:
        return "it does not end. `repeat` has an argument: the number of epochs."
    sizes = [len(batch) for batch in batches]
    values = [value for batch in batches for value in batch]
    if len(values) != 2 * len(rows):
        return f"2 epochs of {len(rows)} rows are {2 * len(rows)}; here {len(values)}."
    epochs = values[: len(rows)], values[len(rows) :]
    if sorted(epochs[0]) != rows:
        return (
            "the first epoch has some row twice before another has come: `shuffle` "
            "comes before `repeat`, with a buffer that holds all rows."
        )
    if sizes != [4, 4, 4, 4, 4, 4, 2] * 2:
        return (
            f"the batches have the sizes {sizes}: a batch holds the end of one epoch "
            "and the beginning of the next. `batch` comes before `repeat`."
        )
    if rows in ([*epochs[0]], [*epochs[1]]) or epochs[0] == epochs[1]:
        return "each epoch should have an order of its own: `shuffle`."
    if max(epochs[0][:8]) < 11:
        return "the files are not mixed: shuffle rows, with a buffer that holds all."
    return None
