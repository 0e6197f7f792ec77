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
