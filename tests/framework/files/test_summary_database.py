"""Databases of summaries.

tests/scripts/eager/summary_database.py compares their tables with TensorFlow's.
"""

import sqlite3
from contextlib import closing

import pytest

import tfteach as tf
from tfteach.framework.files import summary_database
from tfteach.framework.files.summary_database import SummaryDatabase


@pytest.fixture
def path(tmp_path):
    return tmp_path / "summaries.sqlite"


def rows(path, sql):
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def event(wall_time=20.0, step=0, **fields):
    made = tf.Event(wall_time=wall_time, step=step)
    made.summary.value.add(**fields)
    return made.SerializeToString()


def opened(path, run="run"):
    return SummaryDatabase(f"file:{path}", "experiment", run, "user")


def test_an_id_that_exists_is_not_used_again(path, monkeypatch):
    numbers = iter([5, 5, 2**23 + 6, 7, 2**47 + 8])
    monkeypatch.setattr(
        summary_database.secrets, "randbits", lambda bits: next(numbers)
    )
    with closing(opened(path)) as database:
        database.write(event(tag="x", simple_value=1.0))
    assert rows(path, "SELECT id FROM Ids") == [(5,), (7,), (8,), (2**23 + 6,)]


def test_an_id_is_not_zero(path, monkeypatch):
    numbers = iter([0, 2**23 + 2, 3, 4])
    monkeypatch.setattr(
        summary_database.secrets, "randbits", lambda bits: next(numbers)
    )
    with closing(opened(path)) as database:
        database.write(event(tag="x", simple_value=1.0))
    assert rows(path, "SELECT id FROM Ids") == [(1,), (2,), (3,), (4,)]


def test_a_run_began_with_its_earliest_event(path):
    with closing(opened(path)) as database:
        for wall_time in 20.0, 30.0, 10.0, 15.0:
            database.write(event(wall_time, tag="x", simple_value=1.0))
    with closing(opened(path, "later")) as database:
        database.write(event(40.0, tag="x", simple_value=1.0))
    starts = rows(path, "SELECT run_name, started_time FROM Runs ORDER BY rowid")
    assert starts == [("run", 10.0), ("later", 40.0)]
    assert rows(path, "SELECT started_time FROM Experiments") == [(10.0,)]


def test_values_before_one_that_cannot_be_written_stay(path):
    made = tf.Event(wall_time=20.0)
    made.summary.value.add(tag="x", simple_value=1.0)
    made.summary.value.add(tag="y", tensor=tf.make_tensor_proto([True]))
    with closing(opened(path)) as database:
        with pytest.raises(tf.errors.UnimplementedError, match="bool tensors unsupp"):
            database.write(made.SerializeToString())
        database.write(event(step=1, tag="x", simple_value=2.0))
    assert rows(path, "SELECT tag_name FROM Tags") == [("x",)]
    assert rows(path, "SELECT step FROM Tensors") == [(0,), (1,)]


def test_what_is_no_summary_or_graph(path):
    histogram = tf.HistogramProto(bucket=[1.0], bucket_limit=[1.0, 2.0])
    tensor = tf.make_tensor_proto([1.0])
    tensor.tensor_shape.dim[0].size = -1
    graph_def = tf.GraphDef()
    graph_def.node.add(name="x", op="NoOp", input=["^absent"])
    graph = tf.Event(graph_def=graph_def.SerializeToString()).SerializeToString()
    with closing(opened(path)) as database:
        with pytest.raises(tf.errors.InvalidArgumentError, match="size mismatch"):
            database.write(event(tag="h", histo=histogram))
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad proto"):
            database.write(event(tag="t", tensor=tensor))
        with pytest.raises(tf.errors.DataLossError, match="find node: absent"):
            database.write(graph)
    assert rows(path, "SELECT * FROM Tensors") == []


def test_a_database_that_cannot_be_written(path):
    opened(path).close()
    with (
        pytest.raises(
            tf.errors.FailedPreconditionError, match=r"Step\(\) failed: \[8\]"
        ),
        closing(opened(f"{path}?immutable=1")) as database,
    ):
        database.write(event(tag="x", simple_value=1.0))
