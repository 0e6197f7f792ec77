"""The tables of a database that `tf.contrib.summary.create_db_writer` writes."""

import os
import re
import sqlite3
import tempfile

import tensorflow as tf

tf.enable_eager_execution()
summary = tf.contrib.summary
PATH = os.path.join(tempfile.mkdtemp(), "summaries.sqlite")
ids = {}  # numbers of random ids


def show(column, value):
    if value is None:
        return None
    if column.endswith("id") and column not in ("node_id", "input_node_id"):
        return "#%d" % ids.setdefault(value, len(ids))
    if column == "series":
        return "#%d" % ids[value]
    if column.endswith("_time"):
        return "now" if value > 1e9 else value
    if column == "node_def":
        return sorted(tf.NodeDef.FromString(value).attr)
    if column == "graph_def":
        return tf.GraphDef.FromString(value).versions.producer
    return b"PNG" if isinstance(value, bytes) and b"PNG" in value else value


def table(name, columns, order="rowid", where="1"):
    query = "SELECT %s FROM %s WHERE %s ORDER BY %s" % (columns, name, where, order)
    print(name)
    for row in sqlite3.connect(PATH).execute(query):
        print(*map(show, re.split(", ?", columns), row))


def writer(**names):
    made = summary.create_db_writer("file:" + PATH, **names)
    with made.as_default(), summary.always_record_summaries():
        yield
    made.close()


def failing(function):
    try:
        function()
    except (tf.errors.OpError, ValueError) as error:
        print(type(error).__name__, str(error).replace(PATH, "PATH"))


tf.train.get_or_create_global_step().assign(3)
for _ in writer(experiment_name="fast", run_name="first", user_name="ada"):
    summary.scalar("loss", 2.5)
    summary.scalar("loss", 2.75, step=4)
    summary.scalar("loss", 3.0, step=4)
    summary.scalar("vector", tf.constant([4, 5]), step=7)
    summary.scalar("half", tf.constant(1.5, tf.float16))
    summary.histogram("h", [1.0, 2.0, 5.0], family="f")
    summary.image("i", tf.zeros([2, 2, 3, 3]))
    summary.audio("a", tf.zeros([1, 4, 1]), sample_rate=8000.0, max_outputs=1)
    metadata = tf.SummaryMetadata(display_name="shown", summary_description="told")
    metadata.plugin_data.plugin_name = "plugin"
    metadata.plugin_data.content = b"\x01\x00"
    matrix = tf.constant([[1, 2], [3, 4]], tf.int64)
    summary.generic("matrix", matrix, metadata=metadata)
    summary.generic("text", tf.constant("text"))
    summary.generic("texts", tf.constant([["x", "y\0z"]]))
    summary.generic("texts", tf.constant(["w"]))
    summary.generic("empty", tf.zeros([0, 2]))
    summary.generic("complex", tf.constant(1 + 2j))
    failing(lambda: summary.generic("bool", tf.constant(True)))
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device("/cpu:0"):
            y = tf.add(x, x, name="y")
        with tf.control_dependencies([y]):
            tf.identity(tf.split(x, 2)[1], name="z")
    summary.graph(graph.as_graph_def(), step=0)
    event = tf.Event(wall_time=12.5, step=9)
    event.summary.value.add(tag="imported", simple_value=1.25)
    event.summary.value.add(tag="without")
    summary.import_event(event.SerializeToString())
    summary.import_event(tf.Event(file_version="x").SerializeToString())
for value in 2.5, 7.5:
    for _ in writer(experiment_name="fast", run_name="again", user_name="ada"):
        summary.scalar("loss", value)
for _ in writer(experiment_name="", run_name="alone", user_name="ada"):
    summary.scalar("loss", 8.5)
for _ in writer(experiment_name="slow", run_name="", user_name="bob"):
    summary.scalar("loss", 9.5)
for _ in writer(experiment_name="unused", run_name="unused", user_name="bob"):
    pass

table("Users", "user_id, user_name, email, inserted_time")
columns = "user_id, experiment_id, experiment_name, inserted_time, started_time"
table("Experiments", columns + ", is_watching")
columns = "experiment_id, run_id, run_name, inserted_time, started_time, finished_time"
table("Runs", columns)
columns = "run_id, tag_id, tag_name, display_name, plugin_name, plugin_data"
table("Tags", columns + ", inserted_time")
columns = "series, step, dtype, shape, data, computed_time"
table("Tensors", columns, where="dtype IS NOT NULL")
table("TensorStrings", "idx, data")
table("Graphs", "run_id, graph_id, graph_def, inserted_time")
table("Nodes", "graph_id, node_id, node_name, op, device, node_def")
columns = "graph_id, node_id, idx, input_node_id, input_node_idx, is_control"
table("NodeInputs", columns)
table("Descriptions", "description", where="description != ''")
print("Ids", sqlite3.connect(PATH).execute("SELECT count(*) FROM Ids").fetchone())
for row in sorted(sqlite3.connect(PATH).execute("SELECT sql FROM sqlite_master")):
    print(re.sub(r"\s+", " ", row[0]).replace("( ", "(").replace(" )", ")").strip())

failing(lambda: summary.create_db_writer("file:/no/folder/x.sqlite", name="a"))
with open(PATH, "wb") as file:
    file.write(b"x" * 5000)
failing(lambda: summary.create_db_writer("file:" + PATH, name="b"))
failing(lambda: summary.create_db_writer("file:x", experiment_name="a<b"))
failing(lambda: summary.create_db_writer("file:x", run_name="a\nb"))
failing(lambda: summary.create_db_writer("file:x", user_name="-a"))
