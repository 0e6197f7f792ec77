"""A traced run as a StepStats proto: a row for each op that ran, device by device.

TensorFlow runs a kernel for every node, also for constants, feeds and fetches.  Here
these have none: their rows have no duration, and are placed when their inputs end.
Source: core/framework/step_stats.proto, core/common_runtime/step_stats_collector.cc.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.kernel_context import Context
from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.plan.step import argument_names
from tfteach.engine.session.partition_graphs import ExecutedGraph, ExecutedNode
from tfteach.engine.session.tracing import Held, Output, Row, Tracer, output_of
from tfteach.framework.dtypes import DType
from tfteach.framework.op import ROLES
from tfteach.framework.op_traits import Role

HARDWARE_TRACE = 2  # RunOptions.TraceLevel: from here on with kernels on `/host:CPU`
HANDLE_BYTES = 64  # of a ResourceHandle
LABELLED_BYTES = 0.1 * (1 << 20)  # ops that allocate as much say so in their label
_step_numbers = itertools.count(1)


def write_step_stats(
    step_stats: Any,
    graph: ExecutedGraph,
    tracer: Tracer,
    level: int,
) -> None:
    """Fill a StepStats proto.

    Args:
      step_stats: an empty StepStats.
      graph: what the run executed.
      tracer: the tracer that followed the run.
      level: RunOptions.trace_level.
    """
    rows = _Rows(graph, tracer)
    formulas = rows.modelled()
    if level >= HARDWARE_TRACE:
        _write_host(step_stats, rows.all, formulas)
    for device in graph.devices:
        stats = step_stats.dev_stats.add(device=device.name)
        if device.is_simulated:
            model = device.model
            name = "simulated" if model is None else f"simulated {model.label}"
            for thread_id in rows.threads(device):
                stats.thread_names[thread_id] = name
        _write_source(stats.node_stats.add(), tracer.start_ns)
        for node, row in rows.all:
            if node.device is device and not node.is_transfer:
                _write(stats.node_stats.add(), node, row, formulas.get(node.name))


def held_at_start(
    graph: ExecutedGraph, fed: Sequence[Any], session: Any
) -> dict[str, Held]:
    """The values of feeds, constants and variables before a run, by node name.

    Args:
      graph: what the run executes.
      fed: the values of the feeds, in the order of the step's feeds.
      session: the session of the run.
    """
    names, feeds = argument_names(graph.step), graph.step.feeds.values()
    found = {
        names[node]: Held(time.time_ns(), [output_of(0, value)._replace(address=0)])
        for node, value in zip(feeds, fed, strict=True)
    }
    for executed in graph.nodes:
        is_known = executed.value is not None and not executed.inputs
        if is_known and executed.op_type != Recv.op_type:
            found[executed.name] = Held(time.time_ns(), [output_of(0, executed.value)])
    for node in graph.step.nodes:
        if node.spec.returns_handle:
            context = Context(node.op, node.device, session.resources, session)
            cell = node.spec.compute(context)
            is_resource = not node.op.outputs[0].dtype.is_ref
            is_there = is_resource or cell.is_initialized
            outputs = [output_of(0, cell)] if is_there else []
            found[node.name] = Held(time.time_ns(), outputs)
    return found


class _Rows:
    """The executed nodes with their rows, in chronological order."""

    def __init__(self, graph: ExecutedGraph, tracer: Tracer) -> None:
        self.graph = graph
        self.at_start = tracer.at_start
        self.ends: dict[str, int] = {}
        self.outputs: dict[str, list[Output]] = {}
        found: list[tuple[ExecutedNode, Row]] = []
        for row in tracer.rows:
            for node in graph.of.get(row.node, ()):
                found.append((node, row))
                self.ends[node.name] = row.end_ns
                self.outputs[node.name] = row.outputs
        self.start_ns = tracer.start_ns
        self.sent = {
            node.transfer: node.name
            for node in graph.nodes
            if node.op_type == Send.op_type
        }
        for node in self.in_order(
            {
                node.name: node
                for node in graph.nodes
                if node.name not in self.ends and self.is_there(node)
            }
        ):
            found.append((node, self.made_up(node)))
        found.sort(key=lambda pair: (pair[1].start_ns, pair[1].end_ns))
        self.all = found

    def modelled(self) -> dict[str, str]:
        """Model the times of GPUs that are like a card; the formulas, by name."""
        if all(device.model is None for device in self.graph.devices):
            return {}
        from tfteach.engine.session.modelled_times import model_times

        formulas = model_times(self.all, self.outputs, self.start_ns)
        self.all.sort(key=lambda pair: (pair[1].start_ns, pair[1].end_ns))
        return formulas

    def threads(self, device: Device) -> set[int]:
        """The threads that ran ops of a device."""
        return {row.thread_id for node, row in self.all if node.device is device}

    def is_there(self, node: ExecutedNode) -> bool:
        """Whether a node without a kernel was reached: it may be in a dead branch."""
        step = self.graph.step
        return (
            node.node is None or not step.has_control_flow or node.node in step.always
        )

    def in_order(self, absent: dict[str, ExecutedNode]) -> Iterator[ExecutedNode]:
        """Nodes, each after those of them that it needs."""
        opened: set[str] = set()
        for first in list(absent):
            stack = [first]
            while stack:
                node = absent.get(stack[-1])
                before = [] if node is None else self.needed(node)
                before = [name for name in before if name in absent]
                if node is None or node.name in opened or not before:
                    stack.pop()
                    if node is not None:
                        yield absent.pop(node.name)
                    continue
                opened.add(node.name)
                stack += before

    def needed(self, node: ExecutedNode) -> list[str]:
        """The names of the nodes that a node needs."""
        names = [name.lstrip("^").partition(":")[0] for name in node.inputs]
        if node.op_type == Recv.op_type and node.transfer in self.sent:
            names.append(self.sent[node.transfer])
        return names

    def made_up(self, node: ExecutedNode) -> Row:
        """A synthetic row for a node that has no kernel here."""
        ends = (self.ends.get(name, 0) for name in self.needed(node))
        at_ns = max(ends, default=0)
        held = self.at_start.get(node.name)
        at_ns = max(at_ns, self.start_ns) if held is None else held.at_ns
        row = Row(node.node, at_ns)  # type: ignore[arg-type]
        row.outputs = self.outputs_of(node) if held is None else held.outputs
        self.ends[node.name] = row.end_ns
        self.outputs[node.name] = row.outputs
        return row

    def outputs_of(self, node: ExecutedNode) -> list[Output]:
        if node.value is not None:
            return [output_of(0, node.value)]
        if node.op_type in ("_Retval", ROLES[Role.NO_OP].op_type):
            return []
        source, _, slot = node.inputs[0].partition(":") if node.inputs else ("", "", "")
        handed = [o for o in self.outputs.get(source, ()) if o.slot == int(slot or 0)]
        return [output._replace(slot=0, is_new=False) for output in handed]


def _write_source(written: Any, start_ns: int) -> None:
    written.node_name = "_SOURCE"
    written.timeline_label = "_SOURCE = NoOp()"
    written.memory_stats.SetInParent()
    _write_times(written, start_ns, (start_ns, start_ns, start_ns))


def _write_times(written: Any, start_ns: int, ends: tuple[int, int, int]) -> None:
    start_us = start_ns // 1000
    op_start, op_end, end = ends
    written.scheduled_micros, written.scheduled_nanos = start_us, start_ns
    written.all_start_micros, written.all_start_nanos = start_us, start_ns
    written.op_start_rel_micros = op_start // 1000 - start_us
    written.op_start_rel_nanos = op_start - start_ns
    written.op_end_rel_micros = op_end // 1000 - start_us
    written.op_end_rel_nanos = op_end - start_ns
    written.all_end_rel_micros = end // 1000 - start_us
    written.all_end_rel_nanos = end - start_ns


def _write(
    written: Any, node: ExecutedNode, row: Row, formula: str | None = None
) -> None:
    """Fill a NodeExecStats proto; `formula` if its times are modelled."""
    written.node_name = node.name
    ends = row.op_start_ns, row.op_end_ns, row.end_ns
    _write_times(written, row.start_ns, ends)
    allocator = node.device.allocator
    label = node.label
    if row.records:
        memory = written.memory.add(allocator_name=allocator)
        _write_memory(memory, row)
        if memory.total_bytes >= LABELLED_BYTES:
            total, peak = memory.total_bytes / (1 << 20), memory.peak_bytes / (1 << 20)
            label = f"[{allocator} {total:.1f}MB {peak:.1f}MB] {label}"
    written.timeline_label = _with_formula(label, formula)
    for output in row.outputs:
        _write_output(written.output.add(slot=output.slot), node, output, allocator)
    written.memory_stats.SetInParent()
    written.memory_stats.persistent_memory_size = _kept_bytes(node, row)


def _with_formula(label: str, formula: str | None) -> str:
    return label if formula is None else f"[modelled: {formula}] {label}"


def _kept_bytes(node: ExecutedNode, row: Row) -> int:
    """Bytes that outlive the run: of a constant, or of a variable's buffer."""
    value = node.value
    if value is not None:
        text = value.reshape(-1).tolist() if value.dtype.hasobject else ()
        return int(value.nbytes) + sum(map(len, text))
    found = node.node
    if found is None or not found.spec.returns_handle:
        return 0
    is_ref = found.op.outputs[0].dtype.is_ref
    return sum(output.size_bytes for output in row.outputs) if is_ref else 0


def _write_output(
    written: Any, node: ExecutedNode, output: Output, allocator: str
) -> None:
    dtype = _dtype_of(node, output.slot)
    is_handle = dtype.name == "resource"
    size_bytes = HANDLE_BYTES if is_handle else output.size_bytes
    description = written.tensor_description
    description.dtype = dtype.as_datatype_enum
    description.shape.SetInParent()
    for size in () if is_handle else output.shape:
        description.shape.dim.add(size=size)
    found = description.allocation_description
    if not size_bytes:
        return
    found.requested_bytes = size_bytes
    found.allocator_name = allocator
    found.ptr = output.address
    if output.buffer is not None:
        found.allocated_bytes = output.buffer.size_bytes
        found.allocation_id = output.buffer.number
        found.has_single_reference = output.is_new


def _dtype_of(node: ExecutedNode, slot: int) -> DType:
    kind = node.attrs.get("dtype") or node.attrs.get("T")
    if kind is not None:
        dtype: DType = kind[1]
        return dtype
    assert node.node is not None
    return node.node.op.outputs[slot].dtype.base_dtype


def _write_memory(memory: Any, row: Row) -> None:
    taken = [size for _, size in row.records if size > 0]
    memory.total_bytes = memory.peak_bytes = sum(taken)
    memory.live_bytes = sum(taken)  # when the op ended, as TF counts
    for at_ns, size_bytes in row.records:
        memory.allocation_records.add(
            alloc_micros=at_ns // 1000, alloc_bytes=size_bytes
        )


def _write_host(
    step_stats: Any, rows: list[tuple[ExecutedNode, Row]], formulas: dict[str, str]
) -> None:
    """The kernels as the host thread saw them, without those that TF deems cheap."""
    number = next(_step_numbers)
    kernels = [(node, row) for node, row in rows if _is_kernel(node)]
    if not kernels:
        return
    stats = step_stats.dev_stats.add(device="/host:CPU")
    for thread_id in {row.thread_id for _, row in kernels}:
        stats.thread_names[thread_id] = "tf_Compute"
    for node, row in kernels:
        is_async = "true" if node.op_type == Recv.op_type else "false"
        start_us = row.op_start_ns // 1000
        written = stats.node_stats.add(
            node_name=f"{node.name}:{node.op_type}",
            all_start_micros=start_us,
            all_start_nanos=row.op_start_ns,
            all_end_rel_micros=row.op_end_ns // 1000 - start_us,
            all_end_rel_nanos=row.op_end_ns - row.op_start_ns,
            timeline_label=_with_formula(
                f"id={number},device={node.device.name},async={is_async}",
                formulas.get(node.name),
            ),
            thread_id=row.thread_id,
        )
        if node.is_transfer and row.records:  # TF does not record this
            memory = written.memory.add(allocator_name=node.device.allocator)
            _write_memory(memory, row)


def _is_kernel(node: ExecutedNode) -> bool:
    if node.is_transfer:
        return True
    found = node.node
    return found is not None and node.value is None and found.spec.is_expensive
