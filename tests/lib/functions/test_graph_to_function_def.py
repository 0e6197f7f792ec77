"""Functions of graphs, graphs of functions, libraries: as real TensorFlow 1.15."""

from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.lib.functions.defun import Defun, from_definition, from_library
from tfteach.lib.functions.graph_to_function_def import (
    function_def_to_graph,
    graph_to_function_def,
)

FLOAT = tf.float32


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def sums(graph):
    x, y = tf.placeholder(FLOAT, name="X/y"), tf.placeholder(FLOAT, name="b_1")
    with tf.control_dependencies([x]):
        total = tf.add_n([tf.pow(x, 2.0), tf.pow(y, 2.0)], name="Sum/a")
    second = tf.split(total, 2)[1]
    return x, y, total, second


def test_the_function_of_a_graph(graph) -> None:
    x, y, total, second = sums(graph)
    made = graph_to_function_def(
        graph, graph.get_operations(), [x, y], [total, second, total]
    )
    signature = made.signature
    assert signature.name == "_"
    assert [a.name for a in signature.input_arg] == ["X/y", "b_1"]
    assert [a.name for a in signature.output_arg] == ["Sum/a", "split_o1", "Sum/a_1"]
    assert dict(made.ret) == {
        "Sum/a": "Sum/a:sum:0",
        "split_o1": "split:output:1",
        "Sum/a_1": "Sum/a:sum:0",
    }
    nodes = {node.name: list(node.input) for node in made.node_def}
    assert nodes["Pow/y"] == ["^X/y"]
    assert nodes["Pow"] == ["X/y", "Pow/y:output:0"]
    assert nodes["split"] == ["split/split_dim:output:0", "Sum/a:sum:0"]
    named = graph_to_function_def(
        graph, graph.get_operations(), [x, y], [total, total], ["p", "q"]
    )
    assert [a.name for a in named.signature.output_arg] == ["p", "q"]


def test_refused_functions_of_a_graph(graph) -> None:
    x, y, total, _ = sums(graph)
    every = graph.get_operations()
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="output names size = 1 outputs size = 2"
    ):
        graph_to_function_def(graph, every, [x, y], [total, total], ["p"])
    with pytest.raises(ValueError, match="duplicates in out_names: p, p"):
        graph_to_function_def(graph, every, [x, y], [total, total], ["p", "p"])
    with pytest.raises(ValueError, match="'Pow' reads 'X/y:0', which is neither"):
        graph_to_function_def(graph, every[2:], [y], [total])


def test_the_graph_of_a_function(graph) -> None:
    x, y, total, second = sums(graph)
    definition = graph_to_function_def(
        graph, graph.get_operations(), [x, y], [total, second]
    )
    found = function_def_to_graph(definition)
    assert [t.shape.ndims for t in found.inputs] == [None, None]
    shaped = function_def_to_graph(definition, [None, tf.TensorShape([6])])
    assert [str(t.shape) for t in shaped.inputs] == ["<unknown>", "(6,)"]
    assert [str(t.shape) for t in shaped.outputs] == ["(6,)", "(3,)"]
    with tf.Session(graph=shaped) as session:
        first, last = session.run(
            shaped.outputs, dict(zip(shaped.inputs, ([1.0] * 6, range(6)), strict=True))
        )
    assert first.tolist() == [1, 2, 5, 10, 17, 26]
    assert last.tolist() == [10, 17, 26]
    with pytest.raises(ValueError, match="Length of input_shapes must match"):
        function_def_to_graph(definition, [None])


def test_functions_of_a_library(graph) -> None:
    @Defun(FLOAT, FLOAT)
    def slope(x, dy):
        return dy * 100.0 + x

    @Defun(FLOAT, grad_func=slope)
    def square(x):
        return x * x

    x = tf.constant(3.0)
    tf.gradients(square(x), x)
    library = graph.as_graph_def().library
    found = {f.name: f for f in from_library(library)}
    assert found.keys() == {slope.name, square.name}
    assert found[square.name].grad_func_name == slope.name
    assert found[slope.name].grad_func_name is None
    assert found[square.name].definition == square.definition
    assert found[square.name].declared_input_types == (FLOAT,)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)
        y = found[square.name](x)
        assert session.run([y, *tf.gradients(y, x)]) == [9.0, 103.0]


def test_captures_of_a_definition_are_arguments(graph) -> None:
    c = tf.constant(10.0)

    @Defun(FLOAT)
    def add(x):
        return x + c

    found = from_definition(add.definition)
    assert found.declared_input_types == (FLOAT, FLOAT)
    assert found.captured_inputs == []
    with tf.Session() as session:
        assert session.run(found(1.0, 2.0)) == 3.0


def test_refused_libraries(graph) -> None:
    @Defun(FLOAT)
    def f(x):
        return tf.exp(x)

    @Defun(FLOAT)
    def g(x):
        return tf.exp(-x)

    library = type(graph.as_graph_def().library)()
    library.function.extend([f.definition])
    library.gradient.add(function_name=f.name, gradient_func=g.name)
    with pytest.raises(
        ValueError, match=f"FunctionDefLibrary missing '{g.name}' FunctionDef"
    ):
        from_library(library)
    library.function.extend([g.definition])
    library.gradient.add(function_name=g.name, gradient_func=f.name)
    with pytest.raises(
        ValueError, match="FunctionDefLibrary contains cyclic gradient functions!"
    ):
        from_library(library)
    assert from_library(type(library)()) == []
