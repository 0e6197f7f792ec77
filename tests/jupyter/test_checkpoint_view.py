"""The view of a checkpoint, its picture, its text and its magic."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from IPython.core.error import UsageError

import tfteach as tf
import tfteach.jupyter as tfj
from tests.explain.files.test_checkpoints import saved
from tests.jupyter.test_magics import run, shell  # noqa: F401


@pytest.fixture
def view(tmp_path: Path) -> Any:
    before = saved(tmp_path, "a", net__w=np.arange(20.0), net__b=[0.0])
    after = saved(tmp_path, "b", net__w=2 * np.arange(20.0), net__b=[0.0])
    with tf.Graph().as_default() as graph:
        tf.get_variable("net/v", [20], tf.float64)
    return tfj.CheckpointView(after, before, graph)


def test_the_page_has_a_row_for_each_variable(view: Any) -> None:
    b, w = view._variables
    assert b[0] == "net/b"
    assert w[1] == "float64 [20]"
    assert w[3:5] == ["160 B", 1.0]
    assert sum(w[6]) == 20
    assert w[7] == ["0", "38"]
    assert w[9:] == ["changed by 100%", "changed"]
    assert b[9:] == ["same", "same"]
    [missing] = view._missing
    assert missing[0] == "net/v"
    assert missing[2] == ["net/w"]
    assert view._extra == ["net/b", "net/w"]
    assert view.page_title() == "b: checkpoint"


def test_the_picture_and_the_text_have_the_changes(view: Any) -> None:
    svg = ElementTree.fromstring(view.to_svg())
    words = "".join(svg.itertext())
    assert "changed by 100%" in words
    assert len(svg.findall("{*}rect")) == 1 + 16
    assert "net/v (float64 [20]) is not in the checkpoint: is it net/w?" in str(view)
    assert "net/w: float64 [20], 160 B" in view.static_bundle()["text/plain"]


def test_the_picture_lists_what_is_missing_and_extra(view: Any, tmp_path: Path) -> None:
    lines = [each.text or "" for each in ElementTree.fromstring(view.to_svg()).iter()]
    missing = "missing: net/v (float64 [20]) is not in the checkpoint: is it net/w?"
    assert lines.index(missing) < lines.index("not in the graph: net/b, net/w")
    assert lines.index("not in the graph: net/b, net/w") < lines.index("net/b")
    many = saved(tmp_path, "many", **{f"v{i}": [0.0] for i in range(10)})
    with tf.Graph().as_default() as graph:
        for i in range(10):
            tf.get_variable(f"w{i}" + "x" * 150, [1], tf.float64)
    svg = ElementTree.fromstring(tfj.CheckpointView(many, graph=graph).to_svg())
    words = [each.text or "" for each in svg.iter()]
    assert "and 2 more missing" in words
    assert sum(word.startswith("missing: w") for word in words) == 8
    [extra] = [word for word in words if word.startswith("not in the graph: v0, ")]
    assert extra.endswith(", v7 and 2 more")
    assert max(map(len, words)) <= 140
    lowest = max(float(each.get("y", "0")) for each in svg.findall("{*}text"))
    assert float(svg.get("height", "0")) > lowest


def test_names_in_the_picture_are_escaped(tmp_path: Path) -> None:
    from tfteach.explain.files.checkpoints import CheckpointContents, SavedVariable
    from tfteach.explain.steps.value_summary import Figures

    odd = SavedVariable("<b>&", "float32", (), 4, 0.0, Figures())
    many = [odd] * 50
    svg = tfj.CheckpointView(CheckpointContents("p", "", many, None, None)).to_svg()
    assert "<b>&" not in svg
    assert "and 10 more" in "".join(ElementTree.fromstring(svg).itertext())


def test_show_takes_checkpoints(view: Any, tmp_path: Path) -> None:
    path = view.contents.path
    assert repr(tfj.show(path)) == repr(tfj.CheckpointView(path))
    assert repr(tfj.show(f"{path}.index")) == repr(tfj.CheckpointView(path))


def test_the_magic_compares(shell: Any, view: Any, capsys: Any) -> None:  # noqa: F811
    contents = view.contents
    line = f"%checkpoint {contents.path} --before {contents.before} --text"
    assert run(shell, line).success
    assert "1 same, 1 changed" in capsys.readouterr().out
    result = run(shell, "%checkpoint /none/model")
    assert isinstance(result.error_in_exec, UsageError)
    assert "%checkpoint: /none/model: no such checkpoint" in str(result.error_in_exec)
