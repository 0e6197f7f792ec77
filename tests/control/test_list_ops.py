"""Functions of lists of tensors; test_control_flow_v2.py compares their graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.control import list_ops as ops
from tfteach.ops.state.tensor_list_gather_scatter import TensorListConcatV2
from tfteach.ops.state.tensor_list_ops import TensorListPushBack

FLOAT = tf.float32


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


def pushed(*values: Any) -> Any:
    found = ops.empty_tensor_list(None, FLOAT)
    for value in values:
        found = TensorListPushBack()(found, value)
    return found


def unset(shape: Any = None, count: int = 2) -> Any:
    return ops.tensor_list_reserve(shape, count, FLOAT)


def hidden(value: Any, dtype: Any = None) -> Any:
    """A tensor whose shape and value are unknown before the run."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


REFUSED: list[tuple[Any, str]] = [
    (
        lambda: ops.tensor_list_stack(pushed(1.0, [1.0, 2.0]), FLOAT),
        "Incompatible ranks during merge: 0 vs. 1",
    ),
    (
        lambda: ops.tensor_list_gather(pushed(1.0, [1.0, 2.0]), [0, 1], FLOAT),
        "Incompatible ranks during merge: 0 vs. 1",
    ),
    (
        lambda: ops.tensor_list_gather(unset(), [0], FLOAT),
        "Tried to gather uninitialized tensors from a list with non-fully-defined "
        "element_shape: <unknown>",
    ),
    (
        lambda: ops.tensor_list_gather(unset(count=0), [], FLOAT),
        "Tried to gather 0-elements from a list with non-fully-defined shape: "
        "<unknown>",
    ),
    (
        lambda: ops.tensor_list_concat(pushed([[1.0, 2.0]], [[1.0]]), FLOAT),
        r"Incompatible shapes during merge: \[2\] vs. \[1\]",
    ),
    (
        lambda: ops.tensor_list_concat(pushed([1.0], 2.0), FLOAT),
        "Concat saw a scalar shape at index 1 but requires at least vectors.",
    ),
    (
        lambda: ops.tensor_list_concat(unset([]), FLOAT),
        "Concat requires elements to be at least vectors, found scalars instead.",
    ),
    (
        lambda: ops.tensor_list_concat(unset(), FLOAT, [None, None]),
        "Trying to concat list with only uninitialized tensors but "
        r"element_shape_except_first_dim_ is not fully defined: \[\?\]",
    ),
    (
        lambda: ops.tensor_list_concat(unset(), FLOAT, [None, 3]),
        "List contains uninitialized tensor at index 0 but leading_dims has only 0 "
        "elements.",
    ),
    (
        lambda: ops.tensor_list_scatter([1.0, 2.0], [1, 0, 2], []),
        "Invalid number of rows in input tensor. Expected: 3 Actual: 2",
    ),
    (
        lambda: ops.tensor_list_scatter([1.0, 2.0], [0, 1], [2]),
        r"Specified a list with shape \[2\] from a tensor with shape \[\]",
    ),
    (
        lambda: ops.tensor_list_split([1.0, 2.0], [None], [1, -1]),
        "Invalid value in lengths: -1",
    ),
    (
        lambda: ops.tensor_list_split([1.0, 2.0], [None], [1, 2]),
        r"Attempting to slice \[1, 3\] from tensor with length 2",
    ),
    (
        lambda: ops.tensor_list_split([1.0, 2.0], [None], [1]),
        "Unused values in tensor. Length of tensor: 2 Values used: 1",
    ),
    (
        lambda: ops.tensor_list_split(hidden([1.0]), [None], hidden(1, tf.int64)),
        r"Expected lengths to be a vector, received shape: \[\]",
    ),
    (
        lambda: ops.tensor_list_split(hidden([1.0]), hidden([], tf.int32), [1]),
        "TensorListSplit requires element_shape to be at least of rank 1, but saw: ",
    ),
    (
        lambda: ops.tensor_list_split(hidden([[1.0, 2.0]]), hidden([-1, 3]), [1]),
        r"tensor shape \[1,2\] is not compatible with element_shape \[\?,3\]",
    ),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_a_run_fails_in_tensorflows_words(build: Any, message: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = build()
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(found)


@pytest.mark.parametrize(
    ("handle", "shape", "first_sizes", "lengths"),
    [
        (lambda: unset([None, 3], 3), [None, 3], [2, 3, 5], [2, 3, 5]),
        (lambda: unset([2, 3]), None, [], [2, 2]),
        (
            lambda: ops.tensor_list_set_item(unset(), 0, [[1.0, 2.0, 3.0]]),
            None,
            [7, 2],
            [1, 2],
        ),
    ],
)
def test_elements_that_are_not_set_are_joined_as_zeros(
    handle: Any, shape: Any, first_sizes: list[int], lengths: list[int]
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sizes = tf.constant(first_sizes, tf.int64)
        join = TensorListConcatV2(FLOAT)
        found = join(handle(), ops.build_element_shape(shape), sizes)
        joined, found_lengths = session.run(found)
        assert found_lengths.tolist() == lengths
        assert joined.shape == (sum(lengths), 3)
        assert joined[1:].tolist() == np.zeros((sum(lengths) - 1, 3)).tolist()
