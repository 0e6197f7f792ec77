"""The contents of models' files: real TensorFlow's, and bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import object_models
from tests.golden.model_files import FOLDER
from tfteach.explain.files.model_files import read_model
from tfteach.explain.graphs.function_bodies import with_function_bodies
from tfteach.explain.graphs.graph_rows import rows_of_graph_def
from tfteach.framework.protos import GraphDef

KINDS = {
    "frozen.pb": "frozen graph",
    "graph.pbtxt": "GraphDef",
    "model.meta": "MetaGraph",
    "events": "event file",
    "saved": "SavedModel",
    "saved/saved_model.pb": "SavedModel",
    "tf2": "SavedModel",
    "tf2_calls": "SavedModel",
}


@pytest.mark.parametrize("name", KINDS)
def test_formats_are_told_apart_by_their_contents(name: str, tmp_path: Path) -> None:
    model = read_model(FOLDER / name)
    assert model.kind == KINDS[name]
    assert len(model.graphs) == 1
    if (FOLDER / name).is_file():
        copy = tmp_path / "model"
        copy.write_bytes((FOLDER / name).read_bytes())
        assert read_model(copy).kind == KINDS[name]


@pytest.mark.parametrize("name", ["graph.pbtxt", "model.meta", "events", "saved"])
def test_variables_have_shapes_and_sizes(name: str) -> None:
    [graph] = read_model(FOLDER / name).graphs
    found = {each.key: (each.shape, each.size_bytes) for each in graph.variables}
    assert found == {"layer/w": ([20, 16], 1280), "layer/b": ([16], 64)}
    assert "2 variables, 1.31 KiB" in graph.summary
    assert graph.functions == 2


def test_a_frozen_graph_has_its_weights_as_constants() -> None:
    [graph] = read_model(FOLDER / "frozen.pb").graphs
    [weight] = graph.variables
    assert (weight.key, weight.is_constant, weight.size_bytes) == (
        "layer/w",
        True,
        1280,
    )
    assert "1 large constant, 1.25 KiB" in graph.summary


def test_a_saved_model_has_signatures_and_values() -> None:
    model = read_model(FOLDER / "saved")
    [graph] = model.graphs
    [signature] = graph.signatures
    assert graph.title == "tags serve"
    assert signature.name == "serving_default"
    assert [str(each) for each in signature.inputs] == ["x: float32 ?×20"]
    assert [(e.key, e.op) for e in signature.outputs] == [("y", "y:0")]
    assert model.checkpoint == f"{FOLDER}/saved/variables/variables"
    text = str(model)
    assert "  takes x: float32 ?×20 (x:0)" in text
    assert "variable layer/w: float32 20×16, 1.25 KiB" in text


def test_ops_that_tfteach_does_not_have_are_counted_and_marked() -> None:
    [graph] = read_model(FOLDER / "tf2").graphs
    assert graph.unknown == {"DisableCopyOnRead": 1}
    assert "MatMul" not in graph.unknown
    assert "DisableCopyOnRead (" in graph.to_text()
    marks = {row.type: row.more.get("unknown") for row in rows_of_graph_def(
        with_function_bodies(graph.graph_def)
    )}  # fmt: skip
    assert marks["DisableCopyOnRead"] is True
    assert marks["MatMul"] is marks["_Arg"] is None


def test_assets_have_sizes_and_missing_ones_are_told(tmp_path: Path) -> None:
    [graph] = read_model(FOLDER / "tf2_calls").graphs
    [asset] = graph.assets
    assert (asset.name, asset.size_bytes) == ("words.txt", 6)
    assert asset.tensor.partition(":")[0] in [n.name for n in graph.graph_def.node]
    assert "; 1 asset" in graph.summary
    assert "missing" not in graph.summary
    assert "\nasset words.txt, 6 B (" in graph.to_text()
    copy = tmp_path / "saved_model.pb"
    copy.write_bytes((FOLDER / "tf2_calls" / "saved_model.pb").read_bytes())
    for path in (copy, tmp_path):
        [graph] = read_model(path).graphs
        assert graph.assets[0].size_bytes is None
        assert "; 1 asset, 1 missing" in graph.summary
        assert "asset words.txt, missing (" in graph.to_text()


def test_assets_of_tensorflow_1_are_in_a_collection(tmp_path: Path) -> None:
    (tmp_path / "vocabulary").write_text("a\nb\n")
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        path = tf.constant(str(tmp_path / "vocabulary"), name="path")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(
            session, ["serve"], assets_collection=[path]
        )
        builder.save()
    [graph] = read_model(folder).graphs
    assert graph.assets == (("vocabulary", "path:0", 4),)


def test_functions_of_objects_say_what_they_accept(tmp_path: Path) -> None:
    golden = Path(object_models.__file__).with_suffix(".json").read_text()
    files = json.loads(golden)["2.21.0"]["files"]
    [graph] = read_model(object_models.unpacked(files, tmp_path)).graphs
    assert METHODS in graph.to_text()


METHODS = """\
method __call__
  takes x: float32 ?×2, training=False, scale=1.0
  takes x: float32 1×2, training=True, scale=1.0
method collatz
  takes n: int32 scalar
method look_up
  takes keys: string [?]
method many
  takes x: float32 scalar, rest_0: float32 1×2, k=3
method serve
  takes x: float32 ?×2
"""


def test_a_graph_without_functions_stays_as_it_is() -> None:
    graph_def = GraphDef()
    graph_def.node.add(name="functions", op="NoOp")
    assert with_function_bodies(graph_def) is graph_def
    function = graph_def.library.function.add()
    function.signature.name = "f"
    function.node_def.add(name="a", op="Twins")
    function.node_def.add(name="b", op="f", input=["a:out:1", "^a"])
    found = with_function_bodies(graph_def)
    assert [node.name for node in found.node][1:] == [
        "functions_1/f/a",
        "functions_1/f/b",
    ]
    assert list(found.node[2].input) == ["functions_1/f/a:1", "^functions_1/f/a"]
    assert len(graph_def.node) == 1


def write(path: Path, data: Any) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


REFUSED = {
    "unknown field": (
        'node {\n  name: "a"\n  op: "NoOp"\n  colour: "red"\n}\n',
        tf.errors.InvalidArgumentError,
        r'line 4, column 3: .*"colour".*GraphDef',
    ),
    "other text": (
        "name: 'caffe'\nlayer { }\n",
        tf.errors.InvalidArgumentError,
        "begins with 'name', which no model does",
    ),
    "unfinished text": (
        'node { name: "a"',
        tf.errors.InvalidArgumentError,
        "line 1, column",
    ),
    "prose": ("Hello, world.\n", tf.errors.InvalidArgumentError, "no field at its"),
    "empty": (b"", tf.errors.DataLossError, "the file is empty"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(64), tf.errors.DataLossError, "neither a"),
    "zip": (b"PK\x03\x04" + bytes(64), tf.errors.DataLossError, "neither a GraphDef"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_model_is_refused(name: str, tmp_path: Path) -> None:
    data, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        read_model(write(tmp_path / "model", data))


@pytest.mark.parametrize("name", ["frozen.pb", "model.meta", "saved/saved_model.pb"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_truncated_file_is_refused(name: str, share: float, tmp_path: Path) -> None:
    data = (FOLDER / name).read_bytes()
    path = write(tmp_path / "model.pb", data[: int(len(data) * share)])
    with pytest.raises(tf.errors.DataLossError, match="damaged, truncated"):
        read_model(path)


def test_a_damaged_event_file_is_refused(tmp_path: Path) -> None:
    data = bytearray((FOLDER / "events").read_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(tf.errors.DataLossError, match="corrupted record"):
        read_model(write(tmp_path / "events", bytes(data)))


def test_an_event_file_without_a_graph_says_so(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(str(tmp_path))
        writer.add_summary(tf.Summary(), 1)
        writer.close()
    [path] = tmp_path.iterdir()
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 events without"):
        read_model(path)


def test_a_directory_without_a_saved_model_lists_its_files(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="it is empty"):
        read_model(tmp_path)
    (tmp_path / "frozen.pb").write_bytes(b"")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"files: frozen\.pb"):
        read_model(tmp_path)


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        read_model(tmp_path / "none.pb")


def test_a_file_of_3_gb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.pb"
    with path.open("wb") as file:
        file.truncate(3_000_000_000)  # sparse
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"it has 3\.0 GB"):
        read_model(path)


def test_types_and_shapes_that_tfteach_does_not_know_are_drawn(tmp_path: Path) -> None:
    graph_def = GraphDef()
    node = graph_def.node.add(name="v", op="VarHandleOp")
    node.attr["dtype"].type = 99
    node.attr["shape"].shape.unknown_rank = True
    path = write(tmp_path / "model.pb", graph_def.SerializeToString())
    [graph] = read_model(path).graphs
    assert str(graph.variables[0]) == "v: type 99 of unknown shape"
