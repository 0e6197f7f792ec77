"""Parts of a task that several threads take."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator

import pytest

from tfteach.framework import workers
from tfteach.framework.workers import Workers


@pytest.fixture
def two() -> Iterator[Workers]:
    started = Workers(2)
    yield started
    started.close()


def test_each_part_is_computed_once(two: Workers) -> None:
    for count in (2, 3, 50):
        done: list[int] = []
        two.compute(done.append, range(count))
        assert sorted(done) == list(range(count))


def test_while_a_worker_is_stuck_the_caller_computes_the_rest(two: Workers) -> None:
    caller = threading.current_thread()
    begun, rest_is_done = threading.Event(), threading.Event()
    by_caller: list[int] = []
    stuck: list[int] = []

    def run(part: int) -> None:
        if threading.current_thread() is not caller:
            stuck.append(part)
            begun.set()
            assert rest_is_done.wait(60)
            return
        assert begun.wait(60)
        by_caller.append(part)
        if len(by_caller) + len(stuck) == 20:
            rest_is_done.set()

    two.compute(run, range(20))
    assert sorted(by_caller + stuck) == list(range(20))
    assert 1 <= len(stuck) <= 2


@pytest.mark.parametrize("by_worker", [True, False])
def test_an_interrupt_waits_for_the_parts_that_were_begun(
    two: Workers, by_worker: bool
) -> None:
    caller = threading.current_thread()
    begun, interrupted = threading.Event(), threading.Event()
    ended: list[int] = []

    def run(part: int) -> None:
        if threading.current_thread() is caller:
            assert not by_worker or begun.wait(60)
            interrupted.set()
            raise KeyboardInterrupt
        begun.set()
        if by_worker:
            assert interrupted.wait(60)
        ended.append(part)

    with pytest.raises(KeyboardInterrupt):
        two.compute(run, range(1000))
    taken = len(ended)
    assert bool(taken) or not by_worker
    two.compute(lambda part: None, range(10))  # nobody goes on with the first task
    assert len(ended) == taken < 1000


def test_the_first_parts_error_is_raised(two: Workers) -> None:
    def run(part: int) -> None:
        raise ValueError(f"part {part}")

    with pytest.raises(ValueError, match="part 0"):
        two.compute(run, range(9))


def test_workers_keep_no_arrays(two: Workers) -> None:
    class Array:
        pass

    array = Array()
    alive = weakref.ref(array)
    begun = threading.Barrier(3)  # both workers and the caller
    two.compute(lambda part, held=array: begun.wait(60), range(3))  # type: ignore[misc]
    del array
    two.compute(lambda part: begun.wait(60), range(3))
    assert alive() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_starts_its_own_workers() -> None:
    workers.forget_workers()
    parents = workers.workers(1)
    parents.compute(lambda part: None, range(4))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            own, done = workers.workers(1), []
            own.compute(done.append, range(4))
            status = 0 if own is not parents and len(done) == 4 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    workers.forget_workers()
