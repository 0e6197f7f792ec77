"""Lists of integers as sizes and axes: converted at once, and refused as any other."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eager_program
from tfteach.ops.math.add_n import AddN


@pytest.mark.parametrize(
    ("sizes", "shape"), [([2, -1], (2, 2)), ((4, 1), (4, 1)), ([True, 4], (1, 4))]
)
def test_sizes(sizes: Any, shape: tuple[int, ...]) -> None:
    with eager_program():
        assert tf.reshape(tf.ones([4]), sizes).numpy().shape == shape
        assert tf.reduce_sum(tf.ones([4]), []).numpy().shape == (4,)


@pytest.mark.parametrize("size", [2**31, -(2**31)])
def test_sizes_wrap_around(size: int) -> None:
    wrong = "Size 0 must be non-negative, not -2147483648"
    with eager_program(), pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
        tf.reshape(tf.ones([4]), [size])


def test_lists_of_integers_get_a_type_that_holds_them() -> None:
    with eager_program():
        assert tf.constant([1, 2**31 - 1]).dtype == tf.int32
        assert tf.constant([1, 2**31]).dtype == tf.int64
        assert tf.constant([]).dtype == tf.float32
        assert tf.constant([True, False]).dtype == tf.bool


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_op_remembers_the_kernel_of_the_last_types_only(count: int) -> None:
    def call(dtype: Any) -> Any:
        given = [tf.constant([1, 2], dtype)] * count
        if count == 3:
            return tf.where(tf.constant([True, False]), *given[1:])
        return tf.negative(*given) if count == 1 else tf.add(*given)

    first = {1: -1, 2: 2, 3: 1}[count]
    with eager_program():
        for dtype in (tf.float32, tf.int32, tf.int32, tf.float64, tf.float32):
            found = call(dtype)
            assert (found.dtype, found.numpy()[0]) == (dtype, first)
            assert found.numpy().dtype == dtype.as_numpy_dtype


def test_a_pair_of_types_does_not_stay() -> None:
    with eager_program():
        for dtype in (tf.float32, tf.int32, tf.float64, tf.float32):
            two = tf.constant(2, dtype)
            found = tf.add(two, two)
            assert (found.dtype, found.numpy()) == (dtype, 4)
        with pytest.raises(tf.errors.InvalidArgumentError, match="a float tensor"):
            tf.add(two, tf.constant(2, tf.int32))


def test_variables_of_equal_zeros_have_their_own_values() -> None:
    with eager_program():
        a, b = tf.Variable(tf.zeros([3])), tf.Variable(tf.zeros([3]))
        a.assign_add([1.0, 2.0, 3.0])
        b.scatter_update(tf.IndexedSlices([5.0], [1]))
        assert a.numpy().tolist() == [1.0, 2.0, 3.0]
        assert b.numpy().tolist() == [0.0, 5.0, 0.0]
        assert tf.zeros([3]).numpy().tolist() == [0.0, 0.0, 0.0]
        assert tf.ones([], tf.int64).numpy() == 1
        assert tf.zeros([1], tf.bool).numpy().tolist() == [False]
        with pytest.raises(TypeError, match="EagerTensor of dtype resource"):
            tf.zeros([1], tf.resource)


def test_a_kernel_may_ask_which_call_it_is_of() -> None:
    with eager_program():
        dataset = tf.data.Dataset.range(3)
        assert [int(x) for x in dataset] == [0, 1, 2]
        tf.set_random_seed(1)
        first = tf.random.uniform([2]).numpy().tolist()
        assert first != tf.random.uniform([2]).numpy().tolist()


def test_two_tensors_are_no_list_of_two_even_if_the_kernel_is_known() -> None:
    op = AddN()
    with eager_program():
        one = tf.constant([1.0])
        for _ in range(2):
            assert op([one, one]).numpy().tolist() == [2.0]
            with pytest.raises((ValueError, TypeError)):
                op(one, one)
