"""Writers of `tf.contrib.summary`: nodes as TensorFlow 1.15 has them, and files."""

from __future__ import annotations

import contextlib
import gc
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eager_program
from tfteach.lib.contrib.summary import recording

contrib = tf.contrib.summary


def events(folder: Path) -> list[Any]:
    """The events of all files of a folder, but for those that only have a version."""
    found = []
    for path in sorted(folder.iterdir()):
        assert path.name.startswith("events.out.tfevents.")
        assert path.name.endswith(".v2")
        first, *rest = tf.train.summary_iterator(str(path))
        assert first.file_version == "brain.Event:2"
        found += rest
    return found


def numbers(folder: Path) -> list[tuple[int, str, float]]:
    return [
        (event.step, value.tag, value.simple_value)
        for event in events(folder)
        for value in event.summary.value
    ]


# ---- graphs


@pytest.fixture
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def nodes() -> list[tuple[str, str, list[str]]]:
    graph_def = tf.get_default_graph().as_graph_def()
    return [(n.name, n.op, list(n.input)) for n in graph_def.node]


# What TensorFlow 1.15 builds.
WRITER: list[Any] = [
    ("Const", "Const", []),
    ("Const_1", "Const", []),
    ("Const_2", "Const", []),
    ("SummaryWriter", "SummaryWriter", []),
    ("CreateSummaryFileWriter/logdir", "Const", []),
    (
        "CreateSummaryFileWriter",
        "CreateSummaryFileWriter",
        [
            "SummaryWriter",
            "CreateSummaryFileWriter/logdir",
            "Const",
            "Const_1",
            "Const_2",
        ],
    ),
]
LOGICAL: list[Any] = [
    ("LogicalAnd/x", "Const", []),
    ("LogicalAnd/y", "Const", []),
    ("LogicalAnd", "LogicalAnd", ["LogicalAnd/x", "LogicalAnd/y"]),
]
SCALAR: list[Any] = [
    *LOGICAL,
    ("f/s/Identity/input", "Const", []),
    ("f/s/Identity", "Identity", ["f/s/Identity/input"]),
    ("f/s/tag", "Const", []),
    (
        "f/s",
        "WriteScalarSummary",
        ["SummaryWriter", "global_step/read", "f/s/tag", "f/s/Identity"],
    ),
    ("f/s/Const", "Const", ["^f/s"]),
]
EVERY: list[Any] = [
    ("mod/y", "Const", []),
    ("mod", "FloorMod", ["global_step/read", "mod/y"]),
    ("Equal/y", "Const", []),
    ("Equal", "Equal", ["mod", "Equal/y"]),
    ("LogicalAnd/x", "Const", []),
    ("LogicalAnd", "LogicalAnd", ["LogicalAnd/x", "Equal"]),
    ("Switch", "Switch", ["LogicalAnd", "LogicalAnd"]),
    ("switch_t", "Identity", ["Switch:1"]),
    ("switch_f", "Identity", ["Switch"]),
    ("pred_id", "Identity", ["LogicalAnd"]),
    ("s/Identity/input", "Const", ["^switch_t"]),
    ("s/Identity", "Identity", ["s/Identity/input"]),
    ("s/tag", "Const", ["^switch_t"]),
    (
        "s",
        "WriteScalarSummary",
        ["s/Switch:1", "s/Switch_1:1", "s/tag", "s/Identity"],
    ),
    ("s/Switch", "Switch", ["SummaryWriter", "pred_id"]),
    ("s/Switch_1", "Switch", ["global_step/read", "pred_id"]),
    ("s/Const", "Const", ["^s"]),
    ("Const_3", "Const", ["^switch_f"]),
    ("Merge", "Merge", ["Const_3", "s/Const"]),
]


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(
    ("record", "family", "expected"),
    [
        (contrib.always_record_summaries, "f", SCALAR),
        (contrib.never_record_summaries, None, [*LOGICAL, ("Const_3", "Const", [])]),
        (lambda: contrib.record_summaries_every_n_global_steps(2), None, EVERY),
    ],
)
def test_nodes_are_those_of_tensorflow(
    tmp_path: Path,
    record: Callable[[], AbstractContextManager[None]],
    family: str | None,
    expected: list[Any],
) -> None:
    tf.train.create_global_step()
    before = len(nodes())
    writer = contrib.create_file_writer(str(tmp_path))
    with writer.as_default(), record():
        written = contrib.scalar("s", 1.0, family=family)
    flush = ("FlushSummaryWriter", "FlushSummaryWriter", ["SummaryWriter"])
    assert nodes()[before:] == [*WRITER, *expected, flush]
    assert contrib.all_summary_ops() == [written]


@pytest.mark.usefixtures("graph")
def test_a_graph_writes_in_each_run(tmp_path: Path) -> None:
    step = tf.train.create_global_step()
    x = tf.placeholder(tf.float32, [])
    writer = contrib.create_file_writer(str(tmp_path), flush_millis=10_000)
    with writer.as_default(), contrib.record_summaries_every_n_global_steps(2):
        contrib.scalar("x", x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.NotFoundError, match=r"does not exist.*logdir:"):
            session.run(contrib.all_summary_ops(), {x: 0.0})
        with pytest.raises(RuntimeError, match=r"No default tf\.contrib\.summary"):
            contrib.initialize()
        with writer.as_default():
            contrib.initialize(graph=tf.get_default_graph())
        for i in range(4):
            written = session.run(contrib.all_summary_ops(), {x: i})
            assert written == [i % 2 == 0]
            session.run(tf.assign_add(step, 1))
        session.run(writer.close())
    graph, *_ = events(tmp_path)
    names = [n.name for n in tf.GraphDef.FromString(graph.graph_def).node]
    assert "x" in names
    assert numbers(tmp_path) == [(0, "x", 0.0), (2, "x", 2.0)]


@pytest.mark.usefixtures("graph")
def test_without_a_writer_nothing_is_recorded() -> None:
    assert contrib.scalar("x", 1.0).type == "NoOp"
    assert contrib.graph(tf.placeholder(tf.string)).type == "NoOp"
    assert contrib.flush().type == "NoOp"
    nothing = contrib.create_file_writer(None)
    with nothing.as_default(), contrib.always_record_summaries():
        assert contrib.scalar("x", 1.0).type == "NoOp"
    with pytest.raises(TypeError, match=r"graph\(\) needs a tf\.Tensor"):
        contrib.graph(tf.get_default_graph())


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


@pytest.mark.usefixtures("graph")
def test_a_database_in_a_session(tmp_path: Path) -> None:
    path = tmp_path / "summaries.sqlite"
    writer = contrib.create_db_writer(f"file:{path}", "experiment", "run", "user")
    x = tf.placeholder(tf.float32, [])
    with writer.as_default(), contrib.always_record_summaries():
        contrib.scalar("x", x, step=tf.cast(x, tf.int64))
    assert not path.exists()
    with tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="Could not find resource"):
            session.run(contrib.all_summary_ops(), {x: 1.0})
        session.run(contrib.summary_writer_initializer_op())
        session.run(contrib.all_summary_ops(), {x: 2.0})
        session.run(writer.flush())
        assert rows(path, "SELECT step FROM Tensors") == [(2,)]
        session.run(writer.close())
        session.run(writer.init())
        session.run(contrib.all_summary_ops(), {x: 3.0})
    assert [name for name, _, _ in nodes()][:6] == [
        *("Const", "Const_1", "Const_2", "SummaryWriter"),
        *("CreateSummaryDbWriter/db_uri", "CreateSummaryDbWriter"),
    ]
    assert rows(path, "SELECT step FROM Tensors ORDER BY step") == [(2,), (3,)]
    assert rows(path, "SELECT run_name FROM Runs") == [("run",)]


# ---- eager programs


@pytest.fixture
def eager() -> Iterator[None]:
    with eager_program():
        yield


@pytest.mark.usefixtures("eager")
def test_each_kind_of_summary(tmp_path: Path) -> None:
    tf.train.get_or_create_global_step().assign(3)
    writer = contrib.create_file_writer(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1  # the file is there at once
    with writer.as_default(), contrib.always_record_summaries():
        assert contrib.scalar("loss", 2.0).numpy()
        contrib.scalar("a b", [4, 5], step=7)
        contrib.histogram("h", [1.0, 2.0], family="f")
        contrib.image("i", tf.zeros([1, 2, 2, 3]))
        contrib.audio("s", tf.zeros([1, 4, 1]), 8000.0, 2)
        contrib.generic("g", [1, 2], step=5)
        contrib.graph(tf.Graph())
        contrib.flush()
        contrib.import_event(events(tmp_path)[0].SerializeToString())
        with pytest.raises(tf.errors.DataLossError, match=r"Bad tf\.Event"):
            contrib.import_event(b"abc")
        assert contrib.all_summary_ops() is None
        contrib.initialize()
    found = events(tmp_path)
    assert [event.step for event in found] == [3, 7, 3, 3, 3, 5, 3, 3]
    loss, ab, h, i, s, g, graph, imported = found
    assert loss == imported
    assert (ab.summary.value[0].tag, ab.summary.value[0].simple_value) == ("a_b", 4.0)
    assert (h.summary.value[0].tag, h.summary.value[0].histo.sum) == ("f/f/h", 3.0)
    assert (i.summary.value[0].tag, i.summary.value[0].image.width) == ("i/image/0", 2)
    assert (s.summary.value[0].tag, s.summary.value[0].audio.length_frames) == (
        "s/audio/0",
        4,
    )
    assert g.summary.value[0].tag == "g"
    assert tf.make_ndarray(g.summary.value[0].tensor).tolist() == [1, 2]
    assert graph.HasField("graph_def")


@pytest.mark.usefixtures("eager")
def test_recording_is_a_matter_of_the_thread(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    writer = contrib.create_file_writer(str(tmp_path))
    assert not contrib.should_record_summaries().numpy()
    writer.set_as_default()
    with contrib.always_record_summaries():
        assert contrib.should_record_summaries().numpy()
        with contrib.never_record_summaries():
            assert not contrib.scalar("never", 1.0).numpy()
    with contrib.record_summaries_every_n_global_steps(2):
        written = []
        for _ in range(4):
            step.assign_add(1)
            written.append(bool(contrib.scalar("every", 1.0)))
    assert written == [False, True, False, True]
    contrib.create_file_writer(None).set_as_default()  # as in TensorFlow: no effect
    contrib.flush()
    assert numbers(tmp_path) == [(2, "every", 1.0), (4, "every", 1.0)]
    recording.current.writer = None


@pytest.mark.usefixtures("eager")
def test_functions_write_in_each_call(tmp_path: Path) -> None:
    @tf.function
    def double(x: Any) -> Any:
        contrib.scalar("seen", x, step=tf.cast(x, tf.int64))
        return 2.0 * x

    writer = contrib.create_file_writer(str(tmp_path))
    with writer.as_default(), contrib.always_record_summaries():
        assert double(tf.constant(1.0)).numpy() == 2.0
        assert double(tf.constant(3.0)).numpy() == 6.0
    assert numbers(tmp_path) == [(1, "seen", 1.0), (3, "seen", 3.0)]


@pytest.mark.usefixtures("eager")
def test_a_closed_writer(tmp_path: Path) -> None:
    writer = contrib.create_file_writer(str(tmp_path), max_queue=100)
    with contrib.always_record_summaries():
        writer.set_as_default()
        contrib.scalar("x", 1.0, step=1)
        writer.close()
        assert numbers(tmp_path) == [(1, "x", 1.0)]
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            contrib.scalar("x", 2.0, step=2)
        writer.init()
        contrib.scalar("x", 3.0, step=3)
    recording.current.writer = None
    del writer
    gc.collect()  # it is closed with its Python object
    assert sorted(numbers(tmp_path)) == [(1, "x", 1.0), (3, "x", 3.0)]
