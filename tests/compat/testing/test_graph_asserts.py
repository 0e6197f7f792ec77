"""Assertions on graphs; the messages are TensorFlow's."""

from __future__ import annotations

import re

import pytest

import tfteach as tf
from tfteach.compat.testing.graph_asserts import assert_ops_in_graph


def test_ops_of_a_graph_are_found_by_name_and_type() -> None:
    with tf.Graph().as_default() as graph:
        tf.no_op(name="a")
        tf.no_op(name="b")
    found = assert_ops_in_graph({"a": "NoOp"}, graph)
    assert {name: node.op for name, node in found.items()} == {"a": "NoOp"}
    message = "Expected op for node a is different. X vs NoOp"
    with pytest.raises(ValueError, match=re.escape(message)):
        assert_ops_in_graph({"a": "X"}, graph)
    message = "Expected dict_keys(['c']), found dict_keys([])"
    with pytest.raises(ValueError, match=re.escape(message)):
        assert_ops_in_graph({"c": "NoOp"}, graph)
