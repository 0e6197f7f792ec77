"""Wrappers of recurrent cells."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import tfteach as tf

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Passing(tf.nn.rnn_cell.RNNCell):
    """A cell that returns its inputs and its state."""

    state_size: ClassVar[dict[str, Any]] = {"b": [1, 1], "a": 1}
    output_size = 1

    def call(self, inputs: Any, state: Any) -> Any:
        return inputs, state


def test_a_filter_of_dropout_sees_each_part_of_a_dict_under_its_key() -> None:
    cell = tf.nn.rnn_cell.DropoutWrapper(
        Passing(),
        state_keep_prob=0.5,
        dropout_state_filter_visitor=lambda part: not isinstance(part, list),
    )
    state = {"b": [tf.ones([1, 1]), tf.ones([1, 1])], "a": tf.ones([1, 1])}
    _, found = cell(tf.ones([1, 1]), state)
    assert found["b"][0] is state["b"][0]
    assert found["b"][1] is state["b"][1]
    assert found["a"] is not state["a"]
