"""Functions of a graph's library: bodies, captures, FunctionDefs."""

from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.functions.function_def import normalized
from tfteach.framework.graph import Graph
from tfteach.framework.protos import GraphDef


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def scaled(name: str = "scaled") -> DefinedFunction:
    """x -> (x * outer, x), of a capture."""
    outer = tf.constant(3.0, name="outer")
    body = FuncGraph(name)
    with body.as_default():
        x = body.add_input(tf.float32, [None], "X/In")
        with tf.name_scope("layer"):
            body.outputs = [tf.multiply(x, outer, name="y"), x]
    made = DefinedFunction(name, body)
    made.add_to_graph(tf.get_default_graph())
    return made


def test_a_body_captures_tensors_of_outer_graphs_once(graph: Graph) -> None:
    a, b = tf.constant(1.0, name="a"), tf.placeholder(tf.int32, [2, None], name="b")
    outer = FuncGraph("outer")
    with outer.as_default():
        inner = FuncGraph("inner")
        with inner.as_default():
            first = a + a
            with tf.control_dependencies([a]):
                second = tf.identity(b)
        x = outer.add_input(tf.float32, [], "x")
    assert inner.external_captures == [a, b]
    assert [t.name for t in first.op.inputs] == ["add/a:0"] * 2
    assert second.op.control_inputs == []
    assert inner.internal_captures[1].shape.as_list() == [2, None]
    assert inner.capture(a) is first.op.inputs[0]
    assert inner.capture(first) is first
    assert graph.get_operations() == [a.op, b.op]
    assert (outer.inputs, outer.outputs) == ([x], [])
    with tf.Graph().as_default():
        y = tf.constant(1.0, name="y")
    with (
        inner.as_default(),
        pytest.raises(ValueError, match=r"Cannot capture .*'y:0'.*does not enclose"),
    ):
        tf.negative(y)


def test_captures_wait_for_nothing(graph: Graph) -> None:
    a = tf.constant(1.0, name="a")
    body = FuncGraph("f")
    with body.as_default():
        first = body.add_input(tf.float32)
        with tf.control_dependencies([first]):
            y = tf.negative(a)
    assert y.op.control_inputs == [first.op]
    assert body.captures[a].op.control_inputs == []


def test_arguments_come_before_captures(graph: Graph) -> None:
    c = tf.constant(1.0)
    body = FuncGraph("f")
    with body.as_default():
        x = body.add_input(tf.float32)
        body.capture(c)
        y = body.add_input(tf.float32)
    assert body.inputs == [x, y, body.capture(c)]


def test_a_function_def_has_tensorflows_names(graph: Graph) -> None:
    definition = scaled().definition
    signature = definition.signature
    inputs = [arg.name for arg in signature.input_arg]
    assert inputs == ["x_in_0", "layer_y_outer"]
    assert [arg.name for arg in signature.output_arg] == ["layer_y", "x_in"]
    (node,) = definition.node_def
    assert (node.name, list(node.input)) == ("layer/y", inputs)
    assert dict(definition.ret) == {"layer_y": "layer/y:z:0", "x_in": "x_in_0"}
    assert not signature.is_stateful


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Layer/Add", "layer_add"), ("_9x", "x"), ("12", "unknown"), ("a.b-C", "a_b_c")],
)
def test_names_of_arguments(name: str, expected: str) -> None:
    assert normalized(name) == expected


def test_a_library_is_written_and_read_back(graph: Graph) -> None:
    function = scaled()
    outer = graph.get_tensor_by_name("outer:0")
    called = function.call_class()()([1.0, 2.0], outer, name="call")
    assert [t.name for t in called] == ["call:0", "call:1"]
    assert called[0].op.type == "scaled"
    assert called[0].op.op_def == function.signature
    graph_def = graph.as_graph_def()
    assert graph_def.versions.min_consumer == 12
    with tf.Graph().as_default() as other:
        tf.import_graph_def(graph_def, name="")
        assert other.as_graph_def() == graph_def
        assert other.functions["scaled"].body(Function("scaled")).name == "scaled"
        with tf.Session() as session:
            assert session.run("call:0").tolist() == [3.0, 6.0]
            assert session.run(["call:1"])[0].tolist() == [1.0, 2.0]


def test_one_name_is_one_function(graph: Graph) -> None:
    first = scaled()
    graph.add_function(first)
    graph.add_function(DefinedFunction("scaled", definition=first.definition))
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="Cannot add function 'scaled' because a different function",
    ):
        graph.add_function(DefinedFunction("scaled", FuncGraph("scaled")))
    library = GraphDef(library=graph.as_graph_def().library)
    library.library.function[0].signature.name = "Const"
    with pytest.raises(ValueError, match="Cannot add function 'Const' because an op"):
        tf.import_graph_def(library)


def test_gradients_of_a_library_are_kept(graph: Graph) -> None:
    scaled()
    graph_def = graph.as_graph_def()
    pair = graph_def.library.gradient.add()
    pair.function_name, pair.gradient_func = "scaled", "other"
    with tf.Graph().as_default() as other:
        tf.import_graph_def(graph_def, name="")
        assert other.functions["scaled"].gradient_name == "other"
        assert other.as_graph_def().library.gradient[0] == pair


def test_function_attributes(graph: Graph) -> None:
    from tfteach.ops.functions.calls import PartitionedCall

    function = scaled()
    op = PartitionedCall((tf.float32,) * 2, (tf.float32,) * 2, function)
    assert op.f == Function("scaled")
    assert op is PartitionedCall((tf.float32,) * 2, (tf.float32,) * 2, "scaled")
    node = op([[1.0], 2.0])[0].op
    assert node.get_attr("f").name == "scaled"
    assert node.node_def.attr["f"].func.name == "scaled"
    value = Function("g", (("T", b""),))
    assert Function.from_proto(value.as_proto()) == value
    with pytest.raises(TypeError, match="Expected func for argument 'f' not 3"):
        PartitionedCall((), (), 3)
    made = graph.create_op("PartitionedCall", node.inputs, attrs=node.node_def.attr)
    assert made.spec is op


POLYMORPHIC = """
library { function {
  signature { name: "Pair" input_arg { name: "x" type_attr: "T" number_attr: "N" }
    output_arg { name: "y" type_attr: "T" } attr { name: "T" type: "type" }
    attr { name: "N" type: "int" } }
  node_def { name: "sum" op: "AddN" input: "x:0" input: "x:1"
    attr { key: "T" value { placeholder: "T" } } attr { key: "N" value { i: 2 } } }
  node_def { name: "u" op: "Unique" input: "sum:sum:0"
    attr { key: "T" value { placeholder: "T" } }
    attr { key: "out_idx" value { type: DT_INT32 } } }
  ret { key: "y" value: "u:y:0" }
} }
"""


def test_a_body_for_the_values_of_a_functions_attributes(graph: Graph) -> None:
    from google.protobuf import text_format

    from tfteach.framework.protos import pool

    tf.import_graph_def(text_format.Parse(POLYMORPHIC, GraphDef()), name="")
    value = pool.message("AttrValue")
    attrs = (
        ("N", value(i=2).SerializeToString()),
        ("T", value(type=3).SerializeToString()),
    )
    body = graph.functions["Pair"].body(Function("Pair", attrs))
    assert [t.dtype for t in body.inputs] == [tf.int32] * 2
    assert [t.name for t in body.outputs] == ["u:0"]
    assert graph.functions["Pair"].body(Function("Pair", attrs)) is body
