"""Takes the pictures of README.md and docs/ from a real JupyterLab, light and dark.

python -m tests.browser.take_pictures            all of them, into docs/pictures
python -m tests.browser.take_pictures growth     those of one notebook
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Locator, sync_playwright

from tests.browser import test_cluster_view as cluster
from tests.browser import test_eager_view as eager
from tests.browser import test_estimator_growth as estimator_growth
from tests.browser import test_optimizing_view as optimizing
from tests.browser import test_pipeline_view as pipeline
from tests.browser import test_placement_view as placement
from tests.browser import test_rebuilt_graphs as rebuilt
from tests.browser import test_rows_view as rows
from tests.browser import test_sessions_view as sessions
from tests.browser import test_sharing_view as sharing
from tests.browser import test_step_view as step
from tests.browser import test_timeline_view as timeline
from tests.browser import test_trace_view as traces
from tests.browser.lab import CHROMIUM_FLAGS, Lab, Server

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
MOST_BYTES = 150_000
SCALE = 2  # sharp on most screens, and small enough

SETUP = """\
%load_ext tfteach
import numpy as np
import tfteach as tf
import tfteach.jupyter as tfj
from tfteach.explain import watch_growth
tf.simulate_gpus(2, memory="16MiB")
"""

MLP = """\
%%graph --fetch accuracy/fraction
images = tf.placeholder(tf.float32, [None, 784], name="images")
labels = tf.placeholder(tf.int64, [None], name="labels")

def dense(inputs, size, name):
    with tf.variable_scope(name):
        start = tf.truncated_normal_initializer(stddev=0.1)
        w = tf.get_variable("w", [inputs.shape[1], size], initializer=start)
        b = tf.get_variable("b", [size], initializer=tf.zeros_initializer())
        return tf.nn.relu(tf.matmul(inputs, w) + b)

hidden = dense(images, 128, "hidden")
logits = dense(hidden, 10, "logits")
with tf.name_scope("accuracy"):
    correct = tf.equal(tf.argmax(logits, 1), labels)
    tf.reduce_mean(tf.cast(correct, tf.float32), name="fraction")
with tf.name_scope("loss"):
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits))
tf.train.AdamOptimizer().minimize(loss)
"""

RNN = """\
%%graph reader --depth 1
words = tf.placeholder(tf.int32, [None, 20], name="words")
labels = tf.placeholder(tf.int64, [None], name="labels")
with tf.variable_scope("embed"):
    table = tf.get_variable("table", [1000, 16])
    vectors = tf.nn.embedding_lookup(table, words)
cell = tf.nn.rnn_cell.BasicLSTMCell(32)
_, state = tf.nn.dynamic_rnn(cell, vectors, dtype=tf.float32)
logits = tf.layers.dense(state.h, 2, name="classify")
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train = tf.train.AdamOptimizer().minimize(loss, name="train")
"""

MEAN_LOSS = 'mean_loss = tf.identity(loss, name="mean_loss")'

CONV_RUNS = """\
%%run
sess.run(init)
for _ in range(20):
    sess.run(train, feed)
print(sess.run(mean_loss, feed))
"""

LAZY = """\
with tf.Graph().as_default() as g, tf.Session() as sess, watch_growth(g) as normal:
    x = tf.Variable(10, name="x")
    y = tf.Variable(20, name="y")
    z = tf.add(x, y)
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        sess.run(z)

with tf.Graph().as_default() as g, tf.Session() as sess, watch_growth(g) as lazy:
    x = tf.Variable(10, name="x")
    y = tf.Variable(20, name="y")
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        sess.run(tf.add(x, y))
"""

BY_DEVICE = """\
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [128, 784], name="x")
    with tf.device("/cpu:0"):
        halves = tf.split(x, 2, name="halves")
    products = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"):
            w = tf.random_uniform([784, 10], name=f"w{i}")
            products.append(tf.matmul(halves[i], w, name=f"product{i}"))
    with tf.device("/cpu:0"):
        total = tf.add_n(products, name="sum")
session = tf.Session(graph=graph)
PlacementView(session, [total], [x], partitions=True)
"""

DIFF = """\
def net(dropout):
    with tf.Graph().as_default() as made:
        x = tf.placeholder(tf.float32, [None, 784], name="x")
        with tf.variable_scope("hidden"):
            h = tf.layers.dense(x, 128, tf.nn.relu, name="dense")
            if dropout:
                h = tf.nn.dropout(h, rate=0.5, name="dropout")
        tf.layers.dense(h, 10, name="logits")
    return made

tfj.GraphDiff(net(dropout=False), net(dropout=True))
"""

SERVED = """\
import tempfile
sess.run(init)
folder = tempfile.mkdtemp() + "/served"
tf.saved_model.simple_save(sess, folder, {"images": images}, {"logits": logits})
tfj.show(folder)
"""

CHECKPOINTS = """\
import os, tempfile
os.chdir(tempfile.mkdtemp())

def net(scope):
    images = tf.placeholder(tf.float32, [None, 784], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope(scope):
        hidden = tf.layers.dense(images, 128, tf.nn.relu, name="hidden")
        logits = tf.layers.dense(hidden, 10, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return images, labels, loss

with tf.Graph().as_default(), tf.Session() as sess:
    tf.set_random_seed(1)
    images, labels, loss = net("net")
    train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    saver = tf.train.Saver()
    sess.run(tf.global_variables_initializer())
    feed = {images: np.random.RandomState(1).rand(50, 784), labels: np.arange(50) % 10}
    for step in range(201):
        if step == 100:
            first = saver.save(sess, "logs/model.ckpt", step)
        sess.run(train, feed)
    last = saver.save(sess, "logs/model.ckpt", 200)

with tf.Graph().as_default() as renamed:
    net("model")
tfj.CheckpointView(last, before=first, graph=renamed)
"""


class Picture(NamedTuple):
    """A view and what is done to it before it is taken.

    Attributes:
      name: of the file.
      cell: which cell of the notebook shows it.
      view: its element in the cell.
      prepare: brings it to the moment of the picture.
    """

    name: str
    cell: int
    view: str
    prepare: Callable[[Locator], None]


class Notebook(NamedTuple):
    """Cells that run, and the pictures of them."""

    cells: tuple[str, ...]
    pictures: tuple[Picture, ...]


def box(view: Locator, name: str) -> Locator:
    return view.locator(f'.tft-node[data-id="{name}"]')


def as_it_is(view: Locator) -> None:
    """Nothing to do."""


def open_hidden(view: Locator) -> None:
    box(view, "hidden/").dblclick()
    box(view, "hidden/MatMul").and_(view.locator(".tft-needed")).wait_for()
    box(view, "hidden/MatMul").click()
    view.locator(".tft-details h3", has_text="hidden/MatMul").wait_for()


def fit(view: Locator) -> None:
    view.get_by_role("button", name="Fit").click()


def go_to_the_cell(view: Locator) -> None:
    view.locator(".tft-search").fill("basic_lstm_cell/Sigmoid_1")
    view.locator(".tft-search").press("Enter")
    view.locator(".tft-details h3", has_text="Sigmoid_1").wait_for()


def why_of_a_layer(view: Locator) -> None:
    view.locator(".tft-run-item").nth(2).click()
    view.locator(".tft-search").fill("conv1/Conv2D")
    view.locator(".tft-search").press("Enter")
    view.locator(".tft-way li").first.wait_for()
    view.get_by_role("button", name="Fit").click()


def fold_constants(view: Locator) -> None:
    view.get_by_role("button", name="fold constants").click()
    box(view.locator(".tft-diff-before"), "scale").wait_for()


def choose_shown(view: Locator) -> None:
    view.get_by_title("double/shown (Add)").click()


def choose_weights(view: Locator) -> None:
    rows = view.locator(".tft-flow-column").nth(1).locator(".tft-flow-row")
    rows.filter(has_text="weights").first.click()


def choose_conv(view: Locator) -> None:
    box(view, "conv2/").click()


def choose_step(view: Locator) -> None:
    view.get_by_role("application").first.press("ArrowDown")


def choose_error(view: Locator) -> None:
    view.locator("li", has_text="FailedPreconditionError").click()


def open_an_iteration(view: Locator) -> None:
    box(view, "for_line_9/iteration_1/").dblclick()
    box(view, "for_line_9/iteration_1/Square").click()
    view.get_by_role("button", name="Fit").click()
    eager.line(view, "loss = ").focus()


def choose_a_line(view: Locator) -> None:
    traces.line(view, "n = 3 * n + 1").click()
    view.locator(".tft-details h3").wait_for()


NOTEBOOKS = {
    "graph": Notebook(
        (SETUP, MLP),
        (Picture("graph_view", 1, ".tfteach-graph", open_hidden),),
    ),
    "loop": Notebook(
        (SETUP, RNN),
        (Picture("graph_view_loop", 1, ".tfteach-graph", go_to_the_cell),),
    ),
    "convnet": Notebook(
        (
            SETUP,
            timeline.CONVNET + MEAN_LOSS,
            CONV_RUNS,
            "%timeline train --feed-dict feed --session sess",
        ),
        (
            Picture("run_view", 2, ".tfteach-run", why_of_a_layer),
            Picture("timeline_view", 3, ".tfteach-timeline", as_it_is),
        ),
    ),
    "towers": Notebook(
        (timeline.SETUP, timeline.TOWERS, timeline.TOWERS_TIMELINE),
        (Picture("timeline_towers", 2, ".tfteach-timeline", as_it_is),),
    ),
    "memory": Notebook(
        (timeline.SETUP, timeline.CONVNET, timeline.ACROSS, timeline.RUNS),
        (Picture("memory_view", 2, ".tfteach-memory", as_it_is),),
    ),
    "growth": Notebook(
        (SETUP, LAZY, "tfj.GrowthView(normal=normal, lazy=lazy)"),
        (Picture("growth_view", 2, ".tfteach-growth", as_it_is),),
    ),
    "rebuilt": Notebook(
        (SETUP, rebuilt.PREDICT, rebuilt.KEPT),
        (Picture("growth_rebuilt", 2, ".tfteach-growth", as_it_is),),
    ),
    "predict": Notebook(
        (SETUP, estimator_growth.MODEL, estimator_growth.IN_A_LOOP),
        (Picture("growth_predict", 2, ".tft-lives", as_it_is),),
    ),
    "placement": Notebook(
        (placement.SETUP, placement.TOWERS, placement.VIEW, placement.RUN, BY_DEVICE),
        (
            Picture("placement_view", 2, ".tfteach-placement", as_it_is),
            Picture("placement_by_device", 4, ".tft-device-graphs", fit),
        ),
    ),
    "pipeline": Notebook(
        (pipeline.SETUP, pipeline.SLOW, pipeline.FASTER),
        (
            Picture("pipeline_view", 1, ".tfteach-pipeline", as_it_is),
            Picture("pipeline_gain", 2, ".tfteach-pipeline", as_it_is),
        ),
    ),
    "rows": Notebook(
        rows.CELLS,
        (Picture("rows_view", 1, ".tfteach-rows", choose_step),),
    ),
    "sessions": Notebook(
        sessions.CELLS,
        (Picture("sessions_view", 2, ".tfteach-sessions", choose_error),),
    ),
    "cluster": Notebook(
        cluster.CELLS,
        (Picture("cluster_view", 2, ".tfteach-cluster", cluster.choose_the_gradient),),
    ),
    "optimizing": Notebook(
        (optimizing.SETUP, "%optimizing loss --feed x"),
        (Picture("optimizing_view", 1, ".tfteach-optimizing", fold_constants),),
    ),
    "schedule": Notebook(
        (optimizing.SETUP, optimizing.RACES, "tfj.GraphView(graph)"),
        (Picture("schedule_view", 1, ".tfteach-schedule", choose_shown),),
    ),
    "sharing": Notebook(
        (sharing.SETUP, sharing.SHARED, sharing.COLLECTIONS),
        (
            Picture("sharing_view", 1, ".tfteach-sharing", choose_weights),
            Picture("collections_view", 2, ".tfteach-collections", as_it_is),
        ),
    ),
    "explore": Notebook(
        (SETUP, timeline.CONVNET, "tfj.explore(sess, fetches=[loss])"),
        (Picture("explore", 2, ".jp-OutputArea-output", choose_conv),),
    ),
    "step": Notebook(
        (step.SETUP + step.IMPORT, step.MODEL, step.STEP),
        (Picture("step_view", 2, ".tfteach-step", as_it_is),),
    ),
    "eager": Notebook(
        (eager.SETUP, eager.TRAIN, eager.SIDE_BY_SIDE),
        (
            Picture("eager_view", 1, ".tfteach-eager", open_an_iteration),
            Picture("growth_eager", 2, ".tfteach-growth", as_it_is),
        ),
    ),
    "trace": Notebook(
        (traces.SETUP, traces.POWER, traces.COLLATZ),
        (
            Picture("trace_view", 1, ".tfteach-trace", as_it_is),
            Picture("trace_view_loop", 2, ".tft-trace-body", choose_a_line),
        ),
    ),
    "model": Notebook(
        (SETUP, timeline.CONVNET, SERVED),
        (Picture("model_view", 2, ".tfteach-model", fit),),
    ),
    "checkpoint": Notebook(
        (SETUP, CHECKPOINTS),
        (Picture("checkpoint_view", 1, ".tfteach-checkpoint", as_it_is),),
    ),
    "difference": Notebook(
        (SETUP, DIFF),
        (Picture("graph_diff", 1, ".tfteach-diff", as_it_is),),
    ),
}


def save(shot: Path, name: str) -> None:
    """Few colours make a screen's picture small; it must stay under the limit."""
    path = PICTURES / f"{name}.png"
    picture = Image.open(shot).convert("RGB")
    for colours in (128, 64, 32):
        few = picture.quantize(colours, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        if path.stat().st_size <= MOST_BYTES:
            break
    print(f"{path.name}: {picture.width} x {picture.height}, {path.stat().st_size} B")


def take(lab: Lab, name: str, notebook: Notebook) -> None:
    """Run a notebook, and take each of its pictures in both themes."""
    lab.open_cells(f"{name}.ipynb", *notebook.cells)
    lab.run_all()
    assert not (errors := lab.cell_errors()), errors
    for picture in notebook.pictures:
        view = lab.cell(picture.cell).locator(picture.view).first
        view.wait_for()
        view.scroll_into_view_if_needed()
        picture.prepare(view)
        lab.page.mouse.move(0, 0)
    for theme in ("light", "dark"):
        lab.set_theme(f"JupyterLab {theme.title()}")
        for picture in notebook.pictures:
            view = lab.cell(picture.cell).locator(picture.view).first
            view.scroll_into_view_if_needed()
            lab.page.wait_for_timeout(1200)  # boxes slide, colours fade
            save(lab.screenshot(picture.name, view), f"{picture.name}_{theme}")
    lab.set_theme("JupyterLab Light")


def main(names: list[str]) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        (root := Path(folder, "root")).mkdir()
        (home := Path(folder, "home")).mkdir()
        server = Server(root, home)
        try:
            server.wait_until_up()
            browser = playwright.chromium.launch(
                executable_path=chromium, args=CHROMIUM_FLAGS
            )
            context = browser.new_context(
                viewport={"width": 1400, "height": 1500}, device_scale_factor=SCALE
            )
            for name in names or NOTEBOOKS:
                lab = Lab(context.new_page(), server, Path(folder))
                take(lab, name, NOTEBOOKS[name])
                lab.close()
            browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
