"""`timeline.Timeline`: a traced run as Chrome's trace format."""

from __future__ import annotations

import json

import pytest

import tfteach as tf
from tfteach.session.timeline import Timeline


def stats(*rows: tuple[str, int, int, str]) -> tf.RunMetadata:
    metadata = tf.RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/cpu:0")
    for name, start, length, label in rows:
        device.node_stats.add(
            node_name=name,
            all_start_micros=start,
            all_end_rel_micros=length,
            timeline_label=label,
        )
    return metadata


def test_a_real_run() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, name="x")
        y = tf.square(x, name="y")
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(tf.exp(y, name="z"), {x: 2.0}, options, metadata)
    trace = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())
    ops = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["args"]["name"] for event in ops if event["name"] == "Exp"] == ["z"]
    (z,) = (event for event in ops if event["name"] == "Exp")
    assert z["args"] == {"name": "z", "op": "Exp", "input0": "y"}
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"]
    assert names[0] == "Allocators"
    assert any(name.endswith("CPU:0 Compute") for name in names)


def test_rows_and_arrows() -> None:
    metadata = stats(
        ("a", 0, 10, "a = Const()"),
        ("b", 5, 10, "b = Exp(a)"),
        ("c", 15, 5, "c = Add(a, b:1)"),
        ("d", 20, 5, "strange"),
    )
    timeline = Timeline(metadata.step_stats)
    events = json.loads(timeline.generate_chrome_trace_format())["traceEvents"]
    regions = [e for e in events if e["ph"] == "X"]
    assert [(e["name"], e["tid"], e["ts"], e["dur"]) for e in regions] == [
        ("Const", 0, 0, 10),
        ("Exp", 1, 5, 10),
        ("Add", 0, 15, 5),
        ("unknown", 0, 20, 5),
    ]

    starts = [(e["name"], e["tid"], e["ts"]) for e in events if e["ph"] == "s"]
    assert starts == [("a", 0, 10), ("b:1", 1, 15)]
    assert [e["id"] for e in events if e["ph"] == "t"] == [0, 1]
    plain = json.loads(timeline.generate_chrome_trace_format(show_dataflow=False))
    assert {e["ph"] for e in plain["traceEvents"]} == {"M", "X"}


def test_memory() -> None:
    with pytest.raises(NotImplementedError, match="show_memory=True"):
        Timeline(stats().step_stats).generate_chrome_trace_format(show_memory=True)
