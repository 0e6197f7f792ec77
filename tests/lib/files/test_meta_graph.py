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
from tfteach.framework.graphdef import meta_graph
from tfteach.framework.graphdef.meta_graph import PROTO_FUNCTIONS
from tfteach.lib.files.meta_graph import (
    copy_scoped_meta_graph,
    import_scoped_meta_graph,
)

GOLDEN = json.loads(Path(meta_graphs.__file__).with_suffix(".json").read_text())
MESSAGES = {
    "cond_context": "CondContextDef",
    "while_context": "WhileContextDef",
    "savers": "SaverDef",
}
each = pytest.mark.parametrize("function", meta_graphs.GRAPHS, ids=lambda f: f.__name__)


def golden(function):
    name = function if isinstance(function, str) else function.__name__
    data = zlib.decompress(base64.b64decode(GOLDEN[name]))
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


@pytest.mark.parametrize("name", meta_graphs.EXPORTS)
def test_parts_of_graphs_are_exported_as_tensorflow_does(name):
    function, arguments = meta_graphs.EXPORTS[name]
    made = meta_graphs.exported(tf, function, **arguments)
    wanted = golden(name)
    for node in wanted.graph_def.node:  # TensorFlow writes "a:0" for edges it moved
        node.input[:] = [source.removesuffix(":0") for source in node.input]
    assert_same(made, wanted)
    assert made.saver_def == wanted.saver_def
    assert made.meta_info_def.stripped_default_attrs == (name == "no defaults")


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
        damaged = tf.train.export_meta_graph()
    damaged.collection_def[key].CopyFrom(proto)
    heard = []
    with tf.Graph().as_default() as graph:
        mine = tf.constant(1.0, name="mine")
        graph.observe(heard.append)
        before = graph.as_graph_def()
        with pytest.raises(ValueError, match=message):
            tf.train.import_meta_graph(damaged)
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
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(3 << 30)  # sparse: it takes no space
    with pytest.raises(OSError, match=r"3\.2 GB, and a MetaGraphDef at most 2 GB"):
        tf.train.import_meta_graph(str(huge))
    foreign = tmp_path / "foreign.pbtxt"
    foreign.write_text("graph_def {}\nno_such_field: 3\n")
    with pytest.raises(OSError, match='no field named "no_such_field"'):
        tf.train.import_meta_graph(str(foreign))
    for argument, value in (("graph_def", 1), ("saver_def", "s"), ("graph", 3)):
        with pytest.raises(TypeError, match=f"{argument} must be of type"):
            tf.train.export_meta_graph(**{argument: value})
    with pytest.raises(TypeError, match="nonsense"):
        tf.train.import_meta_graph(tf.MetaGraphDef(), nonsense=1)


def test_unbound_inputs_are_given_by_input_map():
    # Real TensorFlow's export of a scope, with a loop and a branch in it.
    wanted = golden("scope")
    with tf.Graph().as_default() as graph:
        with pytest.raises(
            ValueError, match=r"unbound inputs: \$unbound_inputs_images"
        ):
            tf.train.import_meta_graph(wanted)
        assert not graph.get_operations()
        mine = tf.constant([[2.0, 3.0]])
        given = {"$unbound_inputs_images": mine}
        variables = import_scoped_meta_graph(
            wanted, input_map=given, import_scope="again"
        )
        assert sorted(variables) == ["p/part_0:0", "p/part_1:0", "w:0"]
        assert variables["w:0"].name == "again/w:0"
        [output] = tf.get_collection("outputs")
        assert output.name == "again/y:0"
        slope = tf.gradients(output, variables["w:0"])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run("again/cond/Merge:0").tolist() == [[5, 5, 5]]
            assert session.run("again/while/Exit:0") == 3
            assert session.run(slope)[0].tolist() == [[2, 2, 2], [3, 3, 3]]


def test_scopes_are_copied_within_a_graph():
    with tf.Graph().as_default() as graph:
        with tf.variable_scope("one"):
            v = tf.get_variable("v", initializer=2.0)
            with tf.control_dependencies([tf.no_op(name="first")]):
                tf.identity(v * 3.0, name="y")
        copied = copy_scoped_meta_graph("one", "two")
        assert copied["v:0"].name == "two/v:0"
        assert graph.get_operation_by_name("two/mul/y").control_inputs == [
            graph.get_operation_by_name("two/first")
        ]
        with pytest.raises(ValueError, match="need to be different"):
            copy_scoped_meta_graph("one", "one")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(copied["v:0"].assign(5.0))
            assert session.run(["one/y:0", "two/y:0"]) == [6.0, 15.0]


def test_a_dependency_outside_the_scope_is_unbound():
    with tf.Graph().as_default():
        outside = tf.no_op(name="outside")
        with tf.name_scope("inside"), tf.control_dependencies([outside]):
            tf.constant(1.0, name="c")
        made = tf.train.export_meta_graph(export_scope="inside")
        other = tf.train.export_meta_graph(
            export_scope="inside", unbound_inputs_col_name=None
        )
    assert "unbound_inputs" not in other.collection_def
    names = list(made.collection_def["unbound_inputs"].bytes_list.value)
    assert names == [b"^$unbound_inputs_outside"]
    with tf.Graph().as_default() as graph:
        given = {"^$unbound_inputs_outside": tf.constant(3, name="mine")}
        tf.train.import_meta_graph(made, input_map=given, import_scope="")
        assert [op.name for op in graph.get_operation_by_name("c").control_inputs] == [
            "mine"
        ]


def test_collections_of_a_programs_own_messages(request):
    request.addfinalizer(lambda: PROTO_FUNCTIONS.pop("options", None))

    class Option:
        def __init__(self, name, scope):
            self.name, self.scope = name, scope

        def to_proto(self, export_scope=None):
            if export_scope and not self.name.startswith(export_scope):
                return None
            return protos.JobDef(name=self.name)

    def from_proto(proto, import_scope=None):
        return Option(proto.name, import_scope)

    register = meta_graph.register_proto_function
    register("options", protos.JobDef, Option.to_proto, from_proto)
    with pytest.raises(KeyError, match="two proto functions with name 'options'"):
        register("options", protos.JobDef)
    with pytest.raises(TypeError, match=r"to_proto must be callable\."):
        register("others", to_proto=3)
    with tf.Graph().as_default():
        tf.constant(1, name="a/c")
        tf.add_to_collection("options", Option("a/x", None))
        tf.add_to_collection("options", Option("b/y", None))
        made = tf.train.export_meta_graph()
        part = tf.train.export_meta_graph(export_scope="a")
    assert len(part.collection_def["options"].bytes_list.value) == 1
    with tf.Graph().as_default():
        tf.train.import_meta_graph(made, import_scope="z")
        found = [(o.name, o.scope) for o in tf.get_collection("options")]
        assert found == [("a/x", "z"), ("b/y", "z")]


def test_files_from_before_1_9_do_not_say_what_is_trainable():
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        tf.Variable(1.0, name="step", trainable=False)
        made = tf.train.export_meta_graph()
    for key in ("variables", "trainable_variables"):
        values = made.collection_def[key].bytes_list.value
        for i, data in enumerate(values):
            proto = protos.VariableDef.FromString(data)
            proto.trainable = False  # as if the field were not there
            values[i] = proto.SerializeToString()
    for version, trainable in (("1.4.0", True), ("1.15.0", False), ("1.10", False)):
        made.meta_info_def.tensorflow_version = version
        with tf.Graph().as_default():
            tf.train.import_meta_graph(made)
            found = {v.op.name: v.trainable for v in tf.global_variables()}
        assert found == {"v": trainable, "step": False}


def test_a_given_meta_info_is_kept():
    info = protos.MetaGraphDef.MetaInfoDef(meta_graph_version="7", tags=["mine"])
    with tf.Graph().as_default():
        tf.constant(1)
        made = tf.train.export_meta_graph(meta_info_def=info).meta_info_def
        info.stripped_op_list.op.add(name="Mine")
        other = tf.train.export_meta_graph(meta_info_def=info).meta_info_def
    assert made.meta_graph_version == "7"
    assert list(made.tags) == ["mine"]
    assert [op.name for op in made.stripped_op_list.op] == ["Const"]
    assert [op.name for op in other.stripped_op_list.op] == ["Mine"]
    assert made.tensorflow_version == "1.15.5"
