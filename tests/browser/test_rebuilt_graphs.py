"""Graphs that a program builds again and again, in a real JupyterLab."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab
from tests.browser.test_graph_view import SETUP, node
from tests.browser.test_growth_view import built, shots, view_of

pytestmark = pytest.mark.browser

# A serving function as beginners write it: graph, session and weights in every call.
PREDICT = """\
%%lazy
def predict(batch):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(batch, name="x")
        w = tf.Variable([[1.0], [2.0]], name="w")
        y = tf.matmul(x, w, name="y")
        sess.run(tf.global_variables_initializer())
        return sess.run(y)

answers = [predict([[float(i), 1.0]]) for i in range(5)]
"""

KEPT = """\
from tfteach.explain import watch_graphs
from tfteach.jupyter import GrowthView

with watch_graphs() as rebuilt:
    for i in range(5):
        predict([[float(i), 1.0]])

with watch_graphs() as kept:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0], [2.0]], name="w")
        y = tf.matmul(x, w, name="y")
        init = tf.global_variables_initializer()
    sess = tf.Session(graph=graph)
    sess.run(init)
    for i in range(5):
        sess.run(y, {x: [[float(i), 1.0]]})
    sess.close()

GrowthView(rebuilt=rebuilt, kept=kept)
"""


SLOW = """\
%%lazy
import time
with tf.Graph().as_default():
    w = tf.Variable(1.0, name="w")
    init = tf.global_variables_initializer()
    for _ in range(12):
        with tf.Session() as sess:
            sess.run(init)
            sess.run(w)
        time.sleep(0.4)
"""


def test_a_predict_that_rebuilds_against_one_that_keeps(lab: Lab) -> None:
    lab.open_cells("rebuilt.ipynb", SETUP, PREDICT, KEPT)
    for index in range(3):
        lab.run_cell(index)
    # five graphs are one view, with a track for each
    assert lab.cell(1).locator(".tfteach-growth").count() == 1
    view = view_of(lab, 1)
    view.locator(".tft-sign-word", has_text="Built 5 times").wait_for()
    tracks = view.locator(".tft-lives li")
    assert tracks.count() == 5
    assert tracks.first.get_attribute("aria-label") == (
        "graph 1: 7 ops built; session 1 opened, variables initialized, 1 run, closed"
    )
    finding = view.locator(".tft-waste-found")
    finding.get_by_text("In [2] line 3 made 5 graphs of the same 7 ops").wait_for()
    finding.locator("summary").press("Enter")
    finding.get_by_text("return sess.run(y, {x: batch})").wait_for()
    finding.locator("summary").press("Enter")
    view.locator(".tft-growth-meter", has_text="35 ops").wait_for()
    assert node(view, "y").locator(".tft-badge", has_text="again").count() == 1
    shots(lab, view, "growth_rebuilt")
    # in the first graph nothing is there again; its track is marked
    slider = view.locator("input[type=range]")
    slider.focus()
    slider.press("Home")
    assert built(view) == []
    for _ in range(7):
        slider.press("ArrowRight")
    view.locator(".tft-size", has_text="graph 1 of 5").wait_for()
    assert node(view, "y").locator(".tft-badge", has_text="again").count() == 0
    assert "tft-runs-now" in (tracks.nth(0).get_attribute("class") or "")
    # then the second is built from nothing
    for _ in range(3):
        slider.press("ArrowRight")
    view.locator(".tft-size", has_text="graph 2 of 5").wait_for()
    assert built(view) == ["x"]
    view.locator(".tft-now-line", has_text="again, as in graph 1").wait_for()
    assert "tft-runs-now" in (tracks.nth(1).get_attribute("class") or "")
    # beside the program that keeps its graph, on the same clock
    pair = view_of(lab, 2)
    assert pair.locator(".tft-lives section").count() == 2
    pair.locator(".tft-lives section", has_text="5 runs, closed").wait_for()
    shots(lab, pair, "growth_rebuilt_and_kept")
    assert lab.cell_errors() == []


def test_sessions_opened_again_appear_while_the_cell_runs(lab: Lab) -> None:
    lab.open_cells("reopened.ipynb", SETUP, SLOW)
    lab.run_cell(0)
    lab.run_all(wait=False)
    view = view_of(lab, 1)
    view.locator(".tft-lives li", has_text="session 3").wait_for()
    assert lab.cell(1).locator(".jp-InputPrompt").inner_text().strip() == "[*]:"
    lab.wait_idle()
    view.locator(".tft-lives h4", has_text="opened 12 times").wait_for()
    assert view.locator(".tft-lives li").count() == 12
    view.locator(".tft-sign-word", has_text="Opened 12 times").wait_for()
    view.get_by_text("In [3] line 7 opened 12 sessions on one graph").wait_for()
    printed = lab.cell(1).locator('[data-mime-type$="stdout"]')
    printed.get_by_text("Open the session once, before the loop").wait_for()
    shots(lab, view, "growth_reopened")
    assert lab.cell_errors() == []
