"""Work on arrays that several cores share.

As many threads as BLAS would use: what `OPENBLAS_NUM_THREADS` or `OMP_NUM_THREADS` say,
else one for each core that this process may run on.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

_T = TypeVar("_T")


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


def _quietly(run: Callable[[Sequence[_T]], None], part: Sequence[_T]) -> None:
    # NumPy's error state is each thread's own.
    with np.errstate(all="ignore"):
        run(part)
