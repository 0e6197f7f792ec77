"""Runs that the optimizer folds away, in a real JupyterLab: each view says so, and a
click shows the run unfolded."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator

from tests.browser.lab import Lab
from tests.browser.test_graph_view import node

pytestmark = pytest.mark.browser

# Matrix products of constants on two GPUs, as courses show them.
SETUP = """\
%load_ext tfteach
import tfteach as tf
import tfteach.jupyter as tfj
tf.simulate_gpus(2)
products = []
for device in ["/gpu:0", "/gpu:1"]:
    with tf.device(device):
        a = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=[2, 3])
        b = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=[3, 2])
        products.append(tf.matmul(a, b))
with tf.device("/cpu:0"):
    total = tf.add_n(products, name="total")
sess = tf.Session()
"""

VIEWS = [
    "tfj.StepView.of(sess, total)",
    "tfj.TimelineView.of(sess, total)",
    "tfj.PlacementView(sess, [total])",
    "%%run\nsess.run(total)",
    "tfj.ScheduleView(sess, [total])",
    "tfj.OptimizingView(sess, [total])",
]

# A run that is folded in part, and changes a variable.
UP = """\
with tf.Graph().as_default() as other:
    v = tf.Variable(1.0, name="v")
    up = tf.assign_add(v, tf.multiply(2.0, 3.0, name="six"), name="up")
counted = tf.Session(graph=other)
counted.run(v.initializer)
counting = tfj.StepView.of(counted, up)
counting
"""

ROOTS = {1: "step", 2: "timeline", 3: "placement", 4: "run", 5: "schedule"}
RUN_AGAIN, SHOW = "Run again, unfolded", "Show unfolded"
BACK = "Show as the session runs it"
ALL = "were computed once, when the run was compiled: constants only."


def root(lab: Lab, cell: int) -> Locator:
    view = lab.cell(cell).locator(f".tfteach-{ROOTS[cell]}")
    view.wait_for()
    return view


def press(view: Locator, words: str) -> None:
    view.locator(".tft-folded button:enabled", has_text=words).click()


def test_one_click_shows_the_run_unfolded(lab: Lab) -> None:
    lab.open_cells("folding.ipynb", SETUP, *VIEWS, UP, "counting.run.result")
    lab.run_all()
    assert lab.cell_errors() == []
    for cell in ROOTS:
        notice = root(lab, cell).locator(".tft-folded")
        notice.get_by_text("All 7 ops").wait_for()
        lab.screenshot(f"folded_{ROOTS[cell]}", root(lab, cell))
    whole = lab.cell(6).locator(".tft-pass-folded", has_text="All 7 ops")
    whole.wait_for()
    lab.screenshot("folded_optimizing", lab.cell(6).locator(".tfteach-optimizing"))

    step = root(lab, 1)
    assert ALL in step.locator(".tft-folded").inner_text()
    step.get_by_text("No op had to run").wait_for()
    press(step, RUN_AGAIN)
    step.locator(".tft-step-said", has_text="step 0 of 10").wait_for()
    button = step.locator(".tft-folded button")
    assert button.inner_text() == BACK
    assert button.evaluate("(b) => document.activeElement === b")
    step.get_by_text("The session itself leaves out all of them.").wait_for()
    node(step, "MatMul").click()
    step.locator(".tft-step-head h3", has_text="MatMul").wait_for()

    timeline = root(lab, 2)
    press(timeline, RUN_AGAIN)
    timeline.locator('.tft-bar-op[data-op="MatMul"]').wait_for()
    lanes = timeline.locator(".tft-lane-name").all_text_contents()
    assert {"GPU:0", "GPU:1"} <= set(lanes)

    placement = root(lab, 3)
    assert placement.locator(".tft-edge.tft-copy").count() == 0
    press(placement, SHOW)
    placement.locator(".tft-edge.tft-copy").nth(1).wait_for()
    placement.locator(".tft-copies li", has_text="MatMul_1:0").wait_for()

    run = root(lab, 4)
    run.locator(".tft-count", has_text="7 of 7 ops needed").wait_for()
    assert "tft-left-out" in (node(run, "MatMul").get_attribute("class") or "")
    assert run.locator(".tft-badge-folded").count() == 3  # constants show their value
    said = run.locator(".tft-why", has_text="It was folded: all its inputs are")
    node(run, "MatMul").click()
    said.wait_for()
    press(run, SHOW)
    said.wait_for(state="detached")
    run.locator(".tft-count", has_text="7 of 7 ops run").wait_for()
    assert run.locator(".tft-left-out").count() == 0

    schedule = root(lab, 5)
    assert schedule.locator(".tft-order-left-out").count() == 7
    press(schedule, SHOW)
    schedule.locator(".tft-order-left-out").first.wait_for(state="detached")
    for cell in ROOTS:
        lab.screenshot(f"unfolded_{ROOTS[cell]}", root(lab, cell))

    # back again, from what is known already
    press(timeline, BACK)
    timeline.get_by_text("Nothing was timed").wait_for()
    press(timeline, SHOW)
    timeline.locator('.tft-bar-op[data-op="MatMul"]').wait_for()

    # in part: the click says what the run does again, and it does it once
    counting = lab.cell(7).locator(".tfteach-step")
    notice = counting.locator(".tft-folded")
    notice.get_by_text("Of 5 ops 3 were computed once").wait_for()
    notice.get_by_text("This runs it once more: changes v.").wait_for()
    node(counting, "six/").first.click()
    lab.screenshot("folded_in_part", counting)
    press(counting, RUN_AGAIN)
    notice.get_by_text("The session itself leaves out 3 of 5.").wait_for()
    lab.run_cell(8)
    assert "13.0" in lab.cell(8).inner_text()

    lab.set_theme("JupyterLab Dark")
    for cell in ROOTS:
        lab.screenshot(f"unfolded_{ROOTS[cell]}_dark", root(lab, cell))
    press(run, BACK)
    run.locator(".tft-count", has_text="7 of 7 ops needed").wait_for()
    press(schedule, BACK)
    schedule.locator(".tft-order-left-out").first.wait_for()
    for cell in (4, 5):
        lab.screenshot(f"folded_{ROOTS[cell]}_dark", root(lab, cell))
    lab.set_theme("JupyterLab Light")
