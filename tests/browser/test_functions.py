"""Functions in a real JupyterLab: calls are scopes, and the stepper goes into them."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.browser.lab import Lab
from tests.browser.test_graph_view import SETUP
from tests.browser.test_step_view import IMPORT, at, shot, view_of
from tests.jupyter.test_functions_in_views import BUILD
from tfteach.explain import record

pytestmark = pytest.mark.browser


def test_the_stepper_goes_into_a_function(lab: Lab) -> None:
    step = "%step loss --session sess --feed-dict feed"
    lab.open_cells("functions.ipynb", SETUP + IMPORT, BUILD, step)
    lab.run_all()
    assert lab.cell_errors() == []
    view = view_of(lab, 2)
    made: dict[str, Any] = {"tf": tf}
    exec(BUILD, made)
    ran = [step.op for step in record(made["sess"], made["loss"], made["feed"])]
    strip = view.locator(".tft-strip")
    strip.focus()
    for name in ("call/Layer/mul", "if/then_branch/Layer_1/Relu"):
        strip.press("Home")
        for _ in range(ran.index(name)):
            strip.press("ArrowRight")
        at(view, ran.index(name), name)
        shot(lab, f"step_into_{name.replace('/', '_')}", view)


def test_a_view_grows_with_functions(lab: Lab) -> None:
    show = (
        "with tf.Graph().as_default() as live:\n"
        "    x = tf.placeholder(tf.float32, name='x')\n"
    )
    more = (
        "with live.as_default():\n"
        "    rows = tf.data.Dataset.range(9).map(\n"
        "        lambda n: tf.square(n, name='square'))\n"
        "    rows.make_one_shot_iterator().get_next()\n"
    )
    view_of_it = f"{show}tfj.GraphView(live, depth=2)"
    lab.open_cells("growing.ipynb", SETUP + IMPORT, view_of_it, more)
    for index in range(2):
        lab.run_cell(index)
    view = lab.cell(1).locator(".tfteach-graph")
    box = view.locator('.tft-node[data-id="x"]')
    box.wait_for()
    lab.run_cell(2)
    view.locator('.tft-node[data-id="MapDataset/"]').wait_for()
    view.locator('.tft-node[data-id="MapDataset/square"]').wait_for()
    assert box.count() == 1
    shot(lab, "graph_grew_with_functions", view)
    assert lab.cell_errors() == []
