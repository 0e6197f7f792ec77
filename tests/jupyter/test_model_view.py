"""The view of a model's file, `show`, and `python -m tfteach show`."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
import tfteach.jupyter as tfj
from tests.golden.model_files import FOLDER
from tfteach.jupyter.pictures.picture_contents import text_of
from tfteach.jupyter.show_file import show_from_command_line


def options(path: Path, **given: Any) -> Namespace:
    return Namespace(
        **{"path": str(path), "html": None, "text": False, "graph": "0", **given}
    )


def test_the_view_has_signatures_and_variables_by_size() -> None:
    view = tfj.show(FOLDER / "saved")
    model = view._model
    assert model["kind"] == "SavedModel"
    assert model["signatures"][0]["inputs"] == [["x", "x", "float32 ?×20"]]
    assert model["variables"] == [
        ["layer/w", "layer/w", "float32 20×16", "1.25 KiB", 1.0, False],
        ["layer/b", "layer/b", "float32 [16]", "64 B", 0.05, False],
    ]
    assert model["unknown"] == ""
    assert "DisableCopyOnRead (1)" in tfj.show(FOLDER / "tf2")._model["unknown"]
    assert view.page_title() == "saved: SavedModel"


def test_a_model_opens_where_it_computes() -> None:
    view = tfj.show(FOLDER / "tf2", aside=["other"])
    call = "StatefulPartitionedCall"
    assert view.aside[:2] == ["other", "functions"]
    assert {"saver_filename", f"{call}_2"} <= set(view.aside)
    assert view.expanded == [f"{call}/", f"{call}/{call}/"]
    assert view.inline == [call]
    assert any(row.name == f"{call}/{call}/MatMul" for row in view._rows)
    assert call in view.to_text()
    chosen = tfj.show(FOLDER / "tf2", depth=2, inline=["x"])
    assert chosen.expanded is None
    assert chosen.inline == ["x", call]
    assert tfj.show(FOLDER / "tf2", expanded=[]).expanded == []
    assert tfj.show(FOLDER / "frozen.pb").graph.library.function


def test_assets_are_listed() -> None:
    view = tfj.show(FOLDER / "tf2_calls")
    assert view._model["assets"] == [["words.txt", "asset_path_initializer", "6 B"]]
    assert tfj.show(FOLDER / "saved")._model["assets"] == []


def test_static_pictures_need_no_known_ops() -> None:
    bundle = tfj.show(FOLDER / "tf2").static_bundle()
    assert "signature serving_default" in bundle["text/plain"]
    assert "image/svg+xml" in bundle


def test_one_of_several_graphs_is_chosen(tmp_path: Path) -> None:
    from tfteach.framework.protos.pool import message

    saved = message("SavedModel")(saved_model_schema_version=1)
    for tags in (["train"], ["serve", "gpu"]):
        meta = saved.meta_graphs.add()
        meta.meta_info_def.tags.extend(tags)
        meta.graph_def.node.add(name=tags[0], op="NoOp")
    (tmp_path / "saved_model.pb").write_bytes(saved.SerializeToString())
    for graph, name in ((0, "train"), (1, "serve"), ("gpu", "serve")):
        view = tfj.show(tmp_path, graph=graph)
        assert [row.name for row in view._rows] == [name]
    assert view._model["others"] == ["tags train"]
    for wrong in (2, -1, "tpu"):
        with pytest.raises(ValueError, match="0: tags train, 1: tags serve, gpu"):
            tfj.show(tmp_path, graph=wrong)


def test_the_command_line_writes_one_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "tfteach", "show", str(FOLDER / "tf2")]
    done = subprocess.run(
        [*command, "--html", str(page)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.startswith(f"Wrote {page}, ")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    wrong = subprocess.run(
        [*command[:-1], str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("python -m tfteach show: ")
    assert "Traceback" not in wrong.stderr
    assert "page.html" in wrong.stderr


def test_without_a_file_the_browser_opens_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: bool(opened.append(url)))
    assert show_from_command_line(options(FOLDER / "frozen.pb")) == ""
    out = capsys.readouterr().out
    assert opened[0].startswith("file:///")
    assert opened[0].endswith("/frozen.pb.html")
    assert "No browser could be opened" in out


def test_text_and_problems_of_the_command_line(tmp_path: Path, capsys: Any) -> None:
    assert show_from_command_line(options(FOLDER / "saved", text=True)) == ""
    assert "signature serving_default" in capsys.readouterr().out
    for given, said in (
        ({"graph": "9"}, "has no graph 9"),
        ({"graph": "tpu"}, "has no graph 'tpu'"),
        ({"html": f"{tmp_path}/none/page.html"}, "there is no directory"),
    ):
        assert said in show_from_command_line(options(FOLDER / "saved", **given))
    bad = tmp_path / "bad.pbtxt"
    bad.write_text('node { colour: "red" }')
    assert '"colour"' in show_from_command_line(options(bad))


def test_a_graph_def_of_functions_is_drawn_by_a_graph_view_too() -> None:
    graph_def = tf.GraphDef()
    graph_def.node.add(name="strange", op="NobodyKnows")
    view = tfj.GraphView(graph_def)
    assert view._rows[0].more["unknown"] is True


def test_a_net_of_more_layers_than_graphs_show_stays_a_chain(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        y = tf.placeholder(tf.float32, name="x")
        for _ in range(320):
            y = tf.nn.relu(y)
    tf.io.write_graph(graph, str(tmp_path), "deep.pb", as_text=False)
    assert tfj.show(tmp_path / "deep.pb").group_above == 600
    assert tfj.show(tmp_path / "deep.pb", group_above=50).group_above == 50


def test_the_still_picture_has_many_variables_as_one_box() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.square(x, name="y")
        names = [f"layer_{i}" for i in range(30)]
        for name in names:
            tf.get_variable(f"{name}/w", [2])
            tf.get_variable(f"{name}/b", [2])
    still = tfj.GraphView(graph, aside=[*names[1:], "x"]).still()
    assert [box.label for box in still.boxes] == ["x", "y", "layer_0", "variables ×58"]
    scopes = {
        name[:i] for name, *_ in still.rows for i, c in enumerate(name) if c == "/"
    }
    head = f"{len(still.rows)} ops in {len(scopes)} scopes"
    assert text_of(still).startswith(head)
    lanes = [still.lane(box) for box in still.boxes]
    assert lanes == ["aside", "main", "main", "aside"]
    few = tfj.GraphView(graph, aside=names[:20]).still()
    assert len(few.boxes) == 32
