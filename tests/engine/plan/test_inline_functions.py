"""Calls of functions, expanded while a step is planned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.plan.inline_functions import inlined
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Tensor
from tfteach.ops.functions.calls import (
    PartitionedCall,
    RemoteCall,
    StatefulPartitionedCall,
)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def define(name: str, count: int, function: Callable[..., Any]) -> DefinedFunction:
    """A function of `count` floats."""
    body = FuncGraph(name)
    with body.as_default():
        inputs = [body.add_input(tf.float32, None, f"x{i}") for i in range(count)]
        body.outputs = list(function(*inputs))
    made = DefinedFunction(name, body)
    made.add_to_graph(tf.get_default_graph())
    return made


def call(function: DefinedFunction, *inputs: Any, name: str = "call") -> list[Tensor]:
    body = function.graph
    assert body is not None
    every = [*map(tf.convert_to_tensor, inputs), *body.external_captures]
    kinds = tuple(t.dtype for t in every), tuple(t.dtype for t in body.outputs)
    return StatefulPartitionedCall(*kinds, function)(every, name=name)


def nodes(session: tf.Session, fetch: Any) -> list[str]:
    elements = fetch if isinstance(fetch, tuple) else (fetch,)
    return sorted(node.name for node in session.planned_step(elements, ()).nodes)


def test_a_step_has_only_the_ops_that_it_needs_of_a_body(graph: Graph) -> None:
    p = tf.placeholder(tf.float32, [2])
    pair = define("pair", 1, lambda x: (tf.exp(x, name="e"), tf.sin(x, name="s"), x))
    both = call(pair, p)
    with tf.Session() as session:
        value = np.float32([0.5, 1.0])
        assert session.run(both[1], {p: value}) == pytest.approx(np.sin(value))
        names = [n.name for n in session.planned_step((both[1],), (p,)).nodes]
        assert names == ["call/s"]
        assert session.run(both[2], {p: value}).tolist() == value.tolist()
        fed = session.run([both[0], both[1]], {both[0]: [7.0, 8.0], p: value})
        assert fed[0].tolist() == [7.0, 8.0]


def test_calls_in_calls_and_static_shapes(graph: Graph) -> None:
    inner = define("inner", 2, lambda x, y: (x + y, tf.shape(x)))
    outer = define(
        "outer", 1, lambda x: [inner.call_class()()(x, x, name="i")[k] for k in (0, 1)]
    )
    found = call(outer, [1.0, 2.0])
    expansion = inlined(found[0].op)
    assert expansion is not None
    tensor = expansion.outputs[0]
    assert tensor.op.name == "call/i"
    assert tensor.shape.as_list() == [2]
    again = call(outer, found[0], name="again")
    with tf.Session() as session:
        assert session.run(again[0]).tolist() == [4.0, 8.0]
        assert session.run([again[1], found[1]])[0].tolist() == [2]
        assert session.run(again[0], {found[0]: [1.0]}).tolist() == [2.0]
        assert session.run([found[0].op, again[0].op]) == [None, None]


def test_effects_happen_once_per_call_whatever_is_fetched(graph: Graph) -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    def count(x: Tensor) -> Any:
        v.assign_add(x)
        return [x * 2.0]

    counting = define("counting", 1, count)
    found = call(counting, 10.0)
    with tf.control_dependencies([found[0].op]):
        after = v.read_value()
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(found[0]) == 20.0
        assert session.run(v) == 11.0
        session.run(found[0].op)
        assert session.run([after, found[0]]) == [31.0, 20.0]


def test_a_call_waits_for_what_its_node_waits_for(graph: Graph) -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    read = define("read", 0, lambda: [v.read_value()])
    with tf.control_dependencies([v.assign(5.0)]):
        found = call(read)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(found[0]) == 5.0


def test_random_ops_have_a_stream_per_call(graph: Graph) -> None:
    noise = define("noise", 0, lambda: [tf.random_uniform([], seed=1)])
    first, second = call(noise)[0], call(noise, name="other")[0]
    with tf.Session() as session:
        one = [session.run([first, second]) for _ in range(2)]
    assert one[0][0] == one[0][1]
    assert one[0][0] != one[1][0]


@pytest.mark.parametrize("taken", [True, False])
def test_a_call_in_a_branch_runs_only_if_the_branch_does(
    graph: Graph, taken: bool
) -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])

    def count(x: Tensor) -> Any:
        v.assign_add(1.0)
        return [x + 1.0, tf.constant(2.0)]

    counting = define("counting", 1, count)
    found = tf.cond(p, lambda: call(counting, 1.0), lambda: [tf.constant(0.0)] * 2)
    with tf.Session() as session:
        session.run(v.initializer)
        expected = [2.0, 2.0] if taken else [0.0, 0.0]
        assert session.run(found, {p: taken}) == expected
        assert session.run(v) == float(taken)


def test_a_call_without_inputs_in_a_branch_of_a_body(graph: Graph) -> None:
    one = define("one", 0, lambda: [tf.constant(1.0)])
    two = define("two", 0, lambda: [tf.constant(2.0)])

    def choose(x: Tensor) -> Any:
        x.set_shape([])
        return [tf.cond(x > 0.0, lambda: call(one)[0], lambda: call(two)[0])]

    p = tf.placeholder(tf.float32, [])
    found = call(define("choose", 1, choose), p)
    with tf.Session() as session:
        assert session.run(found[0], {p: 1.0}) == 1.0
        assert session.run(found[0], {p: -1.0}) == 2.0


def test_loops_of_two_calls_are_two_loops(graph: Graph) -> None:
    def count(x: Tensor) -> Any:
        x.set_shape([])
        return [tf.while_loop(lambda i: i < 10.0, lambda i: i + x, [0.0])]

    def called(x: Any, name: str) -> Tensor:
        return tf.reshape(call(loop, x, name=name)[0], [])

    loop = define("loop", 1, count)
    both = called(3.0, "one") + called(4.0, "other")
    total = tf.while_loop(lambda t: t < 100.0, lambda t: t + called(t, "in"), [1.0])
    with tf.Session() as session:
        assert session.run(both) == 24.0
        nodes = session.planned_step((both,), ()).nodes
        frames = {getattr(node.spec, "frame_name", "") for node in nodes}
        assert {"one/while/while_context", "other/while/while_context"} <= frames
        assert session.run(total) == 176.0


def test_errors_name_the_op_of_the_body(graph: Graph) -> None:
    check = define("check", 1, lambda x: [tf.check_numerics(1.0 / x, "bad", name="c")])
    found = call(check, 0.0)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad") as caught:
            session.run(found[0])
        assert caught.value.op.name == "call/c"
        missing = PartitionedCall((), (tf.float32,), "nothing")([], name="n")
        with pytest.raises(tf.errors.NotFoundError, match="Function nothing is not"):
            session.run(missing)


def test_a_changed_graph_is_expanded_again(graph: Graph) -> None:
    double = define("double", 1, lambda x: [x * 2.0])
    found = call(double, 1.0)[0]
    with tf.Session() as session:
        assert session.run(found) == 2.0
        other = tf.constant(4.0)
        found.op._update_input(0, other)
        assert session.run(found) == 8.0


def test_bodies_are_placed_with_the_call(graph: Graph) -> None:
    tf_config = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)

    def body(x: Tensor) -> Any:
        with tf.device("/cpu:0"):
            y = tf.identity(x, name="y")
        return [tf.exp(x, name="e") + y]

    placed = define("placed", 1, body)
    with tf.device("/cpu:1"):
        found = call(placed, 1.0)[0]
    with tf.Session(config=tf_config) as session:
        assert session.run(found) == pytest.approx(1.0 + np.e)
        where = {name: p.assigned[-5:] for name, p in session.placements.items()}
    assert (where["call/e"], where["call/y"]) == ("CPU:1", "CPU:0")


def test_partial_runs_compute_no_op_of_a_body_twice(graph: Graph) -> None:
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    noisy = define("noisy", 1, lambda x: [x + tf.random_uniform([2]), x * 2.0])
    first = call(noisy, x)
    second = call(noisy, first[0] * y, name="other")
    with tf.Session() as session:
        handle = session.partial_run_setup([first[0], second[1]], [x, y])
        one = session.partial_run(handle, first[0], {x: [1.0, 2.0]})
        two = session.partial_run(handle, second[1], {y: [3.0, 3.0]})
        assert two.tolist() == pytest.approx((one * 6.0).tolist())


def test_remote_calls_run_on_this_machine(graph: Graph) -> None:
    double = define("double", 1, lambda x: [x * 2.0])
    op = RemoteCall((tf.float32,), (tf.float32,), double)
    found = op("/job:localhost/replica:0/task:0/device:CPU:0", [[3.0]])
    with tf.Session() as session:
        assert session.run(found)[0].tolist() == [6.0]
