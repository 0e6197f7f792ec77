"""Loops over elements as machine code, where Numba is installed.

    pip install tfteach[fast]

One loop reads each argument once and writes each result once, whatever the number of
operations.  A thread of its own compiles it, which takes half a second; who wants it
computes with NumPy until it is there.  The numbers are the same, as each operation
rounds as NumPy's does.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

Loop = Callable[..., None]

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
# What a parameter is: an array that is read, one that is written, or a number.
READ, WRITTEN, NUMBER = "read", "written", "number"

_loops: dict[tuple[Any, ...], Future[Loop]] = {}


@functools.cache
def is_installed() -> bool:
    """Whether there is a Numba to import."""
    return importlib.util.find_spec("numba") is not None


@functools.cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "tfteach-compile")


def loop_of(source: str, dtype: np.dtype[Any], kinds: Sequence[str]) -> Loop | None:
    """The compiled function of `source`, once it is there; asks for it if need be.

    Args:
      source: `def loop(...):`, of flat arrays of one length and of numbers.
      dtype: of all of them, float32 or float64.
      kinds: what each parameter is.

    Returns:
      The function, which does not hold the interpreter's lock; None until it is
      compiled, and for good if it cannot be.
    """
    key = source, dtype, tuple(kinds)
    future = _loops.get(key)
    if future is None:
        future = _loops[key] = _compilers().submit(_compile, *key)
    if not future.done() or future.exception() is not None:
        return None
    return future.result()


def _compile(source: str, dtype: np.dtype[Any], kinds: tuple[str, ...]) -> Loop:
    try:
        import numba

        namespace: dict[str, Any] = {"sqrt": np.sqrt}
        exec(source, namespace)
        loop = numba.njit(nogil=True, error_model="numpy")(namespace["loop"])
        number = numba.from_dtype(dtype)
        types = {
            READ: numba.types.Array(number, 1, "C", readonly=True),
            WRITTEN: numba.types.Array(number, 1, "C"),
            NUMBER: number,
        }
        loop.compile(tuple(types[kind] for kind in kinds))
    except Exception as error:
        logging.getLogger("tfteach").warning(
            "Numba cannot compile a loop, NumPy goes on: %s", error
        )
        raise
    return loop
