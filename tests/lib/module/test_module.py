"""`tf.Module` in graphs; in eager programs: tests/golden/eager_calls/module.txt."""

from __future__ import annotations

from typing import Any

import tfteach as tf


class Dense(tf.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        with self.name_scope:
            self.w = tf.Variable(tf.ones([2, size]), name="w")
            self.b = tf.Variable(tf.zeros([size]), name="b", trainable=False)

    @tf.Module.with_name_scope
    def __call__(self, x: Any) -> Any:
        return tf.add(tf.matmul(x, self.w), self.b, name="sum")


def test_a_module_in_a_graph() -> None:
    dense, other = Dense(3), Dense(1)
    assert [v.name for v in dense.variables] == ["dense/b:0", "dense/w:0"]
    assert [v.name for v in dense.trainable_variables] == ["dense/w:0"]
    assert [v.name for v in other.variables] == ["dense_1/b:0", "dense_1/w:0"]
    assert dense(tf.ones([1, 2])).name == "dense/sum:0"
    assert dense(tf.ones([1, 2])).name == "dense/sum_1:0"
    with tf.Session() as session:
        session.run([v.initializer for v in dense.variables])
        assert session.run(dense(tf.ones([1, 2]))).tolist() == [[2.0, 2.0, 2.0]]


def test_a_method_keeps_its_name_and_text() -> None:
    class Documented(tf.Module):
        @tf.Module.with_name_scope
        def go(self) -> None:
            """Go."""

    assert Documented.go.__doc__ == "Go."
    assert Documented.go.__name__ == "go"
