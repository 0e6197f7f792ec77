"""Loops as machine code, if LLVM is installed.

    pip install tfteach[fast]

One loop reads each argument once and writes each result once, for any number of
operations.  Results are identical to NumPy's: each operation rounds alike.

Short programs never meet the compiler: the first loop is compiled once NumPy has worked
for about as long as loading LLVM and compiling takes.  The caller waits for it, 20 ms a
loop.  In the background it would take longer: BLAS's threads and the compiler would
contend for the cores.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

from tfteach.framework.loops.compile_loop import Loop, compile_loop
from tfteach.framework.loops.language import Parameter

# The work of NumPy that loops would replace, in operations on one element: 0.1 s.
MIN_WORK = 1 << 30
CALL = 1 << 12  # what a call of NumPy takes in addition, in the same unit

_work = 0
_loops: dict[tuple[Any, ...], Loop | None] = {}
_lock = threading.Lock()


def loop_of(source: str, parameters: Sequence[Parameter], work: int) -> Loop | None:
    """The compiled function of `source`.

    Args:
      source: `def loop(...):`, see language.py.
      parameters: its parameters, in order.
      work: what the loop would do in this call (see `MIN_WORK`).

    Returns:
      The function, which releases the GIL, and raises TypeError for other types, ranks
      and memory orders; None as long as compiling does not pay off, and forever if the
      source cannot be compiled.
    """
    global _work
    if _work < MIN_WORK:
        _work += work
        return None
    key = source, tuple(parameters)
    if key not in _loops:
        with _lock:
            if key not in _loops:
                _loops[key] = _compile(*key)
    return _loops[key]


def _compile(source: str, parameters: Sequence[Parameter]) -> Loop | None:
    try:
        return compile_loop(source, parameters)
    except Exception as error:
        logging.getLogger("tfteach").warning(
            "A loop cannot be compiled, NumPy goes on: %s", error
        )
        return None
