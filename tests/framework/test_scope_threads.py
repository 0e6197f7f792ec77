"""Scopes of threads that build in one graph; order and nesting of the blocks.

What a thread finds open, which errors blocks left in the wrong order give, and the
order of control inputs is what TensorFlow 1.15.5 answered.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfteach as tf


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Threads change places every few microseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_thread(function: Callable[[], Any]) -> Any:
    """The result of `function` in another thread."""
    results: list[Any] = []

    def call() -> None:
        results.append(function())

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return results[0]


def built(graph: tf.Graph) -> tuple[str, str, list[str], list[bytes]]:
    """An op built now: name, device, control inputs, colocation groups."""
    with graph.as_default():
        op = tf.no_op("n")
    groups = [g for g in op.colocation_groups() if g != b"loc:@" + op.name.encode()]
    return op.name, op.device, [c.name for c in op.control_inputs], groups


def test_a_thread_starts_with_what_the_graphs_maker_has_open(graph) -> None:
    a, b = tf.no_op("a"), tf.constant(1.0, name="b")
    with tf.name_scope("s"), tf.device("/cpu:1"), tf.control_dependencies([a]):
        assert in_thread(lambda: built(graph)) == ("n", "/device:CPU:1", ["a"], [])
    with graph.colocate_with(b):
        assert in_thread(lambda: built(graph)) == ("n_1", "", [], [b"loc:@b"])
    # A thread that was there before follows the changes.
    open_now, ready = threading.Barrier(2), threading.Barrier(2)
    seen = []

    def watch() -> None:
        for _ in range(3):
            open_now.wait(60)
            seen.append(built(graph)[1])
            ready.wait(60)

    thread = threading.Thread(target=watch)
    thread.start()
    for device in ("/cpu:2", None, "/cpu:3"):
        with tf.device(device):
            open_now.wait(60)
            ready.wait(60)
    thread.join()
    assert seen == ["/device:CPU:2", "", "/device:CPU:3"]


def test_a_loops_body_may_build_in_a_helper_thread(graph) -> None:
    def body(i: Any) -> Any:
        def add() -> Any:
            with graph.as_default():
                return i + 2

        return in_thread(add)

    total = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.Session() as session:
        assert session.run(total) == 6


def test_threads_do_not_see_each_others_blocks(graph) -> None:
    a = tf.no_op("a")
    opened, done = threading.Event(), threading.Event()
    mine: list[Any] = []

    def hold() -> None:
        with (
            graph.as_default(), tf.name_scope("held"), tf.device("/cpu:7"),
            tf.control_dependencies([a]), tf.variable_scope("v"),
        ):  # fmt: skip
            opened.set()
            done.wait(60)
            mine.append(built(graph))

    thread = threading.Thread(target=hold)
    thread.start()
    opened.wait(60)
    ours = built(graph)
    others = in_thread(lambda: (built(graph), tf.get_variable_scope().name))
    done.set()
    thread.join()
    assert ours == ("n", "", [], [])
    assert others == (("n_1", "", [], []), "")
    assert mine == [("held/v/n", "/device:CPU:7", ["a"], [])]
    assert built(graph) == ("n_2", "", [], [])


def test_switch_to_thread_local_keeps_what_was_open_for_new_threads(graph) -> None:
    a = tf.no_op("a")
    with tf.device("/cpu:1"), tf.control_dependencies([a]):
        graph.switch_to_thread_local()
        with tf.device("/cpu:3"):
            assert in_thread(lambda: built(graph))[1:3] == ("/device:CPU:1", ["a"])
    assert in_thread(lambda: built(graph))[1:3] == ("/device:CPU:1", ["a"])
    assert built(graph)[1:3] == ("", [])


def test_blocks_left_in_the_wrong_order(graph) -> None:
    first, second = graph.device("/cpu:1"), graph.device("/cpu:2")
    first.__enter__()
    second.__enter__()
    with pytest.raises(RuntimeError, match="without proper scope nesting"):
        first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert built(graph)[1] == "/device:CPU:1"

    a, b = tf.no_op("a"), tf.no_op("b")
    outer, inner = graph.control_dependencies([a]), graph.control_dependencies([b])
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(AssertionError):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert built(graph)[2] == ["a"]


def test_blocks_of_different_kinds_need_not_nest(graph) -> None:
    device, control = (
        graph.device("/cpu:1"),
        graph.control_dependencies([tf.no_op("a")]),
    )
    device.__enter__()
    control.__enter__()
    device.__exit__(None, None, None)
    assert built(graph)[1:3] == ("", ["a"])
    control.__exit__(None, None, None)
    assert built(graph)[1:3] == ("", [])


@pytest.mark.usefixtures("eager_switching")
def test_names_of_eight_threads_are_unique(graph) -> None:
    made: list[Any] = []

    def build(number: int) -> None:
        with graph.as_default():
            for i in range(60):
                with tf.name_scope("s"), tf.device(f"/cpu:{number}"):
                    made.append((tf.no_op("same"), number))
                    tf.placeholder(tf.float32, name="same")
                with tf.variable_scope(f"v{i}", reuse=tf.AUTO_REUSE):
                    made.append((tf.get_variable("w", [2]), None))

    threads = [threading.Thread(target=build, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    operations = graph.get_operations()
    names = [op.name.lower() for op in operations]
    assert len(set(names)) == len(names)
    assert [op.node_id for op in operations] == [*range(1, len(names) + 1)]
    assert all(graph.get_operation_by_name(op.name) is op for op in operations)
    nodes = [(op, number) for op, number in made if number is not None]
    assert len(nodes) == 480
    assert all(op.device == f"/device:CPU:{number}" for op, number in nodes)
    variables = {v.name: v for v, number in made if number is None}
    assert len(variables) == 60
    assert len(tf.global_variables()) == 60
    assert all(v is variables[v.name] for v, number in made if number is None)


def test_control_inputs_are_in_tensorflows_order(graph) -> None:
    b, c, a = tf.no_op("b"), tf.no_op("c"), tf.no_op("a")
    with tf.control_dependencies([b]), tf.control_dependencies([c, b, a]):
        op = tf.no_op("op")
    assert op.control_inputs == [b, c, a]
    assert list(op.node_def.input) == ["^b", "^c", "^a"]
    written = {n.name: list(n.input) for n in graph.as_graph_def().node}
    assert written["op"] == ["^a", "^b", "^c"]


def test_control_inputs_of_imported_ops(graph) -> None:
    for name in "bcad":
        tf.no_op(name)
    tf.no_op("op")
    graph_def = graph.as_graph_def()
    graph_def.node[4].input.extend(["^c", "^b", "^a", "^b"])
    with tf.Graph().as_default() as copy:
        outer = tf.no_op("outer")
        with tf.control_dependencies([outer]):
            tf.import_graph_def(graph_def, name="")
    op = copy.get_operation_by_name("op")
    assert [o.name for o in op.control_inputs] == ["a", "b", "c", "outer"]
    assert list(op.node_def.input) == ["^c", "^b", "^a", "^outer"]
    written = {n.name: list(n.input) for n in copy.as_graph_def().node}
    assert written["op"] == ["^a", "^b", "^c", "^outer"]
    op._remove_all_control_inputs()
    assert list(op.node_def.input) == []
