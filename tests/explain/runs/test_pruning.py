from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.explain.building.growth import watch_growth
from tfteach.explain.runs.pruning import explain_run


@pytest.fixture
def graph() -> tf.Graph:
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        b = tf.add(a, a, name="b")
        tf.add(b, a, name="c")
        tf.add(b, b, name="spare")
    return graph


def test_every_op_gets_a_reason(graph: tf.Graph) -> None:
    found = explain_run(graph, "c:0")
    assert [op.name for op in found.needed] == ["a", "b", "c"]
    texts = {r.op.name: r.text for r in found.reasons}
    assert texts == {
        "a": "c needs it",
        "b": "c needs it",
        "c": "fetched",
        "spare": "nothing reads it, and it is not fetched",
    }


def test_a_fed_tensor_is_the_reason(graph: tf.Graph) -> None:
    found = explain_run(graph, ["spare"], feeds=["b"])
    texts = {r.op.name: r.text for r in found.reasons}
    assert texts["b"] == "b:0 is fed instead"
    assert texts["a"] == "only a fed tensor would have needed it"
    assert texts["c"] == "nothing reads it, and it is not fetched"
    assert str(found).startswith("1 of 4 ops run\n")


def test_unknown_names_are_errors(graph: tf.Graph) -> None:
    with pytest.raises(KeyError, match="nowhere"):
        explain_run(graph, "nowhere:0")


def test_growth_tells_lazy_loading() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.constant(1.0)
        with watch_growth(graph) as growth:
            y = tf.add(x, x)
            session.run(y)
            for _ in range(3):
                session.run(tf.add(x, y))
        tf.add(x, x)  # no longer watched
    assert growth.runs == 4
    assert growth.added_while_running == 3
    assert [len(step.ops) for step in growth.steps] == [1, 1, 1, 1, 0]
    assert "session.run(tf.add(x, y))" in str(growth)


def test_growth_praises_a_graph_that_stays() -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session, watch_growth(graph) as growth:
        y = tf.constant(1.0)
        for _ in range(3):
            session.run(y)
    assert growth.added_while_running == 0
    assert "No op was added after the first run." in str(growth)
