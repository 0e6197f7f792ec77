"""The rows of a live graph in which calls of functions are scopes with their ops.

A graph gets functions while it is watched: each `map` of a dataset adds one.  The ops
of a function are no ops of the graph, so rows are found by name: those that are known
keep their places, new ones follow, whatever the graph's order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

from tfteach.explain.graphs.function_bodies import with_function_bodies
from tfteach.explain.graphs.graph_rows import (
    Row,
    Where,
    rows_of_graph,
    rows_of_graph_def,
)
from tfteach.framework.graph import Graph, OpAdded, SessionRun
from tfteach.jupyter.graph_stream import LIVE_SHARE, LIVE_SLICE_S, GrowingRows, fitting


def rows_with_functions(graph: Graph, where: Where, uncalled: bool = True) -> list[Row]:
    """The rows of a live graph as it is now, in which calls of functions are scopes.

    Args:
      graph: the graph.
      where: as for `tfteach.explain.graphs.graph_rows.row_of`.
      uncalled: whether functions that no op calls are scopes, too.
    """
    rows = rows_of_graph(graph, where)
    drawn = with_function_bodies(graph.as_graph_def(add_shapes=True), uncalled)
    found = rows_of_graph_def(drawn)
    for i, row in enumerate(rows[: len(found)]):
        found[i] = row._replace(inputs=found[i].inputs, controls=found[i].controls)
    return found


class GrowingRowsWithFunctions(GrowingRows):
    """`GrowingRows` of a graph that may have functions, or get some."""

    _merged: tuple[int, int, int] | None = None  # the state of the graph when read
    _next_merge_s = 0.0

    def _read(self, slice_s: float = math.inf) -> None:
        if not self.graph.functions:
            super()._read(slice_s)
            return
        now_s = time.monotonic()
        is_live = slice_s == LIVE_SLICE_S
        state = self._state
        if state == self._merged or (is_live and now_s < self._next_merge_s):
            return
        if self._merged is None:
            self._places = {row.name: i for i, row in enumerate(self.rows)}
            self._pending: set[int] = set()  # places of sent rows that have changed
            self.first = -1  # rows are not in the order of the ops any more
        self._merge(rows_with_functions(self.graph, self._where, not is_live))
        # While ops are added, a function may not be called yet that soon will be.
        self._merged = (*state[:2], -1) if is_live else state
        took_s = time.monotonic() - now_s
        self._next_merge_s = time.monotonic() + took_s / LIVE_SHARE

    @property
    def _state(self) -> tuple[int, int, int]:
        graph = self.graph
        return graph.version, graph.mutations, len(graph.functions)

    def _merge(self, drawn: list[Row]) -> None:
        """Add new rows, and note those that are other than they were."""
        places, first_new = self._places, len(self.rows)
        # The first rows are sent as a whole, in the graph's order.
        for index in _inputs_first(drawn) if self.rows else range(len(drawn)):
            places.setdefault(drawn[index].name, len(places))
        self.rows += drawn[: len(places) - first_new]  # to be replaced below
        numbers = [places[row.name] for row in drawn]
        for row, place in zip(drawn, numbers, strict=True):
            inputs = list(row.inputs)
            inputs[::2] = [numbers[i] for i in inputs[::2]]
            controls = [numbers[i] for i in row.controls]
            new = row._replace(inputs=inputs, controls=controls)
            if place >= first_new or self.rows[place] != new:
                self.rows[place] = new
                if place < self._sent:
                    self._pending.add(place)

    def _changed(self, check: bool, slice_s: float) -> list[list[Any]]:
        if self._merged is None:
            return super()._changed(check, slice_s)
        # A row may read new ones: it is sent with the last of them.
        waiting = self.rows[self._sent :]
        if not self._pending or fitting(waiting)[0] < len(waiting):
            return []
        found, self._pending = sorted(self._pending), set()
        return [[place, self.rows[place]] for place in found]

    @property
    def _is_behind(self) -> bool:
        if not self.graph.functions:
            return super()._is_behind
        is_sent = self._sent == len(self.rows) and not self._pending
        return self._merged != self._state or not is_sent

    def _record(self, event: OpAdded | SessionRun) -> None:
        super()._record(event)
        if self.graph.functions:
            self.first = -1

    def give_attributes(self, name: str) -> None:
        """Nothing if there are functions: all rows have their attributes."""
        if self._merged is None:
            super().give_attributes(name)

    def saved_rows(self) -> list[Row]:
        """All rows with their attributes."""
        return super().saved_rows() if self._merged is None else self.rows


def _inputs_first(rows: list[Row]) -> Iterator[int]:
    """The indices of rows, each behind the rows it reads, except in loops."""
    begun: set[int] = set()
    for start in range(len(rows)):
        waiting = [start]
        while waiting:
            index = waiting[-1]
            if index not in begun:
                begun.add(index)
                sources = [*rows[index].inputs[::2], *rows[index].controls]
                waiting += [source for source in sources if source not in begun]
                continue
            waiting.pop()
            yield index
