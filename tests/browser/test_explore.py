"""All views of a session in one panel with tabs, twice on the page, in step."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

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
from tfteach.jupyter import TimelineView, explore
panel = explore(sess)
panel
"""
TRACE = """\
sess.run(w.initializer)
panel.trace(loss, {x: [[1.0, 2.0, 3.0]]})
panel.step(loss, {x: [[1.0, 2.0, 3.0]]})
TimelineView.of(sess, loss, {x: [[1.0, 2.0, 3.0]]})
"""


def test_tabs_share_what_is_selected_and_fetched(lab: Lab) -> None:
    lab.open_cells("explore.ipynb", SETUP, MODEL, "panel", TRACE)
    for index in range(3):
        lab.run_cell(index)
    for cell in (1, 2):
        lab.cell(cell).locator(".tfteach-graph").first.wait_for()
    first, second = lab.cell(1), lab.cell(2)
    tabs = first.locator(".lm-TabBar-tab")
    assert [tab.strip() for tab in tabs.all_text_contents()] == [
        "Graph", "Run", "Schedule", "Step", "Placement", "Sessions", "Optimizer",
        "Growth", "Sharing", "Collections", "Timeline", "Memory",
    ]  # fmt: skip
    cut = "(tabs) => tabs.filter((tab) => tab.scrollWidth > tab.clientWidth).length"
    assert tabs.locator(".lm-TabBar-tabLabel").evaluate_all(cut) == 0

    def opened(title: str, root: str) -> Locator:
        tabs.get_by_text(title, exact=True).click()
        view = first.locator(root).locator("visible=true").first
        view.wait_for()
        return view

    assert first.locator(".tfteach-graph").count() == 1  # the others come when asked
    opened("Timeline", "pre:has-text('panel.trace')")
    opened("Graph", ".tfteach-graph")
    node(first, "y").first.click()
    lab.page.keyboard.press("f")
    first.locator(".tft-status", has_text="fetch y:0").first.wait_for()
    # the same panel in another cell shows the same tab
    second.locator(".tft-status", has_text="fetch y:0").first.wait_for()
    run = opened("Run", ".tfteach-run")
    run.locator(".tft-why", has_text="'y' runs: it is fetched").wait_for()
    lab.page.wait_for_timeout(700)
    lab.screenshot("explore", first)
    schedule = opened("Schedule", ".tfteach-schedule")
    expect(schedule.locator(".tft-order-said code")).to_have_text("y")
    passes = opened("Optimizer", ".tfteach-optimizing").locator(".tft-opt-top")
    expect(passes).to_contain_text("4 ops asked for")
    opened("Placement", ".tfteach-placement")
    first.locator(".tft-status:visible", has_text="fetch y:0").wait_for()
    opened("Sessions", ".tfteach-sessions").get_by_text("uninitialized").wait_for()
    opened("Growth", ".tfteach-growth")
    # a traced run, in the panel and in a view of its own: a bar is the op of its graph
    lab.run_cell(3)
    assert lab.cell_errors() == []
    timeline = opened("Timeline", ".tfteach-timeline")
    bars = timeline.locator(".tft-bar-op")
    bars.first.wait_for()
    lab.screenshot("explore_timeline", first)
    alone = lab.cell(3).locator(".tfteach-timeline")
    alone.locator(".tft-lanes").focus()
    lab.page.keyboard.press("End")
    said = timeline.locator(".tft-said code")
    expect(said).to_have_text(alone.locator(".tft-said code").inner_text())
    op = said.inner_text()
    opened("Memory", ".tfteach-memory")
    opened("Step", ".tfteach-step")
    opened("Graph", ".tfteach-graph")
    graph = first.locator(".tfteach-graph:visible")
    expect(graph.locator(".tft-details h3")).to_have_text(op)
    box = graph.locator(".tft-node.tft-selected")
    assert op.startswith((box.get_attribute("data-id") or "?").rstrip("/"))
    node(graph, "x").click()
    expect(alone.locator(".tft-said")).not_to_contain_text(op)
    # and as a panel beside the notebook
    beside = lab.new_view_for_output(1)
    beside.locator(".lm-TabBar-tab.lm-mod-current", has_text="Graph").wait_for()
    expect(beside.locator(".tft-status:visible")).to_contain_text("fetch y:0")
    beside.locator(".lm-TabBar-tab", has_text="Run").click()
    first.locator(".tfteach-run:visible").wait_for()
    # a click in the collections shows in the other tabs
    collections = opened("Collections", ".tfteach-collections")
    collections.locator(".tft-flow-row", has_text="TRAINABLE_VARIABLES").click()
    collections.locator(".tft-flow-panel button", has_text="w").click()
    sharing = opened("Sharing", ".tfteach-sharing")
    sharing.locator(".tft-flow-row[aria-pressed=true]", has_text="w").wait_for()
