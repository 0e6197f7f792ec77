"""Branches, loops, checks, summaries and Savers against real TensorFlow 1.15."""

import base64
import json
import zlib
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import flow
from tests.test_golden_graphs import assert_same_nodes, described
from tfteach.ops.core.control_flow_ops import Merge

GOLDEN = json.loads((Path(flow.__file__).parent / "flow.json").read_text())
each_graph = pytest.mark.parametrize("function", flow.GRAPHS, ids=lambda f: f.__name__)


@each_graph
def test_graph_equals_the_golden_one(function):
    row = GOLDEN[function.__name__]
    packed = zlib.decompress(base64.b64decode(row["graph"]))
    wanted = tf.GraphDef.FromString(packed)
    graph, fetches = flow.build(tf, function)
    assert_same_nodes(graph.as_graph_def(), wanted)
    shapes = [str(f.shape) for f in fetches if hasattr(f, "shape")]
    assert shapes == row["shapes"]


@each_graph
def test_values_equal_the_golden_ones(function):
    graph, fetches = flow.build(tf, function)
    assert flow.results(tf, graph, fetches) == GOLDEN[function.__name__]["values"]


@each_graph
def test_import_gives_the_graph_again(function):
    graph, fetches = flow.build(tf, function)
    graph_def = graph.as_graph_def()
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(graph_def, name="")
    for def_ in (graph_def, again := copy.as_graph_def()):
        for node in def_.node:
            if "_class" in node.attr:  # TF's import puts these where their group is
                node.device = ""
    assert {n.name: described(n) for n in again.node} == {
        n.name: described(n) for n in graph_def.node
    }
    names = [f.name for f in fetches]
    found = [copy.as_graph_element(name) for name in names]
    assert flow.results(tf, copy, found) == GOLDEN[function.__name__]["values"]


def test_a_merge_takes_its_first_live_input_and_no_other():
    with tf.Graph().as_default() as graph:
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        value, index = Merge()([x, y])
        doubled = value + value
    with tf.Session(graph=graph) as session:
        answer = session.run([value, index, doubled], {x: 1.0, y: 2.0})
    assert answer == [1.0, 0, 2.0]  # asked of TensorFlow
