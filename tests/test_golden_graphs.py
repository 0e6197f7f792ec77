"""Graphs equal, node by node, those that real TensorFlow 1.15 built.

golden/graphs.py builds them (its docstring says how to make the .pbtxt files anew).
"""

from pathlib import Path

import pytest
from google.protobuf import text_format

import tfteach as tf
from tests.golden.graphs import GRAPHS

GOLDEN = Path(__file__).parent / "golden" / "graphs"


def described(node):
    """A node as lines: an assertion's diff then shows the attribute that differs."""
    attrs = {name: node.attr[name] for name in sorted(node.attr)}
    if str(attrs.get("shared_name", "")).startswith('s: "hash_table_'):
        attrs["shared_name"] = "hash_table_ and random digits"
    head = f"{node.name} = {node.op}({', '.join(node.input)}) @ {node.device}"
    return [head, *[f"  {name}: {attrs[name]}" for name in attrs]]


def assert_same_nodes(made, wanted):
    """Check that two GraphDefs have the same nodes in the same order."""
    assert [n.name for n in made.node] == [n.name for n in wanted.node]
    for ours, theirs in zip(made.node, wanted.node, strict=True):
        if ours != theirs:  # describing them takes much longer
            assert described(ours) == described(theirs)


@pytest.mark.parametrize("build", GRAPHS, ids=lambda f: f.__name__)
def test_graph_equals_the_golden_one(build):
    text = (GOLDEN / f"{build.__name__}.pbtxt").read_text()
    wanted = text_format.Parse(text, tf.GraphDef())
    with tf.Graph().as_default() as graph:
        build(tf)
    assert_same_nodes(graph.as_graph_def(), wanted)


def test_every_golden_file_has_its_function():
    assert {f.__name__ for f in GRAPHS} == {p.stem for p in GOLDEN.glob("*.pbtxt")}
