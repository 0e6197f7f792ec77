"""Steps into a dataset's functions, and its elements by stage, in a real JupyterLab."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab
from tests.browser.test_graph_view import SETUP
from tests.browser.test_growth_view import shots

pytestmark = pytest.mark.browser

BUILD = """\
dataset = tf.data.Dataset.range(20)
dataset = dataset.map(lambda x: tf.square(x, name="square") + 1)
dataset = dataset.filter(lambda x: tf.equal(x % 2, 0))
dataset = dataset.shuffle(3, seed=1).batch(2)
iterator = dataset.make_initializable_iterator()
following = iterator.get_next()
total = tf.reduce_sum(following, name="total")
sess = tf.Session()
sess.run(iterator.initializer)
"""


def test_steps_and_elements_of_a_dataset(lab: Lab) -> None:
    lab.open_cells(
        "dataset.ipynb", SETUP, BUILD, "%step total", "%elements dataset -n 4"
    )
    for index in range(4):
        lab.run_cell(index)
    view = lab.cell(2).locator(".tfteach-step")
    view.wait_for()
    bar = view.locator(".tft-iterations")
    strip = view.locator(".tft-strip")
    strip.focus()
    strip.press("Home")
    for _ in range(2):
        strip.press("ArrowRight")
    calls = bar.locator(".tft-iteration")
    expect(calls).to_contain_text("MapDataset")
    expect(calls).to_contain_text("call 1 of")
    strip.press("Shift+ArrowRight")
    expect(calls).to_contain_text("call 2 of")
    opened = bar.get_by_role("button", name="Next call of MapDataset")
    expect(opened).to_be_enabled()
    shots(lab, view, "step_in_a_dataset")
    table = lab.cell(3).locator("table")
    expect(table.locator("tr")).to_have_count(5)
    batch = table.locator("tr").nth(4)
    expect(batch).to_contain_text("BatchDatasetV2")
    expect(batch).to_contain_text("of 0 to 1")
    expect(table).to_contain_text("In [2] line 2")
    shots(lab, table, "elements")
    assert lab.cell_errors() == []
