"""FileWriter: what lands in event files, and that nothing is lost."""

import warnings
from pathlib import Path

import pytest
from google.protobuf.message import DecodeError

import tfteach as tf
from tfteach.framework.protos import Event, GraphDef, RunMetadata, SessionLog, Summary


def scalar(tag, value):
    return Summary(value=[Summary.Value(tag=tag, simple_value=value)])


def read(logdir):
    return [
        event
        for path in sorted(Path(logdir).glob("events*"))
        for event in tf.train.summary_iterator(str(path))
    ]


def test_events_in_order(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant([1.0, 2.0], name="c")
    with tf.summary.FileWriter(tmp_path / "new" / "run", graph) as writer:
        writer.add_summary(scalar("loss", 0.5), 3)
        writer.add_summary(scalar("loss", 0.25).SerializeToString(), 2**40)
        writer.add_run_metadata(RunMetadata(), "step 3", 3)
        writer.add_session_log(SessionLog(status=SessionLog.START), 4)
        writer.add_event(Event(step=9, file_version="mine"))
        writer.add_graph(graph, 5)
    logdir = writer.get_logdir()
    events = read(logdir)
    kinds = [e.WhichOneof("what") for e in events]
    assert kinds == [
        "file_version",
        "graph_def",
        "meta_graph_def",
        "summary",
        "summary",
        "tagged_run_metadata",
        "session_log",
        "file_version",
        "graph_def",
    ]
    assert [e.step for e in events] == [0, 0, 0, 3, 2**40, 3, 4, 9, 5]
    assert events[0].file_version == "brain.Event:2"
    assert events[3].summary == scalar("loss", 0.5)
    assert GraphDef.FromString(events[1].graph_def) == graph.as_graph_def(
        add_shapes=True
    )
    assert events[5].tagged_run_metadata.tag == "step 3"
    times = [e.wall_time for e in events if e.wall_time]
    assert times == sorted(times)
    assert times[0] > 1.7e9


def test_name_and_suffix(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path), filename_suffix=".mine")
    assert not list(tmp_path.iterdir())  # as in TF: made at the first event
    writer.add_summary(scalar("a", 1))
    writer.close()
    [path] = tmp_path.iterdir()
    parts = path.name.split(".")
    assert parts[:3] == ["events", "out", "tfevents"]
    assert parts[3].isdigit()
    assert parts[-1] == "mine"


def test_first_event_is_on_disk_at_once_and_the_rest_after_flush(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(scalar("a", 1), 1)
    assert len(read(tmp_path)) == 2
    writer.add_summary(scalar("a", 2), 2)
    assert len(read(tmp_path)) == 2
    writer.flush()
    assert len(read(tmp_path)) == 3
    for step in range(10):  # max_queue
        writer.add_summary(scalar("a", 2), step)
    assert len(read(tmp_path)) == 13
    writer.close()


def test_flush_secs(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path), flush_secs=0)
    for step in range(3):
        writer.add_summary(scalar("a", 2), step)
        assert len(read(tmp_path)) == step + 2
    writer.close()


def test_closed_writer_warns_and_reopens(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(scalar("a", 1), 1)
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(scalar("lost", 1), 2)
    writer.reopen()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.add_summary(scalar("b", 1), 3)
    writer.close()
    tags = [e.summary.value[0].tag for e in read(tmp_path) if e.HasField("summary")]
    assert tags == ["a", "b"]  # in two files, though made in the same second
    assert len(list(tmp_path.iterdir())) == 2


def test_metadata_goes_with_a_tags_first_value(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        data = session.run(tf.summary.text("t", tf.constant("x")))
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(data, 1)
        writer.add_summary(data, 2)
    values = [e.summary.value[0] for e in read(tmp_path)[1:]]
    assert [v.HasField("metadata") for v in values] == [True, False]
    assert values[0].metadata.plugin_data.plugin_name == "text"


def test_refused(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    with pytest.raises(TypeError, match=r"must be an instance of `Graph`"):
        writer.add_graph("x")
    with pytest.raises(ValueError, match="only graph, or graph_def"):
        writer.add_graph(tf.Graph(), graph_def=GraphDef())
    with pytest.raises(TypeError, match="a serialized Summary"):
        writer.add_summary("text")
    with pytest.raises(DecodeError):
        writer.add_summary(b"no summary")
    with pytest.raises(TypeError, match="must be type MetaGraphDef"):
        writer.add_meta_graph(GraphDef())
    writer.add_run_metadata(RunMetadata(), "tag")
    with pytest.raises(ValueError, match="tag was already used"):
        writer.add_run_metadata(RunMetadata(), "tag")
    with pytest.raises(NotImplementedError, match="session"):
        tf.summary.FileWriter(str(tmp_path), session=object())
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.AlreadyExistsError, match="file"):
        tf.summary.FileWriter(str(tmp_path / "file"))


def test_cache(tmp_path):
    cache = tf.summary.FileWriterCache
    with tf.Graph().as_default():
        tf.constant(1.0)
        first = cache.get(str(tmp_path))
        assert cache.get(str(tmp_path)) is first
    cache.clear()
    assert [e.WhichOneof("what") for e in read(tmp_path)][1] == "graph_def"


@pytest.mark.parametrize("damage", ["cut", "flip", "head"])
def test_damaged_files_are_data_loss(tmp_path, damage):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(scalar("a", 1), 1)
    [path] = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    if damage == "cut":
        del data[-3:]
    else:
        data[2 if damage == "head" else -6] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match="record at"):
        list(tf.train.summary_iterator(str(path)))


def test_write_graph(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant("ü", name="c")
    directory = tmp_path / "new"
    text = tf.train.write_graph(graph, str(directory), "g.pbtxt")
    data = tf.train.write_graph(graph.as_graph_def(), directory, "g.pb", as_text=False)
    assert sorted(p.name for p in directory.iterdir()) == ["g.pb", "g.pbtxt"]
    from google.protobuf import text_format

    wanted = graph.as_graph_def()
    assert text_format.Parse(Path(text).read_text(), GraphDef()) == wanted
    assert GraphDef.FromString(Path(data).read_bytes()) == wanted
