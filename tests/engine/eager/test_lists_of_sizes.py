"""Lists of integers as sizes and axes: converted at once, and refused as any other."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eager_program


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


def test_a_pair_of_types_does_not_stay() -> None:
    with eager_program():
        for dtype in (tf.float32, tf.int32, tf.float64, tf.float32):
            two = tf.constant(2, dtype)
            found = tf.add(two, two)
            assert (found.dtype, found.numpy()) == (dtype, 4)
        with pytest.raises(tf.errors.InvalidArgumentError, match="a float tensor"):
            tf.add(two, tf.constant(2, tf.int32))
