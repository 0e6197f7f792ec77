"""Threads that sleep until there is work, and take it part by part.

A thread takes the next part whenever it has finished one.  If another process occupies
its core, the calling thread computes the parts meanwhile, and waits at the end only for
those that a thread has begun.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

import numpy as np

_T = TypeVar("_T")


class _Task:
    """Parts of a computation, which several threads take.

    Args:
      run: computes a part.
      parts: in the order in which they are taken.
    """

    def __init__(self, run: Callable[[Any], None], parts: Sequence[Any]) -> None:
        self._run = run
        self._parts = deque(enumerate(parts))
        self._errors: list[tuple[int, BaseException]] = []
        # Held while a worker takes or ends a part.
        self._lock = threading.Lock()
        self._begun_by_workers = 0
        self._all_ended: threading.Event | None = None  # if somebody waits

    def finish(self) -> None:
        """Compute parts with the workers, until all have ended.

        Raises:
          BaseException: that of the first part that failed, or an interrupt; no part is
            being computed then.
        """
        try:
            while self._parts:
                try:
                    index, part = self._parts.popleft()
                except IndexError:  # a worker took the last one
                    break
                try:
                    self._run(part)
                except Exception as error:
                    self._errors.append((index, error))
        finally:
            self._wait_for_workers()
        if self._errors:
            raise min(self._errors, key=lambda found: found[0])[1]

    def _wait_for_workers(self) -> None:
        """Wait until no worker uses any array; an interrupt is raised afterwards."""
        interrupt = None
        while True:
            try:
                with self._lock:
                    self._parts.clear()
                    if not self._begun_by_workers:
                        break
                    all_ended = self._all_ended = threading.Event()
                all_ended.wait()
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def help(self) -> None:
        """Compute parts on a worker's thread, while there are any."""
        while True:
            with self._lock:
                if not self._parts:
                    return
                index, part = self._parts.popleft()
                self._begun_by_workers += 1
            try:
                self._run(part)
            except BaseException as error:
                self._errors.append((index, error))
            finally:
                with self._lock:
                    self._begun_by_workers -= 1
                    if not self._begun_by_workers and self._all_ended is not None:
                        self._all_ended.set()


class Task(Protocol):
    """Work that several threads can share."""

    def help(self) -> None:
        """Do some of it, until nothing is left for this thread."""


class Workers:
    """Daemon threads that sleep until there is a task.

    Args:
      count: how many.
      name: the beginning of their names.
    """

    def __init__(self, count: int, name: str = "tfteach-blocks") -> None:
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, name=f"{name}_{i}", daemon=True)
            for i in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def compute(self, run: Callable[[_T], None], parts: Sequence[_T]) -> None:
        """Call `run` with each of `parts`, on this thread and the workers'.

        Raises:
          BaseException: that of the first part that failed, once all have ended; or an
            interrupt, once those that were begun have ended.
        """
        task = _Task(run, parts)
        self.offer(task, min(len(self._threads), len(parts) - 1))
        task.finish()

    def offer(self, task: Task, times: int) -> None:
        """Call `task.help()` on so many threads, as they become free."""
        for _ in range(times):
            self._tasks.put(task)

    def close(self) -> None:
        """End the threads, and wait for that."""
        self.dismiss()
        for thread in self._threads:
            thread.join()

    def dismiss(self) -> None:
        """Let the threads end after the tasks that they were offered."""
        for _ in self._threads:
            self._tasks.put(None)

    def _serve(self) -> None:
        np.seterr(all="ignore")  # NumPy's error state is thread-local
        while (task := self._tasks.get()) is not None:
            task.help()
            del task  # its arrays must not wait for the next one


_workers: Workers | None = None
_start_lock = threading.Lock()


def workers(count: int) -> Workers:
    """The process's workers, started by the first call."""
    global _workers
    if _workers is None:
        with _start_lock:
            if _workers is None:
                _workers = Workers(count)
    return _workers


def forget_workers() -> None:
    """End the workers, if any; `workers` starts others."""
    global _workers
    if _workers is not None:
        _workers.close()
    _workers = None


def _after_fork() -> None:
    # A forked process has none of its parent's threads.
    global _workers, _start_lock
    _workers, _start_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
