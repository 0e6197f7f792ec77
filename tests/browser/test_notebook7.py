"""The views outside JupyterLab: in Notebook 7, reopened without a kernel, as HTML."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.browser.lab import Lab, private_environment
from tests.browser.test_graph_view import MODEL, SETUP, node

pytestmark = pytest.mark.browser

RUN = "from tfteach.jupyter import RunView\nRunView(graph, fetches=[out], feeds=[y])"


def view_in(lab: Lab, cell: int) -> Locator:
    view = lab.cell(cell).locator(".tfteach-graph")
    view.wait_for()
    return view


def test_views_in_notebook_7(lab: Lab, browser: Browser, tmp_path: Path) -> None:
    lab.open_cells("seven.ipynb", SETUP, MODEL, RUN, "view", app="notebooks")
    lab.run_all()
    assert not (errors := lab.cell_errors()), errors
    # operated by mouse and by keyboard
    first, again = view_in(lab, 1), view_in(lab, 3)
    node(first, "layer/").dblclick()
    node(first, "layer/y").wait_for()
    node(first, "layer/y").click()
    lab.page.keyboard.press("f")
    first.locator(".tft-status", has_text="3 of 8 ops run").wait_for()
    # the same view in another cell follows, and leads
    node(again, "layer/y").wait_for()
    again.locator(".tft-status", has_text="3 of 8 ops run").wait_for()
    again.get_by_role("button", name="Collapse everything").click()
    node(first, "layer/y").wait_for(state="detached")
    runs = view_in(lab, 2)
    runs.locator(".tft-status", has_text="2 of 8 ops run").wait_for()
    runs.get_by_role("button", name="Trace").click()
    runs.locator(".tft-run-said", has_text="All ").wait_for()
    lab.screenshot("notebook_7")
    lab.save_and_end_kernel()

    # reopened: no kernel knows the widgets, the pictures are there
    lab.open("seven.ipynb", app="notebooks")
    for cell in (1, 2, 3):
        lab.cell(cell).locator(".tfteach-static img").wait_for()
    assert lab.page.locator(".tfteach-graph").count() == 0
    lab.screenshot("notebook_7_reopened")

    # and in the HTML that nbconvert writes
    page = converted(browser, lab.server.root / "seven.ipynb", tmp_path)
    shown = page.evaluate(
        """() => [...document.querySelectorAll('.jp-OutputArea :is(img, svg)')]
            .filter((e) => e.getBoundingClientRect().width > 50
                && (e.tagName !== 'IMG' || e.naturalWidth > 0)).length"""
    )
    page.close()
    assert shown == 3
    # Notebook 7 itself misses a plugin or two; a view's code would be in a blob.
    assert not [error for error in lab.page_errors if "blob:" in error]
    lab.page_errors.clear()


def converted(browser: Browser, notebook: Path, home: Path) -> Page:
    """The page that nbconvert makes of a notebook, opened."""
    command = [
        sys.executable,
        "-m",
        "nbconvert",
        "--to=html",
        "--output-dir",
        str(home),
    ]
    subprocess.run(
        [*command, str(notebook)],
        env=private_environment(home),
        check=True,
        capture_output=True,
    )
    page = browser.new_page()
    page.goto((home / notebook.with_suffix(".html").name).as_uri())
    return page
