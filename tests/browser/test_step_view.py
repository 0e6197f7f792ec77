"""The step view in a real JupyterLab: a NaN and its cause, the iterations of a loop."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Locator

from tests.browser import views
from tests.browser.lab import Lab
from tests.browser.overlaps import check_labels
from tests.browser.test_graph_view import SETUP, node

pytestmark = pytest.mark.browser

IMPORT = "\nimport tfteach.jupyter as tfj"

# A classifier whose loss takes the logarithm of 0 once it is very sure.
MODEL = """\
import numpy as np
graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    with tf.name_scope("layer"):
        w = tf.Variable([[4.0], [-3.0]], name="w")
        p = tf.sigmoid(tf.matmul(x, w, name="scores"), name="p")
    with tf.name_scope("cost"):
        right = tf.multiply(y, tf.log(p, name="log_p"), name="right")
        wrong = tf.multiply(1.0 - y, tf.log(1.0 - p, name="log_q"), name="wrong")
        loss = tf.negative(tf.reduce_mean(right + wrong), name="loss")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
sess = tf.Session(graph=graph)
sess.run(w.initializer)
batch = {x: [[1.0, 1.0], [9.0, 0.0], [-1.0, 2.0]], y: [[1.0], [1.0], [0.0]]}
"""

STEP = "%step loss train --feed-dict batch --break-nan --break cost/loss --session sess"

LOOP = """\
with tf.Graph().as_default() as g:
    def halve(i, a):
        return i + 1, tf.multiply(a, 0.5, name="half")
    n, a = tf.while_loop(lambda i, a: i < 3, halve, [0, tf.constant([8.0, 2.0])])
    checked = tf.check_numerics(tf.log(a - 1.0, name="log"), "too small", name="check")
with tf.Session(graph=g) as s:
    steps = tfj.StepView.of(s, [checked, n], at=0)
steps
"""

BESIDE = "tfj.GraphView(graph)"


IN_SIGHT = """(root) => {
    const box = root.querySelector('.tft-node.tft-now')?.getBoundingClientRect();
    const stage = root.querySelector('.tft-stage').getBoundingClientRect();
    return box !== undefined && box.left >= stage.left && box.right <= stage.right
        && box.top >= stage.top && box.bottom <= stage.bottom;
}"""


def view_of(lab: Lab, cell: int) -> Locator:
    view = lab.cell(cell).locator(".tfteach-step")
    view.wait_for()
    return view


def shot(lab: Lab, name: str, part: Locator) -> None:
    """For who wants to look: a picture, once the boxes have come to rest."""
    if "TFTEACH_SCREENSHOTS" in os.environ:
        lab.page.wait_for_timeout(600)
        lab.screenshot(name, part)


def at(view: Locator, number: int, op: str) -> None:
    """Wait until a step is shown, with its op lit."""
    view.locator(".tft-step-said b").get_by_text(f"{number}", exact=True).wait_for()
    view.locator(".tft-step-head h3").get_by_text(op, exact=True).wait_for()
    view.locator(f".tft-node.tft-now[aria-label^='{op},']").wait_for()


def lines(view: Locator) -> list[str]:
    """The values that stand on lines."""
    return [text for text in view.locator(".tft-noted").all_text_contents() if text]


def test_a_run_stepped_through(lab: Lab) -> None:
    lab.open_cells("steps.ipynb", SETUP + IMPORT, MODEL, STEP, LOOP, BESIDE)
    lab.run_all()
    assert lab.cell_errors() == []
    back_to_the_cause_of_a_nan(lab, view_of(lab, 2))
    turn_by_turn(lab, view_of(lab, 3))
    lab.save_and_end_kernel()
    # reopened: no kernel knows the widgets, the pictures and tables are there
    lab.open("steps.ipynb")
    for cell in (2, 3):
        lab.cell(cell).locator(".tfteach-static img").wait_for()
    table = lab.cell(2).locator(".tfteach-static pre")
    assert "cost/log_q" in table.inner_text()
    shot(lab, "step_view_reopened", lab.cell(2))


def back_to_the_cause_of_a_nan(lab: Lab, view: Locator) -> None:
    at(view, 7, "cost/log_q")  # the first breakpoint
    panel = view.locator(".tft-step-panel")
    panel.get_by_text("It begins here:").wait_for()
    assert panel.locator("td.tft-bad-cell").all_text_contents() == ["-∞"]
    assert "wrong = tf.multiply" in panel.locator(".tft-step-source").inner_text()
    assert "3×1 · 1 ∞" in lines(view)
    check_labels(view, at_least=6)
    assert "tft-to-come" in (node(view, "cost/wrong").get_attribute("class") or "")
    for theme in (views.DARK, views.LIGHT):
        lab.set_theme(theme)
        shot(lab, f"step_view_{theme.split()[1].lower()}", view)
    # the next breakpoints, by key; back from the loss to where it began
    strip = view.locator(".tft-strip")
    strip.focus()
    strip.press("n")
    at(view, 8, "cost/wrong")
    strip.press("n")
    at(view, 11, "cost/loss")
    shot(lab, "step_view_loss", view)
    panel.locator(".tft-blame button").click()
    at(view, 7, "cost/log_q")
    panel.locator(".tft-from button").click()
    at(view, 6, "cost/sub_1")
    assert "tft-to-come" in (node(view, "cost/log_q").get_attribute("class") or "")
    # a click on a box, here or in another view, goes to its step
    node(view, "cost/right").click()
    at(view, 4, "cost/right")
    other = lab.cell(4).locator(".tfteach-graph")
    assert "tft-selected" in (node(other, "cost/").get_attribute("class") or "")
    node(other, "layer/").dblclick()
    node(other, "layer/p/").or_(node(other, "layer/p")).first.click()
    at(view, 2, "layer/p")
    # what a training step does stands in scopes that open by themselves
    strip.press("End")
    at(view, 50, "train")
    strip.press("ArrowLeft")
    at(view, 49, "train/update_layer/w/ApplyGradientDescent")
    assert "2 NaN" in panel.inner_text()
    check_labels(view, at_least=15)
    shot(lab, "step_view_update", view)
    # a breakpoint is set in the page, and played to
    strip.press("Home")
    node(view, "cost/log_p").click()
    panel.get_by_role("button", name="Breakpoint").click()
    strip.press("Home")
    view.get_by_role("button", name="Play").click()
    at(view, 3, "cost/log_p")
    view.get_by_role("button", name="Play").wait_for()
    assert view.locator(".tft-strip-stop").count() == 6
    # the pointer on the scrubber
    box = strip.bounding_box()
    assert box is not None
    lab.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
    at(view, 25, "gradients/cost/right_grad/Shape")
    lab.page.wait_for_function(IN_SIGHT, arg=view.element_handle())


def turn_by_turn(lab: Lab, view: Locator) -> None:
    at(view, 0, "while/Less")
    words = view.locator(".tft-iteration-words")
    words.get_by_text("iteration 1 of 3").wait_for()
    strip = view.locator(".tft-strip")
    strip.focus()
    for _ in range(4):
        strip.press("ArrowRight")
    node(view, "while/half/").click()
    half = view.locator(".tft-step-panel .tft-value").last
    half.get_by_text("4").first.wait_for()
    strip.press("Shift+ArrowRight")
    words.get_by_text("iteration 2 of 3").wait_for()
    assert half.locator("td").all_text_contents() == ["2", "0.5"]
    badge = node(view, "while/half/").locator(".tft-badge")
    assert "×2" in badge.all_text_contents()
    check_labels(view, at_least=4)
    shot(lab, "step_loop", view)
    view.get_by_role("button", name="Next iteration of while").click()
    words.get_by_text("iteration 3 of 3").wait_for()
    view.get_by_role("button", name="Next iteration of while").press("Enter")
    words.get_by_text("the test that ends it").wait_for()
    view.get_by_role("button", name="Out of while").click()
    view.locator(".tft-iterations").get_by_text("outside of loops").wait_for()
    strip.press("End")
    at(view, 22, "check")
    view.locator(".tft-failed-words", has_text="InvalidArgumentError").wait_for()
    assert "tft-failed" in (node(view, "check").get_attribute("class") or "")
    shot(lab, "step_error", view)
