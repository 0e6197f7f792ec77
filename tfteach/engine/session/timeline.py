"""A traced run as a file for Chrome's trace viewer: chrome://tracing, Perfetto.

Source: python/client/timeline.py (API and events of the trace).
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.framework.graph import Graph

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")
_ALLOCATORS = 0  # the pid of the counters; each device has two pids after it

Event = dict[str, Any]


@export("client.timeline.AllocationMaximum")
class AllocationMaximum(NamedTuple):
    """The moment at which an allocator's Tensors used most memory.

    Attributes:
      timestamp: in microseconds.
      num_bytes: the memory in use.
      tensors: the names of the live Tensors.
    """

    timestamp: int
    num_bytes: int
    tensors: set[str]


@export("client.timeline.StepStatsAnalysis")
class StepStatsAnalysis(NamedTuple):
    """The events of a trace, and each allocator's peak memory use.

    Attributes:
      chrome_trace: the events; `format_to_string()` converts them to JSON.
      allocator_maximums: allocator -> `AllocationMaximum`; empty without memory.
    """

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """Events in Chrome's trace format.

    Attributes:
      processes: the events that name the rows.
      events: the others, in the order in which TensorFlow writes them.
    """

    def __init__(self) -> None:
        self.processes: list[Event] = []
        self.events: list[Event] = []

    def name_process(self, name: str, pid: int) -> None:
        process = {"name": "process_name", "ph": "M", "pid": pid}
        self.processes.append({**process, "args": {"name": name}})

    def add(
        self,
        phase: str,
        category: str,
        name: str,
        place: tuple[int, int],
        at: int,
        **more: Any,
    ) -> None:
        """Add an event; `place` is its pid and tid."""
        pid, tid = place
        event = {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid}
        self.events.append({**event, "ts": at, **more})

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON; `pretty` breaks and indents lines."""
        trace = {"traceEvents": self.processes + self.events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


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

    def __init__(self, step_stats: Any, graph: Graph | None = None) -> None:
        self._step_stats = step_stats

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True
    ) -> StepStatsAnalysis:
        """The events of the trace, and the peak memory use of each allocator.

        Args:
          show_dataflow: with an arrow for each Tensor passed from row to row.
          show_memory: with each Tensor from the op that creates it to its last user,
            and a counter of their bytes for each allocator.
        """
        return _Analysis(self._step_stats).run(show_dataflow, show_memory)

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False
    ) -> str:
        """The trace as JSON text.

        Args: as for `analyze_step_stats`.
        """
        analysis = self.analyze_step_stats(show_dataflow, show_memory)
        return analysis.chrome_trace.format_to_string(pretty=True)


class _Row(NamedTuple):
    """A row of the step_stats with its place in the trace."""

    stats: Any
    pid: int
    lane: int
    is_device_trace: bool  # from a GPU's tracer, whose rows have no labels

    @property
    def start(self) -> int:
        return int(self.stats.all_start_micros)

    @property
    def end(self) -> int:
        return self.start + int(self.stats.all_end_rel_micros)


class _Life:
    """A Tensor: its producer, and the time of its last use."""

    def __init__(self, row: _Row, number: int, description: Any) -> None:
        self.row = row
        self.number = number
        self.size_bytes = int(description.requested_bytes)
        self.allocator = str(description.allocator_name)
        self.last_use = row.end


class _Analysis:
    def __init__(self, step_stats: Any) -> None:
        self.trace = ChromeTrace()
        self.trace.name_process("Allocators", _ALLOCATORS)
        self.rows: list[_Row] = []
        self.tensors: dict[str, _Life] = {}
        for number, device in enumerate(step_stats.dev_stats):
            pid, name = 2 * number + 1, device.device
            self.trace.name_process(f"{name} Compute", pid)
            self.trace.name_process(f"{name} Tensors", pid + 1)
            is_card = "/stream:" in name or "/memcpy" in name
            ends = [0]
            for stats in device.node_stats:
                start = stats.all_start_micros
                free = (i for i, end in enumerate(ends) if start > end)
                lane = next(free, len(ends))
                ends[lane : lane + 1] = [start + stats.all_end_rel_micros]
                self.rows.append(_Row(stats, pid, lane, is_card))

    def run(self, show_dataflow: bool, show_memory: bool) -> StepStatsAnalysis:
        for row in self.rows:
            self.add_tensors(row, show_memory)
        flows = 0
        for row in self.rows:
            flows = self.add_op(row, flows, show_dataflow)
        maximums = self.add_memory() if show_memory else {}
        return StepStatsAnalysis(self.trace, maximums)

    def add_tensors(self, row: _Row, show_memory: bool) -> None:
        for index, output in enumerate(row.stats.output):
            name = row.stats.node_name + (f":{index}" if index else "")
            description = output.tensor_description
            found = description.allocation_description
            life = _Life(row, len(self.tensors), found)
            self.tensors[name] = life
            if show_memory:
                place = row.pid + 1, row.lane
                message = str(description).replace('"', "")
                args = {"snapshot": {"tensor_description": message}}
                add = self.trace.add
                add("N", "Tensor", name, place, row.start, id=life.number)
                add("O", "Tensor", name, place, row.end - 1, id=life.number, args=args)

    def add_op(self, row: _Row, flow: int, show_dataflow: bool) -> int:
        """Add the op and its arrows; returns the number of the next arrow."""
        stats = row.stats
        name: str = stats.node_name
        inputs: list[str] = []
        if row.is_device_trace:
            name, _, kind = name.partition(":")
            kind = kind.partition(":")[0] or "unknown"
        elif name == "RecvTensor":  # of another process: it has no label
            kind = name
        else:
            kind, inputs = _parsed(stats.timeline_label)
        args = {"name": name, "op": kind}
        args.update({f"input{i}": taken for i, taken in enumerate(inputs)})
        place, duration = (row.pid, row.lane), int(stats.all_end_rel_micros)
        add = self.trace.add
        add("X", "Op", kind, place, row.start, dur=duration, args=args)
        for taken in inputs:
            if taken not in self.tensors and "/_" in taken[1:]:
                taken = taken[: taken.rindex("/_")]  # what a copy was made of
            life = self.tensors.get(taken)
            if life is None:
                continue
            life.last_use = max(life.last_use, row.end - 1)
            source = life.row.pid, life.row.lane
            if show_dataflow and source != place:
                add("s", "DataFlow", taken, source, life.row.end, id=flow)
                add("t", "DataFlow", taken, place, row.start, id=flow)
                flow += 1
        return flow

    def add_memory(self) -> dict[str, AllocationMaximum]:
        """Add the ends of the Tensors, and the counters of the allocators."""
        changes: dict[str, list[tuple[int, int, str]]] = {}
        for name, life in self.tensors.items():
            place, size_bytes = (life.row.pid + 1, 0), life.size_bytes
            self.trace.add("D", "Tensor", name, place, life.last_use, id=life.number)
            changes.setdefault(life.allocator, []).extend(
                [(life.row.start, size_bytes, name), (life.last_use, -size_bytes, name)]
            )
        maximums = {}
        for allocator, found in changes.items():
            total, alive = 0, set[str]()
            most = AllocationMaximum(0, 0, set())
            for at, size_bytes, name in sorted(found):
                total += size_bytes
                if size_bytes < 0:
                    alive.discard(name)
                else:
                    alive.add(name)
                if total > most.num_bytes:
                    most = AllocationMaximum(at, total, set(alive))
                args = {allocator: total}
                place = _ALLOCATORS, 0
                self.trace.add("C", "Memory", allocator, place, at, args=args)
            maximums[allocator] = most
        return maximums


def _parsed(label: str) -> tuple[str, list[str]]:
    """The op's type and inputs, from "name = Type(input, input)"."""
    match = _LABEL.match(label)
    if match is None:
        return "unknown", []
    _, op, inputs = match.groups()
    return op, inputs.split(", ") if inputs else []
