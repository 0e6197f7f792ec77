"""Chains of element-wise ops as machine code, where Numba is installed.

    pip install tfteach[fast]

One loop reads each argument once and writes each result once, whatever the number of
ops.  It is compiled on a thread of its own, as that takes half a second; until then
NumPy computes, and always for ops without an `Op.scalar_expression`.  The numbers are
the same: each operation rounds as NumPy's does.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from tfteach.runtime.instruction import Instruction

Loop = Callable[..., None]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


@functools.cache
def is_installed() -> bool:
    """Whether there is a Numba to import."""
    return importlib.util.find_spec("numba") is not None


@functools.cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "tfteach-compile")


class MachineCode:
    """The loop of a chain, for each pattern of whole arrays and single numbers.

    Args:
      parts: the instructions, in order.
      inputs: the registers that the arguments stand for.
      outputs: the registers of the results.
    """

    def __init__(
        self,
        parts: Sequence[Instruction],
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
    ) -> None:
        self._inputs, self._outputs = inputs, outputs
        self._lines = _lines(parts) if is_installed() else None
        self._loops: dict[tuple[Any, ...], Future[Loop]] = {}

    def loop(self, arrays: Sequence[Any], is_whole: Sequence[bool]) -> Loop | None:
        """What computes the chain for such arrays, if it is there already.

        Returns:
          A function of flat arrays, numbers where `is_whole` says so, and flat arrays
          for the results; it does not hold the interpreter's lock.
        """
        if self._lines is None:
            return None
        dtype = arrays[0].dtype
        if dtype not in _FLOATS or any(array.dtype != dtype for array in arrays):
            return None
        key = (dtype, *is_whole)
        future = self._loops.get(key)
        if future is None:
            future = _compilers().submit(self._compile, dtype, tuple(is_whole))
            self._loops[key] = future
        if not future.done():
            return None
        if future.exception() is not None:
            self._lines = None
            logging.getLogger("tfteach").warning(
                "Numba cannot compile a chain of ops, NumPy goes on: %s",
                future.exception(),
            )
            return None
        return future.result()

    def _compile(self, dtype: np.dtype[Any], is_whole: tuple[bool, ...]) -> Loop:
        import numba

        names = [f"a{i}" for i in range(len(self._inputs))]
        targets = [f"r{i}" for i in range(len(self._outputs))]
        assert self._lines is not None
        source = [
            f"def loop({', '.join(names + targets)}):",
            f" for i in range({targets[0]}.size):",
            *(
                f"  s{slot} = {name}[i]" if whole else f"  s{slot} = {name}"
                for slot, name, whole in zip(self._inputs, names, is_whole, strict=True)
            ),
            *(f"  {line}" for line in self._lines),
            *(
                f"  {target}[i] = s{slot}"
                for target, slot in zip(targets, self._outputs, strict=True)
            ),
        ]
        namespace: dict[str, Any] = {}
        exec("\n".join(source), namespace)
        loop = numba.njit(nogil=True, error_model="numpy")(namespace["loop"])
        number = numba.from_dtype(dtype)
        array = numba.types.Array(number, 1, "C", readonly=True)
        result = numba.types.Array(number, 1, "C")
        taken = [array if whole else number for whole in is_whole]
        loop.compile((*taken, *[result] * len(targets)))
        return loop


def _lines(parts: Sequence[Instruction]) -> list[str] | None:
    """A line of source for each part, or None if one of them has none."""
    lines = []
    types = {tensor.dtype for part in parts for tensor in part.node.op.outputs}
    if len(types) > 1:
        return None
    for part in parts:
        names = [f"s{slot}" for slot in part.inputs]
        source = part.node.spec.scalar_expression(*names)
        if source is None:
            return None
        lines.append(f"s{part.outputs[0]} = {source}")
    return lines
