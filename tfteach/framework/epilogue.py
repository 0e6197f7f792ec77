"""What follows a kernel, computed on each part of its result while that is cached.

A large result has left the caches before the next op reads it.  A kernel that computes
its result part by part asks for its epilogue by `take`, and calls it for each part.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfteach.framework.shape import Shape


class Epilogue:
    """Element-wise work in place on the result of the kernel that runs inside.

    Args:
      shape: of the result that it is for; it is known.
      dtype: of that result.
      run: `run(result, begin, end)` for a range of a flat result's elements, on any
        thread; None if it cannot be run yet.

    Attributes:
      result: for which a kernel has asked for it, or None.
    """

    def __init__(
        self,
        shape: Shape,
        dtype: Any,
        run: Callable[[Any, int, int], None] | None,
    ) -> None:
        self._shape, self._dtype, self._run = shape, dtype, run
        self.result: Any = None

    def __enter__(self) -> Epilogue:
        self._outer = getattr(_local, "epilogue", None)
        _local.epilogue = self
        return self

    def __exit__(self, *error: object) -> None:
        _local.epilogue = self._outer

    def taken_for(self, result: Any) -> Callable[[int, int], None] | None:
        """See `take`."""
        if (
            self.result is not None
            or result.shape != self._shape
            or result.dtype != self._dtype
            or not result.flags.c_contiguous
        ):
            return None
        self.result = result
        run, flat = self._run, result.reshape(-1)
        if run is None:
            return None
        return lambda begin, end: run(flat, begin, end)


_local = threading.local()


def take(result: Any) -> Callable[[int, int], None] | None:
    """The epilogue of the kernel that runs on this thread, if it has one.

    Only for kernels of ops with `takes_epilogue`.

    Args:
      result: what the kernel returns, if possible the array itself; it need not be
        computed yet.

    Returns:
      A function that must be called for ranges of the flat result's elements, once for
      each element, after they were computed; None if there is nothing to be done.
    """
    found: Epilogue | None = getattr(_local, "epilogue", None)
    return None if found is None else found.taken_for(result)
