"""The threads on which the executors of steps run, beside the threads of callers."""

from __future__ import annotations

import os
import threading
import weakref
from contextvars import ContextVar

from tfteach.framework.workers import Task, Workers

# RunOptions.inter_op_thread_pool of the run that this thread executes: the number of
# one of the session's pools, or -1 for the thread of the caller.
chosen_pool: ContextVar[int] = ContextVar("inter_op_thread_pool", default=0)


class InterOpPool:
    """So many threads for ops, the caller's included; started when a step needs them.

    TensorFlow's callers wait for its threads; here a caller is one of them.

    Args:
      count: how many; 1 for the caller alone.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._workers: Workers | None = None
        _pools.add(self)

    def offer(self, task: Task, times: int) -> None:
        """Call `task.help()` on so many threads, as they become free."""
        if times < 1:
            return
        if self._workers is None:
            with self._lock:
                if self._workers is None:
                    self._workers = Workers(self.count - 1, "tfteach-inter-op")
        self._workers.offer(task, times)

    def close(self) -> None:
        """Let the threads end; others start if a step needs them."""
        with self._lock:
            workers, self._workers = self._workers, None
        if workers is not None:  # its thread may be the one that calls this
            workers.dismiss()

    def forget(self) -> None:
        """In a forked process: it has none of its parent's threads."""
        self._lock, self._workers = threading.Lock(), None

    def __repr__(self) -> str:
        return f"<InterOpPool of {self.count} threads>"


_pools: weakref.WeakSet[InterOpPool] = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
