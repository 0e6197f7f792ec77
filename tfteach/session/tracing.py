"""Runs with RunOptions: time limits, and step statistics for RunMetadata.

Source: core/protobuf/config.proto, core/framework/step_stats.proto.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from tfteach.framework import errors
from tfteach.runtime.dataflow import DataflowProgram
from tfteach.runtime.execute import Program, StepObserver
from tfteach.runtime.instruction import Instruction
from tfteach.runtime.nested_source import NestedProgram


class Deadline:
    """Ends a run that takes too long, between two ops."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._end = time.monotonic() + timeout_ms / 1000

    def before(self, instruction: Instruction) -> None:
        if time.monotonic() > self._end:
            raise errors.DeadlineExceededError(
                None,
                None,
                f"Timed out waiting for notification: the run took longer than "
                f"RunOptions.timeout_in_ms = {self._timeout_ms}",
            )

    def after(self, instruction: Instruction, results: Sequence[Any]) -> None:
        return None

    def release(self, instruction: Instruction) -> None:
        return None


class Tracer:
    """Notes when each op ran, where, and how large its results were."""

    def __init__(self) -> None:
        self.rows: list[tuple[Instruction, int, int, list[int]]] = []
        self._start_ns = 0

    def before(self, instruction: Instruction) -> None:
        self._start_ns = time.time_ns()

    def after(self, instruction: Instruction, results: Sequence[Any]) -> None:
        sizes = [getattr(value, "nbytes", 0) for value in results]
        self.rows.append((instruction, self._start_ns, time.time_ns(), sizes))

    def release(self, instruction: Instruction) -> None:
        return None

    def fill(self, run_metadata: Any) -> None:
        """Write the StepStats of a RunMetadata proto."""
        by_device: dict[str, Any] = {}
        for instruction, start_ns, end_ns, sizes in self.rows:
            if instruction.is_read:
                continue
            node = instruction.node
            stats = by_device.get(node.device.name)
            if stats is None:
                stats = run_metadata.step_stats.dev_stats.add(device=node.device.name)
                by_device[node.device.name] = stats
            row = stats.node_stats.add(
                node_name=node.name,
                all_start_micros=start_ns // 1000,
                op_end_rel_micros=(end_ns - start_ns) // 1000,
                all_end_rel_micros=(end_ns - start_ns) // 1000,
                thread_id=threading.get_ident() & 0xFFFF,
                timeline_label=f"{node.name} = {node.op.type}("
                f"{', '.join(source.name for source, _ in node.inputs)})",
            )
            for slot, size_bytes in enumerate(sizes):
                output = row.output.add(slot=slot)
                description = output.tensor_description
                description.dtype = node.op.outputs[slot].dtype.as_datatype_enum
                description.allocation_description.requested_bytes = size_bytes
                description.allocation_description.allocated_bytes = size_bytes


def run_with_options(
    program: Program | NestedProgram | DataflowProgram,
    fed: Sequence[Any],
    options: Any,
    run_metadata: Any,
) -> Any:
    """Run a program as RunOptions say, and fill RunMetadata.

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
            observers.append(Deadline(options.timeout_in_ms))
        if options.trace_level > 0:  # as TF: every level but NO_TRACE
            tracer = Tracer()
            observers.append(tracer)
        if options.report_tensor_allocations_upon_oom:
            raise NotImplementedError("RunOptions.report_tensor_allocations_upon_oom")
        if options.output_partition_graphs:
            raise NotImplementedError("RunOptions.output_partition_graphs")
        if options.debug_options.debug_tensor_watch_opts:
            raise NotImplementedError("RunOptions.debug_options: the debugger")
    values = program.run(fed, observers)
    if tracer is not None and run_metadata is not None:
        run_metadata.Clear()
        tracer.fill(run_metadata)
    return values
