"""`tf.compat.v2.summary`: values, events and errors are those of real TensorFlow."""

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly

v2 = tf.compat.v2
summary = v2.summary
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def writer(eagerly, tmp_path):
    with summary.create_file_writer(str(tmp_path)).as_default() as writer:
        yield writer
    summary.experimental.set_step(None)


def values_in(folder):
    """(step, tag, plugin, value) of all events, in order."""
    found = []
    for file in sorted(folder.iterdir()):
        for event in tf.train.summary_iterator(str(file)):
            for value in event.summary.value:
                plugin = value.metadata.plugin_data.plugin_name
                is_tensor = value.HasField("tensor")
                data = tf.make_ndarray(value.tensor).tolist() if is_tensor else None
                data = value.simple_value if data is None else data
                found.append((event.step, value.tag, plugin, data))
    return found


def test_scalars_texts_and_what_else_is_written(writer, tmp_path):
    assert summary.scalar("a", 1.5, 3).numpy()
    summary.experimental.set_step(7)
    assert summary.experimental.get_step() == 7
    with tf.name_scope("outer"):
        summary.scalar("b c!", 2)
    summary.text("t", ["x", "y"], step=8)
    summary.write("raw", [[1, 2]])
    with summary.record_if(False):
        assert not summary.scalar("no", 1.0).numpy()
    with summary.record_if(lambda: tf.equal(summary.experimental.get_step() % 2, 1)):
        assert summary.scalar("odd", 1.0).numpy()
    data = tf.Summary(value=[tf.Summary.Value(tag="pb", simple_value=3.0)])
    assert summary.experimental.write_raw_pb(data.SerializeToString()).numpy()
    summary.flush()
    assert values_in(tmp_path) == [
        (3, "a", "scalars", 1.5),
        (7, "outer/b c!", "scalars", 2.0),
        (8, "t", "text", [b"x", b"y"]),
        (7, "raw", "", [[1, 2]]),
        (7, "odd", "scalars", 1.0),
        (7, "pb", "", 3.0),
    ]


def test_histograms(writer, tmp_path):
    summary.histogram("several", [1.0, 2.0, 2.0, 5.0], 1, 3)
    summary.histogram("equal", [2, 2], 1)
    summary.histogram("none", [], 1)
    summary.histogram("default", [0.0, 3.0], 1)
    summary.flush()
    *three, (_, _, _, default) = values_in(tmp_path)
    edges = 1.0, 2.333333333333333, 3.6666666666666665, 5.0
    assert three == [
        (1, "several", "histograms",
         [[edges[0], edges[1], 3.0], [edges[1], edges[2], 0.0],
          [edges[2], edges[3], 1.0]]),
        (1, "equal", "histograms", [[1.5, 2.5, 2.0]]),
        (1, "none", "histograms", []),
    ]  # fmt: skip
    assert len(default) == 30
    assert default[-1][1:] == [3.0, 1.0]


def test_images_and_sounds(writer, tmp_path):
    summary.image("i", np.full([4, 2, 3, 3], 0.5, np.float32), 1, max_outputs=2)
    summary.image("none", np.zeros([0, 2, 3, 3], np.uint8), 1)
    summary.audio("s", np.zeros([2, 10, 1], np.float32), 8000, 1, max_outputs=1)
    summary.flush()
    (_, _, images, data), (*_, none), (_, _, audio, [[sound, label]]) = values_in(
        tmp_path
    )
    assert (images, data[:2], [d[:8] for d in data[2:]]) == (
        "images", [b"3", b"2"], [PNG, PNG]
    )  # fmt: skip
    assert tf.image.decode_png(data[2]).numpy().max() == 127
    assert none == [b"3", b"2"]
    assert (audio, len(sound), label) == ("audio", 64, b"")


def test_metadata(writer, tmp_path):
    summary.scalar("a", 1.0, 1, description="*text*")
    summary.audio("s", np.zeros([1, 2, 1], np.float32), 8000, 1)
    summary.flush()
    [file] = tmp_path.iterdir()
    _, a, s = tf.train.summary_iterator(str(file))
    assert a.summary.value[0].metadata.summary_description == "*text*"
    assert s.summary.value[0].metadata.plugin_data.content == b"\x10\x0b"


def test_functions_read_the_variable_of_the_step(writer, tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    summary.experimental.set_step(step)

    @tf.function
    def train(x):
        summary.scalar("loss", x)
        summary.histogram("h", [x, x + 1], buckets=2)

    for i in range(2):
        step.assign(i + 20)
        train(tf.constant(float(i)))
    summary.flush()
    assert values_in(tmp_path) == [
        (20, "loss", "scalars", 0.0),
        (20, "h", "histograms", [[0.0, 0.5, 1.0], [0.5, 1.0, 1.0]]),
        (21, "loss", "scalars", 1.0),
        (21, "h", "histograms", [[1.0, 1.5, 1.0], [1.5, 2.0, 1.0]]),
    ]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: summary.scalar("v", 1.0), ValueError, "No step set via 'step' arg"),
        (lambda: summary.experimental.write_raw_pb(b""), ValueError, "No step set"),
        (lambda: summary.scalar("v", [1.0]), ValueError, "Expected scalar shape, saw"),
        (lambda: summary.text("v", 1.0), TypeError, "must be of type <dtype: 'string'"),
        (lambda: summary.image("v", [1.0]), ValueError, "must have rank 4"),
        (lambda: summary.audio("v", [[[0.0]]], 1, encoding="mp3"), ValueError, "'mp3'"),
        (lambda: summary.create_file_writer(None), ValueError, "logdir cannot be None"),
        (lambda: summary.trace_on(profiler=True), NotImplementedError, "profiler=True"),
        (lambda: summary.trace_export("v"), ValueError, "Must enable trace before ex"),
    ],
)
def test_errors(writer, call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_writers(eagerly, tmp_path):
    assert not summary.scalar("a", 1.0).numpy()  # no writer is in effect
    with summary.create_noop_writer().as_default():
        assert not summary.scalar("a", 1.0, 1).numpy()
    writers = [summary.create_file_writer(str(tmp_path), filename_suffix=s)
               for s in (".x", ".y")]  # fmt: skip
    assert len({file.name for file in tmp_path.iterdir()}) == 2
    assert isinstance(writers[0], summary.SummaryWriter)
    writers[0].close()
    assert writers[0].close() is writers[0].flush() is None
    for use in writers[0].set_as_default, writers[0].as_default().__enter__:
        with pytest.raises(RuntimeError, match="SummaryWriter is already closed"):
            use()
    with pytest.raises(RuntimeError, match="SummaryWriter is already closed"):
        writers[0].init()


def test_a_file_grows_when_its_queue_is_full(eagerly, tmp_path):
    writer = summary.create_file_writer(str(tmp_path), 1, 10**6)
    [file] = tmp_path.iterdir()
    assert len(list(tf.train.summary_iterator(str(file)))) == 1  # its version
    sizes = []
    with writer.as_default():
        for i in range(3):
            summary.write(f"tag{i}", i, 0)
            sizes.append(len(values_in(tmp_path)))
    assert sizes == [0, 2, 2]
    writer.close()
    assert len(values_in(tmp_path)) == 3


def test_raw_summaries_are_one_event(writer, tmp_path):
    value = tf.Summary.Value(simple_value=1.0)
    data = [tf.Summary(value=[value] * n).SerializeToString() for n in (2, 0, 1)]
    summary.experimental.write_raw_pb(data, 12)
    summary.flush()
    [file] = tmp_path.iterdir()
    _, event = tf.train.summary_iterator(str(file))
    assert (event.step, len(event.summary.value)) == (12, 3)


def test_a_writer_of_a_functions_tensor(eagerly, tmp_path):
    @tf.function
    def train(folder):
        summary.create_file_writer(folder)

    with pytest.raises(ValueError, match='graph Tensor argument "logdir=Tensor'):
        train(tf.constant(str(tmp_path)))


def test_in_a_graph(tmp_path):
    with tf.Graph().as_default():
        step = tf.placeholder(tf.int64, [])
        writer = summary.create_file_writer(str(tmp_path), name="w")
        with writer.as_default():
            summary.scalar("x", 2.0, step)
        with tf.Session() as session:
            session.run(writer.init())
            assert session.run(tf.summary.all_v2_summary_ops(), {step: 4}) == [True]
            session.run(writer.flush())
            assert values_in(tmp_path) == [(4, "x", "scalars", 2.0)]
            session.run(writer.close())


def test_graphs_of_new_traces(writer, tmp_path):
    @tf.function
    def square(x):
        return x * x

    square(tf.constant(1))  # traced before
    summary.trace_on()
    summary.trace_on()  # has no effect
    for x in (1, 2.0, 3.0):
        square(tf.constant(x))
    with pytest.raises(ValueError, match="No step set"):
        summary.trace_export("lost")
    for _ in range(2):
        square(tf.constant([1.0]))
    summary.trace_export("square", 5)
    square(tf.constant([1]))
    summary.flush()
    [(step, tag, plugin, data)] = values_in(tmp_path)
    assert (step, tag, plugin) == (5, "square", "graph_run_metadata_graph")
    [graph] = tf.RunMetadata.FromString(data).function_graphs
    nodes = [(node.name, node.op) for node in graph.pre_optimization_graph.node]
    assert nodes == [("x", "Placeholder"), ("mul", "Mul"), ("Identity", "Identity")]


def test_traces_are_of_eager_programs(caplog):
    summary.trace_on()
    summary.trace_export("x")
    assert "Must enable trace in eager mode." in caplog.text
    assert "Can only export trace while executing eagerly." in caplog.text
