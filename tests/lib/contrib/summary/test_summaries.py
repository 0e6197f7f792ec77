"""`tf.contrib.summary` in both modes: events and nodes as real TensorFlow's."""

import re

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly

summary = tf.contrib.summary


def events_in(folder):
    [file] = folder.iterdir()
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..*\.v2", file.name)
    version, *events = tf.train.summary_iterator(str(file))
    assert version.file_version == "brain.Event:2"
    return events


def numbers(events):
    return [(e.summary.value[0].tag, e.step, e.summary.value[0].simple_value)
            for e in events]  # fmt: skip


def test_what_is_recorded_and_when(eagerly, tmp_path):
    step = tf.train.get_or_create_global_step()
    writer = summary.create_file_writer(tmp_path)
    assert summary.scalar("x", 1.0) is None  # no writer is in effect
    with writer.as_default():
        assert not summary.scalar("x", 1.0).numpy()
        assert not summary.should_record_summaries().numpy()
        with summary.always_record_summaries():
            assert summary.scalar("x", 1.5).numpy()
            step.assign(5)
            with tf.name_scope("inner"):
                summary.scalar("y", 2, family="group")
            with summary.never_record_summaries():
                assert not summary.scalar("x", 9.0).numpy()
        with summary.record_summaries_every_n_global_steps(2):
            assert not summary.scalar("every", 1.0).numpy()
            step.assign(6)
            assert summary.scalar("every", 1.0).numpy()
    assert numbers(events_in(tmp_path)) == [
        ("x", 0, 1.5),
        ("group/inner/group/y", 5, 2.0),
        ("every", 6, 1.0),
    ]
    assert summary.all_summary_ops() is None
    assert summary.initialize() is None
    with pytest.raises(RuntimeError, match="only supported in graph mode"):
        summary.summary_writer_initializer_op()
    assert writer.close() is None


def test_kinds(eagerly, tmp_path):
    writer = summary.create_file_writer(tmp_path, filename_suffix=".v2")
    with writer.as_default(), summary.always_record_summaries():
        summary.histogram("h", [1.0, 2.0, 2.0], step=1)
        summary.generic("numbers", [1, 2], step=2)
        summary.generic("text", "words", tf.SummaryMetadata(summary_description="d"),
                        step=3)  # fmt: skip
        summary.image("picture", tf.ones([1, 2, 3, 1]), step=4)
        summary.audio("sound", tf.zeros([1, 4, 1]), 100.0, 1, step=5)
        summary.import_event(tf.Event(step=77).SerializeToString())
        summary.graph(tf.GraphDef(node=[tf.NodeDef(name="n", op="NoOp")]), step=0)
    events = events_in(tmp_path)
    assert [event.step for event in events] == [1, 2, 3, 4, 5, 77, 0]
    histogram, plain, text, picture, sound = [e.summary.value[0] for e in events[:5]]
    assert (histogram.histo.num, histogram.histo.sum) == (3, 5)
    assert tf.make_ndarray(plain.tensor).tolist() == [1, 2]
    assert not plain.HasField("metadata")
    assert tf.make_ndarray(text.tensor).item() == b"words"
    assert text.metadata.summary_description == "d"
    assert picture.tag == "picture/image/0"
    assert (picture.image.height, picture.image.width) == (2, 3)
    assert (sound.tag, sound.audio.sample_rate) == ("sound/audio", 100.0)
    assert tf.GraphDef.FromString(events[6].graph_def).node[0].name == "n"


def test_in_functions(eagerly, tmp_path):
    writer = summary.create_file_writer(tmp_path)

    @tf.function
    def step(x):
        with writer.as_default(), summary.always_record_summaries():
            summary.scalar("inside", x, step=3)
        return x

    step(tf.constant(2.0))
    step(tf.constant(3.0))
    assert numbers(events_in(tmp_path)) == [("inside", 3, 2.0), ("inside", 3, 3.0)]


def test_in_a_graph(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.get_or_create_global_step()
        value = tf.placeholder(tf.float32, [], name="value")
        with pytest.raises(RuntimeError, match="No default tf"):
            summary.initialize(session=session)
        writer = summary.create_file_writer(tmp_path)
        with writer.as_default(), summary.always_record_summaries():
            written = summary.scalar("x", value)
            assert summary.all_summary_ops() == [written]
            session.run(tf.global_variables_initializer())
            summary.initialize(graph, session)
            for number in range(2):
                assert session.run(summary.all_summary_ops(), {value: number}) == [True]
            session.run(summary.flush())
            with pytest.raises(TypeError, match="graph mode, but was"):
                summary.graph(graph)
        names = [op.name for op in graph.get_operations() if op.name.startswith("x")]
        assert names == ["x/Identity", "x/tag", "x", "x/Const"]
        types = {op.type for op in graph.get_operations()}
        assert {
            "SummaryWriter",
            "CreateSummaryFileWriter",
            "WriteScalarSummary",
        } < types
        session.run(writer.close())
    first, *rest = events_in(tmp_path)
    assert len(tf.GraphDef.FromString(first.graph_def).node) > 5
    assert numbers(rest) == [("x", 0, 0.0), ("x", 0, 1.0)]


def test_files_that_are_not_open(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        writer = summary.create_file_writer(tmp_path)
        with pytest.raises(tf.errors.NotFoundError, match="Could not find resource"):
            session.run(writer.flush())


def test_events_that_are_none(eagerly, tmp_path):
    with (
        summary.create_file_writer(tmp_path).as_default(),
        pytest.raises(tf.errors.DataLossError, match=r"Bad tf\.Event binary proto"),
    ):
        summary.import_event(b"\xff")


def test_names(eagerly):
    assert summary.eval_dir("model") == "model/eval"
    assert summary.eval_dir("model", "test") == "model/eval_test"
    nowhere = summary.create_file_writer(None)
    with nowhere.as_default(), summary.always_record_summaries():
        assert summary.scalar("x", np.float32(1)) is None
    assert nowhere.init() is nowhere.flush() is nowhere.close() is None
