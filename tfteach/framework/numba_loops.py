"""Element-wise loops compiled to machine code, if Numba is installed.

    pip install tfteach[fast]

One loop reads each argument once and writes each result once, for any number of
operations.  A background thread compiles it in about 0.2 s; until then callers compute
with NumPy.  Compiled loops are cached in the user's cache folder, from which the next
process loads them in 10 ms.  Results are identical: each operation rounds as NumPy's
does.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.codegen import define

Loop = Callable[..., Any]

# Functions that a source may use; their results are NumPy's to the last bit.
_USABLE = ("sqrt", "sign", "maximum", "float32", "float64")

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Parameter(NamedTuple):
    """Argument of a loop: a scalar, or a contiguous array."""

    dtype: np.dtype[Any]
    rank: int = 1  # 0 for a number
    is_written: bool = False


_loops: dict[tuple[Any, ...], Future[Loop]] = {}


@functools.cache
def is_installed() -> bool:
    """Whether Numba can be imported."""
    return importlib.util.find_spec("numba") is not None


@functools.cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "tfteach-compile")


def loop_of(source: str, parameters: Sequence[Parameter]) -> Loop | None:
    """The compiled function of `source`; the first call starts its compilation.

    Args:
      source: `def loop(...):`, which may use `_USABLE` of NumPy.
      parameters: its parameters, in order.

    Returns:
      The function, which releases the GIL, and raises TypeError for other types, ranks
      and memory orders; None until it is compiled, and forever if it cannot be.
    """
    key = source, tuple(parameters)
    future = _loops.get(key)
    if future is None:
        future = _loops[key] = _compilers().submit(_compile, *key)
    if not future.done() or future.exception() is not None:
        return None
    return future.result()


def cache_folder() -> Path:
    """The folder in which compiled loops are cached."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("tfteach")) / "loops"


def _cached_source(source: str) -> Path | None:
    """The file of this source, next to which Numba caches the compiled code.

    None if no file can be written.  An existing file is left unchanged, because Numba
    compares modification times.
    """
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        # Numba's files name the module in which the function was defined.
        key = hashlib.sha256(f"{__name__}\n{source}".encode()).hexdigest()
        path = folder / f"{key[:24]}.py"
        if not path.exists():
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                file.write(source)
            os.replace(file.name, path)
        return path
    except OSError:
        return None


def _compile(source: str, parameters: Sequence[Parameter]) -> Loop:
    try:
        import numba

        path = _cached_source(source)
        namespace: dict[str, Any] = {name: getattr(np, name) for name in _USABLE}
        namespace["__name__"] = __name__
        function = define(source, "loop", namespace, str(path or "<loop>"))
        jit = numba.njit(nogil=True, error_model="numpy", cache=path is not None)
        loop = jit(function)
        types = []
        for dtype, rank, is_written in parameters:
            kind = numba.from_dtype(dtype)
            if rank:
                kind = numba.types.Array(kind, rank, "C", readonly=not is_written)
            types.append(kind)
        loop.compile(tuple(types))
        loop.disable_compile()
    except Exception as error:
        logging.getLogger("tfteach").warning(
            "Numba cannot compile a loop, NumPy goes on: %s", error
        )
        raise
    return loop
