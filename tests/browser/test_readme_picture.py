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
with tf.name_scope("layer"):
    weights = tf.Variable(tf.zeros([784, 10]), name="weights")
    logits = tf.matmul(images, weights, name="logits")
with tf.name_scope("accuracy"):
    correct = tf.equal(tf.argmax(logits, 1), labels, name="correct")
    tf.reduce_mean(tf.cast(correct, tf.float32), name="fraction")
with tf.name_scope("loss"):
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits)
    loss = tf.reduce_mean(cross_entropy)
"""


def test_the_readme_shows_what_a_run_needs(lab: Lab) -> None:
    lab.open_cells("readme.ipynb", "%load_ext tfteach\nimport tfteach as tf", MODEL)
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(1).locator(".tfteach-graph")
    view.locator('.tft-node[data-id="layer/"]').dblclick()
    view.locator('.tft-node[data-id="layer/logits"].tft-needed').wait_for()
    view.locator('.tft-node[data-id="loss/"].tft-dim').wait_for()
    lab.page.mouse.move(0, 0)
    lab.page.wait_for_timeout(1000)  # boxes slide to their places
    lab.screenshot("graph_view", view)
