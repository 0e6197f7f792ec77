"""The views of models' files and of checkpoints in a real JupyterLab."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import views
from tests.browser.lab import Lab
from tests.golden.model_files import FOLDER

pytestmark = pytest.mark.browser

SETUP = "import tfteach.jupyter as tfj"


def test_a_saved_model_of_tensorflow_2_is_explored(lab: Lab) -> None:
    lab.open_cells("model.ipynb", SETUP, f"tfj.show({str(FOLDER / 'tf2')!r})")
    lab.run_all()
    assert not (errors := lab.cell_errors()), errors
    view = views.root_of(lab, 1)
    contents = view.get_by_role("region", name="Signatures and variables")
    expect(contents.get_by_role("heading", name="serving_default")).to_be_visible()
    contents.get_by_role("button", name="best").click()
    details = view.locator(".tft-details")
    expect(details.get_by_role("heading", level=3)).to_contain_text("Partitioned")
    view.locator(".tft-search").fill("DisableCopyOnRead")
    view.locator(".tft-search").press("Enter")
    expect(details).to_contain_text("tfteach does not have DisableCopyOnRead")
    lab.screenshot("model_view", view)
    # the body of the function is inside the call, which is open
    view.locator(".tft-search").fill("TopKV2")
    view.locator(".tft-search").press("Enter")
    call = "StatefulPartitionedCall"
    view.locator(f".tft-node[data-id='{call}/{call}/TopKV2']").wait_for()
    heading = details.get_by_role("heading", level=3)
    expect(heading).to_contain_text(f"{call}/{call}/")
    lab.set_theme(views.DARK)
    lab.screenshot("model_view_dark", view)
    lab.set_theme(views.LIGHT)


def test_assets_of_a_saved_model_lead_to_their_ops(lab: Lab, tmp_path: Path) -> None:
    (copy := tmp_path / "model").mkdir()
    shutil.copy(FOLDER / "tf2_calls" / "saved_model.pb", copy)
    shows = [f"tfj.show({str(path)!r})" for path in (FOLDER / "tf2_calls", copy)]
    lab.open_cells("assets.ipynb", SETUP, *shows)
    lab.run_all()
    assert not (errors := lab.cell_errors()), errors
    whole, without = views.root_of(lab, 1), views.root_of(lab, 2)
    asset = whole.get_by_role("button", name="words.txt 6 B")
    asset.click()
    heading = whole.locator(".tft-details").get_by_role("heading", level=3)
    expect(heading).to_contain_text("asset_path_initializer")
    expect(without.get_by_role("button", name="words.txt missing")).to_be_visible()
    # a loop has a scope for each of its functions
    whole.locator(".tft-search").fill("Tanh")
    whole.locator(".tft-search").press("Enter")
    whole.locator(
        ".tft-node[data-id$='/while/body/while/PartitionedCall/Tanh']"
    ).wait_for()


def test_variables_of_a_checkpoint_are_filtered(lab: Lab) -> None:
    cell = views.CELLS["CheckpointView"]
    lab.open_cells("checkpoint.ipynb", views.SETUP, cell)
    lab.run_all()
    assert not (errors := lab.cell_errors()), errors
    view = views.root_of(lab, 1)
    missing = view.locator(".tft-saved-missing")
    expect(missing).to_contain_text("hidden/weight")
    expect(missing).to_contain_text("(float32 4×8) is not in the checkpoint")
    rows = view.locator(".tft-saved-row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("changed by")
    lab.screenshot("checkpoint_view", view)
    view.get_by_role("searchbox").fill("OUT")
    expect(rows).to_have_count(1)
    view.locator("summary").last.click()
    expect(rows).to_be_hidden()
    view.get_by_role("searchbox").fill("nothing")
    expect(view.get_by_text("No variable has such a name.")).to_be_visible()
    lab.set_theme(views.DARK)
    lab.screenshot("checkpoint_view_dark", view)
    lab.set_theme(views.LIGHT)


MANY = """\
import tempfile
import tfteach as tf
import tfteach.jupyter as tfj
with tf.Graph().as_default() as whole, tf.Session() as sess:
    flat = {f"w{i}": tf.get_variable(f"w{i}", [2]) for i in range(250)}
    for i in range(70):
        for part in ("a", "b", "b/Adam", "b/Adam_1"):
            flat[f"block_{i}/{part}"] = tf.get_variable(f"block_{i}/{part}", [2])
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver(flat).save(sess, tempfile.mkdtemp() + "/model")
with tf.Graph().as_default() as other:
    for i in range(40):
        tf.get_variable(f"tower/v{i}", [2])
tfj.CheckpointView(path, graph=other)
"""


def test_many_variables_are_listed_in_part(lab: Lab) -> None:
    lab.open_cells("many.ipynb", MANY)
    lab.run_all()
    assert not (errors := lab.cell_errors()), errors
    view = views.root_of(lab, 0)
    missing = view.locator(".tft-saved-missing")
    expect(missing).to_contain_text("tower/v39")
    box = missing.bounding_box()
    assert box is not None
    assert box["height"] < 230  # the tree stays in sight
    missing.locator("summary").click()
    expect(missing.locator("ul")).to_be_hidden()
    rows, search = view.locator(".tft-saved-row"), view.get_by_role("searchbox")
    expect(rows).to_have_count(200)
    view.get_by_role("button", name="Show all in this scope: 120 more").click()
    expect(rows).to_have_count(250)
    scopes = view.locator(".tft-saved-tree summary")
    expect(scopes).to_have_count(70)
    scopes.filter(has_text="block_10/").click()
    expect(rows).to_have_count(254)
    slot = view.locator(
        ".tft-saved-row", has=lab.page.get_by_text("b/Adam", exact=True)
    )
    expect(slot).to_have_attribute("title", "block_10/b/Adam")
    search.fill("w24")
    expect(rows).to_have_count(11)
    search.fill("BLOCK_1")  # few enough to be open
    expect(rows).to_have_count(44)
    search.fill("")  # as it was left
    expect(rows).to_have_count(254)
