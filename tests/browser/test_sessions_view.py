"""The sessions view in a real JupyterLab: two sessions and one variable."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext tfteach\nimport tfteach as tf",
    """\
counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer())
weights = tf.get_variable("weights", [3], initializer=tf.ones_initializer())
count = tf.assign_add(counter, 1.0, name="count")
init = tf.global_variables_initializer()
alice, bob = tf.Session(), tf.Session()
""",
    "%sessions alice bob",
    """\
alice.run(init)
alice.run(count)
try:
    bob.run(count)
except tf.errors.FailedPreconditionError:
    pass
bob.run(counter.initializer)
bob.run(count)
alice.run(count)
""",
)


def test_two_sessions_and_one_variable(lab: Lab) -> None:
    lab.open_cells("sessions.ipynb", *CELLS)
    for cell in range(4):
        lab.run_cell(cell)
    assert lab.cell_errors() == []
    view = lab.cell(2).locator(".tfteach-sessions")
    view.wait_for()
    when = view.locator(".tft-when")
    when.get_by_text("after run 6 of 6").wait_for()

    def row(name: str) -> list[str]:
        found = view.locator("tbody tr", has=lab.page.locator("code", has_text=name))
        cells = found.locator("td").all()
        return [" ".join(cell.inner_text().split()) for cell in cells]

    assert row("counter") == ["1 → 2", "1"]
    assert row("weights") == ["[1, 1, 1]", "uninitialized"]
    lab.screenshot("sessions_view", view)
    # back in time, by a click, by the slider's keys, by the arrow keys
    log = view.locator(".tft-run-log")
    log.locator("li", has_text="FailedPreconditionError").click()
    when.get_by_text("after run 3 of 6").wait_for()
    assert row("counter") == ["1", "uninitialized"]
    lab.screenshot("sessions_view_error", view)
    log.locator("li[aria-selected=true]").press("ArrowUp")
    when.get_by_text("after run 2 of 6").wait_for()
    assert row("counter") == ["0 → 1", "uninitialized"]
    assert log.locator("li:focus").get_attribute("aria-selected") == "true"
    view.locator("input[type=range]").press("Home")
    when.get_by_text("before any run").wait_for()
    assert row("counter") == ["uninitialized", "uninitialized"]
    view.get_by_role("button", name="One run on").click()
    when.get_by_text("after run 1 of 6").wait_for()
    assert row("counter") == ["uninitialized → 0", "uninitialized"]
    lab.set_theme("JupyterLab Dark")
    lab.screenshot("sessions_view_dark", view)
    lab.set_theme("JupyterLab Light")
    # the still table hides while the live view is there
    static = lab.cell(2).locator(".tfteach-static")
    assert static.count() == 1
    assert not static.is_visible()
