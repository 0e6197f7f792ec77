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
    expect(details).to_contain_text("tfteach does not have StatefulPartitionedCall")
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
