"""The cluster view: machines, their troubles, and messages on their way."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab

SETUP = """\
%load_ext tfteach
import numpy as np
import tfteach as tf
"""
MODEL = """\
%cluster ps=1 worker=2
setter = tf.train.replica_device_setter(cluster=cluster.cluster_spec)
with tf.device(setter):
    images = tf.placeholder(tf.float32, [None, 784], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    w = tf.get_variable("w", [784, 10])
    b = tf.get_variable("b", [10], initializer=tf.zeros_initializer())
    logits = tf.matmul(images, w) + b
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step, name="train")
sess = tf.Session(cluster.target("worker", 0))
sess.run(tf.global_variables_initializer())
feed = {images: np.ones([32, 784]), labels: np.arange(32) % 10}
"""
STEP = "%cluster --fetch train loss --feed-dict feed --session sess"
CELLS = (SETUP, MODEL, STEP)
TROUBLE = """\
%cluster stop worker:1
%cluster kill ps:0
"""


def choose_the_gradient(view: Locator) -> None:
    view.locator("li", has_text="gradients/MatMul_grad").first.click()
    view.locator(".tft-machine", has_text="ps:0").click()


def test_machines_and_messages(lab: Lab) -> None:
    lab.open_cells("cluster.ipynb", *CELLS, TROUBLE, "%cluster end")
    lab.run_all()
    assert not lab.cell_errors()
    view = lab.cell(2).locator(".tfteach-cluster")
    choose_the_gradient(view)
    details = view.locator(".tft-cluster-details")
    expect(details).to_contain_text("float32 [784,10], 30.62 KiB")
    labels = view.locator("svg .tft-dot-label", has_text="gradients/")
    expect(labels).to_have_count(1)
    expect(view.locator("svg .tft-dot.tft-chosen")).to_have_count(1)
    view.locator("li[aria-selected=true]").press("Home")
    expect(view.locator("li[aria-selected=true]")).to_contain_text("images:0")
    view.get_by_role("slider").press("End")
    expect(view.locator("li[aria-selected=true]")).to_have_count(0)
    last = lab.cell(3).locator(".tfteach-cluster").last
    expect(last.locator(".tft-machine.tft-dead")).to_contain_text("ps:0")
    expect(last.locator(".tft-machine.tft-slow")).to_contain_text("worker:1")
    lab.screenshot("cluster_view", view)
