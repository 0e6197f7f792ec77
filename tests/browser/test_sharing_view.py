"""Who shares variables, what names them, and collections, in a real JupyterLab."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab
from tests.browser.test_graph_tools import both_themes

pytestmark = pytest.mark.browser

SETUP = """\
%load_ext tfteach
import tfteach as tf
"""

SHARED = """\
graph = tf.Graph()
with graph.as_default():
    x1 = tf.placeholder(tf.float32, [None, 100], name="x1")
    x2 = tf.placeholder(tf.float32, [None, 100], name="x2")

    def fully_connected(x, size, scope):
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            w = tf.get_variable("weights", [x.shape[1], size])
            b = tf.get_variable("biases", [size])
            return tf.matmul(x, w) + b

    def careless(x):
        w = tf.Variable(tf.ones([10, 3]), name="weights")
        return tf.matmul(x, w)

    def two_hidden_layers(x):
        return fully_connected(fully_connected(x, 50, "h1"), 10, "h2")

    with tf.variable_scope("two_layers"):
        logits1 = two_hidden_layers(x1)
        logits2 = two_hidden_layers(x2)
    with tf.name_scope("scores"):
        first, second = careless(logits1), careless(logits2)
with graph.as_default():
    %sharing
"""

COLLECTIONS = """\
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    h = tf.layers.dense(x, 16, name="hidden",
                        kernel_regularizer=tf.contrib.layers.l2_regularizer(0.01))
    h = tf.layers.batch_normalization(h, training=True, name="norm")
    logits = tf.layers.dense(tf.nn.relu(h), 3, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    tf.summary.scalar("loss", loss)
    merged = tf.summary.merge_all()
    accuracy, update = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    tf.summary.scalar("accuracy", accuracy)
    step = tf.train.get_or_create_global_step()
    total = tf.losses.get_total_loss()
    train = tf.train.AdamOptimizer().minimize(total, step)
    init = tf.global_variables_initializer()
    saver = tf.train.Saver()
    tf.add_to_collection("endpoints", logits)
    %collections
"""

LARGE = """\
with tf.Graph().as_default() as large:
    h = tf.placeholder(tf.float32, [None, 4])
    for block in range(20):
        with tf.variable_scope(f"block{block}"):
            for unit in range(25):
                with tf.variable_scope(f"unit{unit}", reuse=tf.AUTO_REUSE):
                    for part in "wxyz":
                        h = h + tf.get_variable(part, [4])
                        tf.get_variable(part, [4])
    %sharing
    %collections
"""


def test_calls_variables_and_collections(lab: Lab) -> None:
    lab.open_cells("sharing.ipynb", SETUP, SHARED, COLLECTIONS, LARGE)
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(1).locator(".tfteach-sharing")
    rows = view.locator(".tft-flow-column").nth(1).locator(".tft-flow-row")
    expect(rows.first).to_contain_text("two_layers/")
    expect(view.locator("h3")).to_contain_text("6 variables, 8 get_variable calls")
    # four made, four shared; two made twice
    expect(view.locator(".tft-flow-link")).to_have_count(10)
    expect(view.locator(".tft-flow-link.tft-shares")).to_have_count(4)
    panel = view.locator(".tft-flow-panel")
    expect(panel).to_contain_text("Two where one was meant?")
    expect(rows.locator("text=two of a kind")).to_have_count(2)
    both_themes(lab, "sharing_view", view)
    # a variable: the parts of its name, its calls, an op that uses it
    rows.filter(has_text="weights").first.click()
    parts = panel.locator(".tft-name-parts").first.locator("code")
    assert parts.all_inner_texts() == ["two_layers/", "h1/", "weights"]
    expect(panel.locator("li")).to_have_count(2)
    panel.get_by_role("button", name="two_layers/h1_1/MatMul").click()
    assert parts.all_inner_texts() == ["two_layers/", "h1_1/", "MatMul"]
    expect(panel).to_contain_text('tf.variable_scope: "h1" was taken')
    both_themes(lab, "sharing_view_op", view)
    # groups close, and stand for their rows; keys go along
    group = view.locator(".tft-flow-row", has_text="tf.variable_scope").first
    group.press("Enter")
    expect(group).to_have_attribute("aria-expanded", "false")
    expect(view.locator(".tft-flow-link")).to_have_count(6)
    group.press("ArrowDown")
    expect(view.locator(".tft-flow-row:focus")).to_contain_text("scores/")

    found = lab.cell(2).locator(".tfteach-collections")
    middle = found.locator(".tft-flow-column").nth(1).locator(".tft-flow-row")
    expect(middle.filter(has_text="UPDATE_OPS")).to_have_class(re.compile("tft-wrong"))
    problems = found.locator(".tft-flow-problem")
    expect(problems).to_have_count(3)
    # names are whole, and problems have their colour whichever sheet was loaded last
    cut = "(names) => names.filter((name) => name.scrollWidth > name.clientWidth)"
    assert middle.locator(".tft-grow").evaluate_all(f"{cut}.length") == 0
    line = "(row) => getComputedStyle(row).borderColor"
    lost, kept = (
        middle.filter(has_text=name) for name in ("UPDATE_OPS", "GLOBAL_STEP")
    )
    assert lost.evaluate(line) != kept.evaluate(line)
    both_themes(lab, "collections_view", found)
    middle.filter(has_text="SUMMARIES").click()
    expect(problems).to_have_count(1)
    expect(found.locator(".tft-flow-panel")).to_contain_text("tf.summary.merge_all()")
    lit = found.locator(".tft-flow-row.tft-lit")
    expect(lit).to_have_count(4)

    large = lab.cell(3).locator(".tfteach-sharing")
    expect(large.locator("h3")).to_contain_text("2000 variables")
    assert large.locator(".tft-flow-row").count() < 60
    lab.screenshot("sharing_view_large", large)


TOWERS = """\
graph = tf.Graph()
with graph.as_default():
    images = tf.placeholder(tf.float32, [None, 8, 8, 3])

    def tower(x, reuse):
        with tf.variable_scope("model", reuse=reuse):
            for block in range(6):
                with tf.variable_scope("block%d" % block):
                    for conv in range(3):
                        with tf.variable_scope("conv%d" % conv):
                            x = tf.layers.conv2d(x, 3, 3, padding="same")
                            x = tf.layers.batch_normalization(x, training=True)
            return x

    tower(images[:4], False), tower(images[4:], True)
    %sharing
"""


def test_both_columns_of_a_large_model_open_to_the_same_depth(lab: Lab) -> None:
    lab.open_cells("towers.ipynb", SETUP, TOWERS)
    lab.run_all()
    assert lab.cell_errors() == []
    columns = lab.cell(1).locator(".tft-flow-column")
    names = "model/", *(f"block{i}/" for i in range(6))
    expect(columns.nth(1).locator(".tft-flow-row b")).to_have_text(names)
    calls = columns.nth(0).locator(".tft-flow-row")
    assert [len(calls.filter(has_text=name).all()) for name in names[1:]] == [2] * 6
    # a line from each block to its prefix, no fan
    expect(lab.cell(1).locator(".tft-flow-link")).to_have_count(12)


def test_names_of_calls_are_not_cut(lab: Lab) -> None:
    lab.open_cells("calls.ipynb", SETUP, MANY_CALLS)
    lab.run_all()
    assert lab.cell_errors() == []
    names = lab.cell(1).locator(".tft-is-call b")
    expect(names.filter(has_text="Optimizer.minimize").first).to_be_visible()
    shown = names.evaluate_all(
        "all => all.map((el) => [el.textContent, el.scrollWidth > el.clientWidth])"
    )
    assert ["get_or_create_global_step", False] in shown
    assert [name for name, is_cut in shown if is_cut] == []
    first = lab.cell(1).locator(".tft-is-call", has_text="Optimizer.minimize").first
    assert (first.get_attribute("title") or "").startswith("tf.train.Optimizer.minim")


MANY_CALLS = """\
with tf.Graph().as_default():
    v = tf.Variable(1.0, name="v")
    tf.train.Saver()
    step = tf.train.get_or_create_global_step()
    tf.train.GradientDescentOptimizer(0.1).minimize(v * v, step)
    tf.losses.mean_squared_error([1.0], [2.0])
    tf.losses.get_total_loss()
    tf.train.ExponentialMovingAverage(0.9).apply([v])
    %collections
"""
