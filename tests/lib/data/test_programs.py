"""Programs with the four kinds of iterators, and with bad input, as in TensorFlow."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import dataset_programs

RECORDED: dict[str, Any] = json.loads(
    Path(dataset_programs.__file__).with_suffix(".json").read_text()
)
PROGRAMS = {program.__name__: program for program in dataset_programs.PROGRAMS}


def close(ours: Any, theirs: Any) -> bool:
    """Equality; floats up to their last digits, messages may say more."""
    if isinstance(theirs, list):
        pairs = zip(ours, theirs, strict=True)
        return len(ours) == len(theirs) and all(close(a, b) for a, b in pairs)
    if isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, rtol=1e-4, atol=2e-5))
    if isinstance(theirs, str):
        return isinstance(ours, str) and ours.startswith(theirs)
    return bool(ours == theirs)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_program(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dataset_programs.write_files(tf)
    found = dataset_programs.run(tf, PROGRAMS[name])
    assert close(found, RECORDED[name]), f"{found}\n{RECORDED[name]}"
    gc.collect()
    assert open_files(tmp_path) == []


def open_files(folder: Path) -> list[str]:
    """The files below the folder that this process has open, where that is known."""
    found = []
    for descriptor in Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):  # the listing's own is closed by now
            found.append(os.readlink(descriptor))
    return [path for path in found if path.startswith(str(folder.resolve()))]


def test_open_files_are_seen(tmp_path: Path) -> None:
    if os.path.exists("/proc/self/fd"):
        with open(tmp_path / "a", "w"):
            assert open_files(tmp_path) == [str(tmp_path.resolve() / "a")]


def test_all_are_recorded() -> None:
    assert PROGRAMS.keys() == RECORDED.keys()


KINDS: dict[str, Any] = {
    "shuffle": lambda d, f: d.range(100).shuffle(10).batch(4),
    "generator": lambda d, f: d.from_generator(lambda: iter(range(5)), tf.int64, []),
    "prefetch": lambda d, f: d.range(100).map(f).prefetch(2),
    "parallel map": lambda d, f: d.range(100).map(f, 3),
    "interleave": lambda d, f: d.range(3).interleave(
        lambda i: d.range(9).map(f), 3, num_parallel_calls=3
    ),
    "files": lambda d, f: tf.data.TextLineDataset(["rows.csv"] * 3).prefetch(1),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_restarts_leave_no_thread_no_file_and_no_element(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dataset_programs.write_files(tf)

    def function(i: Any) -> Any:
        return tf.py_func(int, [i], tf.int64)

    def counts() -> tuple[int, int]:
        gc.collect()
        iterators = sum(type(o).__name__ == "Running" for o in gc.get_objects())
        threads = sum(t.name.startswith("tfteach-") for t in threading.enumerate())
        return iterators, threads

    before = counts()
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = KINDS[kind](tf.data.Dataset, function).make_initializable_iterator()
        element = iterator.get_next()
        for _ in range(100):
            session.run(iterator.initializer)
            session.run(element)
        iterators, threads = counts()
        assert iterators <= before[0] + 16  # those of one initialization
        assert threads <= before[1] + 4 + 4  # some may be ending
