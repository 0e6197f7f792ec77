"""What a watched graph costs the cell, and how its rows travel."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import tfteach as tf
from tfteach.explain.graphs.graph_rows import row_of
from tfteach.jupyter import graph_stream
from tfteach.jupyter.display import where
from tfteach.jupyter.graph_stream import GrowingRows, packed


def test_what_rows_share_travels_once() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        for _ in range(100):
            x = tf.add(x, 1.5)
    rows = GrowingRows(graph, lambda batch: None, where).rows
    assert rows == [row_of(op, where) for op in graph.get_operations()]
    sent = packed(rows)
    assert len(sent["shared"]) == 5  # two shapes, three kinds of op
    shared = sent["shared"]
    back = [(*row[:4], shared[row[4]], shared[row[5]]) for row in sent["rows"]]
    assert back == [tuple(row) for row in rows]
    assert len(json.dumps(sent)) < len(json.dumps(rows)) / 3


def test_while_the_graph_moves_little_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice at each tick; all the rest as soon as it rests."""
    monkeypatch.setattr(graph_stream, "LIVE_SLICE_S", 0.0)
    monkeypatch.setattr(graph_stream, "RESTING_SLICE_S", math.inf)
    monkeypatch.setattr(graph_stream, "INTERVAL_S", 0.0)
    monkeypatch.setattr(graph_stream, "BYTES_PER_S", math.inf)
    monkeypatch.setattr(GrowingRows, "_start_timer", lambda rows: None)  # we tick
    sent: list[Any] = []
    with tf.Graph().as_default() as graph:
        rows = GrowingRows(graph, sent.append, where)
        for _ in range(4):
            for _ in range(30):
                tf.constant([1.0] * 3)
            rows._on_time()
    live = [len(batch["rows"]) for batch in sent]
    assert min(live) > 0
    assert max(live) <= 17
    rows._on_time()
    assert sum(len(batch["rows"]) for batch in sent) == 120
    rows.close()
    assert [row.name for batch in sent for row in batch["rows"]] == [
        op.name for op in graph.get_operations()
    ]


def test_a_change_of_what_was_not_sent_yet_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graph_stream, "BYTES_PER_S", 200)
    sent: list[Any] = []
    with tf.Graph().as_default() as graph:
        rows = GrowingRows(graph, sent.append, where)
        ops = [tf.no_op(name=f"n{i}") for i in range(4)]
        rows.flush()
        assert len(sent[0]["rows"]) < 4
        ops[3]._add_control_input(ops[0])
        monkeypatch.setattr(graph_stream, "BYTES_PER_S", 1e9)
        rows._next_s = 0.0
        rows.flush()
    assert sent[-1]["rows"][-1].controls == [0]
    rows.close()
