"""Work on arrays that several cores share.

As many threads as BLAS would use: what `OPENBLAS_NUM_THREADS` or `OMP_NUM_THREADS` say,
else one for each core that this process may run on.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from tfteach.framework import buffers

_T = TypeVar("_T")

# Elements from which an array is worth more than one thread's time.
LARGE = 1 << 20


@functools.cache
def thread_count() -> int:
    """How many threads compute at once."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit():
            return max(1, int(os.environ[name]))
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_count() - 1, "tfteach-blocks")


# A forked process has none of its parent's threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


_blas_lock = threading.Lock()
_blas_users = 0


@functools.cache
def _blas_libraries() -> list[tuple[Any, int]]:
    """The loaded BLAS libraries and how many threads each uses."""
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [(library, library.get_num_threads()) for library in found]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products inside use the thread that calls them, no others.

    Threads that share many small products are faster than products that share threads:
    nobody waits for anybody after each.
    """
    global _blas_users
    with _blas_lock:
        _blas_users += 1
        if _blas_users == 1:
            for library, _ in _blas_libraries():
                library.set_num_threads(1)
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if not _blas_users:
                for library, count in _blas_libraries():
                    library.set_num_threads(count)


def share(items: Sequence[_T], run: Callable[[Sequence[_T]], None]) -> None:
    """Call `run` with parts of `items`, on all threads, and wait for them.

    Args:
      items: what there is to do; parts are runs of neighbours.
      run: does a part; releases the lock of the interpreter for most of the time.

    Raises:
      Exception: the first error of a part, when all parts have ended.
    """
    count = min(thread_count(), len(items))
    if count < 2:
        run(items)
        return
    cuts = [len(items) * i // count for i in range(count + 1)]
    parts = [items[a:b] for a, b in itertools.pairwise(cuts)]
    others = [_pool().submit(_quietly, run, part) for part in parts[1:]]
    try:
        run(parts[0])
    finally:
        for other in others:
            other.exception()  # ended, before anything that it uses goes
    for other in others:
        other.result()


def by_rows(
    function: Callable[[Any], Any], array: np.ndarray[Any, Any], elements: int
) -> Any:
    """`function(array)`, if it does the same with each row, by all threads.

    Args:
      function: takes some rows (what has the same first index), gives as many.
      array: NumPy array of rank 1 or more; a small one is taken whole.
      elements: of `array`, in a block; fewer in cache, more if calls are costly.
    """
    step = max(1, elements * len(array) // max(array.size, 1))
    if array.size < LARGE or step >= len(array):
        return function(array)
    first = function(array[:step])
    result = buffers.empty((len(array), *first.shape[1:]), first.dtype)
    result[:step] = first

    def run(starts: Sequence[int]) -> None:
        for start in starts:
            result[start : start + step] = function(array[start : start + step])

    share(range(step, len(array), step), run)
    return result


def _quietly(run: Callable[[Sequence[_T]], None], part: Sequence[_T]) -> None:
    # NumPy's error state is each thread's own.
    with np.errstate(all="ignore"):
        run(part)
