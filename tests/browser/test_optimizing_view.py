"""What the optimizer does, and in which order ops may run, in a real JupyterLab."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab
from tests.browser.test_graph_tools import both_themes
from tests.browser.test_graph_view import node

pytestmark = pytest.mark.browser

SETUP = """\
%load_ext tfteach
import tfteach as tf
import tfteach.jupyter as tfj
x = tf.placeholder(tf.float32, [None, 784], name="x")
with tf.name_scope("layer"):
    h = tf.layers.dense(x, 32, activation=tf.nn.relu, name="hidden")
y = tf.layers.dense(h, 10, name="logits")
scale = tf.sqrt(tf.constant(4.0) * 2.0, name="scale")
twice = tf.exp(y * scale) + tf.exp(y * scale)
size = tf.cast(tf.shape(twice)[0], tf.float32)
loss = tf.identity(tf.reduce_sum(tf.tanh(twice) - 0.5) / size, name="loss")
sess = tf.Session()
"""


def test_before_and_after_each_pass(lab: Lab) -> None:
    lab.open_cells("passes.ipynb", SETUP, "%optimizing loss --feed x")
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(1).locator(".tfteach-optimizing")
    before, after = view.locator(".tft-diff-before"), view.locator(".tft-diff-after")
    node(after, "scale").wait_for()
    assert "tft-removed" in (node(before, "Exp_1").get_attribute("class") or "")
    both_themes(lab, "optimizing_view", view)
    # by the mouse a pass, by a key the one after it
    view.get_by_role("button", name="fold constants").click()
    said = view.locator(".tft-pass-about")
    expect(said).to_contain_text("fold constants, 28 → 26 to compute")
    reasons = view.locator(".tft-pass-why li")
    expect(reasons).to_have_count(2)
    reasons.get_by_role("button", name="scale").click()
    details = after.locator(".tft-details")
    expect(details).to_contain_text("all its inputs are constant")
    expect(details).to_contain_text("Sqrt: now the constant 2.828")
    expect(node(before, "scale")).to_have_class(re.compile("tft-selected"))
    lab.screenshot("optimizing_fold", view)
    view.locator(".tft-pass[aria-pressed=true]").press("ArrowRight")
    expect(said).to_contain_text("merge duplicates")
    expect(reasons.first).to_contain_text("computes the same as")
