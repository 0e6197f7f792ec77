"""Follows a run instruction by instruction: when ops run, what they allocate."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.program import FlowObserver, Iterations
from tfteach.engine.plan.step import Node
from tfteach.framework.variable_cell import Cell


class Output(NamedTuple):
    """An output of an op that ran.

    Attributes:
      slot: its number.
      shape, size_bytes: of the array.
      buffer: the memory that holds it, if an op of this run allocated it.
      is_new: whether this op allocated it.
      address: its address in memory; 0 if unknown.
    """

    slot: int
    shape: tuple[int, ...]
    size_bytes: int
    buffer: Buffer | None = None
    is_new: bool = False
    address: int = 0


class Buffer(NamedTuple):
    """Memory that an op allocated.

    Attributes:
      size_bytes: the size of the whole buffer.
      number: among the op's allocations, from 1.
    """

    size_bytes: int
    number: int


class Held(NamedTuple):
    """The outputs of a node that needs no kernel, and the time of their look-up."""

    at_ns: int
    outputs: list[Output]


class Row:
    """One execution of an op.

    Attributes:
      start_ns, op_start_ns, op_end_ns, end_ns: when the op was started, when its kernel
        began and ended, and when its outputs had been recorded.
      thread_id: of the thread that ran it.
      outputs: those that are not dead.
      records: the times, and the bytes allocated or (negative) freed.
    """

    def __init__(self, node: Node, start_ns: int) -> None:
        self.node = node
        self.thread_id = threading.get_ident() & 0x7FFFFFFF
        self.start_ns = self.op_start_ns = self.op_end_ns = self.end_ns = start_ns
        self.outputs: list[Output] = []
        self.records: list[tuple[int, int]] = []


class Tracer(FlowObserver):
    """Records when each op ran, and the lifetime of each array that it created.

    Args:
      fed: the fed arrays, which no op made.

    Attributes:
      at_start: outputs, before the run, of nodes that need no kernel, by name.
    """

    follows_threads = True

    def __init__(self, fed: Sequence[Any] = ()) -> None:
        self.at_start: dict[str, Held] = {}
        self.rows: list[Row] = []
        self.start_ns = self._last_ns = time.time_ns()
        self._fed = {id(_owner(value)) for value in fed}
        self._running: dict[Node, Row] = {}
        # The live arrays of this run, by identity; weak references must be kept, or
        # their finalizers would not run.
        self._live: dict[int, tuple[weakref.ref[Any], Buffer]] = {}

    @property
    def failed(self) -> Row | None:
        """After an error, the op that failed."""
        return next(iter(self._running.values()), None)

    def before(self, instruction: Instruction) -> None:
        row = Row(instruction.node, time.time_ns())
        self._running[instruction.node] = row
        row.op_start_ns = time.time_ns()

    def after(self, instruction: Instruction, results: Sequence[Any]) -> None:
        instruction.node.device.synchronize()
        end_ns = time.time_ns()
        node = instruction.node
        row = self._running.pop(node)
        self._last_ns = end_ns
        # The read of a variable belongs to its Identity; others to the op that reads.
        if instruction.is_read and not node.forwards_input:
            return
        row.op_end_ns = end_ns
        is_read = instruction.is_read or node.op.spec.reads_variable
        for slot, value in enumerate(results):
            row.outputs.append(self._output(row, slot, value, is_read))
        self._add(row)

    def passes(self, node: Node, values: Sequence[Any], iterations: Iterations) -> None:
        row = Row(node, self._last_ns)
        row.op_end_ns = time.time_ns()
        for slot, value in enumerate(values):
            if value is not None:
                row.outputs.append(self._output(row, slot, value, is_read=True))
        self._add(row)

    def release(self, instruction: Instruction) -> None:
        return None

    def close(self) -> None:
        """End the run: arrays that are still alive outlive it."""
        self._live.clear()

    def _add(self, row: Row) -> None:
        row.end_ns = self._last_ns = time.time_ns()
        self.rows.append(row)

    def _output(self, row: Row, slot: int, value: Any, is_read: bool) -> Output:
        """Describe an output: its shape, its size, and whether it is a new array."""
        if isinstance(value, Cell):
            return output_of(slot, value)
        buffer, is_new = None, False
        if getattr(value, "nbytes", 0):
            buffer, is_new = self._follow(row, value, is_read)
        return output_of(slot, value)._replace(buffer=buffer, is_new=is_new)

    def _follow(
        self, row: Row, value: Any, is_read: bool
    ) -> tuple[Buffer | None, bool]:
        """The array's memory if an op of this run created it, and whether it is new."""
        owner = _owner(value)
        key = id(owner)
        found = self._live.get(key)
        if found is not None:
            return found[1], False
        if is_read or key in self._fed:
            return None, False
        size_bytes = max(int(value.nbytes), int(owner.nbytes))

        def ended(_: Any) -> None:
            if self._live.pop(key, None) is not None:
                row.records.append((time.time_ns(), -size_bytes))

        try:
            held = weakref.ref(owner, ended)
        except TypeError:  # a NumPy scalar: not counted
            return None, False
        buffer = Buffer(size_bytes, len(row.records) + 1)
        self._live[key] = held, buffer
        row.records.append((row.op_end_ns, size_bytes))
        return buffer, True


def output_of(slot: int, value: Any) -> Output:
    """An output whose memory no op of the run allocated."""
    if isinstance(value, Cell):
        value = value.value if value.is_initialized else None
    size_bytes = int(getattr(value, "nbytes", 0))
    shape = tuple(getattr(value, "shape", ()))
    address = value.ctypes.data if isinstance(value, np.ndarray) else 0
    return Output(slot, shape, size_bytes, address=address)


def _owner(value: Any) -> Any:
    """The array that owns the memory."""
    while isinstance(getattr(value, "base", None), type(value)):
        value = value.base
    return value
