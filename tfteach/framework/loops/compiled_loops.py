"""Loops as machine code, if LLVM is installed.

    pip install tfteach[fast]

One loop reads each argument once and writes each result once, for any number of
operations.  Results are identical to NumPy's: each operation rounds alike.

Short programs never meet the compiler: it is loaded once NumPy has worked for about as
long as that and compiling a few loops takes.  From then on a loop is compiled once
NumPy has done its work for as long as compiling it takes.  A process that has trained
one model would otherwise compile all loops of the next at once, for however few steps.

The caller waits for the compiler, 15 ms a loop.  In the background it would take
longer: BLAS's threads and the compiler would contend for the cores.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.loops.compile_loop import Loop, compile_loop
from tfteach.framework.loops.language import Parameter

# The work of NumPy that loops would replace, in operations on one element: 0.1 s.
MIN_WORK = 1 << 30
# A loop is compiled once it has done this part of it: 6 ms of a kernel alone, about 12
# in a program, whose caches hold other things.  Compiling takes 15.
LOOP_PART = 16
CALL = 1 << 14  # what an op that NumPy computes takes in addition: 1.5 us

_work = 0  # of all loops, until the compiler is loaded
_works: dict[tuple[Any, ...], int] = {}  # of each loop that is not compiled
_loops: dict[tuple[Any, ...], Loop | None] = {}
_lock = threading.Lock()


def loop_of(
    source: str,
    parameters: Sequence[Parameter],
    work: int,
    releases_gil: bool = True,
) -> Loop | None:
    """The compiled function of `source`.

    Args:
      source: `def loop(...):`, see language.py.
      parameters: its parameters, in order.
      work: what the loop would do in this call (see `MIN_WORK`).
      releases_gil: whether other threads run meanwhile (see `compile_loop`).

    Returns:
      The function, which raises TypeError for other types, ranks and memory orders;
      None as long as compiling does not pay off, and forever if the source cannot be
      compiled.
    """
    key = source, tuple(parameters), releases_gil
    return compiled_once(key, work, lambda: compile_loop(*key))


def compiled_once(
    key: tuple[Any, ...], work: int, compiles: Callable[[], Loop]
) -> Loop | None:
    """What `compiles` returns, from the call on at which compiling pays off.

    For functions that replace NumPy's without a difference in their results.

    Args:
      key: identifies the function.
      work: what it would do in this call (see `MIN_WORK`).
      compiles: called at most once; calls LLVM.

    Returns:
      The function; None as long as compiling does not pay off, and forever if it fails.
    """
    global _work
    if key in _loops:
        return _loops[key]
    done = _works.get(key, 0)
    if _work < MIN_WORK or done * LOOP_PART < MIN_WORK:
        _work += work
        _works[key] = done + work
        return None
    with _lock:
        if key not in _loops:
            _loops[key] = _unless_failing(compiles)
            _works.pop(key, None)
    return _loops[key]


def _unless_failing(compiles: Callable[[], Loop]) -> Loop | None:
    try:
        return compiles()
    except Exception as error:
        logging.getLogger("tfteach").warning(
            "A loop cannot be compiled, NumPy goes on: %s", error
        )
        return None
