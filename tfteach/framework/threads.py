"""Array computations divided among several cores.

As many threads as BLAS uses: `OPENBLAS_NUM_THREADS` or `OMP_NUM_THREADS`, otherwise one
for each core available to this process.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from tfteach.framework import large_array_pool
from tfteach.framework.workers import workers

_T = TypeVar("_T")

# The number of elements from which several threads pay off.
LARGE = 1 << 20
# More parts than threads: one whose core is taken by another process computes fewer.
PARTS_PER_THREAD = 4
# The elements of a part in `share_evenly`, at least.
MIN_PART = 1 << 17


@functools.cache
def thread_count() -> int:
    """The number of threads that compute at once."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit():
            return max(1, int(os.environ[name]))
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on this system
        return os.cpu_count() or 1


_users_lock = threading.Lock()
_users = 0  # the number of runs inside `own_threads`


@functools.cache
def _blas_libraries() -> list[tuple[Any, int]]:
    """The loaded BLAS libraries, and the number of threads each uses."""
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [(library, library.get_num_threads()) for library in found]


def _set_blas_threads(limit: int | None) -> None:
    """Limit the threads of BLAS; None for those it had at first."""
    for library, count in _blas_libraries():
        library.set_num_threads(limit or count)
        # From version 3.8 on the first thread that sets a limit may alone set others.
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release()


class _Here(threading.local):
    """The blocks of `own_threads` that this thread is in."""

    count = 0


_here = _Here()


def _change_users(change: int) -> None:
    global _users
    with _users_lock:
        before = _users
        _users += change
        if not before:
            _set_blas_threads(1)
        elif not _users:
            _set_blas_threads(None)


@contextmanager
def own_threads() -> Iterator[None]:
    """Inside, `share` uses threads, and matrix products stay on the calling thread.

    BLAS's threads spin for a while after each product, in case another one follows:
    together with ours there would be too many for the cores, and all would wait for
    each other.  So a run uses one kind: ours for large arrays and convolutions, BLAS's,
    which start faster, for work of less than a millisecond.
    """
    if thread_count() == 1:
        yield
        return
    _change_users(1)
    _here.count += 1
    try:
        yield
    finally:
        _here.count -= 1
        _change_users(-1)


@contextmanager
def while_waiting() -> Iterator[None]:
    """Inside, this thread only waits: the other runs have BLAS's threads again."""
    count = _here.count
    if not count:
        yield
        return
    _here.count = 0
    _change_users(-count)
    try:
        yield
    finally:
        _here.count = count
        _change_users(count)


class SharedMachine:
    """Keeps the cores free for other processes that take part in the same work.

    From `enter` to `leave` every matrix product stays on its thread, also those that
    the program makes with NumPy: BLAS's threads would spin for 25 ms after each.
    """

    def __init__(self) -> None:
        self._is_entered = False

    def enter(self) -> None:
        """Hold BLAS to one thread."""
        if thread_count() > 1 and not self._is_entered:
            self._is_entered = True
            _change_users(1)

    def leave(self) -> None:
        """Give BLAS its threads back, unless others hold it, too."""
        if self._is_entered:
            self._is_entered = False
            _change_users(-1)


def cores() -> int:
    """The number of threads that `share` would use now."""
    return thread_count() if _users else 1


def share(items: Sequence[_T], run: Callable[[Sequence[_T]], None]) -> None:
    """Call `run` with parts of `items` on all threads, and wait for them.

    Outside `own_threads` only this thread is used.

    Args:
      items: the work; parts are runs of consecutive items.
      run: processes a part; releases the GIL most of the time.

    Raises:
      Exception: that of the first part that failed, once all parts have ended.
    """
    threads = cores()
    count = min(threads * PARTS_PER_THREAD, len(items))
    if threads < 2 or count < 2:
        run(items)
        return
    cuts = [len(items) * i // count for i in range(count + 1)]
    parts = [items[a:b] for a, b in itertools.pairwise(cuts)]
    workers(threads - 1).compute(run, parts)


def share_evenly(count: int, size: int, run: Callable[[int, int], None]) -> None:
    """`share` for work of less than a millisecond: `run(first, last)` for few parts.

    A thread that wants the GIL while another one has it waits for 50 us and more, and
    it needs the GIL between any two parts: 8 parts of a pass over 6 MB took a third
    longer than 4.

    Args:
      count: of the items; parts are ranges of them.
      size: of all items, in elements.
      run: processes a part; releases the GIL most of the time.
    """
    threads = cores()
    parts = min(2 * threads, count, size // MIN_PART)
    if threads < 2 or parts < 2:
        run(0, count)
        return
    cuts = [count * i // parts for i in range(parts + 1)]
    pairs = list(itertools.pairwise(cuts))
    workers(threads - 1).compute(lambda part: run(*part), pairs)


def by_rows(
    function: Callable[[Any], Any], array: np.ndarray[Any, Any], elements: int
) -> Any:
    """`function(array)`, for a function that treats rows alike, on all threads.

    Args:
      function: maps rows to as many rows.
      array: NumPy array of rank 1 or more; a small one is not divided.
      elements: the block size; smaller to stay in cache, larger if calls are costly.
    """
    step = max(1, elements * len(array) // max(array.size, 1))
    if array.size < LARGE or step >= len(array):
        return function(array)
    first = function(array[:step])
    result = large_array_pool.empty((len(array), *first.shape[1:]), first.dtype)
    result[:step] = first

    def run(starts: Sequence[int]) -> None:
        for start in starts:
            result[start : start + step] = function(array[start : start + step])

    share(range(step, len(array), step), run)
    return result
