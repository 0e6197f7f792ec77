"""`timeline.Timeline`: a traced run as Chrome's trace format."""

from __future__ import annotations

import json
from pathlib import Path

import tfteach as tf
from tests.golden import timeline as made_up
from tfteach.engine.session.timeline import Timeline


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


def test_traces_are_tensorflows_to_the_letter() -> None:
    golden = json.loads(Path(made_up.__file__).with_suffix(".json").read_text())
    found = made_up.traces_of(tf, Timeline)
    assert found["maximums"] == golden["maximums"]
    for key, text in golden.items():
        assert found[key] == text, key


def test_memory() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [1000], name="x")
        y = tf.square(x, name="y")
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(tf.exp(y, name="z"), {x: [2.0] * 1000}, options, metadata)
    trace = Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True)
    events = json.loads(trace)["traceEvents"]
    lives = {
        e["ph"]: e for e in events if e.get("cat") == "Tensor" and e["name"] == "y"
    }
    z = next(e for e in events if e["ph"] == "X" and e["name"] == "Exp")
    assert lives["N"]["ts"] <= lives["O"]["ts"] <= lives["D"]["ts"]
    assert lives["D"]["ts"] == z["ts"] + z["dur"] - 1  # its last reader
    words = lives["O"]["args"]["snapshot"]["tensor_description"]
    assert "dtype: DT_FLOAT" in words
    assert "requested_bytes: 4000" in words
    counts = [e["args"]["cpu"] for e in events if e["ph"] == "C"]
    assert max(counts) == 8000
    assert counts[-1] == 0


def test_the_life_of_each_array() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [1000], name="x")
        y = tf.square(x, name="y")
        z = tf.exp(y, name="z")
        w = tf.Variable([0.0] * 500, name="w")
        sess.run(w.initializer)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        total = tf.reduce_sum(tf.identity(w, name="read"), name="total")
        sess.run([z, total], {x: [2.0] * 1000}, options, metadata)
    host, device = metadata.step_stats.dev_stats
    rows = {row.node_name: row for row in device.node_stats}
    (memory,) = rows["y"].memory
    assert memory.allocator_name == "cpu"
    assert memory.peak_bytes == 4000
    sizes = [record.alloc_bytes for record in memory.allocation_records]
    assert sizes == [4000, -4000]  # once exp has taken it, it goes
    assert [r.alloc_bytes for r in rows["z"].memory[0].allocation_records] == [4000]
    found = rows["w/read"].output[0].tensor_description
    assert [dim.size for dim in found.shape.dim] == [500]
    assert found.allocation_description.requested_bytes == 2000
    assert found.allocation_description.allocated_bytes == 0  # the variable's own
    assert not rows["w/read"].memory
    assert {row.thread_id for row in host.node_stats} == set(host.thread_names)
    assert rows["y"].all_end_rel_nanos >= rows["y"].op_end_rel_nanos > 0


def test_constants_do_not_each_take_a_lane() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3], name="x")
        total = tf.add_n([x * tf.constant([float(i)] * 3) for i in range(50)])
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(total, {x: [1.0, 2.0, 3.0]}, options, metadata)
    trace = Timeline(metadata.step_stats).generate_chrome_trace_format()
    events = json.loads(trace)["traceEvents"]
    assert sum(event["name"] == "Const" for event in events) == 50
    # Their rows last no time, but do not all begin in one microsecond.
    assert max(event["tid"] for event in events if event["ph"] == "X") < 25
