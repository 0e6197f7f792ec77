"""MetaGraphDefs against real TensorFlow's, in event files too; and back to graphs."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format

import tfteach as tf
from tests.golden import meta_graphs
from tests.test_golden_graphs import described
from tfteach.framework import protos

GOLDEN = json.loads(Path(meta_graphs.__file__).with_suffix(".json").read_text())
MESSAGES = {
    "cond_context": "CondContextDef",
    "while_context": "WhileContextDef",
    "savers": "SaverDef",
}
each = pytest.mark.parametrize("function", meta_graphs.GRAPHS, ids=lambda f: f.__name__)


def golden(function):
    data = zlib.decompress(base64.b64decode(GOLDEN[function.__name__]))
    return tf.MetaGraphDef.FromString(data)


def collections_of(meta_graph):
    """The collections, with messages parsed: the order of a map's bytes is free."""
    found = {}
    for key, proto in meta_graph.collection_def.items():
        message = getattr(protos, MESSAGES.get(key, "VariableDef"))
        parsed = key in MESSAGES or "variables" in key or key == "global_step"
        found[key] = (
            [message.FromString(data) for data in proto.bytes_list.value]
            if parsed
            else proto
        )
    return found


def assert_same(made, wanted):
    ours, theirs = (
        {n.name: described(n) for n in m.graph_def.node} for m in (made, wanted)
    )
    assert ours == theirs
    assert collections_of(made) == collections_of(wanted)
    ours, theirs = made.meta_info_def, wanted.meta_info_def
    assert ours.stripped_op_list == theirs.stripped_op_list
    assert ours.tensorflow_version == theirs.tensorflow_version
    assert list(ours.tags) == list(theirs.tags)


@each
def test_meta_graphs_are_tensorflows(function):
    assert_same(meta_graphs.exported(tf, function), golden(function))


@each
def test_event_files_hold_them_too(function, tmp_path):
    with tf.Graph().as_default() as graph:
        function(tf)
        tf.summary.FileWriter(str(tmp_path), graph).close()
    [path] = tmp_path.iterdir()
    events = list(tf.train.summary_iterator(str(path)))
    [data] = [e.meta_graph_def for e in events if e.meta_graph_def]
    assert_same(tf.MetaGraphDef.FromString(data), golden(function))


@each
@pytest.mark.parametrize("as_text", [False, True])
def test_files_come_back(function, as_text, tmp_path):
    wanted = golden(function)
    if function is meta_graphs.variables:  # else a Saver is built, as in TensorFlow
        wanted.saver_def.save_tensor_name = "save/control_dependency:0"
        wanted.saver_def.restore_op_name = "save/restore_all"
    path = str(tmp_path / "graph.meta")
    with tf.Graph().as_default():
        tf.train.import_meta_graph(wanted)
        saver_def = wanted.saver_def if wanted.HasField("saver_def") else None
        tf.train.export_meta_graph(path, saver_def=saver_def, as_text=as_text)
    with tf.Graph().as_default():
        tf.train.import_meta_graph(path)
        assert_same(tf.train.export_meta_graph(), wanted)


def test_imported_loops_have_gradients():
    wanted = golden(meta_graphs.branches_and_loops)
    for scope in ("", "inside"):
        with tf.Graph().as_default() as graph:
            tf.train.import_meta_graph(wanted, import_scope=scope)
            [total] = graph.get_collection("mine")
            prefix = f"{scope}/" if scope else ""
            x = graph.get_tensor_by_name(f"{prefix}x:0")
            [slope] = tf.gradients(total, x)
            contexts = [c.name for c in graph.get_collection("while_context")]
            assert contexts == [f"{prefix}while/while_context"]
            with tf.Session() as session:
                old = session.run(total, {x: 3.0})
                assert session.run([total, slope], {x: 3.0}) == [old, 6.0]


def test_variables_are_one_object_in_all_collections():
    with tf.Graph().as_default() as graph:
        saver = tf.train.import_meta_graph(golden(meta_graphs.variables))
        assert isinstance(saver, tf.train.Saver)
        for variable in graph.get_collection("trainable_variables"):
            assert any(variable is v for v in tf.global_variables())
        v, r, *parts, step = tf.global_variables()
        assert [p._get_save_slice_info().spec for p in parts] == [
            "4 2 0,2:0,2",
            "4 2 2,2:0,2",
        ]
        assert step is tf.train.get_global_step()
        with tf.Session() as session:
            session.run("init")
            np.testing.assert_array_equal(session.run(v + r), [2, 3])


VARIABLE = protos.VariableDef(
    variable_name="v:0", initializer_name="v/Assign", snapshot_name="v/read:0"
)


def bytes_of(**changes):
    proto = protos.VariableDef()
    proto.CopyFrom(VARIABLE)
    for field, value in changes.items():
        setattr(proto, field, value)
    return protos.CollectionDef(
        bytes_list=protos.CollectionDef.BytesList(value=[proto.SerializeToString()])
    )


DAMAGED = {
    "no message": (
        "variables",
        text_format.Parse(r'bytes_list{value:"\377"}', protos.CollectionDef()),
        "Collection 'variables': Error parsing message",
    ),
    "no such variable": (
        "variables",
        bytes_of(variable_name="w:0"),
        "Collection 'variables': The name 'w:0' refers to a Tensor which does not",
    ),
    "operation for a tensor": (
        "variables",
        bytes_of(snapshot_name="v/read"),
        "Collection 'variables': 'v/read' is not the name of a Tensor",
    ),
    "no variable": (
        "variables",
        bytes_of(variable_name="v/initial_value:0"),
        "Collection 'variables': 'v/initial_value:0' is no variable",
    ),
    "resource": (
        "variables",
        bytes_of(is_resource=True),
        "Collection 'variables': 'v:0' is not the handle of a resource variable",
    ),
    "no such node": (
        "mine",
        text_format.Parse('node_list{value:"q:0"}', protos.CollectionDef()),
        "Collection 'mine': The name 'q:0' refers to a Tensor which does not exist",
    ),
    "context": (
        "while_context",
        text_format.Parse('bytes_list{value:"\\n\\001a"}', protos.CollectionDef()),
        "Collection 'while_context': The loop 'a' has no pivot",
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_collections_leave_no_trace(case):
    key, proto, message = DAMAGED[case]
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        meta_graph = tf.train.export_meta_graph()
    meta_graph.collection_def[key].CopyFrom(proto)
    heard = []
    with tf.Graph().as_default() as graph:
        mine = tf.constant(1.0, name="mine")
        graph.observe(heard.append)
        before = graph.as_graph_def()
        with pytest.raises(ValueError, match=message):
            tf.train.import_meta_graph(meta_graph)
        assert graph.as_graph_def() == before
        assert not graph.collections
        assert not heard
        assert tf.Variable(2.0, name="v").name == "v:0"
        with tf.Session() as session:
            assert session.run(mine + 1.0) == 2.0


def test_refused_files_and_arguments(tmp_path):
    with pytest.raises(OSError, match="does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "none"))
    broken = tmp_path / "broken"
    broken.write_bytes(b"\xff\xfe no graph")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.train.import_meta_graph(str(broken))
    with pytest.raises(NotImplementedError, match="export_scope"):
        tf.train.export_meta_graph(export_scope="a")
    with pytest.raises(TypeError, match="unknown arguments"):
        tf.train.import_meta_graph(tf.MetaGraphDef(), nonsense=1)
