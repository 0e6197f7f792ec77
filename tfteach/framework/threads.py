"""Work on arrays that several cores share.

As many threads as BLAS uses: `OPENBLAS_NUM_THREADS` or `OMP_NUM_THREADS` of them,
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

from tfteach.framework import large_array_pool

_T = TypeVar("_T")

# Elements from which an array is worth more than one thread's time.
LARGE = 1 << 20


@functools.cache
def thread_count() -> int:
    """The number of threads that compute at once."""
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


_users_lock = threading.Lock()
_users = 0  # how many runs are inside `own_threads`


@functools.cache
def _blas_libraries() -> list[tuple[Any, int]]:
    """The loaded BLAS libraries and how many threads each uses."""
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [(library, library.get_num_threads()) for library in found]


@contextmanager
def own_threads() -> Iterator[None]:
    """`share` shares inside, and matrix products stay on the thread that calls them.

    BLAS's threads go on turning in circles for a while after each product, in case
    there is another: together with ours that is one too many for the cores, and all
    wait for each other.  So a run uses these or those: ours for large arrays and
    convolutions, BLAS's, which start sooner, for what is over in a millisecond.
    """
    global _users
    if thread_count() == 1:
        yield
        return
    with _users_lock:
        _users += 1
        if _users == 1:
            for library, _ in _blas_libraries():
                library.set_num_threads(1)
    try:
        yield
    finally:
        with _users_lock:
            _users -= 1
            if not _users:
                for library, count in _blas_libraries():
                    library.set_num_threads(count)


def cores() -> int:
    """The number of threads that `share` would use now."""
    return thread_count() if _users else 1


def share(items: Sequence[_T], run: Callable[[Sequence[_T]], None]) -> None:
    """Call `run` with parts of `items`, on all threads, and wait for them.

    Outside of `own_threads` it is this thread alone.

    Args:
      items: the work; parts are runs of consecutive items.
      run: does a part; releases the lock of the interpreter for most of the time.

    Raises:
      Exception: the first error of a part, when all parts have ended.
    """
    count = min(cores(), len(items))
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
      function: maps some rows to as many rows.
      array: NumPy array of rank 1 or more; a small one is not divided.
      elements: of `array`, in a block; fewer in cache, more if calls are costly.
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


def _quietly(run: Callable[[Sequence[_T]], None], part: Sequence[_T]) -> None:
    # NumPy's error state is thread-local.
    with np.errstate(all="ignore"):
        run(part)
