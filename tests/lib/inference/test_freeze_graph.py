"""Freezing models in files: GraphDefs with checkpoints, MetaGraphs, SavedModels."""

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import saved_models
from tfteach.compat.running.tools import run_tool
from tfteach.lib.inference.freeze_graph import freeze_graph, main

GOLDEN = json.loads(Path(saved_models.__file__).with_suffix(".json").read_text())


@pytest.fixture
def theirs(tmp_path):
    """A SavedModel of real TensorFlow."""
    for path, data in GOLDEN["simple"]["files"].items():
        target = tmp_path / "theirs" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(zlib.decompress(base64.b64decode(data)))
    return str(tmp_path / "theirs")


@pytest.fixture
def ours(tmp_path):
    """The prefix of a checkpoint, with graph.pbtxt, graph.pb and a saver beside it."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        v = tf.get_variable("v", initializer=2.0)
        with tf.device("/cpu:0"):
            r = tf.get_variable("r", initializer=1.0, use_resource=True)
        late = tf.Variable(0.0, name="late", collections=["late"])
        tf.add(x * v + r, late, name="y")
        tf.assign(late, 10.0, name="fill")
        saver = tf.train.Saver()
        session.run([v.initializer, r.initializer])
        session.run(v.assign(3.0))
        prefix = saver.save(session, str(tmp_path / "model"))
        for name in ("graph.pbtxt", "graph.pb"):
            tf.train.write_graph(graph, str(tmp_path), name, name.endswith("txt"))
        saver_def = saver.as_saver_def().SerializeToString()
        (tmp_path / "saver.pb").write_bytes(saver_def)
    return prefix


def frozen(**arguments):
    given = {
        "input_graph": "",
        "input_saver": "",
        "input_binary": False,
        "input_checkpoint": "",
        "output_node_names": "y",
        "restore_op_name": None,
        "filename_tensor_name": None,
        "output_graph": "",
        "clear_devices": True,
        "initializer_nodes": "",
    }
    return freeze_graph(**{**given, **arguments})


def computed(graph_def, value):
    assert not [n for n in graph_def.node if "Var" in n.op]
    with tf.Graph().as_default(), tf.Session() as session:
        [y] = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
        return session.run(y, {"x:0": value}).tolist()


@pytest.mark.parametrize(
    "given",
    [
        {"input_graph": "graph.pbtxt"},
        {"input_graph": "graph.pb", "input_binary": True},
        {"input_graph": "graph.pb", "input_binary": True, "input_saver": "saver.pb"},
        {"input_meta_graph": "model.meta", "input_binary": True},
    ],
)
def test_a_graph_and_its_checkpoint(given, ours, tmp_path):
    paths = {
        k: str(tmp_path / v) if k != "input_binary" else v for k, v in given.items()
    }
    written = tmp_path / "frozen.pb"
    made = frozen(
        **paths,
        input_checkpoint=ours,
        initializer_nodes="fill",
        output_graph=str(written),
    )
    assert computed(made, [1.0, 2.0]) == [14.0, 17.0]
    assert tf.GraphDef.FromString(written.read_bytes()) == made
    assert {n.device for n in made.node} == {""}
    with_device = frozen(
        **paths,
        input_checkpoint=ours,
        initializer_nodes=" fill ,",
        clear_devices=False,
        variable_names_blacklist="v",
    )
    devices = {n.name: n.device for n in with_device.node}
    assert devices["v"] == ""
    assert [n.op for n in with_device.node if n.name == "v"] == ["VariableV2"]


def test_a_saved_model_of_tensorflow(theirs):
    made = frozen(input_saved_model_dir=theirs)
    found = computed(made, saved_models.NUMBERS)
    np.testing.assert_allclose(found, GOLDEN["simple"]["result"], rtol=1e-6)


@pytest.mark.parametrize(
    "command",
    [
        ["tfteach.lib.inference.freeze_graph"],
        ["tfteach", "run", "-m", "tensorflow.python.tools.freeze_graph"],
    ],
    ids=len,
)
def test_the_command(theirs, tmp_path, command):
    target = tmp_path / "frozen.pb"
    done = subprocess.run(
        [
            *[sys.executable, "-m", *command, f"--input_saved_model_dir={theirs}"],
            *["--output_node_names=y", f"--output_graph={target}"],
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    graph_def = tf.GraphDef.FromString(target.read_bytes())
    assert done.stdout == f"{len(graph_def.node)} ops in the frozen graph.\n"


def test_a_tool_that_is_not_there():
    found = run_tool("tensorflow.python.tools.graph_metrics", [])
    assert found.startswith(
        "there is no tool tensorflow.python.tools.graph_metrics; there are "
        "tensorflow.python.tools.freeze_graph, "
    )


def test_commands_that_fail(capsys):
    assert main(["--output_node_names=y"]) == 1
    assert "Input checkpoint '' doesn't exist!" in capsys.readouterr().err


def test_refused(ours, theirs, tmp_path):
    graph = str(tmp_path / "graph.pbtxt")
    with pytest.raises(ValueError, match=r"checkpoint '.*none' doesn't exist"):
        frozen(input_graph=graph, input_checkpoint=str(tmp_path / "none"))
    with pytest.raises(ValueError, match="supply the name of a node"):
        frozen(input_graph=graph, input_checkpoint=ours, output_node_names="")
    with pytest.raises(OSError, match=r"Input graph file '.*' does not exist!"):
        frozen(input_graph=str(tmp_path / "no"), input_checkpoint=ours)
    with pytest.raises(OSError, match="Cannot parse file"):
        frozen(input_graph=graph, input_binary=True, input_checkpoint=ours)
    with pytest.raises(ValueError, match="There is no graph to freeze"):
        frozen(input_checkpoint=ours)
    with pytest.raises(AssertionError, match="q is not in graph"):
        frozen(input_graph=graph, input_checkpoint=ours, output_node_names="q")
    with pytest.raises(RuntimeError, match="tags 'gpu' could not be found"):
        frozen(input_saved_model_dir=theirs, saved_model_tags="gpu")
    made = frozen(input_graph=graph, input_checkpoint=ours, initializer_nodes="fill")
    tf.train.write_graph(made, str(tmp_path), "frozen.pbtxt")
    with pytest.raises(ValueError, match="You cannot freeze a graph twice"):
        frozen(input_graph=str(tmp_path / "frozen.pbtxt"), input_checkpoint=ours)


def test_partitioned_variables_need_a_saved_model(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        parts = tf.fixed_size_partitioner(2)
        p = tf.get_variable(
            "p", [4], initializer=tf.ones_initializer(), partitioner=parts
        )
        tf.identity(tf.convert_to_tensor(p), name="y")
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
        tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")
    with pytest.raises(ValueError, match="containing partition variables cannot"):
        frozen(input_graph=str(tmp_path / "graph.pbtxt"), input_checkpoint=prefix)
