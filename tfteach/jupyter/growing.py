"""A graph's growth on its way to the page.

A kernel answers no messages while a cell runs, but it can send. New ops travel in
batches, at most 20 a second and 600 kB a second (JupyterLab's server drops more than
1 MB/s), sent by a timer so that the last op of a burst does not wait for the next.
"""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from tfteach.explain.outline import Row, row_of
from tfteach.framework.graph import Graph, OpAdded, SessionRun, SourceLine

INTERVAL_S = 0.05
BYTES_PER_S = 600_000
MOST_WITH_ATTRS = 5_000  # ops; beyond, attributes travel only when asked for

Where = Callable[[SourceLine], tuple[str, int, str, str]]
Send = Callable[[dict[str, Any]], None]


class GrowingRows:
    """The rows of a live graph, and a sender of what is added to them.

    Args:
      graph: the graph.
      send: gets batches {"from": index, "rows": [...], "patches": [[index, row], ...],
        "runs": count, "first": count}; called in any thread, never twice at once.
      where: see `tfteach.explain.outline.row_of`.

    Attributes:
      rows: all rows so far; appended in place before they are sent.
      runs: how many session runs were seen.
      first: how many ops there were when the first of them began; -1 before.
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
        self._next_s = 0.0
        self._timer: threading.Timer | None = None
        self._lock = threading.RLock()
        self._read()
        self._sent = len(self.rows)
        self._subscription = graph.observe(_noting(self))

    def close(self) -> None:
        """Stop listening; what was not sent is not sent any more."""
        self._subscription.close()
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()

    def _note(self, event: OpAdded | SessionRun) -> None:
        if isinstance(event, SessionRun):
            self.first = self.graph.version if self.runs == 0 else self.first
            self.runs += 1
        if self._timer is None:
            self._start_timer()

    def _start_timer(self) -> None:
        with self._lock:
            if self._timer is None:
                wait = max(INTERVAL_S, self._next_s - time.monotonic())
                self._timer = threading.Timer(wait, self._on_time)
                self._timer.daemon = True
                self._timer.start()

    def _on_time(self) -> None:
        with self._lock:
            self._timer = None
            if self.flush():
                self._start_timer()

    def flush(self, check: bool = False) -> bool:
        """Send what is new, as far as the rate allows; True if something is left.

        Args:
          check: compare all rows with the graph, for shapes set after the op was made.
        """
        with self._lock:
            self._read()
            patches = self._changed(check)
            rows = self.rows[self._sent :]
            if not rows and not patches and self.runs == self._runs_sent:
                return False
            if time.monotonic() < self._next_s:
                self._start_timer()
                return True
            part, size = _part(rows)
            batch = {
                "from": self._sent,
                "rows": part,
                "patches": patches,
                "runs": self.runs,
                "first": self.first,
            }
            self._sent += len(part)
            self._runs_sent = self.runs
            self._next_s = time.monotonic() + max(INTERVAL_S, size / BYTES_PER_S)
            self._send(batch)
            return self._sent < len(self.rows)

    def give_attributes(self, name: str) -> None:
        """Send the attributes of one op of a graph too large to send them all."""
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

    def _read(self) -> None:
        ops = self.graph.operations
        for index in range(len(self.rows), len(ops)):
            row = row_of(ops[index], self._where, attrs=index < MOST_WITH_ATTRS)
            self.rows.append(row)

    def _changed(self, check: bool) -> list[list[Any]]:
        """Rows whose op changed: a loop closed, a control input or shape came later."""
        if not check and self.graph.mutations == self._mutations:
            return []
        self._mutations = self.graph.mutations
        found = []
        for index, old in enumerate(self.rows[: self._sent]):
            new = row_of(self.graph.operations[index], self._where, attrs=False)
            if new[:5] != old[:5] or new.more.get("device") != old.more.get("device"):
                self.rows[index] = row_of(self.graph.operations[index], self._where)
                found.append([index, self.rows[index]])
        return found


def _noting(rows: GrowingRows) -> Callable[[OpAdded | SessionRun], None]:
    """An observer of the graph that does not keep the view alive."""
    known = weakref.ref(rows)

    def note(event: OpAdded | SessionRun) -> None:
        watcher = known()
        # Every op that a cell makes passes here; most find the timer running.
        if watcher is None or (watcher._timer is not None and type(event) is OpAdded):
            return
        watcher._note(event)

    return note


def _part(rows: list[Row]) -> tuple[list[Row], int]:
    """As many rows as half a second's worth of bytes, at least one if there is any."""
    size = 0
    for count, row in enumerate(rows):
        size += len(json.dumps(row))
        if size > BYTES_PER_S / 2:
            return rows[: count + 1], size
    return rows, size
