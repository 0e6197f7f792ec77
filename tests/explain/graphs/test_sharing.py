from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import tfteach as tf
from tfteach.explain.graphs.sharing import explain_sharing


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def net(x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, tf.get_variable("w", [3, 3]))


def careless(x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, tf.Variable(tf.zeros([3, 3]), name="weights"))


def names() -> list[tuple[str, str]]:
    return [(d.first, d.second) for d in explain_sharing().duplicates]


@pytest.mark.parametrize("resource", [False, True])
def test_calls_that_share_one_variable(resource: bool) -> None:
    x = tf.zeros([2, 3])
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE, use_resource=resource):
        net(net(net(x)))
        tf.get_variable("w", [3, 3])
    found = explain_sharing()
    (uses,) = found.variables
    assert (uses.name, uses.value, len(uses.calls)) == ("net/w", "float32 [3,3]", 4)
    assert uses.is_shared
    counts = Counter(call.line.text for call in uses.calls if call.line is not None)
    assert counts == {
        'return tf.matmul(x, tf.get_variable("w", [3, 3]))': 3,
        'tf.get_variable("w", [3, 3])': 1,
    }
    text = str(found)
    assert text.startswith("1 variable, 4 get_variable calls, 1 shared\nnet/w: ")
    assert "shared 2 times by line" in text
    assert found.duplicates == ()


def test_a_second_variable_beside_the_first() -> None:
    careless(careless(tf.zeros([2, 3])))
    found = explain_sharing()
    (duplicate,) = found.duplicates
    assert (duplicate.first, duplicate.second) == ("weights", "weights_1")
    assert duplicate.same_line
    assert 'tf.get_variable("weights", ...)' in duplicate.advice
    assert "reuse=tf.AUTO_REUSE" in duplicate.advice
    assert "weights_1 beside weights, made by the same line" in str(found)


def test_a_scope_of_default_name_made_twice() -> None:
    x = tf.zeros([2, 3])
    for _ in range(2):
        tf.layers.dense(x, 4)
    assert names() == [
        ("dense/kernel", "dense_1/kernel"),
        ("dense/bias", "dense_1/bias"),
    ]
    advice = explain_sharing().duplicates[0].advice
    assert 'name="dense", reuse=tf.AUTO_REUSE' in advice
    assert "on purpose" in advice


def test_what_is_no_mistake() -> None:
    x = tf.zeros([2, 3])
    h = tf.layers.dense(x, 3)
    h = tf.layers.dense(h, 3)  # another line: another layer
    tf.Variable(tf.zeros([3]), name="v")
    tf.Variable(tf.zeros([4]), name="v")  # another shape
    loss = tf.reduce_sum(h)
    tf.train.AdamOptimizer().minimize(loss)  # has slots Adam and Adam_1
    assert names() == []


def test_a_graph_of_nothing(graph: tf.Graph) -> None:
    assert str(explain_sharing(graph)) == "0 variables, 0 get_variable calls, 0 shared"
