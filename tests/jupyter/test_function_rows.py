"""Rows of a live graph that gets functions while it is watched."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import pytest

import tfteach as tf
from tfteach.explain.graphs.graph_rows import Row
from tfteach.jupyter import graph_stream
from tfteach.jupyter.display import where
from tfteach.jupyter.function_rows import (
    GrowingRowsWithFunctions,
    rows_with_functions,
)
from tfteach.lib.functions.defun import Defun


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


class Page:
    """What the page knows: it applies batches as the front end does."""

    def __init__(self, graph: tf.Graph) -> None:
        self.batches: list[dict[str, Any]] = []
        self.hanging: list[str] = []  # rows that read what was not there yet
        self.growing = GrowingRowsWithFunctions(graph, self.take, where)
        self.rows = list(self.growing.rows)

    def take(self, batch: dict[str, Any]) -> None:
        self.batches.append(batch)
        assert batch["from"] == len(self.rows)
        self.rows += batch["rows"]
        for place, row in batch["patches"]:
            assert row.name == self.rows[place].name
            self.rows[place] = row
        for row in self.rows:
            read = [*row.inputs[::2], *row.controls]
            self.hanging += [row.name for i in read if i >= len(self.rows)]

    def flush(self) -> None:
        deadline_s = time.monotonic() + 60
        while self.growing.flush(check=True):
            assert time.monotonic() < deadline_s
            time.sleep(0.005)
        assert self.hanging == []


def drawing(rows: list[Row]) -> dict[str, tuple[Any, ...]]:
    """The rows by name, with names in place of indices."""
    return {
        row.name: (
            row.type,
            [
                (rows[index].name, port)
                for index, port in zip(row.inputs[::2], row.inputs[1::2], strict=True)
            ],
            [rows[index].name for index in row.controls],
            row.outputs,
        )
        for row in rows
    }


def test_functions_that_come_while_it_is_watched(graph: tf.Graph) -> None:
    before = tf.constant(1.0, name="before")
    page = Page(graph)
    dataset = tf.data.Dataset.range(9).map(lambda x: tf.square(x, name="square"))
    page.flush()
    names = [row.name for row in page.rows]
    assert names[0] == before.op.name
    assert {"MapDataset", "MapDataset/square"} <= set(names)
    dataset = dataset.filter(lambda x: x > tf.cast(before, tf.int64)).batch(2)
    tf.identity(dataset.make_one_shot_iterator().get_next(), name="element")
    page.flush()
    assert names == [row.name for row in page.rows][: len(names)]
    assert drawing(page.rows) == drawing(rows_with_functions(graph, where))
    assert len(names) == len(set(names))
    page.growing.close()


def test_a_call_that_was_sent_reads_its_function_later(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, name="x")

    @Defun(tf.float32, func_name="Twice")
    def twice(a: Any) -> Any:
        return a * 2.0

    page = Page(graph)
    twice(x, name="call")
    page.flush()
    first = len(page.rows)
    tf.add(twice(x, name="again"), 1.0, name="sum")
    page.flush()
    assert drawing(page.rows)["again/a"][1] == [("x", 0)]
    assert drawing(page.rows) == drawing(rows_with_functions(graph, where))
    assert {row.name for row in page.rows[first:]} >= {"again", "again/mul", "sum"}


def test_small_batches_leave_nothing_hanging(
    graph: tf.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_stream, "BYTES_PER_S", 2e4)
    monkeypatch.setattr(graph_stream, "INTERVAL_S", 0.001)
    page = Page(graph)
    tf.constant(0, name="zero")
    page.flush()
    for number in range(4):
        dataset = tf.data.Dataset.range(9).map(lambda x, n=number: x + n)
        dataset.make_one_shot_iterator().get_next()
        page.growing.flush()
    page.flush()
    assert len(page.batches) > 3
    assert drawing(page.rows) == drawing(rows_with_functions(graph, where))


def test_runs_and_attributes(graph: tf.Graph) -> None:
    dataset = tf.data.Dataset.range(3).map(tf.square)
    element = dataset.make_one_shot_iterator().get_next()
    page = Page(graph)
    with tf.Session() as sess:
        sess.run(element)
    page.flush()
    assert page.batches[-1]["runs"] == 1
    assert page.batches[-1]["first"] == -1  # rows are not in the order of ops
    page.growing.give_attributes("MapDataset")
    assert page.growing.saved_rows() is page.growing.rows
    assert "attrs" in page.rows[[r.name for r in page.rows].index("MapDataset")].more


def test_a_patch_waits_while_the_rate_is_used_up(
    graph: tf.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tf.no_op(name="first"), tf.no_op(name="second")
    page = Page(graph)
    page.growing._next_s = math.inf
    monkeypatch.setattr(page.growing, "_start_timer", lambda: None)
    second._add_control_input(first)
    assert page.growing.flush()  # nothing is sent yet
    assert page.batches == []
    page.growing._next_s = 0.0
    page.flush()
    assert page.rows[1].controls == [0]


def test_a_row_that_changed_is_sent_behind_those_it_reads(
    graph: tf.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    tf.data.Dataset.range(9).map(tf.square)
    early = tf.no_op(name="early")
    page = Page(graph)
    monkeypatch.setattr(graph_stream, "BYTES_PER_S", 2e3)
    monkeypatch.setattr(graph_stream, "INTERVAL_S", 0.001)
    late = [tf.no_op(name=f"late{i}") for i in range(40)]
    for op in late:
        early._add_control_input(op)
    page.flush()
    assert len(page.batches) > 1
    rows = {row.name: row for row in page.rows}
    assert len(rows["early"].controls) == 40
    assert drawing(page.rows) == drawing(rows_with_functions(graph, where))
