"""Freezing and optimizing GraphDefs, against real TensorFlow's and in sessions."""

import base64
import json
import logging
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import inference_graphs
from tests.test_golden_graphs import described
from tfteach.lib.files.graph_io import read_message
from tfteach.lib.inference import graph_util, optimize_for_inference
from tfteach.lib.inference import optimize_for_inference_lib as tools
from tfteach.lib.inference.strip_unused import strip_unused

GOLDEN = json.loads(Path(inference_graphs.__file__).with_suffix(".json").read_text())
FLOAT = tf.float32.as_datatype_enum
each = pytest.mark.parametrize(
    "model", inference_graphs.MODELS, ids=lambda m: m.__name__
)


def parsed(text):
    return tf.GraphDef.FromString(zlib.decompress(base64.b64decode(text)))


@each
def test_graphs_are_tensorflows(model):
    *wanted, output = GOLDEN[model.__name__]
    frozen, made, outputs = inference_graphs.inference_graphs(tf, tools, model)
    for ours, theirs in zip((frozen, made), map(parsed, wanted), strict=True):
        ours, theirs = (sorted(map(described, g.node)) for g in (ours, theirs))
        assert ours == theirs
    for found in outputs:
        np.testing.assert_allclose(found, output, rtol=1e-4, atol=1e-6)


@each
def test_tensorflows_graphs_run_here(model):
    *graphs, output = GOLDEN[model.__name__]
    for text in graphs:
        found = inference_graphs.output_of(tf, parsed(text))
        np.testing.assert_allclose(found, output, rtol=1e-4, atol=1e-6)


def test_loops_can_be_optimized():
    frozen, _, [wanted] = inference_graphs.inference_graphs(
        tf, tools, inference_graphs.loop
    )
    made = tools.optimize_for_inference(frozen, ["x"], ["y"], FLOAT)
    assert len(made.node) < len(frozen.node)
    found = inference_graphs.output_of(tf, made)
    np.testing.assert_array_equal(found, wanted)


def test_batch_normalization_is_gone():
    _, made, _ = inference_graphs.inference_graphs(
        tf, tools, inference_graphs.convolutions
    )
    types = {node.op for node in made.node}
    assert types == set(
        "Placeholder Const Conv2D BiasAdd Relu DepthwiseConv2dNative Mean".split()
    )


def frozen(build):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        build()
        session.run(tf.global_variables_initializer())
        return tf.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), ["y"]
        )


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_layers_of_tf_layers_are_folded(data_format):
    """Their normalization is FusedBatchNormV3, which TensorFlow 1.15 leaves."""
    order = "channels_last" if data_format == "NHWC" else "channels_first"
    shape = [None, 5, 5, 2] if data_format == "NHWC" else [None, 2, 5, 5]

    def build():
        x = tf.placeholder(tf.float32, shape, name="x")
        h = tf.layers.conv2d(x, 4, 3, data_format=order, use_bias=False)
        axis = 3 if data_format == "NHWC" else 1
        h = tf.layers.batch_normalization(
            h, axis, moving_variance_initializer=tf.constant_initializer(0.3)
        )
        tf.nn.relu(h, name="y")

    before = frozen(build)
    after = tools.optimize_for_inference(before, ["x"], ["y"], FLOAT)
    assert not [n for n in after.node if "BatchNorm" in n.op]
    value = inference_graphs.numbers(2, *shape[1:])
    for graph_def in (before, after):
        with tf.Graph().as_default(), tf.Session() as session:
            [y] = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
            if graph_def is before:
                wanted = session.run(y, {"x:0": value})
            else:
                found = session.run(y, {"x:0": value})
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_shared_weights_and_outputs_are_not_folded(caplog):
    caplog.set_level(logging.WARNING, logger="tensorflow")

    def build():
        x = tf.placeholder(tf.float32, [None, 5, 5, 2], name="x")
        w = tf.get_variable("w", initializer=inference_graphs.numbers(3, 3, 2, 4))
        h = tf.nn.conv2d(x, w, 1, "SAME", name="conv")
        n = inference_graphs.normalized(tf, h, "norm")
        tf.add(n, tf.nn.conv2d(x, w, 1, "SAME", name="other"), name="y")

    before = frozen(build)
    after = tools.fold_batch_norms(before)
    assert len(after.node) == len(before.node)
    assert "expected conv Constant input to 'norm', found the Identity" in caplog.text
    after = tools.optimize_for_inference(before, ["x"], ["y"], FLOAT)
    assert "['w'] have other users" in caplog.text
    wanted, found = (inference_graphs.output_of(tf, g) for g in (before, after))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_global_normalization_of_old_graphs_is_folded():
    """An op of 2015, which only other graphs have."""

    def build():
        x = tf.placeholder(tf.float32, [None, 5, 5, 2], name="x")
        w = tf.constant(inference_graphs.numbers(3, 3, 2, 4), name="w")
        tf.nn.conv2d(x, w, 1, "SAME", name="conv")
        for i, name in enumerate(("mean", "var", "beta", "gamma")):
            tf.constant(inference_graphs.numbers(4) + i, name=name)

    with tf.Graph().as_default() as graph:
        build()
        graph_def = graph.as_graph_def()
    mean, var, beta = (inference_graphs.numbers(4) + i for i in range(3))
    old = graph_def.node.add(op="BatchNormWithGlobalNormalization", name="y")
    old.input.extend(["conv", "mean", "var", "beta", "gamma"])
    old.attr["variance_epsilon"].f = 0.5
    old.attr["scale_after_normalization"].b = False
    after = tools.fold_batch_norms(graph_def)
    value = inference_graphs.numbers(2, 5, 5, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        [y] = tf.import_graph_def(after, return_elements=["y:0"], name="")
        found = session.run(y, {"x:0": value})
    with tf.Graph().as_default() as graph, tf.Session() as session:
        build()
        conv = session.run("conv:0", {"x:0": value})
    wanted = (conv - mean) / np.sqrt(var + 0.5) + beta
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_a_look_up_in_a_loop_can_be_frozen():
    def build():
        e = tf.get_variable("e", initializer=[1.0, 2.0, 4.0], use_resource=True)
        step = lambda i, s: (i + 1, s + tf.gather(e, i))  # noqa: E731
        tf.identity(tf.while_loop(lambda i, _: i < 3, step, [0, 0.0])[1], name="y")

    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(frozen(build), name="")
        assert session.run("y:0") == 7.0


@pytest.mark.parametrize("is_frozen", [True, False])
def test_the_command(is_frozen, tmp_path, capsys):
    before = parsed(GOLDEN["convolutions"][0])
    source, target = str(tmp_path / "before"), str(tmp_path / "after")
    tf.train.write_graph(before, str(tmp_path), "before", not is_frozen)
    arguments = [f"--input={source}", f"--output={target}", "--output_names=y"]
    arguments += [f"--frozen_graph={is_frozen}"]
    assert optimize_for_inference.main([*arguments, "--input_names=x"]) == 0
    made = read_message(target, tf.GraphDef, as_text=not is_frozen)
    wanted = parsed(GOLDEN["convolutions"][1])
    assert sorted(n.name for n in made.node) == sorted(n.name for n in wanted.node)
    output = inference_graphs.output_of(tf, made)
    np.testing.assert_allclose(output, GOLDEN["convolutions"][2], rtol=1e-4, atol=1e-6)
    assert optimize_for_inference.main([*arguments, "--input_names=z"]) == 1
    assert "not found: ['z']" in capsys.readouterr().err


def test_more_than_two_gigabytes(monkeypatch):
    monkeypatch.setattr(graph_util, "MAX_GRAPH_BYTES", 100)

    def build():
        tf.identity(tf.get_variable("v", [26]), name="y")

    with pytest.raises(ValueError, match="GraphDef cannot be larger than 2GB, and the"):
        frozen(build)


def test_refused():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 1], name="x")
        h = tf.image.resize_bilinear(x, [8, 8])
        tf.nn.conv2d(h, tf.ones([2, 2, 1, 1]), 1, "SAME", name="y")
        graph_def = graph.as_graph_def()
    made = tools.optimize_for_inference(graph_def, ["x"], ["y"], [FLOAT], True)
    assert {node.op for node in made.node} >= {"Conv2D", "ResizeBilinear"}
    made = tools.optimize_for_inference(graph_def, ["x"], ["y"], [FLOAT])
    assert not {node.op for node in made.node} & {"Conv2D", "ResizeBilinear"}
    with pytest.raises(ValueError, match="appears to refer to a Tensor"):
        strip_unused(graph_def, ["x:0"], ["y"], FLOAT)
    with pytest.raises(KeyError, match=r"not found: \['z'\]"):
        strip_unused(graph_def, ["z"], ["y"], FLOAT)
    with pytest.raises(AssertionError, match="q is not in graph"):
        strip_unused(graph_def, ["x"], ["q"], FLOAT)
    graph_def.node.add(op="NoOp", name="x")
    with pytest.raises(ValueError, match="Duplicate node names"):
        tools.optimize_for_inference(graph_def, ["x"], ["y"], FLOAT)
    graph_def.node[-1].name, graph_def.node[-1].input[:] = "n", ["^gone"]
    with pytest.raises(ValueError, match="not found"):
        tools.ensure_graph_is_valid(graph_def)
