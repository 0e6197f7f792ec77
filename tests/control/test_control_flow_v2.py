"""`tf.enable_control_flow_v2`: graphs as TensorFlow's, gradients as of version 1."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import function_control_flow as golden
from tests.test_golden_graphs import described
from tfteach.lib.functions.defun import Defun

GOLDEN = json.loads(Path(golden.__file__).with_suffix(".json").read_text())


def without_numbers(text: str) -> str:
    """Names of functions end in a number that counts all of a process."""
    kinds = r"((?:true|false|cond|body|grad|rewritten|branch\d+)_)"
    return re.sub(rf"{kinds}\d+", r"\1N", text)


def nodes(found: Any) -> list[str]:
    return [without_numbers(str(described(node))) for node in found]


@pytest.mark.parametrize("function", golden.GRAPHS, ids=lambda f: f.__name__)
def test_graphs_and_values_are_tensorflows(
    functional: None, function: Callable[..., Any]
) -> None:
    row = GOLDEN[function.__name__]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tensors = function(tf)
        tf.global_variables_initializer()
        session.run("init")
        for ours, theirs in zip(session.run(tensors), row["values"], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert [str(t.shape) for t in tensors] == row["shapes"]
    assert [t.name for t in tensors] == row["names"]
    data = zlib.decompress(base64.b64decode(row["graph"]))
    wanted, made = tf.GraphDef.FromString(data), graph.as_graph_def()
    assert nodes(made.node) == nodes(wanted.node)
    ours, theirs = (
        sorted(map(function_text, found.library.function)) for found in (made, wanted)
    )
    assert ours == theirs


def function_text(definition: Any) -> str:
    signature = definition.signature
    arguments = [arg.name for arg in signature.input_arg]
    results = [(arg.name, definition.ret[arg.name]) for arg in signature.output_arg]
    name = without_numbers(signature.name)
    return str((name, arguments, results, nodes(definition.node_def)))


# ---- the same numbers as version 1


def nested_branches() -> Any:
    x, p = tf.constant([1.0, 2.0]), tf.placeholder_with_default(2.0, [])

    def inner() -> Any:
        return tf.cond(p > 3.0, lambda: tf.exp(x) * p, lambda: tf.sin(x) * x * p)

    y = tf.cond(p > 1.0, inner, lambda: x * x)
    return [y, *tf.gradients(y, [x, p])]


def branch_in_a_loop() -> Any:
    x = tf.constant(1.5)

    def body(i: Any, y: Any) -> Any:
        even = tf.equal(i % 2, 0)
        return i + 1, tf.cond(even, lambda: y * x, lambda: tf.sin(y) * x)

    y = tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]
    return [y, *tf.gradients(y, x)]


def loop_in_a_branch() -> Any:
    x, p = tf.constant(1.5), tf.placeholder_with_default(2.0, [])

    def count() -> Any:
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x * y), [0, x]
        )

    y = tf.cond(p > 1.0, lambda: count()[1], lambda: x)
    return [y, *tf.gradients(y, x)]


def loop_in_a_loop() -> Any:
    x = tf.constant(1.1)

    def body(i: Any, y: Any) -> Any:
        z = tf.while_loop(
            lambda k, z: k < 2, lambda k, z: (k + 1, z * tf.tanh(y) * x), [0, y]
        )[1]
        return i + 1, z + x * y

    y = tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]
    return [y, *tf.gradients(y, x)]


def variables() -> Any:
    v = tf.get_variable("v", initializer=[1.5, 2.0], use_resource=True)
    w = tf.get_variable("w", initializer=[[1.0, 0.5], [0.25, -1.0]])
    p = tf.placeholder_with_default(2.0, [])
    y = tf.cond(p > 1.0, lambda: tf.reduce_sum(v * v), lambda: tf.reduce_sum(w))
    h = tf.while_loop(
        lambda i, h: i < 3,
        lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w)) * v),
        [0, tf.ones([1, 2])],
    )[1]
    return [y, h, *tf.gradients(y, [v, w]), *tf.gradients(h, [v, w])]


def unknown_sizes() -> Any:
    x = tf.placeholder_with_default(np.float32([[1, 2], [3, 4]]), [None, 2])
    w = tf.constant([[0.1, 0.2], [0.3, 0.4]])
    h = tf.while_loop(
        lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, x]
    )[1]
    return [h, *tf.gradients(h, [x, w])]


def second_order_of_a_branch() -> Any:
    x = tf.constant(1.3)
    y = tf.cond(x > 1.0, lambda: x * x * x, lambda: x)
    [first] = tf.gradients(y, x)
    return [first, *tf.gradients(first, x)]


def case() -> Any:
    x, k = tf.constant(2.0), tf.placeholder_with_default(1, [])
    y = tf.switch_case(k, [lambda: x, lambda: x * x, lambda: x * x * x])
    return [y, *tf.gradients(y, x)]


def at_most() -> Any:
    x = tf.constant(2.0)
    y = tf.while_loop(lambda y: y < 1e6, lambda y: y * x, [x], maximum_iterations=4)
    return [y, *tf.gradients(y, x)]


def scanned() -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.scan(lambda a, b: a * b, x)
    return [y, *tf.gradients(y, x)]


def two_gradients() -> Any:
    x = tf.constant(1.5)
    y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.sin(y) * x), [0, x])
    return [*tf.gradients(y[1], x), *tf.gradients(y[1] * 2.0, x)]


def recurrent() -> Any:
    x = tf.constant(np.linspace(-1, 1, 12).reshape(2, 3, 2), tf.float32)
    cell = tf.nn.rnn_cell.GRUCell(
        3,
        kernel_initializer=tf.constant_initializer(0.3),
        bias_initializer=tf.constant_initializer(0.1),
    )
    y, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    return [y, *tf.gradients(y, x), *tf.gradients(y, tf.trainable_variables())]


FUNCTIONS = [
    nested_branches,
    branch_in_a_loop,
    loop_in_a_branch,
    loop_in_a_loop,
    variables,
    unknown_sizes,
    second_order_of_a_branch,
    case,
    at_most,
    scanned,
    two_gradients,
    recurrent,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients_are_those_of_version_1(function: Callable[..., Any]) -> None:
    found = []
    try:
        for version in (1, 2):
            if version == 2:
                tf.enable_control_flow_v2()
            with tf.Graph().as_default() as graph, tf.Session() as session:
                tensors = function()
                session.run(tf.global_variables_initializer())
                for _ in range(14):  # also as specialized programs
                    values = session.run(tensors)
                found.append(values)
                assert bool(graph.functions) or version == 1
    finally:
        tf.disable_control_flow_v2()
    for first, second in zip(*found, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5)


@pytest.mark.parametrize("function", FUNCTIONS[:5], ids=lambda f: f.__name__)
def test_graphs_with_gradients_are_read_back(
    functional: None, function: Callable[..., Any]
) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tensors = function()
        init = tf.global_variables_initializer()
        session.run(init)
        values = session.run(tensors)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph.as_graph_def(), name="")
        session.run(init.name)
        again = session.run([t.name for t in tensors])
    for first, second in zip(values, again, strict=True):
        np.testing.assert_array_equal(first, second)


def test_what_is_refused(functional: None) -> None:
    x = tf.constant(1.3)
    with pytest.raises(TypeError, match="pred must not be a Python bool"):
        tf.cond(True, lambda: x, lambda: x)
    with pytest.raises(TypeError, match="same number, type, and overall structure"):
        tf.cond(x > 1.0, lambda: x, lambda: [x, x])
    with pytest.raises(TypeError, match="same number, type, and overall structure"):
        tf.cond(x > 1.0, lambda: x, lambda: tf.constant(1))
    with pytest.raises(ValueError, match=r"enters the loop with shape \(1,\), but has"):
        tf.while_loop(lambda y: x > 1.0, lambda y: tf.concat([y, y], 0), [tf.ones([1])])
    with pytest.raises(TypeError, match=r"but has type <dtype: 'int32'> after 1"):
        tf.while_loop(lambda y: x > 1.0, lambda y: tf.constant(1), [x])
    shapes = [tf.TensorShape([3])]
    with pytest.raises(ValueError, match="The shape invariant specified for ones"):
        tf.while_loop(lambda y: x > 1.0, lambda y: y, [tf.ones([2])], shapes)
    with pytest.raises(ValueError, match="maximum_iterations must be a scalar"):
        tf.while_loop(lambda y: x > 1.0, lambda y: y, [x], maximum_iterations=[1])


def test_operations_as_results(functional: None) -> None:
    v = tf.get_variable("v_of_operations", initializer=1.0, use_resource=True)
    done = tf.cond(tf.constant(True), lambda: v.assign_add(2.0).op, lambda: tf.no_op())
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(done) == True  # noqa: E712
        assert session.run(v) == 3.0


def test_what_waits_for_a_node_runs_whichever_branch_does(functional: None) -> None:
    v = tf.get_variable("v_of_a_branch", initializer=1.0, use_resource=True)
    p = tf.placeholder_with_default(2.0, [])
    y = tf.cond(p > 0, lambda: tf.identity(v.assign_add(1.0)), lambda: tf.constant(5.0))
    with tf.control_dependencies([y.op.inputs[0].op]):
        after = tf.constant(7.0)
    with tf.Session() as session:
        session.run(v.initializer)
        assert [session.run(after), session.run(v)] == [7.0, 2.0]
        assert [session.run(after, {p: -1.0}), session.run(v)] == [7.0, 2.0]


def test_what_waits_for_a_loop_runs_once_after_it(functional: None) -> None:
    v = tf.get_variable("v_of_a_loop", initializer=1.0, use_resource=True)

    def body(i: Any) -> Any:
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1

    y = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.control_dependencies([y.op.inputs[0].op]):
        after = v.read_value() * 1.0
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(after) == 4.0


@pytest.mark.parametrize(
    ("shape", "value"), [(None, True), ([1], [True]), ([1, 1], [[True]])]
)
def test_a_predicate_of_one_element(functional: None, shape: Any, value: Any) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        p = tf.placeholder(tf.bool, shape)
        y = tf.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
        assert [op.type for op in graph.get_operations()][1] == "Squeeze"
        assert session.run(y, {p: value}) == 1.0


def test_the_body_of_a_defun_follows_the_program() -> None:
    def types() -> list[str]:
        @Defun(tf.float32)
        def f(x: Any) -> Any:
            return tf.cond(x > 0.0, lambda: x, lambda: -x)

        with tf.Graph().as_default() as graph:
            f(1.0)
            (first, *_) = graph.as_graph_def().library.function
            return [node.op for node in first.node_def]

    assert "Switch" in types()
    tf.enable_control_flow_v2()
    try:
        assert types() == ["Const", "Greater", "Squeeze", "StatelessIf", "Identity"]
    finally:
        tf.disable_control_flow_v2()


# ---- TensorArrays


def test_branches_return_tensor_arrays(functional: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.TensorArray(tf.float32, size=2, element_shape=[])
        p = tf.placeholder_with_default(True, [])
        b = tf.cond(p, lambda: a.write(0, 1.0), lambda: a.write(1, 2.0))
        assert isinstance(b, tf.TensorArray)
        assert session.run(b.stack()).tolist() == [1.0, 0.0]
        assert session.run(b.stack(), {p: False}).tolist() == [0.0, 2.0]


def test_the_state_of_a_tensor_array_is_its_flow(functional: None) -> None:
    a = tf.TensorArray(tf.float32, size=2, dynamic_size=True, element_shape=[None, 2])
    assert a.handle is None
    assert a.flow.dtype is tf.variant
    assert str(a.element_shape) == "(?, 2)"
    assert a.identity().dynamic_size
    assert a.close().type == "NoOp"
    again = tf.TensorArray(tf.float32, flow=a.flow)
    with tf.Session() as session:
        assert session.run(again.size()) == 2


def test_what_tensor_arrays_refuse(
    functional: None,
) -> None:
    flow = tf.TensorArray(tf.float32, size=2).flow
    with pytest.raises(ValueError, match="Size must be provided if flow is not"):
        tf.TensorArray(tf.float32)
    with pytest.raises(TypeError, match="flow must be a variant tensor"):
        tf.TensorArray(tf.float32, flow=tf.constant(1.0))
    with pytest.raises(ValueError, match="both a flow and size at the same time"):
        tf.TensorArray(tf.float32, 2, flow=flow)
    with pytest.raises(ValueError, match="both a flow and element_shape at the same"):
        tf.TensorArray(tf.float32, flow=flow, element_shape=[2])
    with pytest.raises(AssertionError):
        tf.TensorArray(tf.float32, 2, handle=tf.constant(1.0))
    with pytest.raises(NotImplementedError):
        tf.TensorArray(tf.float32, 2).grad("gradients")
    row = tf.TensorArray(tf.float32, size=2, element_shape=[2])
    for write in (
        lambda: row.write(0, [1.0]),
        lambda: row.unstack([[1.0]]),
        lambda: row.scatter([0], [[1.0]]),
        lambda: row.split([[1.0]], [1]),
    ):
        with pytest.raises(ValueError, match="Inconsistent shapes: saw"):
            write()


@pytest.mark.parametrize(
    "function",
    [
        golden.unused_effect_in_a_branch,
        golden.effect_of_an_unused_result,
        golden.unused_effect_in_a_loop,
        golden.unused_effect_in_a_case,
    ],
    ids=lambda f: f.__name__,
)
def test_pruned_effects_do_not_happen_later_in_the_run(
    functional: None, function: Callable[..., Any]
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value, _ = function(tf)
        session.run(tf.global_variables_initializer())
        session.run(value)
        assert session.run(tf.global_variables()[0]) == 1.0
