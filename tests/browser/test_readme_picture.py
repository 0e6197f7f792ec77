"""The picture at the top of the README, from a real page.

Taken anew by TFTEACH_SCREENSHOTS=notebooks/images python -m pytest on this file.
"""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

MODEL = """\
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


def test_the_readme_shows_what_a_run_needs(lab: Lab) -> None:
    lab.open_cells("readme.ipynb", "%load_ext tfteach\nimport tfteach as tf", MODEL)
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(1).locator(".tfteach-graph")
    view.locator('.tft-node[data-id="hidden/"]').dblclick()
    view.locator('.tft-node[data-id="hidden/MatMul"].tft-needed').wait_for()
    view.locator('.tft-node[data-id="loss/"].tft-dim').wait_for()
    view.locator('.tft-node[data-id="hidden/MatMul"]').click()
    view.locator(".tft-details h3", has_text="hidden/MatMul").wait_for()
    lab.page.mouse.move(0, 0)
    lab.page.wait_for_timeout(1000)  # boxes slide to their places
    lab.screenshot("graph_view", view)
