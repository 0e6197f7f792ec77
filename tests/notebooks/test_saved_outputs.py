"""What the lessons show to who has not run them: on GitHub, in a PDF, before a run."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from nbconvert import HTMLExporter

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def lesson(request: pytest.FixtureRequest) -> Any:
    return nbformat.read(request.param, as_version=4)


def shows_a_graph(cell: Any) -> bool:
    return cell.source.startswith(
        (
            "%%graph", "%graph", "GraphView(", "RunView(", "PlacementView(",
            "%%lazy", "GrowthView(", "GraphDiff(", "%diff", "%%trace",
        )
    )  # fmt: skip


def outputs(lesson: Any) -> list[Any]:
    return [output for cell in lesson.cells for output in cell.get("outputs", [])]


def test_there_are_lessons() -> None:
    assert NOTEBOOKS


def test_every_graph_has_one_picture_and_words(lesson: Any) -> None:
    graphs = [cell for cell in lesson.cells if shows_a_graph(cell)]
    assert len(graphs) >= 4
    for cell in graphs:
        [output] = [o for o in cell.outputs if o.output_type != "stream"]
        root = ElementTree.fromstring(output.data["image/svg+xml"])
        assert root.tag.endswith("svg")
        text = output.data["text/plain"]
        assert re.match(
            r"(\w+: )?[1-9][\d,]* (op|graph)s?|\d+ ops? added, "
            r"|[\w.]+ \(In \[\d+\] line \d+\): .*\d+ traces?\n",
            text,
        )


def test_html_shows_the_pictures(lesson: Any) -> None:
    page, _ = HTMLExporter().from_notebook_node(lesson)  # type: ignore[no-untyped-call]
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    starts = re.compile(
        r"^(TimelineView|StepView\.of|CheckpointView)\(|^%(step|checkpoint) "
        r"|^%%(rows|pipeline)\b|^%timeline |^%cluster (?!end)"
        r"|^ *%(sharing|collections)|^%optimizing |^ *view = show\(",
        re.MULTILINE,
    )
    others = [c for c in lesson.cells if starts.search(c.source)]
    graphs = [c for c in lesson.cells if shows_a_graph(c)]
    assert len(pictures) == len(graphs) + len(others)
    for picture in pictures:
        assert ElementTree.fromstring(base64.b64decode(picture)).tag.endswith("svg")


def test_every_code_cell_was_run_in_order(lesson: Any) -> None:
    counts = [c.execution_count for c in lesson.cells if c.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert not [o for o in outputs(lesson) if o.output_type == "error"]


def test_no_live_view_is_saved(lesson: Any) -> None:
    """Without its kernel it would be an error message above the picture."""
    assert not [o for o in outputs(lesson) if WIDGET in o.get("data", {})]
    assert "widgets" not in lesson.metadata


def test_no_path_of_the_machine_that_ran_it(lesson: Any) -> None:
    text = json.dumps([outputs(lesson), lesson.metadata])
    home = [str(Path.home()), "/root/", "/home/", "/tmp/", "ipykernel_", "\\Users\\"]
    assert not [part for part in home if part in text]
