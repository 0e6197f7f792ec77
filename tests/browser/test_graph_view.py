"""The graph view in a real JupyterLab."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator

import tfteach as tf
from tests.browser.lab import Lab
from tfteach.engine.plan.prune import prune
from tfteach.explain.graphs.graph_rows import rows_of_graph

STATIC = Path(tf.__file__).parent / "jupyter" / "static"

pytestmark = pytest.mark.browser

SETUP = "%load_ext tfteach\nimport tfteach as tf\nimport time"

MODEL = """\
from tfteach.jupyter import GraphView
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.name_scope("layer"):
        w = tf.constant([1.0, 2.0, 3.0], name="w")
        y = tf.add(x, w, name="y")
    spare = tf.add(1.0, 2.0, name="spare")
    out = tf.add(y, 1.0, name="out")
view = GraphView(graph)
view
"""


def node(part: Locator, name: str) -> Locator:
    """The box of that id ("layer/" for a scope)."""
    return part.locator(f'.tft-node[data-id="{name}"]')


def view_of(lab: Lab, cell: int) -> Locator:
    view = lab.cell(cell).locator(".tfteach-graph")
    view.wait_for()
    return view


def test_look_open_fetch_search(lab: Lab) -> None:
    lab.open_cells(
        "view.ipynb",
        SETUP,
        MODEL,
        "print(view.fetches, view.expanded, view.selected)",
    )
    lab.run_cell(0)
    lab.run_cell(1)
    view = view_of(lab, 1)
    layer = node(view, "layer/")
    layer.dblclick()
    node(view, "layer/y").wait_for()
    # a click on the sign beside the box fetches it, and what it does not need dims
    node(view, "layer/y").hover()
    node(view, "layer/y").locator(".tft-fetcher").click()
    view.locator(".tft-status", has_text="3 of 8 ops run").wait_for()
    assert "tft-dim" in (node(view, "out/").get_attribute("class") or "")
    assert "tft-needed" in (node(view, "x").get_attribute("class") or "")
    lab.screenshot("graph_view_fetch", view)
    # search, by keyboard
    view.locator(".tft-canvas").press("/")
    lab.page.keyboard.type("spare")
    assert view.locator(".tft-search").input_value() == "spare"  # the "/" is a key
    view.locator(".tft-search").press("Enter")
    view.locator(".tft-details h3", has_text="spare").wait_for()
    lab.run_cell(2)
    assert lab.cell_errors() == []
    printed = lab.output(2).inner_text()
    assert "['layer/y:0']" in printed
    assert "layer/" in printed
    assert "spare" in printed


def test_a_live_view(lab: Lab) -> None:
    """Beside its still picture, in dark, and from the keyboard: in one notebook."""
    lab.open_cells("live.ipynb", SETUP, MODEL)
    lab.run_all()
    view = view_of(lab, 1)
    hides_its_still_picture(lab)
    is_drawn_in_dark(lab, view)
    needs_no_mouse(lab, view)


def hides_its_still_picture(lab: Lab) -> None:
    static = lab.cell(1).locator(".tfteach-static")
    assert static.count() == 1
    assert not static.is_visible()


def test_saved_notebook_shows_the_picture_without_a_kernel(lab: Lab) -> None:
    lab.open_cells("saved.ipynb", SETUP, MODEL)
    lab.run_all()
    view_of(lab, 1)
    lab.page.evaluate(
        """async () => {
            await window.jupyterapp.commands.execute('docmanager:save');
            await window.jupyterapp.shell.currentWidget.sessionContext.shutdown();
        }"""
    )
    lab.open("saved.ipynb")  # trusted, with a kernel that knows no widget
    lab.cell(1).locator(".tfteach-static img").wait_for()
    failed = lab.cell(1).get_by_text("model not found")
    failed.wait_for(state="attached")
    assert not failed.is_visible()
    lab.screenshot("graph_view_saved")


def test_growth_shows_while_the_cell_runs(lab: Lab) -> None:
    lab.open_cells(
        "growth.ipynb",
        SETUP,
        "%%graph\n"
        "a = tf.constant(1.0, name='a')\n"
        "for i in range(40):\n"
        "    a = tf.add(a, 1.0, name=f'step{i}')\n"
        "    time.sleep(0.1)\n",
    )
    lab.run_cell(0)
    lab.run_all(wait=False)
    view = view_of(lab, 1)
    node(view, "step1/").or_(node(view, "step1")).wait_for()
    # the cell still runs: the kernel could not answer, yet the view has grown
    assert lab.cell(1).locator(".jp-InputPrompt").inner_text().strip() == "[*]:"
    early = len(view.locator(".tft-node").all())
    lab.screenshot("graph_view_growing", view)
    lab.wait_idle()
    view.locator(".tft-status", has_text="81 ops").wait_for()
    assert len(view.locator(".tft-node").all()) > early
    assert lab.cell_errors() == []


def test_lazy_loading_shows_as_growth_after_the_first_run(lab: Lab) -> None:
    lab.open_cells(
        "lazy.ipynb",
        SETUP,
        "%%graph\n"
        "x = tf.constant(10, name='x')\n"
        "y = tf.constant(20, name='y')\n"
        "with tf.Session() as session:\n"
        "    for _ in range(10):\n"
        "        session.run(tf.add(x, y))",
    )
    lab.run_all()
    status = view_of(lab, 1).locator(".tft-status")
    status.get_by_text("10 runs · +9 ops since the first").wait_for()
    lab.screenshot("graph_view_lazy", view_of(lab, 1))


def test_names_are_never_html(lab: Lab) -> None:
    lab.open_cells(
        "hostile.ipynb",
        "from tensorboard.compat.proto.graph_pb2 import GraphDef\n"
        "from tfteach.jupyter import GraphView\n"
        "bad = '<img src=x onerror=\"window.hacked=1\">'\n"
        "g = GraphDef()\n"
        "n = g.node.add(name=bad, op='<script>window.hacked=2</script>')\n"
        "n.attr[bad].s = bad.encode()\n"
        "n.device = bad\n"
        "GraphView(g, fetches=[bad])",
    )
    lab.run_all()
    view = view_of(lab, 0)
    view.locator(".tft-node").first.click()
    view.locator(".tft-details h3").wait_for()
    view.get_by_role("button", name="Outline: the graph as a list").click()
    assert view.locator("img, script").count() == 0
    assert lab.page.evaluate("() => window.hacked") is None
    assert lab.cell_errors() == []


def is_drawn_in_dark(lab: Lab, view: Locator) -> None:
    lab.set_theme("JupyterLab Dark")
    ink = view.locator(".tft-title").first.evaluate("e => getComputedStyle(e).fill")
    ground = view.evaluate("e => getComputedStyle(e).backgroundColor")
    assert brightness(ink) > 180 > 80 > brightness(ground)
    lab.screenshot("graph_view_dark", view)
    lab.set_theme("JupyterLab Light")


def brightness(colour: str) -> float:
    numbers = colour[colour.index("(") + 1 : -1].split(",")
    return sum(float(number) for number in numbers[:3]) / 3


def test_the_page_prunes_as_python_does(browser: Browser) -> None:
    """Random graphs with several outputs, control edges and feeds, in both."""
    cases = [random_case(seed) for seed in range(150)]
    page = browser.new_page()
    found = page.evaluate(
        """async ([source, cases]) => {
            const url = URL.createObjectURL(
                new Blob([source], {type: 'text/javascript'}));
            const {GraphModel, decode, prune} = await import(url);
            return cases.map(({rows, fetches, feeds}) => {
                const model = new GraphModel(rows.map(decode));
                const {needed} = prune(model, fetches, feeds);
                return [...needed].sort((a, b) => a - b);
            });
        }""",
        [(STATIC / "graph.js").read_text(), [case for case, _ in cases]],
    )
    page.close()
    assert found == [needed for _, needed in cases]
    sizes = {len(needed) for _, needed in cases}
    assert len(sizes) > 10  # the cases do differ


def random_case(seed: int) -> tuple[dict[str, Any], list[int]]:
    """A graph as rows with fetches and feeds, and what Python says a run needs."""
    choice = random.Random(seed)
    with tf.Graph().as_default() as graph:
        tensors = [tf.placeholder(tf.float32, name="p0")]
        for i in range(choice.randint(1, 40)):
            before = [choice.choice(tensors).op for _ in range(choice.randint(0, 2))]
            with tf.control_dependencies(before):
                one, other = choice.choices(tensors, k=2)
                kind = choice.random()
                if kind < 0.1:
                    tensors.append(tf.placeholder(tf.float32, name=f"p{i + 1}"))
                elif kind < 0.2:
                    tf.no_op(name=f"n{i}")
                else:
                    tensors.append(tf.add(one, other, name=f"a{i}"))
    ops = graph.get_operations()
    fetches: list[Any] = [choice.choice(ops) for _ in range(choice.randint(1, 2))]
    fetches += [choice.choice(tensors)]
    feeds = [choice.choice(tensors) for _ in range(choice.randint(0, 4))]
    needed = prune(fetches, feeds).needed
    case = {
        "rows": rows_of_graph(graph),
        "fetches": [fetch.name for fetch in fetches],
        "feeds": [feed.name for feed in feeds],
    }
    return case, sorted(op.node_id - 1 for op in needed)


def needs_no_mouse(lab: Lab, view: Locator) -> None:
    keys = lab.page.keyboard
    view.locator(".tft-bar button").last.focus()
    keys.press("Tab")
    assert view.locator(".tft-canvas").evaluate("e => e === document.activeElement")
    keys.press("ArrowDown")
    assert focused(lab) == "x"
    keys.press("ArrowDown")
    assert focused(lab) == "layer/"
    keys.press("Enter")
    node(view, "layer/y").wait_for()
    assert node(view, "layer/").get_attribute("aria-expanded") == "true"
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    assert focused(lab) == "layer/y"
    keys.press("f")
    view.locator(".tft-status", has_text="3 of 8 ops run").wait_for()
    label = node(view, "out/").get_attribute("aria-label") or ""
    assert "0 run" in label
    keys.press("d")  # fed as well: nothing is left to compute
    view.locator(".tft-status", has_text="0 of 8 ops run").wait_for()
    keys.press("Escape")
    assert not view.locator(".tft-details").is_visible()
    # no key reached the notebook: f and d are shortcuts there
    assert len(lab.as_notebook()["cells"]) == 2
    # the outline is a tree, for the keyboard and for screen readers
    view.get_by_role("button", name="Outline: the graph as a list").press("Enter")
    tree = view.get_by_role("tree")
    tree.locator('[role=treeitem][tabindex="0"]').focus()
    keys.press("ArrowDown")
    keys.press("Enter")
    view.locator(".tft-details h3", has_text="layer").wait_for()


def focused(lab: Lab) -> Any:
    return lab.page.evaluate("() => document.activeElement.dataset.id")
