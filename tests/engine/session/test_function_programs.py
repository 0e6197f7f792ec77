"""Functions that kernels call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import Graph
from tfteach.ops.functions.calls import RemoteCall
from tfteach.ops.state.tensor_list import TensorList
from tfteach.ops.state.tensor_list_ops import TensorListLength


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def define(name: str, dtypes: Any, function: Callable[..., Any]) -> FuncGraph:
    body = FuncGraph(name)
    with body.as_default():
        inputs = [body.add_input(dtype, None) for dtype in dtypes]
        body.outputs = list(map(tf.convert_to_tensor, function(*inputs)))
    DefinedFunction(name, body).add_to_graph(tf.get_default_graph())
    return body


def called(session: tf.Session, name: str) -> Any:
    functions = session.planner.functions
    return functions.get(Function(name), session.graph, session.resources, session)


def test_arrays_of_all_kinds(graph: Graph) -> None:
    define(
        "f",
        (tf.float32, tf.string, tf.int32),
        lambda x, s, i: [x + 1.0, tf.string_join([s, "!"]), x, i],
    )
    with tf.Session() as session:
        f = called(session, "f")
        assert f is called(session, "f")
        text = np.array(b"a", object)
        for _ in range(40):  # interpreted, and as generated source
            found = f([np.float32([1, 2]), text, np.int32(3)])
            assert found[0].tolist() == [2.0, 3.0]
            assert found[1].shape == ()
            assert found[1][()] == b"a!"
            assert found[2].tolist() == [1.0, 2.0]
            assert found[3] == 3


def test_state_is_the_sessions(graph: Graph) -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    body = define("add", (tf.float32,), lambda x: [v.assign_add(x)])
    assert body.external_captures == [v.handle]
    with tf.Session() as session, tf.Session() as other:
        session.run(v.initializer)
        other.run(v.initializer)
        handle = session.run(v.handle)
        for _ in range(20):
            called(session, "add")([np.float32(1.0), handle])
        assert session.run(v) == 21.0
        assert other.run(v) == 1.0


def test_a_function_that_writes_within_a_run_that_writes(graph: Graph) -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    w = tf.get_variable("w", initializer=0.0, use_resource=True)
    define("add", (tf.float32,), lambda x: [v.assign_add(x)])
    kinds = (tf.float32, tf.resource), (tf.float32,)
    result = RemoteCall(*kinds, "add")("/cpu:0", [2.0, v.handle])[0]
    before = w.assign(5.0)
    with tf.control_dependencies([before.op]):
        late = w.assign_add(result)
    bad = tf.check_numerics(late.read_value() / 0.0, "too late")
    with tf.Session() as session:
        session.run([v.initializer, w.initializer])
        assert session.run(late) == 8.0
        assert session.run([v, w]) == [3.0, 8.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="too late"):
            session.run(bad)
        assert session.run(w) == 8.0  # undone; what the function wrote is not
        assert session.run(v) == 5.0


def test_handles_and_variants_as_arguments(graph: Graph) -> None:
    body = FuncGraph("length")
    with body.as_default():
        handle = body.add_input(tf.variant, [])
        body.outputs = [TensorListLength()(handle), handle]
    DefinedFunction("length", body).add_to_graph(graph)
    with tf.Session() as session:
        length = called(session, "length")
        for count in range(40):
            made = TensorList(tf.float32, (), [np.float32(0)] * count)
            found = length([made])
            assert found[0] == count
            assert found[1] is made


def test_control_flow_and_calls_in_a_body(graph: Graph) -> None:
    define("twice", (tf.float32,), lambda x: [x * 2.0])
    call = graph.functions["twice"].call_class()
    define(
        "grow",
        (tf.float32,),
        lambda x: [tf.while_loop(lambda y: y < 100.0, lambda y: call()(y), [x])],
    )
    with tf.Session() as session:
        grow = called(session, "grow")
        for start in (3.0, 120.0) * 20:
            expected = 192.0 if start == 3.0 else 120.0
            assert grow([np.float32(start)]) == [expected]


def test_many_threads_call_one_function(graph: Graph) -> None:
    define("square", (tf.float32,), lambda x: [tf.matmul(x, x), tf.reduce_sum(x)])
    wrong = []
    with tf.Session() as session:

        def work(k: int) -> None:
            square = called(session, "square")
            value = np.full((8, 8), k, np.float32)
            for _ in range(50):
                product, total = square([value])
                if product[0, 0] != 8 * k * k or total != 64 * k:
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_errors_name_the_line_in_the_body(graph: Graph) -> None:
    define("bad", (tf.float32,), lambda x: [tf.check_numerics(x, "found", name="c")])
    with tf.Session() as session:
        bad = called(session, "bad")
        with pytest.raises(tf.errors.InvalidArgumentError, match="found") as caught:
            bad([np.float32(np.nan)])
        assert caught.value.op.name == "c"
        assert caught.value.op.source.file == __file__
        with pytest.raises(tf.errors.NotFoundError, match="Function no is not defined"):
            called(session, "no")
