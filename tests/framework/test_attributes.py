"""What callers write for attributes and names, by TensorFlow's rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf

MISTAKES = [
    (lambda: tf.reduce_sum([1.0], 0, keepdims=1), "Expected bool for argument 'keep_"),
    (lambda: tf.reduce_sum([1.0], 0, keepdims=np.True_), "Expected bool for argument"),
    (lambda: tf.cumsum([1.0], reverse=tf.constant(True)), "Expected bool for argument"),
    (lambda: tf.nn.lrn(tf.ones([1, 1, 1, 1]), "5"), "Expected int for argument 'depth"),
    (lambda: tf.nn.lrn(tf.ones([1, 1, 1, 1]), bias="1"), "Expected float for argument"),
    (lambda: tf.strings.length(["a"], unit=3), "Expected string for argument 'unit'"),
    (lambda: tf.argmax([1], output_type=3.5), "Expected DataType for argument 'out"),
    (lambda: tf.unique([1], out_idx=int), "Expected DataType for argument 'out_idx'"),
    (lambda: tf.nn.fractional_max_pool(tf.ones([1] * 4), 3.0), "Expected list for"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_an_attribute_of_the_wrong_kind_is_a_type_error(
    call: Any, message: str
) -> None:
    tf.reduce_sum([1.0], 0, keepdims=True)  # 1 equals True: it must not stand for it
    with pytest.raises(TypeError, match=f"^{message}"):
        call()


def test_attributes_are_converted_as_tensorflow_does() -> None:
    assert tf.nn.lrn(tf.ones([1, 1, 1, 1]), 2.9).op.get_attr("depth_radius") == 2
    assert tf.reduce_sum([1.0], 0, keepdims=None).op.get_attr("keep_dims") is False
    assert tf.strings.length(["a"], unit=b"BYTE").op.get_attr("unit") == b"BYTE"


def test_inputs_are_checked_before_the_values_of_attributes() -> None:
    with pytest.raises(TypeError, match="has DataType string not in list"):
        tf.nn.conv2d([["a"]], ["b"], [1, 1, 1, 1], "FULL")


NAMES = [
    (3, TypeError, "expected string or bytes-like object"),
    (["n"], TypeError, "expected string or bytes-like object"),
    (np.array("n"), TypeError, "expected string or bytes-like object"),
    ("", ValueError, "'' is not a valid node name"),
    (0, ValueError, "'' is not a valid node name"),
    (False, ValueError, "'' is not a valid node name"),
    ([], ValueError, "'' is not a valid node name"),
    ("a\\b", ValueError, "is not a valid scope name"),
]


@pytest.mark.parametrize(("name", "error", "message"), NAMES)
@pytest.mark.parametrize("value", [[1.0], tf.ones([2])])
def test_wrong_names_are_refused_in_the_words_of_tensorflow(
    value: Any, name: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tf.nn.relu(value, name=name)


def test_a_name_in_bytes_is_a_name() -> None:
    with tf.Graph().as_default():
        assert tf.nn.relu([1.0], name=b"n").op.name == "n"
        assert tf.constant(1.0, name=b"c").op.name == "c"
        with tf.name_scope(b"scope") as scope:
            assert scope == "scope/"


@pytest.mark.parametrize("name", [[], 0, False])
def test_a_false_name_goes_back_to_the_top_scope(name: Any) -> None:
    with tf.Graph().as_default(), tf.name_scope("a"), tf.name_scope(name) as scope:
        assert scope == ""


def test_the_inputs_of_a_node_without_a_name_are_checked_first() -> None:
    with pytest.raises(TypeError, match="has DataType int32 not in list"):
        tf.sqrt(tf.constant(1), name="")


def test_a_collection_that_does_not_exist_has_nothing_in_any_scope() -> None:
    assert tf.Graph().get_collection("nothing", scope=3) == []  # type: ignore[arg-type]
