"""Traced functions in a real JupyterLab: calls, reasons, the cure, code and graph."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator

from tests.browser import views
from tests.browser.lab import Lab
from tests.browser.test_graph_view import node
from tests.browser.test_step_view import shot

pytestmark = pytest.mark.browser

SETUP = """\
%load_ext tfteach
import tfteach as tf
tf.enable_eager_execution()
"""

POWER = """\
%%trace
@tf.function
def power(x, n):
    result = x
    for _ in range(n):
        result = result * x
    return result

x = tf.constant([1.0, 2.0])
for n in range(8):
    power(x, n)
"""

COLLATZ = """\
%%trace
@tf.function
def collatz(n, steps):
    for i in tf.range(steps):
        if tf.equal(n % 2, 0):
            n = n // 2
        elif n > 1:
            n = 3 * n + 1
    return n

def last(n):
    return collatz(n, tf.constant(5)) + 0

for k in (3, 7, 9):
    collatz(tf.constant(k), tf.constant(5))
total = tf.function(last)
total(tf.constant(6))
"""


def line(view: Locator, text: str, listing: int = 0) -> Locator:
    listings = view.locator(".tft-listing")
    return listings.nth(listing).locator("button.tft-code-row", has_text=text)


def test_traces_and_their_reasons(lab: Lab) -> None:
    lab.open_cells("traces.ipynb", SETUP, POWER, COLLATZ)
    lab.run_all()
    assert lab.cell_errors() == []
    view = lab.cell(1).locator(".tfteach-trace")
    view.wait_for()
    retracing(view)
    by_keyboard(view)
    loops = lab.cell(2).locator(".tfteach-trace")
    code_and_graph(loops)
    other_functions(loops)
    for theme in (views.DARK, views.LIGHT):
        lab.set_theme(theme)
        shot(lab, f"trace_view_{theme.split()[1].lower()}", view)
        shot(lab, f"trace_view_loop_{theme.split()[1].lower()}", loops)
    lab.save_and_end_kernel()
    lab.open("traces.ipynb")
    still = lab.cell(1).locator(".tfteach-static")
    still.locator("img").wait_for()
    assert "Pass `n` as a Tensor" in still.locator("pre").inner_text()


def retracing(view: Locator) -> None:
    verdict = view.locator(".tft-trace-verdict")
    said = "In [2] line 11 calls power, and each of 8 calls traces anew"
    assert said in verdict.inner_text().replace("\n", " ")
    assert verdict.locator("pre").inner_text() == "power(x, tf.constant(n))"
    assert view.locator("button.tft-call.tft-anew").count() == 7
    # it begins with the last trace, and its reason
    moment = view.locator(".tft-moment")
    moment.get_by_text("Trace 8, traced: n is 7, before 6").wait_for()
    assert moment.locator(".tft-different td").all_inner_texts() == ["6", "7 ≠"]
    node(view, "mul_6").wait_for()
    # another call, another graph
    view.locator("button.tft-call").nth(2).click()
    moment.get_by_text("Trace 3, traced: n is 2, before 1").wait_for()
    node(view, "mul_1").wait_for()
    node(view, "mul_2").wait_for(state="detached")
    line(view, "result = result * x").hover()
    view.locator(".tft-of-line").first.wait_for()
    lit = view.locator(".tft-node.tft-of-line").all()
    assert [box.get_attribute("data-id") for box in lit] == ["mul", "mul_1"]


def by_keyboard(view: Locator) -> None:
    chosen = view.locator('button.tft-call[aria-pressed="true"]')
    chosen.focus()
    chosen.press("ArrowRight")
    view.get_by_text("Trace 4, traced: n is 3, before 2").wait_for()
    assert view.locator("button.tft-call:focus").inner_text() == "4"
    chosen.press("End")
    view.get_by_text("Trace 8, traced").wait_for()


def code_and_graph(view: Locator) -> None:
    view.locator("button.tft-call").first.wait_for()
    assert view.locator(".tft-trace-verdict.tft-wasteful").count() == 0
    # AutoGraph's code stands below, with the same lines
    node(view, "while/").wait_for()
    line(view, "n = 3 * n + 1").hover()
    node(view, "while/").and_(view.locator(".tft-of-line")).wait_for()
    line(view, "n = 3 * n + 1", 1).click()
    details = view.locator(".tft-details h3")
    details.get_by_text("/mul", exact=False).wait_for()
    marked = view.locator(".tft-marked-line").all_inner_texts()
    assert len(marked) == 2
    assert all("n = 3 * n + 1" in text for text in marked)
    toggle = view.get_by_role("button", name="AutoGraph's code")
    assert toggle.get_attribute("aria-pressed") == "true"
    toggle.click()
    view.locator(".tft-converted").wait_for(state="hidden")
    toggle.click()
    view.locator(".tft-converted").wait_for()


def other_functions(view: Locator) -> None:
    """One that calls another: its own trace, whose call opens to the other's body."""
    names = view.locator(".tft-trace-names button")
    assert [" ".join(name.inner_text().split()) for name in names.all()] == [
        "collatz 1 trace",
        "last 1 trace",
    ]
    calls = view.locator("button.tft-call")
    assert calls.all_inner_texts() == ["1", "1", "1", "1"]
    names.nth(1).click()
    view.get_by_text("Trace 1, traced: the first call").wait_for()
    assert calls.all_inner_texts() == ["1"]
    node(view, "StatefulPartitionedCall/").wait_for()
    names.first.click()
