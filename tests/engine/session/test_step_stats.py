"""RunMetadata of traced runs against real TensorFlow's (golden/traces.json)."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import traces

LOCAL = "/job:localhost/replica:0/task:0/device:"
FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    tf.simulate_gpus(0)
    with tf.Graph().as_default():
        yield


@functools.cache
def golden() -> dict[str, Any]:
    path = Path(traces.__file__).with_suffix(".json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("build", traces.GRAPHS, ids=lambda build: build.__name__)
def test_rows_and_partition_graphs_are_tensorflows(build: Any) -> None:
    metadata = traces.traced(tf, build)
    expected = golden()[build.__name__]
    rows = json.loads(json.dumps(traces.rows_of(metadata)))
    assert rows == expected["rows"]
    assert traces.nodes_of(metadata, tf.make_ndarray) == expected["nodes"]


def traced(fetches: Any, feeds: Any = None, **options: Any) -> tf.RunMetadata:
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(fetches, feeds, tf.RunOptions(**options), metadata)
    return metadata


def test_micros_and_nanos_agree() -> None:
    x = tf.placeholder(tf.float32, [100, 100], name="x")
    y = tf.exp(tf.matmul(x, x, name="m"), name="y")
    metadata = traced(y, {x: np.eye(100)}, trace_level=3)
    cpu = metadata.step_stats.dev_stats[1]
    rows = {row.node_name: row for row in cpu.node_stats}
    assert list(rows) == ["_SOURCE", "_arg_x_0_0", "m", "y", "_retval_y_0_0"]
    for row in cpu.node_stats:
        start_us = row.all_start_nanos // 1000
        assert row.all_start_micros == row.scheduled_micros == start_us
        assert row.scheduled_nanos == row.all_start_nanos
        for field in ("op_start_rel", "op_end_rel", "all_end_rel"):
            at = row.all_start_nanos + getattr(row, f"{field}_nanos")
            assert getattr(row, f"{field}_micros") == at // 1000 - start_us
        assert row.op_start_rel_nanos <= row.op_end_rel_nanos <= row.all_end_rel_nanos
    ends = {n: r.all_start_nanos + r.all_end_rel_nanos for n, r in rows.items()}
    assert rows["y"].all_start_nanos >= ends["m"]
    assert rows["_retval_y_0_0"].all_start_nanos == ends["y"]
    (m,) = rows["m"].output
    found = m.tensor_description.allocation_description
    assert (found.allocated_bytes, found.allocation_id) == (40_000, 1)
    assert found.has_single_reference
    assert found.ptr
    host = metadata.step_stats.dev_stats[0]
    assert [row.node_name for row in host.node_stats] == ["m:MatMul", "y:Exp"]
    (thread,) = host.thread_names
    assert {row.thread_id for row in host.node_stats} == {thread}


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
def test_trace_levels(level: int) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    metadata = traced(tf.exp(x), {x: 1.0}, trace_level=level)
    devices = [device.device for device in metadata.step_stats.dev_stats]
    cpu = f"{LOCAL}CPU:0"
    assert devices == ([], [cpu], *[["/host:CPU", cpu]] * 3)[level]


def test_a_folded_run_of_a_tiny_graph_says_where_it_was() -> None:
    metadata = traced(tf.add(2, 5, name="y"), trace_level=3)
    (device,) = metadata.step_stats.dev_stats
    names = [row.node_name for row in device.node_stats]
    # Under four nodes grappler does nothing; global_variables_initializer is one more.
    assert names == ["_SOURCE", "y", "_retval_y_0_0"]
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.add(2, 5, name="y")
        for _ in range(2):
            session.run(y, options=FULL, run_metadata=metadata)
        (device,) = metadata.step_stats.dev_stats
        _, folded, fetched = (row.timeline_label for row in device.node_stats)
        assert folded.startswith("y/_0__cf__")
        assert folded.endswith(" = Const()")
        assert fetched == "_retval_y_0_0 = _Retval(y)"


def test_an_op_that_takes_much_says_so_in_its_label() -> None:
    x = tf.placeholder(tf.float32, [1000, 262], name="x")
    metadata = traced(tf.exp(x, name="y"), {x: np.zeros([1000, 262])}, trace_level=1)
    (device,) = metadata.step_stats.dev_stats
    labels = [row.timeline_label for row in device.node_stats]
    assert "[cpu 1.0MB 1.0MB] y = Exp(_arg_x_0_0)" in labels


def test_branches_not_taken_have_no_rows() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0, lambda: tf.exp(x, name="e"), lambda: tf.sin(x, name="s"))
    metadata = traced(y, {x: 1.0}, trace_level=1, output_partition_graphs=True)
    (device,) = metadata.step_stats.dev_stats
    names = [row.node_name for row in device.node_stats]
    assert "cond/e" in names
    assert "cond/s" not in names
    (graph,) = metadata.partition_graphs
    assert {"cond/e", "cond/s"} <= {node.name for node in graph.node}


def test_partition_graphs_can_be_imported_and_need_no_trace() -> None:
    config = tf.ConfigProto(device_count={"CPU": 2})
    metadata = tf.RunMetadata()
    with tf.device("/cpu:1"):
        v = tf.Variable([1.0, 2.0], name="v")
        write = v.assign_add([1.0, 1.0])
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.control_dependencies([write.op]), tf.device("/cpu:0"):
        y = tf.exp(x, name="y")
    with tf.Session(config=config) as session:
        session.run(v.initializer)
        options = tf.RunOptions(output_partition_graphs=True)
        session.run(y, {x: [0.0, 0.0]}, options, metadata)
    assert not metadata.step_stats.dev_stats
    first, second = metadata.partition_graphs
    for graph, device in ((first, "CPU:0"), (second, "CPU:1")):
        names = {node.name for node in graph.node}
        assert {node.device for node in graph.node} == {LOCAL + device}
        for node in graph.node:
            taken = {name.lstrip("^").partition(":")[0] for name in node.input}
            assert taken <= names
    # The write is waited for by way of a signal, as nothing of it is taken.
    kinds = [node.op for node in second.node if node.name.startswith("AssignAdd/")]
    assert kinds == ["Const", "Const", "_Send"]
    (waits,) = (node for node in first.node if node.name == "y")
    assert waits.input[0] == "_arg_x_0_0"
    assert waits.input[1].startswith("^AssignAdd/_")


def test_run_metadata_is_replaced_and_anything_false_is_none() -> None:
    y = tf.exp(1.0)
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(y, options=FULL, run_metadata=metadata)
        assert metadata.ByteSize()
        session.run(y, run_metadata=metadata)
        assert metadata.ByteSize() == 0
        for nothing in (0, "", {}, [], ()):
            assert session.run(y, options=nothing, run_metadata=nothing) > 2.7
        with pytest.raises(AttributeError, match="'dict' object has no attribute 'Ser"):
            session.run(y, options={"trace_level": 3})
        with pytest.raises(AttributeError, match="'int' object has no attribute 'Par"):
            session.run(y, run_metadata=3)
        call = session.make_callable(y, accept_options=True)
        call(options=FULL, run_metadata=metadata)
        assert metadata.step_stats.dev_stats


def test_every_field_of_run_options() -> None:
    y = tf.exp(1.0)
    options = tf.RunOptions(inter_op_thread_pool=-1, timeout_in_ms=-5)
    options.experimental.collective_graph_key = 3
    options.experimental.use_run_handler_pool = True
    options.debug_options.global_step = 3
    options.debug_options.reset_disk_byte_usage = True
    with tf.Session() as session:
        assert session.run(y, options=options) > 2.7
        for pool in (1, 5, -2):
            bad = tf.RunOptions(inter_op_thread_pool=pool)
            words = f"Invalid inter_op_thread_pool: {pool}"
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(y, options=bad)
        config = tf.ConfigProto()
        for threads in (1, 2):
            config.session_inter_op_thread_pool.add(num_threads=threads)
        with tf.Session(config=config) as pools:
            second = tf.RunOptions(inter_op_thread_pool=1)
            assert pools.run(y, options=second) > 2.7
        options.debug_options.debug_tensor_watch_opts.add(node_name="y")
        with pytest.raises(NotImplementedError, match="debug_tensor_watch_opts"):
            session.run(y, options=options)


def test_a_branch_runs_traced_with_an_inner_output_fed() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    first, second = tf.unstack(x, name="parts")
    y = tf.cond(second > 0, lambda: second * 2.0, lambda: first, name="y")
    with tf.Session() as session:
        feeds = {x: [1.0, 2.0], second: 5.0}
        assert session.run(y, feeds, options=FULL) == 10.0


def test_shapes_given_to_a_second_cpu_are_not_copied() -> None:
    with tf.device("/cpu:1"):
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = tf.exp(tf.reshape(x, tf.shape(x)[::-1]), name="y")
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as session:
        assert session.run(y, {x: np.zeros([2, 3])}).shape == (3, 2)
        names = [name for name, _ in session.transfers.latest]
    assert [name.partition("_")[2].partition("_")[2] for name in names] == ["x:0", "y"]
