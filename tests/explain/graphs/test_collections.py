from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import tfteach as tf
from tfteach.explain import explain_collections
from tfteach.explain.graphs.collections import Collections


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def takers(found: Collections, key: str) -> list[tuple[str, int]]:
    return [(taker.call, len(taking.items)) for taker, taking in found.takers_of(key)]


def kinds() -> list[str]:
    return [problem.kind for problem in explain_collections().problems]


def minimize(loss: tf.Tensor) -> tf.Operation:
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def test_who_fills_a_collection_and_who_takes_from_it() -> None:
    w = tf.get_variable("w", [2])
    for _ in range(2):
        tf.Variable([1.0, 2.0], name="v")
    train = minimize(tf.reduce_sum(w))
    saver = tf.train.Saver()
    assert (train.type, saver is None) == ("NoOp", False)
    found = explain_collections()
    trainable = next(c for c in found.collections if c.key == "trainable_variables")
    assert trainable.name == "tf.GraphKeys.TRAINABLE_VARIABLES"
    made = [(item.name, found.makers[item.maker].call) for item in trainable.items]
    assert made == [
        ("w", "tf.get_variable"), ("v", "tf.Variable"), ("v_1", "tf.Variable")
    ]  # fmt: skip
    assert found.makers[1].line is not None
    assert "tf.Variable([1.0, 2.0]" in found.makers[1].line.text
    assert takers(found, "trainable_variables") == [("tf.train.Optimizer.minimize", 3)]
    assert takers(found, "variables") == [("tf.train.Saver", 3)]
    assert found.problems == ()
    text = str(found)
    assert "tf.get_variable: w\n" in text
    assert "tf.train.Optimizer.minimize: all 3" in text
    assert "and 1 more" in found.to_text(1)


def test_a_collection_of_the_users_own() -> None:
    for i in range(3):
        tf.add_to_collection("mine", tf.constant(1.0, name=f"net/c{i}"))
        tf.get_collection("mine", scope="net")
    tf.get_collection_ref("mine").append("text")
    tf.add_to_collection("mine", 5)
    (mine,) = explain_collections().collections
    found = explain_collections()
    assert (mine.name, len(mine.items)) == ("'mine'", 5)
    calls = [found.makers[item.maker].call for item in mine.items]
    assert calls == [*["tf.add_to_collection"] * 3, "tf.get_collection_ref",
                     "tf.add_to_collection"]  # fmt: skip
    (scoped, taking), _ = found.takers_of("mine")
    assert (scoped.call, taking.scope, taking.lookups) == (
        "tf.get_collection", "net", 3
    )  # fmt: skip
    assert taking.items == (0, 1, 2)
    tf.get_default_graph().clear_collection("mine")
    assert explain_collections().collections == ()


def test_updates_that_nobody_runs() -> None:
    y = tf.layers.batch_normalization(tf.zeros([2, 3]), training=True)
    minimize(tf.reduce_sum(y))
    (problem,) = explain_collections().problems
    assert (problem.kind, len(problem.items)) == ("update_ops", 2)
    assert "nobody looks them up" in problem.text
    assert "tf.control_dependencies" in problem.cure
    assert str(problem).startswith(f"{problem.items[0]}, {problem.items[1]} (line ")
    tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    (problem,) = explain_collections().problems
    assert "no op waits for them" in problem.text


def test_updates_that_training_waits_for() -> None:
    early = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert early == []
    y = tf.layers.batch_normalization(tf.zeros([2, 3]), training=True)
    assert kinds() == []  # nothing trains yet
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        minimize(tf.reduce_sum(y))
    assert kinds() == []


def late_variable() -> None:
    tf.global_variables_initializer()
    tf.Variable(1.0, name="late", trainable=False)


def untrained() -> None:
    minimize(tf.Variable(1.0) * 2.0)
    tf.Variable(1.0, name="late")


def unsaved() -> None:
    tf.Variable(1.0)
    tf.train.Saver()
    tf.Variable(1.0, name="late")


def local_variable() -> None:
    tf.get_local_variable("late", [2])
    tf.global_variables_initializer()


def in_no_collection() -> None:
    tf.Variable(1.0, name="late", collections=[])
    tf.global_variables_initializer()


def unmerged() -> None:
    tf.summary.scalar("a", 1.0)
    tf.summary.merge_all()
    tf.summary.scalar("late", 1.0)


def table() -> None:
    keys, values = tf.constant(["a"]), tf.constant([1], tf.int64)
    pairs = tf.contrib.lookup.KeyValueTensorInitializer(keys, values)
    tf.contrib.lookup.HashTable(pairs, -1, name="late")
    tf.global_variables_initializer()


def regularized() -> None:
    regularizer = tf.contrib.layers.l2_regularizer(0.1)
    w = tf.get_variable("late", [2], regularizer=regularizer)
    minimize(tf.reduce_sum(w))


@pytest.mark.parametrize(
    ("build", "kind", "cure"),
    [
        (late_variable, "late_variables", tf.global_variables_initializer),
        (untrained, "untrained", None),
        (unsaved, "unsaved", None),
        (local_variable, "local_variables", tf.local_variables_initializer),
        (in_no_collection, "no_collection", None),
        (unmerged, "unmerged", tf.summary.merge_all),
        (table, "tables", tf.tables_initializer),
        (regularized, "regularization", None),
    ],
)
def test_what_is_lost(
    build: Callable[[], None], kind: str, cure: Callable[[], object] | None
) -> None:
    build()
    (problem,) = explain_collections().problems
    assert problem.kind == kind
    assert problem.made is not None
    assert "late" in problem.made.text
    assert all(tf.get_default_graph().find_operation(name) for name in problem.items)
    if cure is not None:
        cure()
        assert kinds() == []


def test_regularization_that_the_loss_contains() -> None:
    regularizer = tf.contrib.layers.l2_regularizer(0.1)
    w = tf.get_variable("w", [2], regularizer=regularizer)
    minimize(tf.reduce_sum(w) + tf.losses.get_regularization_loss())
    assert kinds() == []


def test_lookups_in_a_loop_are_one_record(graph: tf.Graph) -> None:
    tf.Variable(1.0)
    for _ in range(100):
        tf.global_variables()
    (lookup,) = graph.lookups.values()
    assert lookup.count == 100
