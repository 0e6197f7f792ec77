"""Keeps freed memory in the process, for the next step.

The C library returns freed memory to the system once about 2 MB are free at the top of
the heap, and the next step then faults every page in again: 0.35 ms for each MB, ten
times what adding two such arrays takes.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

# Of <malloc.h>.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
# Arrays up to this size come from the heap; larger ones from the system, and return
# there when freed.  It is the largest value that glibc accepts.
_FROM_HEAP_BYTES = 32 << 20
# Free bytes that stay at the top of the heap.
_KEPT_BYTES = 256 << 20
_CHOSEN = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


@functools.cache
def keep_freed_memory() -> bool:
    """Make glibc keep up to 256 MB of freed memory; once in a process.

    Returns:
      Whether it was requested: not on other systems, and not where the environment sets
      the amount (`MALLOC_TRIM_THRESHOLD_` and similar variables).
    """
    if not sys.platform.startswith("linux") or any(n in os.environ for n in _CHOSEN):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # musl has none
        return False
    # Both, since setting one of them freezes the other.
    heap = mallopt(_M_MMAP_THRESHOLD, _FROM_HEAP_BYTES)
    return bool(heap and mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES))
