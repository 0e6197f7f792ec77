"""Runs with RunOptions: time limits, and step statistics for RunMetadata.

Source: core/protobuf/config.proto, core/framework/step_stats.proto.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

from tfteach.framework.resource import Cell
from tfteach.framework.transaction import Deadline
from tfteach.runtime.dataflow import DataflowProgram
from tfteach.runtime.execute import Program, StepObserver
from tfteach.runtime.instruction import Instruction
from tfteach.runtime.nested_source import NestedProgram
from tfteach.runtime.step import FORWARDING, Node


class Tracer:
    """Notes when each op ran, where, and the life of each array that it made.

    Args:
      fed: the fed arrays, which no op made.
    """

    def __init__(self, fed: Sequence[Any] = ()) -> None:
        self.rows: list[_Row] = []
        self._fed = {id(_owner(value)) for value in fed}
        self._start_ns = 0
        # The arrays of this run that live, by identity; weak references must be kept,
        # or nobody would hear of their end.
        self._live: dict[int, tuple[weakref.ref[Any], _Row]] = {}
        self._allocations = 0

    def before(self, instruction: Instruction) -> None:
        self._start_ns = time.time_ns()

    def after(self, instruction: Instruction, results: Sequence[Any]) -> None:
        end_ns = time.time_ns()
        node = instruction.node
        # The read of a variable belongs to its Identity; others to the op that reads.
        if instruction.is_read and node.op.type not in FORWARDING:
            return
        row = _Row(node, self._start_ns, end_ns, threading.get_ident() & 0xFFFFFFFF)
        is_read = instruction.is_read or node.op.type == "ReadVariableOp"
        for value in results:
            self._describe(row, value, is_read)
        row.all_end_ns = time.time_ns()
        self.rows.append(row)

    def release(self, instruction: Instruction) -> None:
        return None

    def _describe(self, row: _Row, value: Any, is_read: bool) -> None:
        """Note an output: its shape, its size, and whether it is a new array."""
        is_variable = isinstance(value, Cell)
        if is_variable:
            value = value.value if value.is_initialized else None
        size_bytes = int(getattr(value, "nbytes", 0))
        shape = tuple(getattr(value, "shape", ()))
        allocation = 0
        if size_bytes and not is_variable and not is_read:
            allocation = self._follow(row, value, size_bytes)
        row.outputs.append(_Output(shape, size_bytes, allocation))

    def _follow(self, row: _Row, value: Any, size_bytes: int) -> int:
        """The number of the array's allocation if it is a new one, else 0."""
        owner = _owner(value)
        key = id(owner)
        if key in self._live or key in self._fed:
            return 0
        size_bytes = max(size_bytes, int(owner.nbytes))

        def ended(_: Any) -> None:
            if self._live.pop(key, None) is not None:
                row.records.append((time.time_ns(), -size_bytes))

        try:
            held = weakref.ref(owner, ended)
        except TypeError:  # a NumPy scalar: nobody counts it
            return 0
        self._live[key] = held, row
        row.records.append((row.end_ns, size_bytes))
        self._allocations += 1
        return self._allocations

    def fill(self, run_metadata: Any) -> None:
        """Write the StepStats of a RunMetadata proto."""
        self._live.clear()  # what lives now outlives the run
        by_device: dict[str, Any] = {}
        for row in self.rows:
            device = row.node.device.name
            stats = by_device.get(device)
            if stats is None:
                stats = run_metadata.step_stats.dev_stats.add(device=device)
                by_device[device] = stats
            kind = "simulated" if row.node.device.is_simulated else "tfteach"
            stats.thread_names[row.thread_id] = kind
            row.write(stats.node_stats.add())


def _owner(value: Any) -> Any:
    """The array whose memory it is."""
    while isinstance(getattr(value, "base", None), type(value)):
        value = value.base
    return value


class _Output(NamedTuple):
    shape: tuple[int, ...]
    size_bytes: int
    allocation: int  # its number; 0 if the op made no array of its own


class _Row:
    """One op that ran."""

    def __init__(self, node: Node, start_ns: int, end_ns: int, thread_id: int) -> None:
        self.node = node
        self.start_ns = start_ns
        self.end_ns = end_ns
        self.all_end_ns = end_ns
        self.thread_id = thread_id
        self.outputs: list[_Output] = []
        self.records: list[tuple[int, int]] = []  # when, and bytes taken or freed

    def write(self, row: Any) -> None:
        """Fill a NodeExecStats proto."""
        node, start_ns = self.node, self.start_ns
        row.node_name = node.name
        row.all_start_micros = start_ns // 1000
        row.op_end_rel_micros = (self.end_ns - start_ns) // 1000
        row.all_end_rel_micros = (self.all_end_ns - start_ns) // 1000
        row.all_start_nanos = start_ns
        row.op_end_rel_nanos = self.end_ns - start_ns
        row.all_end_rel_nanos = self.all_end_ns - start_ns
        row.thread_id = self.thread_id
        sources = [source.name for source, _ in node.inputs]
        waited = [f"^{other.name}" for other in node.control]
        row.timeline_label = (
            f"{node.name} = {node.op.type}({', '.join([*sources, *waited])})"
        )
        allocator = _allocator(node.device)
        if self.records:
            self._write_memory(row.memory.add(allocator_name=allocator))
        for slot, (shape, size_bytes, allocation) in enumerate(self.outputs):
            description = row.output.add(slot=slot).tensor_description
            description.dtype = node.op.outputs[slot].dtype.as_datatype_enum
            description.shape.SetInParent()
            for size in shape:
                description.shape.dim.add(size=size)
            found = description.allocation_description
            found.requested_bytes = size_bytes
            found.allocator_name = allocator
            if allocation:
                found.allocated_bytes = size_bytes
                found.allocation_id = allocation

    def _write_memory(self, memory: Any) -> None:
        taken = [size for _, size in self.records if size > 0]
        memory.total_bytes = memory.peak_bytes = sum(taken)
        memory.live_bytes = sum(taken)  # when the op ended, as TF counts
        for at_ns, size_bytes in self.records:
            memory.allocation_records.add(
                alloc_micros=at_ns // 1000, alloc_bytes=size_bytes
            )


def _allocator(device: Any) -> str:
    """What TF calls the allocator of a device."""
    return f"GPU_{device.index}_bfc" if device.device_type == "GPU" else "cpu"


def run_with_options(
    program: Program | NestedProgram | DataflowProgram,
    fed: Sequence[Any],
    options: Any,
    run_metadata: Any,
    timeout_ms: int = 0,
) -> Any:
    """Run a program as RunOptions say, and fill RunMetadata.

    Args:
      program: what to run.
      fed: the fed arrays.
      options: a RunOptions proto, or None.
      run_metadata: a RunMetadata proto, or None.
      timeout_ms: the time limit if `options` has none; 0 for no limit.

    Raises:
      TypeError: the arguments are no such protos.
      ValueError: there is a trace level but no `run_metadata` to fill.
      DeadlineExceededError: the time limit was reached.
    """
    if options is not None and not hasattr(options, "trace_level"):
        raise TypeError(f"options must be a tf.RunOptions proto, got {options!r}")
    if run_metadata is not None and not hasattr(run_metadata, "step_stats"):
        raise TypeError(f"run_metadata must be a tf.RunMetadata, got {run_metadata!r}")
    observers: list[StepObserver] = []
    tracer = None
    if options is not None:
        if options.timeout_in_ms > 0:
            timeout_ms = options.timeout_in_ms
        if options.trace_level > 0:  # as TF: every level but NO_TRACE
            tracer = Tracer(fed)
            observers.append(tracer)
        if options.report_tensor_allocations_upon_oom:
            raise NotImplementedError("RunOptions.report_tensor_allocations_upon_oom")
        if options.output_partition_graphs:
            raise NotImplementedError("RunOptions.output_partition_graphs")
        if options.debug_options.debug_tensor_watch_opts:
            raise NotImplementedError("RunOptions.debug_options: the debugger")
    deadline = Deadline(timeout_ms) if timeout_ms > 0 else None
    values = program.run(fed, observers, deadline)
    if tracer is not None and run_metadata is not None:
        run_metadata.Clear()
        tracer.fill(run_metadata)
    return values
