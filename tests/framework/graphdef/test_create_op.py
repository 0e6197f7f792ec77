"""Graph.create_op, and libraries of compiled ops; the answers are TensorFlow's."""

import re

import pytest

import tfteach as tf

FLOAT = {"T": tf.AttrValue(type=1)}


@pytest.fixture
def x():
    with tf.Graph().as_default():
        yield tf.constant([1.0, 2.0], name="x")


def test_nodes_are_named_and_placed_as_others(x):
    graph = x.graph
    with tf.control_dependencies([x]), tf.device("/cpu:0"), tf.name_scope("s"):
        op = graph.create_op("NoOp", [], [])
    assert op.name == "s/NoOp"
    assert op.device == "/device:CPU:0"
    assert op.control_inputs == [x.op]
    names = [
        graph.create_op("Identity", [x], [tf.float32], name=name, attrs=FLOAT).name
        for name in (None, None, "n", "n", "exact/")
    ]
    assert names == ["Identity", "Identity_1", "n", "n_1", "exact"]


def test_attributes_follow_from_inputs_and_defaults(x):
    graph = x.graph
    added = graph.create_op("AddN", [x, x, x])
    assert (added.get_attr("N"), added.get_attr("T")) == (3, tf.float32)
    extra = {"_x": tf.AttrValue(i=3), **FLOAT}
    doubled = graph.create_op("AddV2", [x, x], attrs=extra)
    assert doubled.get_attr("_x") == 3
    tupled = graph.create_op("IdentityN", [x, tf.constant(1)])
    assert tupled.get_attr("T") == [tf.float32, tf.int32]
    assert [t.shape.as_list() for t in tupled.outputs] == [[2], []]
    with tf.Session() as session:
        values = session.run([added.outputs[0], doubled.outputs[0]])
        assert [v.tolist() for v in values] == [[3.0, 6.0], [2.0, 4.0]]


REFUSED = {
    "unknown": (
        lambda x: ("Foo", [x], {}),
        tf.errors.NotFoundError,
        "Op type not registered 'Foo'",
    ),
    "no tensor": (lambda x: ("Identity", ["a"], FLOAT), TypeError, "Input #0 is not a"),
    "other type": (
        lambda x: ("Identity", [tf.constant(3)], FLOAT),
        ValueError,
        "was passed int32 from Const:0 incompatible with expected float",
    ),
    "too many": (lambda x: ("Identity", [x, x], FLOAT), ValueError, "do not match 2"),
    "no proto": (lambda x: ("Identity", [x], {"T": 1}), TypeError, "AttrValue proto"),
    "unknown attr": (
        lambda x: ("Identity", [x], {"q": tf.AttrValue(i=1)}),
        ValueError,
        "NodeDef mentions attr 'q' not in Op<name=Identity",
    ),
    "shape": (
        lambda x: ("MatMul", [x, x], FLOAT),
        ValueError,
        "Shape must be rank 2 but is rank 1 for 'MatMul' (op: 'MatMul')",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(x, case):
    call, error, message = REFUSED[case]
    op_type, inputs, attrs = call(x)
    count = len(x.graph.get_operations())
    with pytest.raises(error, match=re.escape(message)):
        x.graph.create_op(op_type, inputs, [tf.float32], attrs=attrs)
    assert len(x.graph.get_operations()) == count


def test_names_that_are_none(x):
    graph = x.graph
    graph.create_op("NoOp", [], name="n")
    with pytest.raises(ValueError, match="Duplicate node name in graph: 'n'"):
        graph.create_op("NoOp", [], name="n/")
    with pytest.raises(ValueError, match="'bad name' is not a valid node name"):
        graph.create_op("NoOp", [], name="bad name")
    graph.finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized"):
        graph.create_op("NoOp", [])


def test_compiled_libraries_are_refused_by_name(tmp_path):
    there, absent = tmp_path / "there.so", str(tmp_path / "absent.so")
    there.write_bytes(b"\x7fELF")
    words = "cannot open shared object file: No such file or directory"
    for load in (tf.load_op_library, tf.load_file_system_library):
        with pytest.raises(tf.errors.NotFoundError, match=words):
            load(absent)
    with pytest.raises(FileNotFoundError, match="to load kernel libraries from"):
        tf.load_library(absent)
    for name in ("load_op_library", "load_library", "load_file_system_library"):
        with pytest.raises(NotImplementedError, match=rf"tf\.{name}: .*there\.so"):
            getattr(tf, name)(there)
        with pytest.raises(TypeError, match="Expected binary or unicode string"):
            getattr(tf, name)(3)
