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


RACES = """\
with tf.Graph().as_default() as graph:
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    with tf.name_scope("double"):
        twice = tf.multiply(w, 2.0, name="twice")
        shown = tf.add(twice, 1.0, name="shown")
    write = tf.assign(w, 5.0, name="write")
    with tf.control_dependencies([write]):
        safe = tf.add(w.read_value(), 2.0, name="safe")
%schedule shown write safe
"""


LARGE = """\
with tf.Graph().as_default() as large:
    for i in range(3000):
        with tf.name_scope(f"part{i // 500}"):
            tf.constant(1.0)
before = large.as_graph_def()
with large.as_default():
    tf.constant(1.0, name="late")
%diff before large
"""


def test_ready_sets_and_races(lab: Lab) -> None:
    lab.open_cells("schedule.ipynb", SETUP, RACES, "tfj.GraphView(graph)", LARGE)
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(1).locator(".tfteach-schedule")
    ops = view.locator(".tft-order-op")
    expect(ops).to_have_count(11)
    expect(view.locator(".tft-order-op.tft-racing")).to_have_count(2)
    one, other = view.locator(".tft-orders ol").all()
    expect(one.locator("li.tft-racing").first).to_contain_text("sees the old value")
    expect(other.locator("li.tft-racing").last).to_contain_text("sees the new value")
    expect(view.locator(".tft-no-race")).to_contain_text("always comes before")
    both_themes(lab, "schedule_view", view)
    # by the mouse an op, by keys its neighbour; the graph's view goes along
    view.get_by_title("double/shown (Add)").click()
    said = view.locator(".tft-order-said")
    expect(said).to_contain_text("5 must run before it")
    expect(said).to_contain_text("0 after it")
    expect(said).to_contain_text("5 in any order")
    box = lab.cell(2).locator(".tft-node.tft-selected")
    expect(box).to_have_attribute("data-id", "double/")
    lab.screenshot("schedule_chosen", view)
    view.locator(".tft-order-op[aria-pressed=true]").press("ArrowDown")
    expect(said.locator("code")).to_have_text("safe")
    expect(box).to_have_attribute("data-id", "safe/")
    node(lab.cell(2), "write/").click()
    expect(said.locator("code")).to_have_text("write")
    # a graph that is read bit by bit is compared once all of it is there
    late = node(lab.cell(3).locator(".tft-diff-after"), "late")
    expect(late).to_have_class(re.compile("tft-added"))
    assert lab.cell(3).locator(".tft-changed, .tft-removed").count() == 2  # the legend


def test_where_nothing_is_left_to_run(lab: Lab) -> None:
    product = "product = tf.constant(2.0) * 3.0\n%optimizing product"
    lab.open_cells("folded_away.ipynb", SETUP, product)
    lab.run_all()
    assert lab.cell_errors() == []
    after = lab.cell(1).locator(".tft-diff-after")
    expect(after.locator(".tft-empty")).to_have_text("No op is left to run.")
    # the hint of the search box fits even into this half
    box = after.locator(".tft-search")
    wide = box.evaluate(
        """(el) => {
            const pen = document.createElement("canvas").getContext("2d");
            const style = getComputedStyle(el);
            pen.font = `${style.fontSize} ${style.fontFamily}`;
            return [pen.measureText(el.placeholder).width, el.clientWidth - 16];
        }"""
    )
    assert wide[0] <= wide[1]
