"""Eager code in a real JupyterLab: its lines and its graph, the tapes, the steps."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator

from tests.browser import views
from tests.browser.lab import Lab
from tests.browser.test_graph_view import node
from tests.browser.test_step_view import shot

pytestmark = pytest.mark.browser

SETUP = """\
%load_ext tfteach
import numpy as np
import tfteach as tf
tf.enable_eager_execution()
"""

TRAIN = """\
%%graph --trace program
x = tf.constant([[1.0, 2.0], [3.0, 0.0]])
w = tf.Variable([[3.0], [4.0]], name="w")

def model(x):
    with tf.name_scope("layer"):
        return tf.nn.relu(tf.matmul(x, w))

for step in range(3):
    with tf.GradientTape() as tape:
        y = model(x)
        loss = tf.reduce_mean(tf.square(y - 5.0), name="loss")
    grad = tape.gradient(loss, w)
    w.assign_sub(0.1 * grad)  # a step of gradient descent
"""

STEPS = """\
%%step --break '*loss'
@tf.function
def half(a):
    return tf.multiply(a, 0.5, name="half")

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(half(w), name="loss")
tape.gradient(loss, w)
"""

MANY = """\
%%graph --trace
z = tf.constant(0.0)
for i in range(2500):
    z = tf.sin(z) + 1.0
    z = z * 2.0
    z = z - 1.0
"""

SIDE_BY_SIDE = """\
%%lazy
a, b = tf.constant(2.0), tf.constant(3.0)
for step in range(10):
    c = tf.sqrt(tf.add(a, b))

with tf.Graph().as_default(), tf.Session() as sess:
    a, b = tf.constant(2.0), tf.constant(3.0)
    for step in range(10):
        sess.run(tf.sqrt(tf.add(a, b)))
"""

FAILS = "%%graph --trace\ntf.matmul(x, x[:1])"


def line(view: Locator, text: str) -> Locator:
    return view.locator("button.tft-code-row", has_text=text)


def lit(view: Locator) -> list[str]:
    """The boxes that a line has lit."""
    boxes = view.locator(".tft-node.tft-of-line:not(.tft-open)")
    return [box.get_attribute("data-id") or "" for box in boxes.all()]


def test_eager_code_and_its_graph(lab: Lab) -> None:
    lab.open_cells("eager.ipynb", SETUP, TRAIN, STEPS, MANY, SIDE_BY_SIDE, FAILS)
    lab.run_all()
    assert len(lab.cell_errors()) == 1
    view = lab.cell(1).locator(".tfteach-eager")
    view.wait_for()
    lines_and_boxes(view)
    values_of_a_box(view)
    tapes(view)
    by_keyboard(view)
    for theme in (views.DARK, views.LIGHT):
        lab.set_theme(theme)
        shot(lab, f"eager_view_{theme.split()[1].lower()}", view)
    steps(lab.cell(2).locator(".tfteach-step"))
    many = lab.cell(3).locator(".tfteach-eager")
    many.get_by_text("10,000 ops ran, the first 2,000 are shown").wait_for()
    many.get_by_text("×500").first.wait_for()
    assert "5,000 ops" in line(many, "tf.sin").inner_text()
    failed = lab.cell(5).locator(".tfteach-eager")
    failed.get_by_text("✕ failed").wait_for()
    failed.locator(".tft-node.tft-failed").first.click()
    failed.locator(".tft-details").get_by_text("InvalidArgumentError").wait_for()
    side_by_side(lab.cell(4).locator(".tfteach-growth"))


def lines_and_boxes(view: Locator) -> None:
    line(view, "loss = ").hover()
    view.locator(".tft-of-line").first.wait_for()
    assert lit(view) == [f"for_line_9/iteration_{n}/" for n in (1, 2, 3)]
    assert view.locator(".tft-node.tft-dim").count()
    line(view, "w = tf.Variable").hover()
    node(view, "w/").and_(view.locator(".tft-of-line")).wait_for()
    # a click goes to the first op of the line, and on
    line(view, "loss = ").click()
    view.locator(".tft-details h3", has_text="for_line_9/iteration_1/sub").wait_for()
    line(view, "loss = ").click()
    view.locator(".tft-details h3", has_text="for_line_9/iteration_1/Square").wait_for()
    # and the other way round
    node(view, "for_line_9/iteration_1/AssignSubVariableOp").hover()
    marked = view.locator(".tft-lit-line")
    marked.get_by_text("w.assign_sub").wait_for()
    assert marked.count() == 1


def values_of_a_box(view: Locator) -> None:
    details = view.locator(".tft-details")
    node(view, "for_line_9/iteration_1/loss/").click()
    details.locator("h3", has_text="iteration_1/loss").wait_for()
    details.get_by_text("Recorded by tape 1.").wait_for()
    assert details.locator(".tft-scalar").all_text_contents() == ["26"]
    assert details.get_by_text("Fetch").count() == 0
    number = view.locator(".tft-marked-line .tft-line-number")
    assert number.text_content() == "line 12"  # the word for screen readers alone
    node(view, "for_line_9/iteration_1/loss/").press("f")
    said = view.locator(".tft-sr[aria-live]").first
    assert "Nothing can be fetched" in said.inner_text()


def tapes(view: Locator) -> None:
    chip = view.locator(".tft-chip-tape")
    assert chip.inner_text() == "18 recorded by a tape"
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    node(view, "for_line_9/iteration_1/Square").and_(
        view.locator(".tft-of-line")
    ).wait_for()
    change = node(view, "for_line_9/iteration_1/AssignSubVariableOp")
    assert "tft-dim" in (change.get_attribute("class") or "")
    chip.click()
    assert lit(view) == []


def by_keyboard(view: Locator) -> None:
    line(view, "w = tf.Variable").focus()
    line(view, "w = tf.Variable").press("ArrowDown")
    focused = view.locator("button.tft-code-row:focus")
    label = " ".join((focused.text_content() or "").split())
    assert label.startswith("line 7 return tf.nn.relu(tf.matmul(x, w))9 ops (9 ops in ")
    assert label.endswith("(Recorded by 3 tapes)")
    focused.press("End")
    assert "assign_sub" in (focused.text_content() or "")
    focused.press("Enter")
    view.locator(".tft-details h3", has_text="iteration_1/mul").wait_for()


def steps(view: Locator) -> None:
    view.wait_for()
    view.locator(".tft-step-head h3", has_text="loss").wait_for()
    view.locator(".tft-marked-line", has_text="loss = tf.reduce_sum").wait_for()
    strip = view.locator(".tft-strip")
    strip.focus()
    strip.press("Home")
    view.locator(".tft-step-head h3", has_text="half/").wait_for()
    strip.press("ArrowRight")  # into the function, whose lines are marked
    view.locator(".tft-marked-line", has_text="return tf.multiply").wait_for()
    strip.press("End")
    view.locator(".tft-step-head h3", has_text="gradients/").wait_for()
    view.locator(".tft-marked-line", has_text="tape.gradient").wait_for()


def side_by_side(view: Locator) -> None:
    view.locator(".tft-growth-none").wait_for()
    eager, graph = view.locator(".tft-pane").all()
    assert "0 nodes" in eager.locator(".tft-growth-none").inner_text()
    assert eager.locator(".tft-meter-value").text_content() == "0 ops"
    assert graph.locator(".tft-meter-value").text_content() == "22 ops"
    slider = view.locator("input[type=range]")
    slider.press("Home")
    graph.locator(".tft-meter-value", has_text="0 ops").wait_for()
    slider.press("End")
    assert "iteration 10" in eager.locator(".tft-now-line").inner_text()
    assert "run 10" in graph.locator(".tft-now-line").inner_text()


def test_a_page_without_a_kernel(lab: Lab) -> None:
    lab.open_cells("eager_saved.ipynb", SETUP, TRAIN)
    lab.run_all()
    lab.save_and_end_kernel()
    lab.open("eager_saved.ipynb")
    still = lab.cell(1).locator(".tfteach-static")
    still.locator("img").wait_for()
    assert "line 12: loss = tf.reduce_mean" in still.locator("pre").inner_text()
