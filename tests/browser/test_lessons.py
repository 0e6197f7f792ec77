"""The lessons in a real JupyterLab: they run, and their views do what the text says."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Locator

from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

FIRST = "01_build_and_run_a_graph.ipynb"
FIFTH = "05_avoid_lazy_loading.ipynb"
LESSONS = [FIRST, "02_fetch_feed_and_prune.ipynb", FIFTH]


VIEWS = ("%%graph", "%%lazy", "GraphView(", "RunView(", "GrowthView(")
OUTERMOST = ".tfteach-graph:not(.tfteach-graph .tfteach-graph)"


def view_after(lab: Lab, source: str) -> Locator:
    """The view under the cell whose source begins so, scrolled to."""
    cells = lab.as_notebook()["cells"]
    [index] = [
        i for i, c in enumerate(cells) if "".join(c["source"]).startswith(source)
    ]
    view = lab.cell(index).locator(".tfteach-graph")
    view.wait_for()
    view.scroll_into_view_if_needed()
    return view


def box(view: Locator, name: str) -> Locator:
    return view.locator(f'.tft-node[data-id="{name}"]')


def classes(node: Locator) -> set[str]:
    return set((node.get_attribute("class") or "").split())


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_cell_of_a_lesson_runs_and_every_view_is_there(
    lab: Lab, lesson: str
) -> None:
    lab.open_lesson(lesson)
    lab.run_all()
    assert lab.cell_errors() == []
    shown = [
        i
        for i, cell in enumerate(lab.as_notebook()["cells"])
        if "".join(cell["source"]).startswith(VIEWS)
    ]
    assert len(shown) >= 4
    for i in shown:
        cell = lab.cell(i)
        cell.locator(".tfteach-graph .tft-node:visible").first.wait_for()
        assert cell.locator(OUTERMOST).count() == 1
        assert not cell.locator(".tfteach-static").is_visible()  # one picture, not two
        assert cell.locator(".tft-status, .tft-headline").first.inner_text() != ""
    if "TFTEACH_SCREENSHOTS" in os.environ:
        look(lab, lesson, shown)
    if lesson == FIRST:
        expand_a_scope_fetch_and_see_the_rest_dim(lab)
    if lesson == FIFTH:
        predict_what_a_lazy_run_needs(lab)


def look(lab: Lab, lesson: str, shown: list[int]) -> None:
    """Pictures of all that a lesson shows, in both themes."""
    for theme in ("Dark", "Light"):
        lab.set_theme(f"JupyterLab {theme}")
        for i in shown:
            lab.cell(i).scroll_into_view_if_needed()
            lab.screenshot(f"{lesson[:2]}_{i:02}_{theme.lower()}", lab.cell(i))


def predict_what_a_lazy_run_needs(lab: Lab) -> None:
    """Lesson 5's guess on the graph itself, with one right `Add` and one wrong."""
    guess = view_after(lab, "RunView(five")
    for name in ("x", "x/read", "y", "y/read", "Add_4", "Add_3"):
        box(guess, name).locator(".tft-shape").click()
    guess.get_by_text("6 marked").wait_for()
    guess.get_by_text("Reveal").click()
    guess.get_by_text("5 right, 1 wrong, 0 missed").wait_for()
    lab.screenshot("05_predicted", guess)


def expand_a_scope_fetch_and_see_the_rest_dim(lab: Lab) -> None:
    """Lesson 1's pictures do what its text says."""
    add = view_after(lab, "%%graph\na = tf.add(3, 5)")
    box(add, "Add/").dblclick()
    for name in ("Add/x", "Add/y", "Add"):
        box(add, name).wait_for()
    box(add, "Greater/").wait_for()  # what `if a > 7` built

    scoped = view_after(lab, "%%graph scoped")
    assert box(scoped, "layer/matmul").count() == 0
    box(scoped, "layer/").dblclick()
    box(scoped, "layer/matmul").wait_for()
    box(scoped, "report/").wait_for()

    guess = view_after(lab, "RunView(plan")
    for name in ("x", "y", "total", "product", "power"):
        box(guess, name).locator(".tft-shape").click()
    guess.get_by_text("Reveal").click()
    guess.get_by_text("5 right, 0 wrong, 0 missed").wait_for()

    power = view_after(lab, "GraphView(plan")
    count = power.locator(".tft-status")
    count.get_by_text("5 of 6 ops run").wait_for()
    assert "tft-dim" in classes(box(power, "useless"))
    # Modify: make `useless` a fetch as well, and take `power` away
    box(power, "useless").click()
    lab.page.keyboard.press("f")
    count.get_by_text("6 of 6 ops run").wait_for()
    box(power, "power").hover()
    box(power, "power").locator(".tft-fetcher").click()
    count.get_by_text("4 of 6 ops run").wait_for()
    assert "tft-dim" in classes(box(power, "power"))
    assert "tft-needed" in classes(box(power, "useless"))
    lab.screenshot("01_pruned", power)

    lazy = view_after(lab, "%%graph lazy")
    lazy.locator(".tft-status", has_text="5 runs · +4 ops since the first").wait_for()
    for name in ("Add", "Add_1", "Add_4"):
        box(lazy, name).wait_for()
