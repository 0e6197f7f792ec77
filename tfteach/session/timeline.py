"""A traced run as a file for Chrome's trace viewer: chrome://tracing, Perfetto.

Source: python/client/timeline.py (API and events of the trace).
"""

from __future__ import annotations

import json
import re
from typing import Any

from tfteach.framework.export import export

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")


@export("client.timeline.Timeline")
class Timeline:
    """The ops of a traced run over time, a row for each device.

    Args:
      step_stats: `run_metadata.step_stats` of a run with full tracing.
      graph: not needed.

    Example:
      >>> options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
      >>> metadata = tf.RunMetadata()
      >>> sess.run(loss, options=options, run_metadata=metadata)
      >>> trace = timeline.Timeline(metadata.step_stats)
      >>> open("trace.json", "w").write(trace.generate_chrome_trace_format())
    """

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._step_stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False
    ) -> str:
        """The trace as JSON text.

        Args:
          show_dataflow: with an arrow for each Tensor that goes from row to row.
          show_memory: with each Tensor from the op that makes it to the last that
            takes it, and a counter of their bytes for each allocator.
        """
        events: list[dict[str, Any]] = [_process("Allocators", 0)]
        # Tensor's op -> when and in which row it was there.
        made: dict[str, tuple[int, int, int]] = {}
        rows = []
        for number, device in enumerate(self._step_stats.dev_stats):
            pid = 2 * number + 1
            events += [
                _process(f"{device.device} Compute", pid),
                _process(f"{device.device} Tensors", pid + 1),
            ]
            for node, row in _rows(device.node_stats):
                rows.append((node, pid, row))
                end = node.all_start_micros + node.all_end_rel_micros
                made[node.node_name] = (end, pid, row)
        flows = 0
        for node, pid, row in rows:
            op, inputs = _parsed(node.timeline_label)
            events.append(_region(node, op, inputs, pid, row))
            for name in inputs if show_dataflow else ():
                end, from_pid, from_row = made.get(
                    name.partition(":")[0], (0, pid, row)
                )
                if (from_pid, from_row) != (pid, row):
                    start = node.all_start_micros
                    events += [
                        _event(
                            "s", "DataFlow", name, from_pid, from_row, end, id=flows
                        ),
                        _event("t", "DataFlow", name, pid, row, start, id=flows),
                    ]
                    flows += 1
        if show_memory:
            events += _memory(self._step_stats)
        return json.dumps({"traceEvents": events}, separators=(",", ":"))


def _memory(step_stats: Any) -> list[dict[str, Any]]:
    """The lives of Tensors, and counters of what they take."""
    last: dict[str, int] = {}  # op -> when its last reader ends
    for device in step_stats.dev_stats:
        for node in device.node_stats:
            end = node.all_start_micros + node.all_end_rel_micros
            for name in _parsed(node.timeline_label)[1]:
                op = name.partition(":")[0]
                last[op] = max(last.get(op, 0), end)
    events = []
    changes: dict[str, list[tuple[int, int]]] = {}
    tensors = 0
    for number, device in enumerate(step_stats.dev_stats):
        pid = 2 * number + 2
        for node in device.node_stats:
            start = node.all_start_micros
            end = start + node.all_end_rel_micros
            for output in node.output:
                size, allocator, words = _described(output.tensor_description)
                name = node.node_name + (f":{output.slot}" if output.slot else "")
                over = max(last.get(node.node_name, 0), end) + 1
                made = {"snapshot": {"tensor_description": words}}
                events += [
                    _event("N", "Tensor", name, pid, 0, start, id=tensors),
                    _event("O", "Tensor", name, pid, 0, end, id=tensors, args=made),
                    _event("D", "Tensor", name, pid, 0, over, id=tensors),
                ]
                tensors += 1
                changes.setdefault(allocator, []).extend([(start, size), (over, -size)])
    for allocator, found in sorted(changes.items()):
        totals: dict[int, int] = {}
        total = 0
        for at, size in sorted(found):
            total = totals[at] = total + size
        for at, size in totals.items():
            args = {allocator: size}
            events.append(_event("C", "Memory", allocator, 0, 0, at, args=args))
    return events


def _described(description: Any) -> tuple[int, str, str]:
    """The bytes, the allocator and the words of a Tensor."""
    found = description.allocation_description
    words = str(description).replace('"', "")
    return found.requested_bytes, found.allocator_name or "unknown", words


def _rows(nodes: Any) -> list[tuple[Any, int]]:
    """Nodes with the first row of their device that is free when they begin."""
    ends: list[int] = []
    placed = []
    for node in nodes:
        start = node.all_start_micros
        row = next((i for i, end in enumerate(ends) if start >= end), len(ends))
        ends[row : row + 1] = [start + node.all_end_rel_micros]
        placed.append((node, row))
    return placed


def _parsed(label: str) -> tuple[str, list[str]]:
    """The op's type and inputs, of "name = Type(input, input)"."""
    match = _LABEL.match(label)
    if match is None:
        return "unknown", []
    _, op, inputs = match.groups()
    return op, inputs.split(", ") if inputs else []


def _event(
    phase: str, category: str, name: str, pid: int, tid: int, at: int, **more: Any
) -> dict[str, Any]:
    event = {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid}
    return {**event, "ts": at, **more}


def _process(name: str, pid: int) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}


def _region(node: Any, op: str, inputs: list[str], pid: int, row: int) -> Any:
    args = {"name": node.node_name, "op": op}
    args.update({f"input{i}": name for i, name in enumerate(inputs)})
    duration = node.all_end_rel_micros
    at = node.all_start_micros
    return _event("X", "Op", op, pid, row, at, dur=duration, args=args)
