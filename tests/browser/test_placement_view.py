"""The placement view in a real JupyterLab: a convnet in two towers, on two simulated
GPUs."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab
from tests.browser.overlaps import check_labels
from tests.browser.test_graph_view import node, view_of

pytestmark = pytest.mark.browser

SETUP = """\
%load_ext tfteach
import numpy as np
import tfteach as tf
tf.simulate_gpus(2, memory="8MiB")
"""

TOWERS = """\
images = tf.placeholder(tf.float32, [32, 28, 28, 1], name="images")
labels = tf.placeholder(tf.int64, [32], name="labels")
with tf.device("/cpu:0"):
    image_parts = tf.split(images, 2, name="split_images")
    label_parts = tf.split(labels, 2, name="split_labels")
losses = []
for i in range(2):
    with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower_{i}"):
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            conv = tf.layers.conv2d(image_parts[i], 8, 5, activation=tf.nn.relu,
                                    name="conv")
            pool = tf.layers.max_pooling2d(conv, 2, 2)
            logits = tf.layers.dense(tf.layers.flatten(pool), 10, name="dense")
        losses.append(tf.losses.sparse_softmax_cross_entropy(label_parts[i], logits))
with tf.device("/cpu:0"):
    loss = tf.add_n(losses, name="loss")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
"""

VIEW = """\
from tfteach.jupyter import PlacementView
view = PlacementView(sess, [loss], [images, labels])
view
"""

RUN = """\
sess.run(tf.global_variables_initializer())
batch = np.random.RandomState(0).rand(32, 28, 28, 1)
sess.run(loss, {images: batch, labels: np.arange(32) % 10})
"""


def test_devices_log_and_copies(lab: Lab) -> None:
    lab.open_cells("placement.ipynb", SETUP, TOWERS, VIEW, RUN)
    for cell in range(3):
        lab.run_cell(cell)
    assert lab.cell_errors() == []
    view = view_of(lab, 2)
    # the picture: a device for each box, and the copies as lines that say their size
    tower = node(view, "tower_1/")
    assert "tft-dev-2" in (tower.get_attribute("class") or "")
    assert "GPU:1" in (tower.text_content() or "")
    assert "on GPU:1" in (tower.get_attribute("aria-label") or "")
    view.locator(".tft-edge.tft-copy").first.wait_for()
    view.locator(".tft-noted", has_text="49.00 KiB").first.wait_for()
    lab.screenshot("placement_view", view)
    check_labels(view, at_least=8)
    # a run later the memory has been counted
    gpu = view.locator(".tft-device", has_text="GPU:0")
    assert "simulated" in gpu.inner_text()
    assert "0 B of 8.00 MiB · peak 0 B" in gpu.inner_text()
    lab.run_cell(3)
    view.locator(".tft-device", has_text="peak 0 B").first.wait_for(state="detached")
    # from the log to the picture
    log = view.locator(".tft-ops")
    log.locator("li", has_text="tower_1/net/conv/Conv2D").first.click()
    drawn = node(view, "tower_1/net/conv/Conv2D")
    drawn.wait_for()
    assert "tft-selected" in (drawn.get_attribute("class") or "")
    chosen = log.locator("[aria-selected=true]")
    assert "asked for /device:GPU:1" in chosen.inner_text()
    lab.screenshot("placement_view_selected", view)
    # and from the picture to the log
    node(view, "split_images/").click()
    log.locator("li.tft-inside", has_text="split_images/split_dim").wait_for()
    # one device alone, by keyboard
    gpu.press("Enter")
    assert gpu.get_attribute("aria-pressed") == "true"
    log.locator("li").first.press("ArrowDown")
    log.locator("li:focus").press("Enter")
    assert log.locator("[aria-selected=true]").count() == 1
    assert "GPU:1" not in log.inner_text()
    assert "tft-dim" in (node(view, "labels").get_attribute("class") or "")
    gpu.press("Enter")
    # a copy shows where it comes from
    copies = view.locator(".tft-copies")
    copies.locator("li", has_text="net/dense/kernel").first.click()
    assert copies.locator("[aria-selected=true]").count() == 1
    # whatever is open, labels lie on nothing
    for boxes in (30, 60):
        view.get_by_role("button", name="Expand").click()
        view.locator(".tft-node").nth(boxes).wait_for()
        check_labels(view, at_least=20)
    lab.set_theme("JupyterLab Dark")
    lab.screenshot("placement_view_dark", view)
    lab.set_theme("JupyterLab Light")
    the_graph_of_each_device(lab)


def the_graph_of_each_device(lab: Lab) -> None:
    root = lab.cell(2).locator(".tfteach-placement")
    button = root.get_by_role("button", name="By device")
    button.focus()
    button.press("Enter")
    graphs = root.locator(".tft-device-graphs")
    graphs.get_by_text("values sent, 144.13 KiB a run").wait_for()
    assert button.get_attribute("aria-pressed") == "true"
    assert button.evaluate("(el) => el === document.activeElement")
    check_labels(graphs, at_least=5)
    # many values from one device to another are one box, and one line
    group = node(graphs, "CPU:0/to GPU:0/")
    assert "_Send ×5" in (group.text_content() or "")
    graphs.locator(".tft-noted", has_text="5 values · 49.14 KiB").first.wait_for()
    for theme in ("Dark", "Light"):
        lab.set_theme(f"JupyterLab {theme}")
        lab.screenshot(f"placement_by_device_{theme.lower()}_first", graphs)
    graphs.get_by_role("button", name="Expand").click()
    # a _Send and its _Recv
    sent = node(graphs, "CPU:0/to GPU:0/split_images/_0")
    received = node(graphs, "GPU:0/from CPU:0/split_images/_1")
    received.wait_for()
    words = "split_images:0 sent to GPU:0, float32 [16, 28, 28, 1], 49.00 KiB"
    assert words in (sent.get_attribute("aria-label") or "")
    assert "tft-dev-1" in (received.get_attribute("class") or "")
    sent.hover()
    graphs.locator(".tft-paired[data-id='GPU:0/from CPU:0/split_images/_1']").wait_for()
    assert graphs.locator(".tft-copy.tft-lit").count() == 1
    for theme in ("Dark", "Light"):
        lab.set_theme(f"JupyterLab {theme}")
        lab.screenshot(f"placement_by_device_{theme.lower()}", graphs)
    sent.click()
    details = graphs.locator(".tft-details")
    details.get_by_text("split_images:0 sent to GPU:0").wait_for()
    details.get_by_role("button", name="_Recv GPU:0/from CPU:0/split_images/_1").click()
    details.get_by_text("split_images:0 received from CPU:0").wait_for()
    # by keyboard: the outline lists the devices and what is in them
    graphs.get_by_role("button", name="Outline").click()
    tree = graphs.get_by_role("tree")
    tree.get_by_text("GPU:1", exact=True).wait_for()
    assert tree.get_by_text("_Recv").count() == 16
    graphs.get_by_role("button", name="One graph").click()
    root.locator(".tft-devices").wait_for()
    assert graphs.count() == 0


def test_what_cannot_be_placed_says_why(lab: Lab) -> None:
    lab.open_cells(
        "unplaced.ipynb",
        SETUP,
        "with tf.device('/gpu:7'):\n    far = tf.constant(1.0, name='far')\n"
        "sess = tf.Session()",
        VIEW.replace("[loss], [images, labels]", "[far]"),
    )
    lab.run_all()
    view = view_of(lab, 2)
    view.locator(".tft-problem", has_text="explicitly assigned to").wait_for()
    assert "tft-unplaced" in (node(view, "far").get_attribute("class") or "")
