"""Graph, scopes, operations: names, dependencies, devices, observers."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework.graph import OpAdded, get_default_graph


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def names(graph: tf.Graph) -> list[str]:
    return [op.name for op in graph.get_operations()]


def test_names_are_made_unique_whatever_their_case(graph) -> None:
    found = [graph.unique_name(n) for n in ("foo", "Foo", "foo_1", "foo", "bar")]
    # As TensorFlow 1.15 answers.
    assert found == ["foo", "Foo_1", "foo_1_1", "foo_2", "bar"]
    assert graph.unique_name("new", mark_as_used=False) == "new"
    assert graph.unique_name("new") == "new"


def test_name_scopes_nest_reenter_and_reset(graph) -> None:
    with tf.name_scope("a") as outer:
        tf.constant(1, name="x")
        with tf.name_scope("b"):
            tf.constant(1, name="x")
        with tf.name_scope(None):
            tf.constant(1, name="x")
    with tf.name_scope("a"):
        tf.constant(1, name="x")
    with tf.name_scope(outer):
        tf.constant(1, name="x")
    assert outer == "a/"
    assert names(graph) == ["a/x", "a/b/x", "x", "a_1/x", "a/x_1"]
    assert graph.get_name_scope() == ""


def test_an_error_inside_a_scope_closes_it(graph) -> None:
    with pytest.raises(ZeroDivisionError), tf.name_scope("a"), tf.device("/cpu:0"):
        raise ZeroDivisionError
    assert tf.constant(1).name == "Const:0"
    assert tf.constant(1).device == ""


def test_control_dependencies(graph) -> None:
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.control_dependencies([a, b.op, a]):
        c = tf.constant(3, name="c")
        d = tf.add(a, a, name="d")
        e = tf.add(c, c, name="e")
        with tf.control_dependencies(None):
            f = tf.constant(4, name="f")
        with tf.control_dependencies([c]):
            g = tf.constant(5, name="g")
    controls = {
        t.op.name: [o.name for o in t.op.control_inputs] for t in (c, d, e, f, g)
    }
    # d has a already; e waits through c.
    assert controls == {
        "c": ["a", "b"],
        "d": ["b"],
        "e": [],
        "f": [],
        "g": ["a", "b", "c"],
    }
    assert {o.name for o in a.op.control_outputs} == {"c", "g"}


@pytest.mark.parametrize(
    ("asked", "canonical"),
    [
        ("/gpu:0", "/device:GPU:0"),
        ("gpu:0", "/device:GPU:0"),
        ("/cpu:*", "/device:CPU:*"),
        ("/job:worker/task:1", "/job:worker/task:1"),
        (
            "/job:a/replica:0/task:2/device:GPU:1",
            "/job:a/replica:0/task:2/device:GPU:1",
        ),
        ("", ""),
    ],
)
def test_device_names(graph, asked: str, canonical: str) -> None:
    with tf.device(asked):
        assert tf.constant(1).device == canonical


def test_devices_merge_and_clear(graph) -> None:
    with tf.device("/job:ps/gpu:1"):
        with tf.device("/cpu:0"):
            assert tf.constant(1).device == "/job:ps/device:CPU:0"
        with tf.device(None):
            assert tf.constant(1).device == ""
        with tf.device(lambda op: "/task:3" if op.type == "Const" else None):
            assert tf.constant(1).device == "/job:ps/task:3/device:GPU:1"


def test_colocation(graph) -> None:
    with tf.device("/gpu:1"):
        a = tf.constant(1, name="a")
    with graph.colocate_with(a.op):
        b = tf.constant(2, name="b")
    assert b.op.colocation_groups() == [b"loc:@a"]
    assert b.device == "/device:GPU:1"
    assert b.op.get_attr("_class") == [b"loc:@a"]


def test_collections(graph) -> None:
    graph.add_to_collection("k", 1)
    graph.add_to_collections(["k", "l"], 2)
    copied = graph.get_collection("k")
    copied.append(3)
    assert graph.get_collection("k") == [1, 2]
    graph.get_collection_ref("k").append(4)
    assert graph.get_collection("k") == [1, 2, 4]
    assert graph.get_collection("k", scope="x") == []
    a = tf.constant(1, name="in/a")
    graph.add_to_collection("t", a)
    assert graph.get_collection("t", scope="in") == [a]
    assert set(graph.get_all_collection_keys()) == {"k", "l", "t"}


def test_default_graphs_nest_and_are_per_thread(graph) -> None:
    assert get_default_graph() is graph
    inner = tf.Graph()
    with inner.as_default():
        assert tf.constant(1).graph is inner
        seen = []
        thread = threading.Thread(target=lambda: seen.append(get_default_graph()))
        thread.start()
        thread.join()
        assert seen[0] not in (graph, inner)
        with pytest.raises(AssertionError, match="Do not use tf"):
            tf.reset_default_graph()
    assert get_default_graph() is graph


def test_observers_hear_of_ops_until_closed(graph) -> None:
    heard = []
    subscription = graph.observe(heard.append)
    a = tf.constant(1)
    assert heard == [OpAdded(a.op)]
    subscription.close()
    tf.constant(2)
    assert len(heard) == 1


def test_an_op_knows_the_users_line(graph) -> None:
    a = tf.add(1, 2)  # this very line
    assert a.op.source is not None
    assert a.op.source.file == __file__
    assert a.op.source.text == "a = tf.add(1, 2)  # this very line"
    assert a.op.source.function == "test_an_op_knows_the_users_line"


def test_tensors_and_operations_tell_about_themselves(graph) -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.square(x, name="y")
    assert repr(y) == "<tf.Tensor 'y:0' shape=(?, 3) dtype=float32>"
    assert str(y) == 'Tensor("y:0", shape=(?, 3), dtype=float32)'
    assert repr(y.op) == "<tf.Operation 'y' type=Square>"
    assert x.consumers() == [y.op]
    assert (y.value_index, y.op.type, list(y.op.inputs)) == (0, "Square", [x])
    assert y.op.get_attr("T") is tf.float32
    assert x != y
    assert x == x
    assert {x: 1}[x] == 1
    y.set_shape([2, None])
    assert y.shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match="no attr named"):
        y.op.get_attr("nope")


def test_a_constant_keeps_its_value_when_the_array_changes(graph) -> None:
    array = np.array([1.0, 2.0])
    a = tf.constant(array)
    array[0] = 9
    assert a.op.spec.value.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("value", "name", "shape"),
    [
        (1, "int32", ()), (1 << 40, "int64", ()), (1.5, "float32", ()),
        (True, "bool", ()), (b"x", "string", ()), ("x", "string", ()),
        (1j, "complex128", ()), (np.float64(1), "float64", ()), ([], "float32", (0,)),
        ([1, 2.5], "float32", (2,)), ([[1], [2]], "int32", (2, 1)),
        (np.int64([1]), "int64", (1,)), ([True, False], "bool", (2,)),
    ],
)  # fmt: skip
def test_types_of_constants(graph, value, name, shape) -> None:
    a = tf.constant(value)
    assert (a.dtype.name, tuple(a.shape.as_list())) == (name, shape)


def test_a_constant_is_filled_up_with_its_last_element(graph) -> None:
    a = tf.constant([1, 2], shape=[2, 2])
    assert a.op.spec.value.tolist() == [[1, 2], [2, 2]]
    assert tf.constant(7, shape=[3]).op.spec.value.tolist() == [7, 7, 7]
    assert tf.constant(True, tf.int32).op.spec.value.tolist() == 1


def test_a_finalized_graph_stays_as_it_is(graph) -> None:
    graph.finalize()
    for build in (lambda: tf.constant(1), lambda: graph.add_to_collection("k", 1)):
        with pytest.raises(RuntimeError, match="Graph is finalized"):
            build()
    assert graph.version == 0


def test_conversions_are_asked_by_priority(graph) -> None:
    class Metres:
        pass

    tf.register_tensor_conversion_function(
        Metres, lambda v, dtype=None, name=None, as_ref=False: NotImplemented, 10
    )
    tf.register_tensor_conversion_function(
        Metres, lambda v, dtype=None, name=None, as_ref=False: tf.constant(3.0, dtype)
    )
    assert (tf.convert_to_tensor(Metres())).dtype is tf.float32
    with pytest.raises(TypeError, match="must be callable"):
        tf.register_tensor_conversion_function(Metres, 3)


def test_references_are_keys(graph) -> None:
    a, b = tf.constant(1.0, name="a"), tf.Variable(2.0)
    known = {a.experimental_ref(): "a", b.experimental_ref(): "b"}
    assert known[a.experimental_ref()] == "a"
    assert [r.deref() for r in known] == [a, b]
    assert a.experimental_ref() != b.experimental_ref()
    assert repr(a.experimental_ref()) == (
        "<Reference wrapping <tf.Tensor 'a:0' shape=() dtype=float32>>"
    )
    with pytest.raises(TypeError, match="Cannot compare wrapped object with unwrapped"):
        assert a.experimental_ref() == a


def test_public_names_of_operations_and_tensors(graph) -> None:
    a = tf.constant([1.0, 2.0])
    [line] = a.op.traceback_with_start_lines
    assert line[:4] == a.op.traceback[0]
    assert (
        line[4] == test_public_names_of_operations_and_tensors.__code__.co_firstlineno
    )
    assert {"__add__", "__getitem__", "__rmatmul__"} < tf.Tensor.OVERLOADABLE_OPERATORS
    assert all(hasattr(a, name) for name in ("__add__", "__rtruediv__"))
    sparse = tf.SparseTensor(tf.constant([[0]], tf.int64), a[:1], [1])
    total = tf.sparse.reduce_sum(sparse)
    assert sparse.consumers() == [total.op]
    slices = tf.IndexedSlices(a, tf.constant([0, 1]), tf.constant([2]))
    dense = tf.convert_to_tensor(slices)
    assert slices.consumers()[-1] is dense.op
