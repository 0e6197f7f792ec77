"""Gradients, network functions and optimizers against real TensorFlow 1.15.

golden/training.py and embeddings.py build the graphs (their docstrings say how to make
the files anew).
"""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import embeddings, training
from tests.test_golden_graphs import assert_same_nodes

HERE = Path(training.__file__).parent
GOLDEN = {
    name: graph
    for file in ("training", "embeddings")
    for name, graph in json.loads((HERE / f"{file}.json").read_text()).items()
}
GRAPHS = training.GRAPHS + embeddings.GRAPHS

each_graph = pytest.mark.parametrize("function", GRAPHS, ids=lambda f: f.__name__)


@each_graph
def test_graph_equals_the_golden_one(function):
    packed = base64.b64decode(GOLDEN[function.__name__]["graph"])
    wanted = tf.GraphDef.FromString(zlib.decompress(packed))
    graph, _ = training.build(tf, function)
    assert_same_nodes(graph.as_graph_def(), wanted)


@each_graph
def test_values_equal_the_golden_ones(function):
    wanted = GOLDEN[function.__name__]["values"]
    found = training.results(tf, *training.build(tf, function))
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        wanted, found = list(wanted.values()), list(found.values())
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


def test_every_graph_is_in_the_file():
    assert {f.__name__ for f in GRAPHS} == set(GOLDEN)
