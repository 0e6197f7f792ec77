"""A cell for each view that tfteach.jupyter exports, for tests that hold for all."""

from __future__ import annotations

from playwright.sync_api import Locator

from tests.browser.lab import Lab
from tfteach.jupyter import _VIEWS

SETUP = """\
%load_ext tfteach
import numpy as np
import tfteach as tf
import tfteach.jupyter as tfj
tf.simulate_gpus(2, memory="8MiB")
graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope("hidden"):
        w = tf.get_variable("weights", [4, 8])
        h = tf.nn.relu(tf.matmul(x, w), name="relu")
    with tf.variable_scope("output"):
        v = tf.get_variable("weights", [8, 3])
        logits = tf.matmul(h, v, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    with tf.device("/gpu:1"):
        spare = tf.add(loss, 1.0, name="spare")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
    init = tf.global_variables_initializer()
config = tf.ConfigProto(allow_soft_placement=True)
sess = tf.Session(graph=graph, config=config)
sess.run(init)
feed = {x: np.ones([2, 4]), labels: [0, 1]}
"""

# The last line of each is the view itself.
CELLS = {
    "GraphView": "tfj.GraphView(graph, fetches=[loss])",
    "RunView": "tfj.RunView(graph, fetches=[loss], feeds=[x])",
    "GrowthView": """\
from tfteach.explain import watch_graphs, watch_growth
with watch_growth(graph) as growth, graph.as_default():
    for _ in range(5):
        sess.run(tf.add(loss, 1.0), feed)
with watch_graphs() as log:
    for i in range(3):
        with tf.Graph().as_default(), tf.Session() as short:
            short.run(tf.square(float(i), name="y"))
from tfteach.explain import watch_eager
with watch_eager() as ran:
    for _ in range(3):
        tf.square(2.0)
tfj.GrowthView(lazy=growth, rebuilt=log, eager=ran)""",
    "PlacementView": "tfj.PlacementView(sess, [spare], [x, labels])",
    "OptimizingView": "tfj.OptimizingView(sess, [loss], [x, labels], [(2, 4), (2,)])",
    "ScheduleView": "tfj.ScheduleView(sess, [train, loss], [x, labels])",
    "SharingView": """\
with graph.as_default(), tf.variable_scope("hidden", reuse=True):
    tf.matmul(x, tf.get_variable("weights"))
tfj.SharingView(graph)""",
    "CollectionsView": "tfj.CollectionsView(graph)",
    "ClusterView": """\
server = tf.train.Server.create_local_server()
far = tf.Session(server.target, graph=graph, config=config)
far.run(init)
from tfteach.explain import trace_step
step = trace_step(far, [train, loss], feed)
tfj.ClusterView(sessions={"far": far}, step=step)""",
    "SessionsView": """\
other = tf.Session(graph=graph, config=config)
sessions = tfj.SessionsView({"sess": sess, "other": other})
sess.run(train, feed)
try:
    other.run(loss, feed)
except tf.errors.FailedPreconditionError:
    pass
sessions""",
    "RowsView": """\
from tfteach.explain import watch_rows
recorded = {}
for name, optimizer in [
    ("Adam", tf.train.AdamOptimizer(0.1)),
    ("LazyAdam", tf.contrib.opt.LazyAdamOptimizer(0.1)),
]:
    with tf.Graph().as_default(), tf.Session() as own, watch_rows() as recorded[name]:
        emb = tf.get_variable("emb", [5, 2], initializer=tf.ones_initializer())
        ids = tf.placeholder(tf.int32, [None], name="ids")
        rows_loss = tf.reduce_sum(tf.nn.embedding_lookup(emb, ids) ** 2)
        step = optimizer.minimize(rows_loss)
        own.run(tf.global_variables_initializer())
        for batch in ([0, 1], [2, 2], [0, 4], [3]):
            own.run(step, {ids: batch})
tfj.RowsView(recorded)""",
    "StepView": "tfj.StepView.of(sess, train, feed, break_on=[loss])",
    "EagerView": """\
from tfteach.explain import record_eager
with record_eager() as program:
    kept = tf.Variable([[3.0], [4.0]], name="kept")
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss_now = tf.reduce_mean(tf.square(tf.matmul([[1.0, 2.0]], kept)))
        kept.assign_sub(0.1 * tape.gradient(loss_now, kept))
tfj.EagerView(program)""",
    "TimelineView": "tfj.TimelineView.of(sess, train, feed)",
    "TraceView": """\
from tfteach.explain import watch_functions
power = tf.function(lambda x, n: x ** n)
with watch_functions() as calls, tf.Graph().as_default():
    for n in range(4):
        power(tf.constant(2.0), n)
tfj.TraceView(calls)""",
    "PipelineView": """\
from tfteach.explain import watch_pipelines
with tf.Graph().as_default(), tf.Session() as piped, watch_pipelines() as watched:
    numbers = tf.data.Dataset.range(500).map(lambda i: i * i).shuffle(50)
    pairs = tf.data.Dataset.zip((numbers, tf.data.Dataset.range(500)))
    pair = pairs.batch(5).prefetch(2).make_one_shot_iterator().get_next()
    for _ in range(40):
        piped.run(pair)
tfj.PipelineView(watched)""",
    "MemoryView": """\
memory = tfj.MemoryView({"sess": sess})
sess.run(train, feed)
memory""",
    "CheckpointView": """\
import tempfile
with graph.as_default():
    saver = tf.train.Saver()
    absent = tf.get_variable("hidden/weight", [4, 8])
folder = tempfile.mkdtemp()
first = saver.save(sess, folder + "/model", 1)
sess.run(train, feed)
tfj.CheckpointView(saver.save(sess, folder + "/model", 2), first, graph)""",
    "ModelView": """\
import tempfile
path = tf.train.write_graph(graph, tempfile.mkdtemp(), "model.pb", as_text=False)
tfj.show(path)""",
    "GraphDiff": """\
with tf.Graph().as_default() as smaller:
    tf.import_graph_def(graph.as_graph_def(), name="")
    tf.constant(1.0, name="added")
tfj.GraphDiff(graph, smaller)""",
}

LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"


def names() -> list[str]:
    """The exported views that have a cell above."""
    return [view for view in _VIEWS if view in CELLS]


def open_all(lab: Lab, name: str) -> list[str]:
    """Open and run a notebook with every view, from cell 1 on; their names."""
    views = names()
    lab.open_cells(name, SETUP, *(CELLS[view] for view in views))
    lab.run_all()
    assert not (errors := lab.cell_errors()), errors
    for i in range(len(views)):
        root_of(lab, i + 1).wait_for()
    return views


ROOT = ".jp-OutputArea-output [class^='tfteach-']:not(.tfteach-static)"


def root_of(lab: Lab, cell: int) -> Locator:
    """The outermost element of a cell's view."""
    return lab.cell(cell).locator(ROOT).first
