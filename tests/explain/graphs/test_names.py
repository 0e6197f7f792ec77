from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import tfteach as tf
from tfteach.explain import explain_name, explain_sharing


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def parts(element: object) -> list[tuple[str, str, str]]:
    return [(p.text, p.kind, p.asked) for p in explain_name(element).parts]


def test_a_scope_that_is_entered_twice() -> None:
    for _ in range(2):
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE), tf.name_scope("inner"):
            w = tf.get_variable("w", [])
            y = tf.identity(w, name="y")
    assert parts(y) == [
        ("net_1", "variable_scope", "net"),
        ("inner", "name_scope", "inner"),
        ("y", "own", "y"),
    ]
    found = explain_name(w)
    assert found.is_variable
    assert [part.text for part in found.parts] == ["net", "w"]
    assert [part.text for part in found.beside] == ["net", "inner"]
    assert found.parts[0].line is not None
    assert "tf.variable_scope" in found.parts[0].line.text
    text = str(explain_name("net_1/inner/y"))
    assert '  net_1: tf.variable_scope("net"), line' in text
    assert '"net" was taken' in text
    first, second = explain_sharing().variables[0].calls
    assert (first.name_scope, second.name_scope) == ("net/inner", "net_1/inner")
    assert (first.ops, second.ops) == (("net/inner/y",), ("net_1/inner/y",))


def test_names_with_slashes_default_names_and_scopes_reopened(graph: tf.Graph) -> None:
    with tf.variable_scope("a/b") as scope:
        u = tf.get_variable("u", [])
    with tf.name_scope("outer"), tf.variable_scope(scope):
        y = tf.constant(1.0, name="y")
        v = tf.get_variable("v", [])
    assert parts(u) == [("a/b", "variable_scope", "a/b"), ("u", "own", "u")]
    assert [part[0] for part in parts(v)] == ["a/b", "v"]
    assert parts(y)[:2] == [
        ("outer", "name_scope", "outer"), ("b", "variable_scope", "b")
    ]  # fmt: skip
    for _ in range(2):
        with tf.variable_scope(None, default_name="unit"):
            w = tf.get_variable("w", [])
    assert parts(w) == [("unit_1", "variable_scope", "unit"), ("w", "own", "w")]
    with graph.name_scope("mine"):
        assert parts(tf.constant(1.0, name="c"))[0] == ("mine", "name_scope", "mine")


def test_scopes_of_library_functions() -> None:
    with tf.name_scope("x"), ExitStack() as stack:
        stack.enter_context(tf.name_scope("y"))
        h = tf.layers.dense(tf.zeros([2, 3]), 4, name="d")
    kinds = [part[1] for part in parts(h)]
    assert kinds == ["name_scope", "name_scope", "function", "own"]
    (kernel, _) = explain_sharing().variables
    (call,) = kernel.calls
    assert (call.call, call.place, call.name_scope, call.variable_scope) == (
        "tf.layers.dense", "x/y", "x/y/d", "d"
    )  # fmt: skip
    assert parts("d/kernel") == [("d", "function", "d"), ("kernel", "own", "kernel")]
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(h))
    slot = next(v for v in explain_sharing().variables if v.name == "d/kernel/Adam")
    assert (slot.calls[0].call, slot.calls[0].place) == (
        "tf.train.Optimizer.minimize", ""
    )  # fmt: skip


def test_an_unknown_name(graph: tf.Graph) -> None:
    with pytest.raises(KeyError, match="nothing"):
        explain_name("nothing", graph)


def test_a_scope_opened_again_and_again_is_one_record(graph: tf.Graph) -> None:
    for _ in range(100):
        with tf.name_scope("same/"):
            pass
    assert len(graph.opened_scopes) == 1
