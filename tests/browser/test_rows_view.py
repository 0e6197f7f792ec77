"""The rows view in a real JupyterLab: Adam beside LazyAdam."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext tfteach\nimport tfteach as tf",
    """\
%%rows --names Adam LazyAdam
for optimizer in (tf.train.AdamOptimizer, tf.contrib.opt.LazyAdamOptimizer):
    tf.reset_default_graph()
    ones = tf.ones_initializer()
    emb = tf.get_variable("emb", [8, 4], initializer=ones)
    ids = tf.placeholder(tf.int32, [None], name="ids")
    loss = tf.reduce_sum(tf.nn.embedding_lookup(emb, ids) ** 2)
    train = optimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for batch in ([0, 1], [2, 2], [0, 4], [3], [6], [1], [0, 5], [2], [4], [1, 3]):
            sess.run(train, {ids: batch})
""",
)


def test_adam_beside_lazy_adam(lab: Lab) -> None:
    lab.open_cells("rows.ipynb", *CELLS)
    for cell in range(2):
        lab.run_cell(cell)
    assert lab.cell_errors() == []
    view = lab.cell(1).locator(".tfteach-rows")
    adam = view.get_by_role("region", name="Adam", exact=True)
    lazy = view.get_by_role("region", name="LazyAdam")
    adam.locator("path.tft-unread").first.wait_for()
    assert lazy.locator("path.tft-moved").count() > 0
    assert lazy.locator("path.tft-unread").count() == 0
    assert "a row moved that its step did not read" in adam.inner_text()
    assert "its step had read it" in lazy.inner_text()
    lab.screenshot("rows_view", view)

    said = view.locator(".tft-rows-said")
    stage = adam.get_by_role("application")
    stage.press("ArrowDown")  # the first row and step
    said.get_by_text("row 0, step 1: read, moved by 0.2").first.wait_for()
    stage.press("ArrowRight")
    said.get_by_text("Adam row 0, step 2: not read, moved by").wait_for()
    said.get_by_text("LazyAdam row 0, step 2: not read, did not move").wait_for()
    assert view.locator("rect.tft-rows-place").count() == 2
    stage.press("End")
    stage.press("ArrowDown")
    said.get_by_text("Adam row 1, step 10: read, moved by").first.wait_for()
    stage.press("Escape")
    said.get_by_text("Choose a row and a step").wait_for()

    adam.get_by_role("button", name="Adam_1").click()
    adam.get_by_text("emb/Adam_1, 8 × 4").wait_for()
    lazy.get_by_text("emb, 8 × 4").wait_for()
    adam.get_by_role("button", name="variable").click()
    first = lazy.get_by_role("application").bounding_box()
    assert first is not None
    lab.page.mouse.click(first["x"] + 62 + 4, first["y"] + 20 * 2 + 10)
    said.get_by_text("LazyAdam row 2, step 1: not read, did not move").wait_for()
    lab.set_theme("JupyterLab Dark")
    lab.screenshot("rows_view_dark", view)
