"""The timeline and the memory view in a real JupyterLab: a convnet's training step."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

SETUP = """\
%load_ext tfteach
import numpy as np
import tfteach as tf
tf.simulate_gpus(1, memory="16MiB")
from tfteach.jupyter import GraphView, MemoryView, TimelineView
"""

CONVNET = """\
images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
labels = tf.placeholder(tf.int64, [None], name="labels")
with tf.device("/gpu:0"):
    conv = tf.layers.conv2d(images, 8, 5, activation=tf.nn.relu, name="conv1")
    pool = tf.layers.max_pooling2d(conv, 2, 2, name="pool1")
    conv = tf.layers.conv2d(pool, 16, 5, activation=tf.nn.relu, name="conv2")
    pool = tf.layers.max_pooling2d(conv, 2, 2, name="pool2")
    logits = tf.layers.dense(tf.layers.flatten(pool), 10, name="dense")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
init = tf.global_variables_initializer()

def session(**options):
    config = tf.ConfigProto(allow_soft_placement=True)
    for name, value in options.items():
        setattr(config.gpu_options, name, value)
    return tf.Session(config=config)

def batch(size):
    rows = np.random.RandomState(0).rand(size, 28, 28, 1)
    return {images: rows, labels: np.arange(size) % 10}

sess, feed = session(), batch(32)
sess.run(init)
"""

TOWERS = """\
tf.simulate_gpus(2, like="K80", link="pcie3")
towers = tf.Graph()
with towers.as_default(), tf.device("/cpu:0"):
    images = tf.placeholder(tf.float32, [512, 28, 28, 1], name="images")
    labels = tf.placeholder(tf.int64, [512], name="labels")
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    shares = zip(tf.split(images, 2), tf.split(labels, 2))
    gradients = []
    for i, (x, y) in enumerate(shares):
        place = lambda op, i=i: "/cpu:0" if "Variable" in op.type else f"/gpu:{i}"
        with tf.name_scope(f"tower{i}"), tf.device(place):
            with tf.variable_scope("net", reuse=i > 0):
                h = tf.layers.conv2d(x, 16, 5, activation=tf.nn.relu, name="conv1")
                h = tf.layers.max_pooling2d(h, 2, 2)
                h = tf.layers.conv2d(h, 32, 5, activation=tf.nn.relu, name="conv2")
                h = tf.layers.max_pooling2d(h, 2, 2)
                h = tf.layers.dense(tf.layers.flatten(h), 256, name="hidden")
                logits = tf.layers.dense(h, 10, name="logits")
            loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
            gradients.append(optimizer.compute_gradients(loss))
    mean = [
        (tf.add_n([g for g, _ in pair]) / 2, pair[0][1]) for pair in zip(*gradients)
    ]
    train = optimizer.apply_gradients(mean, name="train")
    init = tf.global_variables_initializer()
sess = tf.Session(graph=towers, config=tf.ConfigProto(allow_soft_placement=True))
sess.run(init)
rows = np.random.RandomState(0).rand(512, 28, 28, 1)
feed = {images: rows, labels: np.arange(512) % 10}
"""

TOWERS_TIMELINE = "%timeline train --feed-dict feed --session sess"

TIMELINE = "%timeline train loss --feed-dict feed --session sess --memory"

ACROSS = """\
grows, fixed = session(allow_growth=True), session(per_process_gpu_memory_fraction=0.2)
MemoryView({"allow_growth": grows, "a fixed 20%": fixed})
"""

RUNS = """\
for size in (8, 16, 32, 64):
    for one in (grows, fixed):
        try:
            one.run(init if size == 8 else train, batch(size))
        except tf.errors.ResourceExhaustedError as error:
            print(type(error).__name__)
"""


FITS = """() => [...document.querySelectorAll('.tft-plot, .tft-lanes')].every(
    (el) => Math.abs(el.clientWidth - el.firstElementChild.clientWidth) <= 1)"""


def dark(lab: Lab) -> None:
    """The dark theme, once the pictures have the page's new width."""
    lab.set_theme("JupyterLab Dark")
    lab.page.wait_for_timeout(300)  # the page is laid out anew
    lab.page.wait_for_function(FITS)


# The op with the widest bar that has room to grow.
WIDE = """(stage) => {
    const width = (bar) => bar.getBoundingClientRect().width;
    const most = stage.getBoundingClientRect().width / 6;
    const bars = [...stage.querySelectorAll('[data-op]')].filter(b => width(b) < most);
    return bars.sort((a, b) => width(b) - width(a))[0].dataset.op;
}"""

NEXT_FRAME = "() => new Promise(d => requestAnimationFrame(() => setTimeout(d)))"


def test_time_and_memory_of_a_training_step(lab: Lab) -> None:
    lab.open_cells("timeline.ipynb", SETUP, CONVNET, TIMELINE)
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(2).locator(".tfteach-timeline")
    view.wait_for()
    view.locator(".tft-bar-op").first.wait_for()
    assert "5 runs, the fastest" in view.locator("h3").first.inner_text()
    lanes = view.locator(".tft-lane")
    assert lanes.count() == 2
    gpu = view.locator(".tft-lane", has_text="GPU:0")
    assert "simulated" in (gpu.text_content() or "")
    lab.screenshot("timeline_view", view)
    # a part of the critical path is marked from the strip
    due = view.locator(".tft-due").first
    due.click()
    view.locator(".tft-path-piece.tft-dim").first.wait_for(state="attached")
    assert due.get_attribute("aria-pressed") == "true"
    due.click()
    view.locator(".tft-path-piece.tft-dim").first.wait_for(state="detached")
    assert "bounds the step" in view.locator(".tft-path p").first.inner_text()
    # a type is marked from the totals
    view.locator(".tft-mark").first.click()
    view.locator(".tft-bar-op.tft-dim").first.wait_for(state="attached")
    view.locator(".tft-mark").first.click()
    view.get_by_role("button", name="By scope").click()
    view.locator(".tft-mark", has_text="conv1/").first.wait_for()
    view.get_by_role("button", name="By type").click()
    lab.page.evaluate(NEXT_FRAME)  # the bars are drawn anew
    # by the mouse: a hover tells, a click chooses, the wheel looks closer
    stage = view.locator(".tft-lanes")
    name = stage.evaluate(WIDE)  # which ops take long differs from run to run
    bar = view.locator(f"[data-op='{name}']").first
    box = bar.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    lab.page.mouse.move(x, y)
    view.locator(".tft-hover", has_text=name).wait_for()
    lab.page.mouse.click(x, y)
    said = view.locator(".tft-said")
    said.get_by_text(name, exact=True).wait_for()
    for _ in range(3):
        lab.page.mouse.wheel(0, -300)
        lab.page.wait_for_timeout(60)
    wide = bar.bounding_box()
    assert wide is not None
    assert wide["width"] > 3 * box["width"]
    lab.screenshot("timeline_view_closer", view)
    # by keys: the op after, everything again
    stage.focus()
    stage.press("ArrowRight")
    said.get_by_text(name, exact=True).wait_for(state="detached")
    stage.press("0")
    stage.press("Home")
    assert view.locator(".tft-bar-op.tft-chosen").count() == 1
    memory = lab.cell(2).locator(".tfteach-memory")
    memory.locator(".tft-holder").first.wait_for()
    # The chosen op may be among them, and a click would let go of it.
    memory.locator(".tft-holder[aria-pressed=false]").first.click()
    memory.locator(".tft-holder[aria-pressed=true]").wait_for()
    plot = memory.locator(".tft-plot").first
    plot.press("End")
    memory.locator(".tft-reading", has_text="taken").first.wait_for()
    lab.screenshot("memory_view_run", memory)
    dark(lab)
    lab.screenshot("timeline_view_dark", view)
    lab.screenshot("memory_view_run_dark", memory)
    lab.set_theme("JupyterLab Light")


def test_growth_against_a_fixed_share(lab: Lab) -> None:
    lab.open_cells("memory.ipynb", SETUP, CONVNET, ACROSS, RUNS)
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(2).locator(".tfteach-memory")
    oom = view.locator(".tft-oom text", has_text="out of memory")
    oom.first.wait_for()
    charts = view.locator(".tft-chart")
    assert charts.count() == 2
    assert "allow_growth" in charts.nth(0).locator("h3").inner_text()
    assert "simulated" in charts.nth(0).locator("h3").inner_text()
    assert charts.nth(0).locator(".tft-oom").count() == 0
    assert charts.nth(1).locator(".tft-oom").count() >= 1
    assert "ResourceExhaustedError" in charts.nth(1).inner_text()
    lab.screenshot("memory_view", view)
    dark(lab)
    lab.screenshot("memory_view_dark", view)
    lab.set_theme("JupyterLab Light")
