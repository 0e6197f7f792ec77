"""Functions of lists of tensors; test_control_flow_v2.py compares their graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.control import list_ops as ops


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (None, -1),
        (tf.TensorShape(None), -1),
        ([2], [2]),
        ([None, 3], [-1, 3]),
        (tf.TensorShape([2, None]), [2, -1]),
        (np.array(-1), -1),
    ],
)
def test_shapes_of_elements(shape: Any, expected: Any) -> None:
    with tf.Graph().as_default() as graph:
        assert ops.build_element_shape(shape) == expected
        assert graph.get_operations() == []


def test_tensors_in_shapes_of_elements() -> None:
    with tf.Graph().as_default():
        size = tf.constant(2)
        assert ops.build_element_shape([size, None]) == [size, -1]
        assert ops.build_element_shape(size) is size
        scalar = ops.build_element_shape([])
        assert scalar.dtype is tf.int32
        assert scalar.shape.as_list() == [0]


@pytest.mark.parametrize(("index", "length"), [(1, 3), (3, 4), (6, 7)])
def test_an_item_beyond_the_end_resizes_the_list(index: int, length: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = ops.tensor_list_reserve([], 3, tf.float32)
        handle = ops.tensor_list_set_item(
            handle, index, 5.0, resize_if_index_out_of_bounds=True
        )
        found = session.run(ops.tensor_list_stack(handle, tf.float32))
        expected = np.zeros(length)
        expected[index] = 5.0
        assert found.tolist() == expected.tolist()


def test_the_last_item() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = ops.tensor_list_from_tensor([1.0, 2.0], [])
        rest, last = ops.tensor_list_pop_back(handle, tf.float32)
        left = ops.tensor_list_stack(rest, tf.float32)
        assert [value.tolist() for value in session.run([left, last])] == [[1.0], 2.0]
