"""Python's control flow in layers of the program; values as TensorFlow 1.15.5's."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eager_program


class Signed(tf.layers.Layer):
    def call(self, inputs: Any) -> Any:
        if tf.reduce_sum(inputs) > 0:
            return inputs
        return -inputs


class Doubled(tf.layers.Layer):
    def call(self, inputs: Any, limit: float = 10.0) -> Any:
        while tf.reduce_sum(inputs) < limit:
            inputs *= 2.0
        return inputs


def test_in_a_graph() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [2])
        outputs = [Signed()(fed), Doubled()(fed), Doubled()(fed, limit=30.0)]
        found = [list(map(float, x)) for x in session.run(outputs, {fed: [1.0, 2.0]})]
        assert found == [[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]]
        assert session.run(outputs[0], {fed: [1.0, -2.0]}).tolist() == [-1.0, 2.0]
        assert outputs[0].name == "signed/cond/Merge_1:0"


def test_in_a_function() -> None:
    with eager_program():
        layer = Signed()
        traced = tf.function(lambda x: layer(x))
        for value in 1.0, -1.0:
            assert traced(tf.constant(value)).numpy() == 1.0
            assert layer(tf.constant(value)).numpy() == 1.0
        unconverted = tf.function(lambda x: layer(x), autograph=False)
        with pytest.raises(TypeError, match="AutoGraph is disabled in this function"):
            unconverted(tf.constant(1.0))
