"""The graph view's tools in a real JupyterLab: colours, traces, pairs, pictures."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab
from tests.browser.test_graph_view import SETUP, node, view_of

pytestmark = pytest.mark.browser

MODEL = """\
from tfteach.jupyter import GraphView
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 784], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.device("/gpu:0"):
        hidden = tf.layers.dense(x, 128, tf.nn.relu, name="hidden")
    logits = tf.layers.dense(hidden, 10, name="logits")
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits))
    accuracy = tf.reduce_mean(
        tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32), name="accuracy")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
SHOW = """\
view = GraphView(graph, figures={
    "hidden/MatMul": {"time_us": 812, "bytes": 51200},
    "logits/MatMul": {"time_us": 61}, "hidden/Relu": {"time_us": 9.5}})
view
"""


def both_themes(lab: Lab, name: str, view: Locator) -> None:
    lab.screenshot(f"{name}_light", view)
    lab.set_theme("JupyterLab Dark")
    lab.page.wait_for_timeout(300)  # colours change in 220 ms
    lab.screenshot(f"{name}_dark", view)
    lab.set_theme("JupyterLab Light")


def test_search_traces_and_files(lab: Lab) -> None:
    """Each in a view of a graph of its own, in one notebook."""
    lab.open_cells("tools.ipynb", SETUP, *3 * [MODEL + SHOW])
    lab.run_all()
    assert lab.cell_errors() == []
    search_by_regular_expression(lab, view_of(lab, 1))
    traces_and_pairs(lab, view_of(lab, 2))
    map_files_and_full_screen(lab, view_of(lab, 3))


def search_by_regular_expression(lab: Lab, view: Locator) -> None:
    search = view.locator(".tft-search")
    search.fill(r"/^(hidden|logits)\/MatMul$/")
    options = view.locator(".tft-results").get_by_role("option")
    expect(options).to_have_count(2)
    lab.screenshot("graph_search_regex", view)
    search.fill("/MatMul(/")
    expect(view.locator(".tft-results")).to_contain_text("not a regular expression")
    assert search.get_attribute("aria-invalid") == "true"
    search.press("Escape")
    assert search.get_attribute("aria-invalid") is None


def test_colours(lab: Lab) -> None:
    lab.open_cells("colours.ipynb", SETUP, MODEL, SHOW, "print(view.colour_by)")
    for cell in range(3):
        lab.run_cell(cell)
    assert lab.cell_errors() == []
    view = view_of(lab, 2)
    choice = view.get_by_role("combobox", name="Colour by")
    key = view.locator(".tft-key")
    assert not key.is_visible()
    badge = node(view, "hidden/").locator(".tft-badge text")
    for by, words, on_hidden in (
        ("device", "GPU:0", "GPU:0 +1"),
        ("family", "product", "variable +"),
        ("cell", "In [2]", "In [2]"),
        ("time", "up to 822 µs", "822 µs"),
        ("memory", "up to 50.00 KiB", "50.00 KiB"),
    ):
        choice.select_option(by)
        expect(key).to_contain_text(words)
        expect(badge.first).to_contain_text(on_hidden)
        if by in ("device", "family", "time"):
            both_themes(lab, f"graph_colours_{by}", view)
    choice.select_option("run")
    expect(key).to_contain_text("Fetch a box")
    node(view, "accuracy").click()
    view.locator(".tft-canvas").press("f")
    expect(key).to_contain_text("pruned")
    lab.screenshot("graph_colours_run", view)
    # both ways between page and kernel
    lab.run_cell(3)
    assert "run" in lab.output(3).inner_text()
    view.locator(".tft-canvas").press("c")
    expect(choice).to_have_value("cell")


def traces_and_pairs(lab: Lab, view: Locator) -> None:
    node(view, "loss/").click()
    lab.page.keyboard.press("i")
    strip = view.locator(".tft-trace")
    expect(strip).to_contain_text("that loss is made from")
    assert "tft-traced" in (node(view, "hidden/").get_attribute("class") or "")
    assert "tft-dim" in (node(view, "accuracy").get_attribute("class") or "")
    both_themes(lab, "graph_trace_inputs", view)
    view.get_by_role("button", name="All that is made from this (o)").click()
    expect(strip).to_contain_text("made from loss")
    assert "tft-dim" in (node(view, "hidden/").get_attribute("class") or "")
    lab.page.keyboard.press("Escape")
    view.locator(".tft-canvas").press("Escape")
    expect(strip).to_be_hidden()
    node(view, "gradients/").dblclick()
    node(view, "gradients/hidden/").wait_for()
    node(view, "logits/").hover()
    paired = view.locator(".tft-paired")
    expect(paired).to_have_count(2)
    assert "tft-paired" in (
        node(view, "gradients/logits/").get_attribute("class") or ""
    )
    lab.page.wait_for_timeout(600)  # boxes move for 380 ms
    lab.screenshot("graph_pairs", view)


DIFF = """\
from tfteach.jupyter import GraphDiff

def build(dropout, optimizer):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 784], name="x")
        with tf.name_scope("layer"):
            y = tf.square(x, name="y")
            y = tf.nn.relu(y, name="relu") if dropout else tf.nn.tanh(y, name="tanh")
        if dropout:
            with tf.name_scope("dropout"):
                y = y * tf.cast(tf.random_uniform([784]) > 0.5, tf.float32)
        total = tf.reduce_sum(y, name="total")
        scaled = tf.multiply(total, 2.0 if dropout else 3.0, name="scaled")
    return graph

view = GraphDiff(build(False, 0), build(True, 1))
view
"""


def test_two_graphs_side_by_side(lab: Lab) -> None:
    lab.open_cells("diff.ipynb", SETUP, DIFF)
    lab.run_all()
    assert lab.cell_errors() == []
    before = lab.cell(1).locator(".tft-diff-before")
    after = lab.cell(1).locator(".tft-diff-after")
    node(after, "layer/relu").wait_for()  # what differs is open
    both = lab.cell(1).locator(".tfteach-diff")

    def kind(half: Locator, name: str) -> str:
        return node(half, name).get_attribute("class") or ""

    assert "tft-removed" in kind(before, "layer/tanh")
    assert "tft-added" in kind(after, "layer/relu")
    assert "tft-added" in kind(after, "dropout/")
    assert "tft-changed" in kind(after, "total")
    assert "tft-same" in kind(after, "x")
    assert "removed" in (node(before, "layer/tanh").get_attribute("aria-label") or "")
    both_themes(lab, "graph_diff", both)
    # what changed, in the details of the later graph only
    node(before, "total").click()
    details = after.locator(".tft-details")
    expect(details).to_contain_text("input 0: layer/tanh -> dropout/mul")
    assert not before.locator(".tft-details").is_visible()
    node(before, "layer/tanh").click()
    expect(before.locator(".tft-details")).to_be_visible()
    # opened together, moved together
    node(after, "layer/").locator(".tft-toggle").first.click()
    expect(node(before, "layer/tanh")).to_have_count(0)
    after.get_by_role("button", name="Zoom in (+)").click()
    worlds = [half.locator(".tft-canvas > g").first for half in (before, after)]
    one, other = (world.get_attribute("transform") for world in worlds)
    assert one == other
    both.get_by_role("button", name="Go to the next op that differs (n)").click()
    expect(details.locator("h3")).to_have_text("layer/relu")
    lab.screenshot("graph_diff_next", both)


def map_files_and_full_screen(lab: Lab, view: Locator) -> None:
    little = view.locator(".tft-minimap")
    expect(little).to_be_hidden()
    for _ in range(4):
        view.get_by_role("button", name="Zoom in (+)").click()
    expect(little).to_be_visible()
    world = view.locator(".tft-canvas > g").first
    before = world.get_attribute("transform")
    little.hover(position={"x": 8, "y": 8})
    lab.page.mouse.down()
    little.hover(position={"x": 60, "y": 30})
    lab.page.mouse.up()
    assert world.get_attribute("transform") != before
    both_themes(lab, "graph_minimap", view)
    # files: the whole picture, not only what is in sight
    with lab.page.expect_download() as saved:
        view.get_by_role("button", name="Save the picture as SVG").click()
    svg = saved.value.path().read_text()
    root = ElementTree.fromstring(svg)
    texts = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("}text")]
    assert {"hidden", "accuracy", "GradientDescent"} <= set(texts)
    assert "var(" not in svg
    assert "class=" not in svg
    assert saved.value.suggested_filename == "graph.svg"
    with lab.page.expect_download() as saved:
        view.get_by_role("button", name="Save the picture as PNG").click()
    png = saved.value.path().read_bytes()
    assert png.startswith(b"\x89PNG")
    width = int(root.attrib["width"])
    assert int.from_bytes(png[16:20], "big") == 2 * width
    (lab.shots / "graph_saved.svg").write_text(svg)
    (lab.shots / "graph_saved.png").write_bytes(png)
    # the whole screen and back
    view.get_by_role("button", name="Full screen").click()
    lab.page.wait_for_function("() => document.fullscreenElement !== null")
    lab.page.wait_for_timeout(500)
    full = view.bounding_box()
    assert full is not None
    assert full["width"] >= 1390
    lab.screenshot("graph_full_screen")
    view.get_by_role("button", name="Full screen").click()
    lab.page.wait_for_function("() => document.fullscreenElement === null")
    assert "tft-full" not in (view.get_attribute("class") or "")
