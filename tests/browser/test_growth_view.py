"""The growth view in a real JupyterLab: normal against lazy, played and scrubbed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab
from tests.browser.test_graph_view import SETUP, node

pytestmark = pytest.mark.browser

# CS20's example: the sum is defined before the loop, or inside.
PROGRAMS = """\
from tfteach.explain import watch_growth
from tfteach.jupyter import GrowthView

with tf.Graph().as_default() as g, tf.Session() as sess, watch_growth(g) as normal:
    x = tf.Variable(10, name="x")
    y = tf.Variable(20, name="y")
    z = tf.add(x, y)
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        sess.run(z)

with tf.Graph().as_default() as g, tf.Session() as sess, watch_growth(g) as lazy:
    x = tf.Variable(10, name="x")
    y = tf.Variable(20, name="y")
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        sess.run(tf.add(x, y))
"""

SLOW = """\
%%lazy --fresh
x = tf.Variable(10, name="x")
y = tf.Variable(20, name="y")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(20):
        sess.run(tf.add(x, y))
        time.sleep(0.15)
"""


def view_of(lab: Lab, cell: int) -> Locator:
    view = lab.cell(cell).locator(".tfteach-growth")
    view.wait_for()
    return view


def built(pane: Locator) -> list[str]:
    """The boxes that are there at this moment."""
    boxes = pane.locator(".tft-node:not(.tft-future)")
    return [box.get_attribute("data-id") or "" for box in boxes.all()]


def shots(lab: Lab, view: Locator, name: str) -> None:
    """A picture in each theme."""
    lab.page.mouse.move(0, 0)
    for theme in ("Dark", "Light"):
        lab.set_theme(f"JupyterLab {theme}")
        lab.page.wait_for_timeout(400)  # boxes slide, colours fade
        lab.screenshot(f"{name}_{theme.lower()}", view)


def test_normal_against_lazy(lab: Lab) -> None:
    lab.open_cells(
        "pair.ipynb", SETUP, PROGRAMS, "GrowthView(normal=normal, lazy=lazy)"
    )
    for index in range(3):
        lab.run_cell(index)
    view = view_of(lab, 2)
    normal, lazy = view.locator(".tft-pane").all()
    lazy.get_by_text("In [2] line 17 adds 1 op to the graph at every run").wait_for()
    normal.get_by_text("Build, then run").wait_for()
    assert node(lazy, "Add_9").locator(".tft-badge", has_text="again").count() == 1
    assert node(lazy, "Add").locator(".tft-badge", has_text="again").count() == 0
    shots(lab, view, "growth_pair")
    # scrub by keyboard, from the start on
    slider = view.locator("input[type=range]")
    slider.focus()
    slider.press("Home")
    assert built(normal) == built(lazy) == []
    slider.press("ArrowRight")
    lazy.locator(".tft-now-line", has_text='x = tf.Variable(10, name="x")').wait_for()
    assert built(lazy) == ["x/"]
    # the meter takes the pointer to a run
    box = lazy.locator(".tft-growth-meter").bounding_box()
    assert box is not None
    lab.page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + 60)
    view.locator(".tft-growth-said", has_text="after 5 of 11 runs").wait_for()
    assert built(lazy)[-1] == "Add_3"
    assert "Add" in built(normal)
    slider.press("ArrowLeft")
    event = lazy.locator(".tft-now-line", has_text="again, like Add")
    event.get_by_text("sess.run(tf.add(x, y))").wait_for()
    assert "tft-now" in (node(lazy, "Add_3").get_attribute("class") or "")
    shots(lab, view, "growth_moment")
    # play it to the end
    view.get_by_role("button", name="Play").click()
    view.get_by_role("button", name="Pause").wait_for()
    view.get_by_role("button", name="Play").wait_for()
    view.locator(".tft-growth-said", has_text="after 11 of 11 runs").wait_for()
    assert built(lazy)[-1] == "Add_9"
    assert lab.cell_errors() == []


def test_a_cell_is_watched_while_it_runs(lab: Lab) -> None:
    lab.open_cells("lazy.ipynb", SETUP, SLOW)
    lab.run_cell(0)
    lab.run_all(wait=False)
    view = view_of(lab, 1)
    node(view, "Add_2").wait_for()
    assert lab.cell(1).locator(".jp-InputPrompt").inner_text().strip() == "[*]:"
    view.locator(".tft-sign-word", has_text="Lazy loading").wait_for()
    lab.screenshot("growth_live", view)
    lab.wait_idle()
    view.locator(".tft-growth-said", has_text="after 21 of 21 runs").wait_for()
    node(view, "Add_19").wait_for()
    printed = lab.cell(1).locator('[data-mime-type$="stdout"]')
    printed.get_by_text("Lazy loading: In [3] line 7 adds 1 op").wait_for()
    lab.screenshot("growth_magic", lab.cell(1))
    assert not lab.cell(1).locator(".tfteach-static").is_visible()
    assert lab.cell_errors() == []


def test_a_cell_that_runs_nothing(lab: Lab) -> None:
    lab.open_cells("no_run.ipynb", SETUP, "%%lazy --fresh\ntf.add(1.0, 2.0)")
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(1).locator(".tfteach-growth")
    expect(view).to_contain_text("No run yet.")
    expect(view).to_contain_text("no run yet")
    expect(view).not_to_contain_text("of 1 runs")
