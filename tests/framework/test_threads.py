"""Work that several threads share."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from tfteach.framework import threads, workers


@pytest.fixture(params=[1, 2, 3])
def count(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """So many threads, whatever the machine has."""
    workers.forget_workers()
    monkeypatch.setattr(threads, "thread_count", lambda: request.param)
    with threads.own_threads():
        yield request.param
    workers.forget_workers()


@pytest.mark.parametrize("items", [0, 1, 2, 7])
def test_every_item_is_done_once_by_as_many_threads_as_there_are(
    count: int, items: int
) -> None:
    done: list[int] = []
    names = set()
    lock = threading.Lock()

    def run(part: Any) -> None:
        with lock:
            done.extend(part)
            names.add(threading.current_thread().name)

    threads.share(list(range(items)), run)
    assert sorted(done) == list(range(items))
    assert len(names) <= max(1, min(count, items))


@pytest.mark.parametrize("items", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("size", [0, 1000])
def test_even_parts_are_few_and_cover_everything(
    count: int, items: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "MIN_PART", 300)
    done: list[tuple[int, int]] = []
    threads.share_evenly(items, size, lambda *part: done.append(part))
    assert sorted(i for part in done for i in range(*part)) == list(range(items))
    parts = min(2 * count, items, size // 300) if count > 1 else 1
    assert len(done) == max(1, parts)


def test_an_error_comes_when_all_parts_have_ended(count: int) -> None:
    ended = []

    def run(part: Any) -> None:
        ended.append(list(part))
        if 5 in part:
            raise ValueError("five")

    with pytest.raises(ValueError, match="five"):
        threads.share(list(range(6)), run)
    assert sum(map(len, ended)) == 6


def test_numpy_warns_of_nothing_on_any_thread(count: int) -> None:
    def run(part: Any) -> None:
        for value in part:
            np.float32(1) / np.float32(value)

    with np.errstate(all="ignore"):
        threads.share([0] * 6, run)


def test_a_run_that_waits_leaves_its_threads_to_others(count: int) -> None:
    assert threads.cores() == count
    with threads.own_threads():
        with threads.while_waiting():
            assert threads.cores() == 1
            with threads.own_threads():  # of another run
                assert threads.cores() == count
            assert threads.cores() == 1
        assert threads.cores() == count
    assert threads.cores() == count
