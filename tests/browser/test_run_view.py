"""The run view in a real JupyterLab: trace back, ask why, guess and be scored."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator

import tfteach as tf
from tests.browser.lab import Lab
from tests.browser.test_graph_view import SETUP, node
from tfteach.explain.graphs.graph_rows import rows_of_graph
from tfteach.explain.runs.pruning import explain_run

pytestmark = pytest.mark.browser

MODEL = """\
import numpy as np
graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope("hidden"):
        w = tf.get_variable("weights", [4, 8])
        h = tf.nn.relu(tf.matmul(x, w), name="relu")
    with tf.variable_scope("output"):
        v = tf.get_variable("weights", [8, 3])
        logits = tf.matmul(h, v, name="logits")
    best = tf.argmax(logits, 1, name="best")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
    init = tf.global_variables_initializer()
sess = tf.Session(graph=graph)
batch = {x: np.ones([2, 4]), labels: [0, 1]}
"""

RUNS = """\
%%run
sess.run(init)
for step in range(20):
    sess.run(train, batch)
sess.run(best, {x: np.ones([1, 4])})
"""

FAILURES = """\
%%run
closed = tf.Session(graph=graph)
closed.close()
for session, fetches, feed in [
    (sess, "nowhere:0", batch), (sess, loss, batch), (sess, train, {x: batch[x]}),
    (closed, best, batch),
]:
    try:
        session.run(fetches, feed)
    except (RuntimeError, ValueError, tf.errors.OpError):
        pass
"""

GUESS = """\
from tfteach.jupyter import RunView
with tf.Graph().as_default():
    a = tf.constant(2.0, name="a")
    b = tf.constant(3.0, name="b")
    c = tf.add(a, b, name="c")
    d = tf.multiply(a, b, name="d")
    e = tf.square(c, name="e")
    guess = RunView(fetches=[e], predict=True)
guess
"""


def view_of(lab: Lab, cell: int) -> Locator:
    view = lab.cell(cell).locator(".tfteach-run")
    view.wait_for()
    return view


def test_the_runs_of_a_training_loop(lab: Lab) -> None:
    lab.open_cells("runs.ipynb", SETUP, MODEL, RUNS)
    for index in range(3):
        lab.run_cell(index)
    view = view_of(lab, 2)
    runs = view.locator(".tft-run-item")
    assert runs.count() == 3
    assert "×20" in (runs.nth(1).text_content() or "")
    runs.nth(2).click()
    view.locator(".tft-status", has_text="fetch best:0").wait_for()
    # the way back from the fetch, a step at a time, by keyboard
    slider = view.locator("input[type=range]")
    slider.focus()
    slider.press("Home")
    view.locator(".tft-run-said", has_text="Step 0 back").wait_for()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    view.locator(".tft-run-said", has_text="Step 2 back").wait_for()
    slider.press("End")
    view.locator(".tft-run-said", has_text="All ").wait_for()
    # why an op runs, and why another does not
    view.locator(".tft-search").fill("hidden/weights/read")
    view.locator(".tft-search").press("Enter")
    view.locator(".tft-why", has_text="runs: the fetch 'best' depends on it").wait_for()
    assert view.locator(".tft-way li").last.text_content() == "best"
    view.page.wait_for_timeout(900)  # boxes have come to rest
    for theme in ("Dark", "Light"):
        lab.set_theme(f"JupyterLab {theme}")
        lab.screenshot(f"run_view_{theme.lower()}", view)
    view.locator(".tft-search").fill("labels")
    view.locator(".tft-search").press("Enter")
    view.locator(".tft-why", has_text="no fetch depends on it").wait_for()
    # play ends with all of it
    view.locator("button", has_text="Trace").click()
    view.locator(".tft-run-said", has_text="Step ").wait_for()
    view.locator(".tft-run-said", has_text="All ").wait_for(timeout=60_000)


def test_runs_that_failed_or_were_refused(lab: Lab) -> None:
    lab.open_cells("failures.ipynb", SETUP, MODEL, "sess.run(init)", FAILURES)
    lab.run_all()
    assert lab.cell_errors() == []
    view = view_of(lab, 3)
    runs, said = view.locator(".tft-run-item"), view.locator(".tft-run-said")
    outcomes = view.locator(".tft-run-count").all_inner_texts()
    assert [text for text in outcomes if text.startswith("✕")] == [
        "✕ refused",
        "✕ failed",
        "✕ refused",
    ]
    assert runs.nth(1).get_attribute("aria-pressed") == "true"  # the first that began
    assert "ValueError: Fetch argument 'nowhere:0'" in runs.nth(0).inner_text()
    assert view.locator(".tft-badge-wrong").count() == 0
    runs.nth(3).click()
    view.locator(".tft-run-said", has_text="refused this run").wait_for()
    assert "RuntimeError: Attempted to use a closed Session." in said.inner_text()
    assert view.locator(".tft-node.tft-dim").count() == 0
    runs.nth(2).click()
    view.locator(".tft-run-said", has_text="It failed: InvalidArgument").wait_for()
    node(view, "labels").locator(".tft-badge-wrong").wait_for()
    view.locator(".tft-status", has_text="ops needed").wait_for()
    assert "4 of 12 needed" in (node(view, "hidden/").text_content() or "")
    view.page.wait_for_timeout(900)  # boxes have come to rest
    for theme in ("Dark", "Light"):
        lab.set_theme(f"JupyterLab {theme}")
        lab.screenshot(f"run_view_failures_{theme.lower()}", view)


def test_a_guess_is_scored(lab: Lab) -> None:
    lab.open_cells(
        "guess.ipynb",
        SETUP,
        GUESS,
        "print(guess.score, sorted(guess.guessed))",
    )
    lab.run_cell(0)
    lab.run_cell(1)
    view = view_of(lab, 1)
    assert view.locator(".tft-node.tft-dim").count() == 0, "the answer must not show"
    for name in ("e", "c", "d"):
        node(view, name).click()
    node(view, "a").focus()
    view.page.keyboard.press(" ")
    view.locator(".tft-run-said", has_text="4 marked").wait_for()
    view.locator("button", has_text="Reveal").click()
    view.locator(".tft-run-said", has_text="3 right, 1 wrong, 1 missed").wait_for()
    view.page.wait_for_timeout(900)
    lab.screenshot("run_view_guess", view)
    lab.run_cell(2)
    lab.output(2).locator("text='right': 3, 'wrong': 1, 'missed': 1").wait_for()
    view.locator("button", has_text="Guess again").click()
    view.locator(".tft-run-said", has_text="0 marked").wait_for()


def test_the_page_gives_pythons_reasons(lab: Lab) -> None:
    """Each op, for several fetches and feeds: the same words, ways as long.

    Of several shortest ways to a fetch the two may name different ones.
    """
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        a = tf.square(x, name="a")
        b, c = tf.split(a, 2, name="parts")
        with tf.control_dependencies([b]):
            d = tf.add(c, 1.0, name="d")
        tf.subtract(d, a, name="e")
        tf.add(a, a, name="spare")
    source = Path(tf.__file__).parent / "jupyter" / "static" / "run.js"
    lab.open_cells("why.ipynb", "1")
    lab.run_cell(0)
    for fetches in (["e:0"], ["d"], ["spare", "parts:1"]):
        for feeds in ([], ["a:0"], ["parts:1"], ["d:0", "x:0"]):
            needs = explain_run(graph, fetches, feeds)
            reasons = [needs.why(op) for op in graph.get_operations()]
            wanted = [[w.runs, w.text.split(": the")[0], len(w.path)] for w in reasons]
            found = lab.page.evaluate(
                """async ([code, rows, fetches, feeds]) => {
                    const url = URL.createObjectURL(
                        new Blob([code], {type: "text/javascript"}));
                    const m = await import(url);
                    const model = new m.GraphModel(rows.map(m.decode));
                    const light = m.highlight(model, fetches, feeds);
                    return rows.map((_, i) => {
                        const w = m.why(model, light, feeds, i);
                        return [w.runs, w.text.split(": the")[0], w.path.length];
                    });
                }""",
                [source.read_text(), rows_of_graph(graph), fetches, feeds],
            )
            assert found == wanted, (fetches, feeds)
