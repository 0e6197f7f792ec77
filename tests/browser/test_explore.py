"""All views of a session in one panel with tabs, twice on the page, in step."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab
from tests.browser.test_graph_view import SETUP, node

pytestmark = pytest.mark.browser

MODEL = """\
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 1])
    y = tf.matmul(x, w, name="y")
    loss = tf.reduce_mean(tf.square(y), name="loss")
sess = tf.Session(graph=graph)
from tfteach.jupyter import explore
panel = explore(sess)
panel
"""


def test_tabs_share_what_is_selected_and_fetched(lab: Lab) -> None:
    lab.open_cells("explore.ipynb", SETUP, MODEL, "panel")
    for index in range(3):
        lab.run_cell(index)
    for cell in (1, 2):
        lab.cell(cell).locator(".tfteach-graph").first.wait_for()
    first, second = lab.cell(1), lab.cell(2)
    tabs = first.locator(".lm-TabBar-tab")
    assert [tab.strip() for tab in tabs.all_text_contents()] == [
        "Graph",
        "Run",
        "Placement",
        "Sessions",
    ]
    node(first, "y").first.click()
    lab.page.keyboard.press("f")
    first.locator(".tft-status", has_text="fetch y:0").first.wait_for()
    # the same panel in another cell, and another tab of it
    second.locator(".tft-status", has_text="fetch y:0").first.wait_for()
    tabs.nth(1).click()
    run = first.locator(".tfteach-run")
    run.locator(".tft-why", has_text="'y' runs: it is fetched").wait_for()
    assert node(run, "y").is_visible(), "drawn while its tab was hidden"
    lab.page.wait_for_timeout(700)
    lab.screenshot("explore", first)
    tabs.nth(2).click()
    first.locator(".tft-status:visible", has_text="fetch y:0").wait_for()
    tabs.nth(3).click()
    first.get_by_text("uninitialized").first.wait_for()
