"""Graph to GraphDef: attributes of every kind, versions, shapes, limits."""

import ml_dtypes
import numpy as np
import pytest

import tfteach as tf
from tests.golden import op_def_details
from tests.ops.case import import_families
from tfteach.framework.graphdef import graph_def
from tfteach.framework.graphdef.import_graph_def import import_graph_def
from tfteach.framework.graphdef.op_def import op_def
from tfteach.framework.op import OPS
from tfteach.framework.protos import AttrValue, GraphDef

import_families()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


VALUES = {
    "float": np.float32(1.5), "vector": np.float64([1, 2, 3]), "empty": np.int32([]),
    "bool": np.array([True, False]), "half": np.float16([[1, 2]]),
    "complex": np.complex64(1 + 2j), "int8": np.int8([-1, 1]),
    "uint64": np.uint64(2**63), "bfloat16": np.array([1.5, 2], ml_dtypes.bfloat16),
    "text": np.array([["a", "ü"]]), "bytes": b"\xff\0",
}  # fmt: skip


@pytest.mark.parametrize("key", VALUES)
def test_constants_survive(graph, key):
    tensor = tf.constant(VALUES[key], name="c")
    with tf.Graph().as_default() as copy:
        import_graph_def(graph.as_graph_def(), name="")
    again = copy.get_tensor_by_name("c:0")
    assert again.dtype is tensor.dtype
    assert again.shape == tensor.shape
    with tf.Session(graph=graph) as one, tf.Session(graph=copy) as two:
        np.testing.assert_array_equal(one.run(tensor), two.run(again))


def test_a_fill_is_stored_once(graph):
    tf.constant(7.0, shape=[1000, 1000])
    data = graph.as_graph_def().SerializeToString()
    assert len(data) < 200
    with tf.Graph().as_default() as copy:
        import_graph_def(GraphDef.FromString(data))
    assert copy.get_operations()[0].outputs[0].shape == (1000, 1000)


def test_shapes_and_all_versions(graph):
    tf.constant([1.0], name="a")
    version = graph.version
    b = tf.placeholder(tf.int32, [None, 2], name="b")
    tf.split(b, 2, axis=1, name="c")
    assert version == 1
    everything = graph.as_graph_def(from_version=version)  # TF ignores it
    assert [n.name for n in everything.node] == ["a", "b", "Const", "c/split_dim", "c"]
    shaped = {n.name: n for n in graph.as_graph_def(add_shapes=True).node}
    sizes = [
        [d.size for d in s.dim] for s in shaped["c"].attr["_output_shapes"].list.shape
    ]
    assert sizes == [[-1, 1], [-1, 1]]
    assert "_output_shapes" not in graph.as_graph_def().node[0].attr
    assert graph.as_graph_def().versions.producer == 134


def test_an_export_is_without_what_another_thread_adds_meanwhile(graph, monkeypatch):
    encoded = graph_def._encoded

    def slow(graph):
        parts = encoded(graph)
        tf.constant(2.0, name="late")
        return parts

    tf.constant([1.0], name="a")
    monkeypatch.setattr(graph_def, "_encoded", slow)
    nodes = graph.as_graph_def(add_shapes=True).node
    assert [node.name for node in nodes] == ["a"]
    assert len(nodes[0].attr["_output_shapes"].list.shape) == 1


def test_export_follows_later_changes(graph):
    a = tf.constant(1.0, name="a")
    b = tf.identity(a, name="b")
    graph.as_graph_def()
    b.op._add_control_input(tf.no_op("wait"))
    b.op._set_device("/cpu:1")
    b.op._set_attr("_mine", AttrValue(i=3))
    node = {n.name: n for n in graph.as_graph_def().node}["b"]
    assert list(node.input) == ["a", "^wait"]
    assert node.device == "/cpu:1"  # as it was written
    assert node.attr["_mine"].i == 3
    assert b.op.get_attr("_mine") == 3
    assert b.op.node_def == node


def test_get_attr_gives_python_values(graph):
    op = tf.placeholder(tf.int32, [None, 2]).op
    assert op.get_attr("dtype") is tf.int32
    assert [d.size for d in op.get_attr("shape").dim] == [-1, 2]
    pair = tf.concat([[1], [2]], 0).op
    assert pair.get_attr("N") == 2
    assert tf.constant("x").op.get_attr("value").string_val[0] == b"x"
    with pytest.raises(ValueError, match="has no attr named 'nothing'"):
        op.get_attr("nothing")


def test_op_defs_can_be_made():
    for name, op in OPS.items():
        proto = op_def(op)
        assert proto.name == name
        assert [a.name for a in proto.input_arg] == [a.name for a in op.inputs], name


def test_op_defs_are_tensorflows():
    definitions = op_def_details.definitions()
    for name in OPS.keys() & definitions.keys():
        assert op_def(OPS[name]) == definitions[name], (
            f"{name}: run python -m tests.golden.op_def_details"
        )


def test_graph_of_two_gigabytes_is_refused(graph, monkeypatch):
    tf.constant(np.arange(100))
    monkeypatch.setattr(graph_def, "MAX_GRAPH_BYTES", 500)
    with pytest.raises(ValueError, match="GraphDef cannot be larger than 2GB"):
        graph.as_graph_def()


def test_names_with_markup_are_data(graph):
    group = tf.constant(1.0, name="plain").op
    group._set_attr("_html", b"<script>alert(1)</script>")
    again = GraphDef.FromString(graph.as_graph_def().SerializeToString())
    assert again.node[0].attr["_html"].s == b"<script>alert(1)</script>"
    with pytest.raises(ValueError, match="is not a valid"):
        tf.constant(1.0, name="<b>")
