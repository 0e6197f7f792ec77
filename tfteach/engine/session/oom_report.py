"""The live allocations of a run that ran out of memory.

Source: core/common_runtime/step_stats_collector.cc, ReportAllocsOnResourceExhausted.
"""

from __future__ import annotations

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.kernel_errors import OOM_HINT
from tfteach.engine.session.tracing import Row, Tracer
from tfteach.framework.errors import ResourceExhaustedError

MOST_NODES = 100
SHARE_LISTED = 0.99  # of the bytes; the remainder is one line


def add_report(error: ResourceExhaustedError, tracer: Tracer) -> None:
    """Replace the hint about the report by the list of live allocations."""
    failed = tracer.failed
    if "OOM" not in error.message or failed is None:
        return
    device = failed.node.device
    report = f"\n{_usage(device, tracer, failed)}" if tracer.rows else "\n"
    error._message = error._message.removesuffix(OOM_HINT) + report


def _usage(device: Device, tracer: Tracer, failed: Row) -> str:
    held: list[tuple[int, str]] = []
    for row in tracer.rows:
        if row.node.device is not device:
            continue
        # Later deallocations only unwind the failed run.
        size_bytes = sum(n for at, n in row.records if at <= failed.op_start_ns)
        if size_bytes > 0:
            held.append((size_bytes, row.node.name))
    if not held:
        return ""
    held.sort(key=lambda pair: -pair[0])
    total = sum(size_bytes for size_bytes, _ in held)
    lines = [f"Current usage from device: {device.name}, allocator: {device.allocator}"]
    listed_bytes = 0
    count = 0
    for size_bytes, name in held:
        if count == MOST_NODES or listed_bytes > SHARE_LISTED * total:
            break
        lines.append(f"  {_readable(size_bytes)} from {name}")
        listed_bytes += size_bytes
        count += 1
    if count < len(held):
        left = _readable(total - listed_bytes)
        lines.append(f"  Remaining {len(held) - count} nodes with {left}")
    return "\n" + "\n".join(lines) + "\n"


def _readable(size_bytes: int) -> str:
    """Bytes as TensorFlow writes them: 512B, 1.2KiB, 3.00MiB."""
    if size_bytes < 1024:
        return f"{size_bytes}B"
    value = size_bytes / 1024
    units = iter("KMGTPE")
    unit = next(units)
    while value >= 1024:
        value /= 1024
        unit = next(units)
    digits = 1 if unit == "K" else 2
    return f"{value:.{digits}f}{unit}iB"
