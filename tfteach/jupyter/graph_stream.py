"""Streaming the growth of a graph to the page.

A kernel answers no messages while a cell runs, but it can send. New ops are sent in
batches, at most 20 per second and 600 kB per second (JupyterLab's server drops more
than 1 MB/s), by a timer, so that the last op of a burst does not wait for the next one.

The timer's thread competes with the cell. While the graph is growing it uses a small
share of the time; the rest of the work waits until the cell pauses or ends.
"""

from __future__ import annotations

import json
import math
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.explain.graphs.graph_rows import Row, row_of, rows_of_graph
from tfteach.framework.graph import Graph, OpAdded, SessionRun, SourceLine

INTERVAL_S = 0.05
BYTES_PER_S = 600_000
LIVE_SHARE = 0.02  # share of the time, while the graph is growing
LIVE_SLICE_S = 0.0006  # for making rows at a time, while it is growing
RESTING_SLICE_S = 0.03
MOST_WITH_ATTRS = 5_000  # ops; attributes of later ones are sent on request

Where = Callable[[SourceLine], tuple[str, int, str, str]]
Send = Callable[[dict[str, Any]], None]


class GrowingRows:
    """The rows of a live graph, which sends what is added to them.

    Args:
      graph: the graph.
      send: called with batches {"from": index, "rows": [...], "patches": [[index, row],
        ...], "runs": count, "first": count}, in any thread, but never concurrently.
      where: as for `tfteach.explain.graphs.graph_rows.row_of`.

    Attributes:
      rows: all rows so far; they are appended in place before they are sent.
      runs: the number of session runs so far.
      first: the number of ops when the first run began; -1 before that.
    """

    def __init__(self, graph: Graph, send: Send, where: Where) -> None:
        self.graph, self._send, self._where = graph, send, where
        self.rows: list[Row] = []
        self.runs = 0
        self.first = -1
        self._sent = 0
        self._runs_sent = 0
        self._mutations = graph.mutations
        self._full: set[int] = set()
        self._known: dict[Any, Any] = {}  # parts that rows share
        self._next_s = 0.0  # when the next batch may be sent
        self._rest_s = 0.0  # when this thread may work again
        self._next_check_s = 0.0
        self._timer: threading.Timer | None = None
        self._lock = threading.RLock()
        self._read()
        self._sent = len(self.rows)
        self._at_tick = (graph.version, 0)
        self._subscription = graph.observe(_noting(self))

    @property
    def held(self) -> threading.RLock:
        """Within it nothing is sent: what `rows` has then is what was sent so far."""
        return self._lock

    def close(self) -> None:
        """Stop observing the graph; pending rows are not sent."""
        self._subscription.close()
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()

    def _record(self, event: OpAdded | SessionRun) -> None:
        if isinstance(event, SessionRun):
            self.first = self.graph.version if self.runs == 0 else self.first
            self.runs += 1
        if self._timer is None:
            self._start_timer()

    def _start_timer(self) -> None:
        with self._lock:
            if self._timer is None:
                at_s = max(self._next_s, self._rest_s)
                wait_s = max(INTERVAL_S, at_s - time.monotonic())
                self._timer = threading.Timer(wait_s, self._on_time)
                self._timer.daemon = True
                self._timer.start()

    def _on_time(self) -> None:
        with self._lock:
            self._timer = None
            at_tick, self._at_tick = self._at_tick, (self.graph.version, self.runs)
            moves = at_tick != self._at_tick
            began_s = time.thread_time()
            more = self.flush(slice_s=LIVE_SLICE_S if moves else RESTING_SLICE_S)
            if moves:
                took_s = time.thread_time() - began_s
                self._rest_s = time.monotonic() + took_s / LIVE_SHARE
            if more:
                self._start_timer()

    def flush(self, check: bool = False, slice_s: float = math.inf) -> bool:
        """Send pending rows, as far as the rate permits; True if something remains.

        Args:
          check: compare all rows with the graph, to find shapes set after an op was
            built.
          slice_s: the time to spend on making rows; the rest waits for the next call.
        """
        with self._lock:
            self._read(slice_s)
            waits = self._is_behind or self.runs != self._runs_sent
            if waits and time.monotonic() < self._next_s:
                self._start_timer()
                return True
            patches = self._changed(check, slice_s)
            rows = self.rows[self._sent :]
            if not rows and not patches and self.runs == self._runs_sent:
                return self._is_behind
            count, size = fitting(rows)
            batch = {
                "from": self._sent,
                "rows": rows[:count],
                "patches": patches,
                "runs": self.runs,
                "first": self.first,
            }
            self._sent += count
            self._runs_sent = self.runs
            self._next_s = time.monotonic() + max(INTERVAL_S, size / BYTES_PER_S)
            self._send(batch)
            return self._is_behind

    def saved_rows(self) -> list[Row]:
        """All rows with their attributes."""
        if len(self.rows) > MOST_WITH_ATTRS:
            return rows_of_graph(self.graph, self._where)
        return self.rows

    @property
    def _is_behind(self) -> bool:
        return (
            self._sent < self.graph.version or self._mutations != self.graph.mutations
        )

    def give_attributes(self, name: str) -> None:
        """Send the attributes of one op, in a graph too large to send all of them."""
        op = self.graph.find_operation(name)
        if op is None or op.node_id > len(self.rows):
            return
        index = op.node_id - 1
        if index < MOST_WITH_ATTRS or index in self._full:
            return
        with self._lock:
            self._full.add(index)
            row = self.rows[index] = row_of(op, self._where)
            if index < self._sent:
                batch = {"from": self._sent, "rows": [], "patches": [[index, row]]}
                self._send(batch)

    def _read(self, slice_s: float = math.inf) -> None:
        ops, rows = self.graph.operations, self.rows
        until_s = time.thread_time() + slice_s
        for index in range(len(rows), len(ops)):
            attrs = index < MOST_WITH_ATTRS
            rows.append(row_of(ops[index], self._where, attrs, self._known))
            if index % 16 == 0 and time.thread_time() > until_s:
                return

    def _changed(self, check: bool, slice_s: float) -> list[list[Any]]:
        """Rows whose op changed: by a back edge, a control input or a shape."""
        mutations, now_s = self.graph.mutations, time.monotonic()
        if not check and mutations == self._mutations:
            return []
        if slice_s == LIVE_SLICE_S and now_s < self._next_check_s:
            return []
        self._mutations = mutations
        found = []
        for index, old in enumerate(self.rows):
            op = self.graph.operations[index]
            new = row_of(op, self._where, False, self._known)
            if new[:5] != old[:5] or new.more.get("device") != old.more.get("device"):
                self.rows[index] = row_of(op, self._where)
                if index < self._sent:
                    found.append([index, self.rows[index]])
        took_s = time.monotonic() - now_s
        self._next_check_s = time.monotonic() + took_s / LIVE_SHARE
        return found


def _noting(rows: GrowingRows) -> Callable[[OpAdded | SessionRun], None]:
    """An observer of the graph that does not keep the view alive."""
    known = weakref.ref(rows)

    def note(event: OpAdded | SessionRun) -> None:
        watcher = known()
        # Called for every op that a cell builds; usually the timer is running.
        if watcher is None or (watcher._timer is not None and type(event) is OpAdded):
            return
        watcher._record(event)

    return note


def fitting(rows: list[Row]) -> tuple[int, float]:
    """The number of rows that fit into half a second, and their size in bytes."""
    size = 0.0
    shared: set[int] = set()
    for count, row in enumerate(rows):
        size += 30 + len(row.name) + len(row.type)
        size += 6 * (len(row.inputs) + len(row.controls))
        for part in row.outputs, row.more:
            if id(part) not in shared:
                shared.add(id(part))
                size += len(json.dumps(part))
        if size > BYTES_PER_S / 2:
            return count + 1, size
    return len(rows), size


def packed(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows for sending: parts that several rows share are sent once.

    Returns:
      {"rows": rows, "shared": parts}; a row's outputs and more are indices into parts.
    """
    shared: list[Any] = []
    by_id: dict[int, int] = {}
    by_text: dict[str, int] = {}

    def number_of(part: Any) -> int:
        number = by_id.get(id(part))
        if number is None:
            number = by_id[id(part)] = by_text.setdefault(json.dumps(part), len(shared))
            if number == len(shared):
                shared.append(part)
        return number

    found = [
        (name, kind, inputs, controls, number_of(outputs), number_of(more))
        for name, kind, inputs, controls, outputs, more in rows
    ]
    return {"rows": found, "shared": shared}


def packed_batch(batch: dict[str, Any]) -> dict[str, Any]:
    """A batch of `GrowingRows`, packed for sending."""
    return {**batch, **packed(batch["rows"])}
