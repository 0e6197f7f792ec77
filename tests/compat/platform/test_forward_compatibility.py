"""Dates of forward compatibility: TensorFlow 1.15.5's horizon is 2019-08-21."""

from __future__ import annotations

import tfteach as tf


def test_dates_before_the_horizon() -> None:
    compatible = tf.compat.forward_compatible
    assert compatible(2019, 8, 20)
    assert not compatible(2019, 8, 21)
    with tf.compat.forward_compatibility_horizon(2020, 1, 5):
        assert compatible(2020, 1, 4)
        assert not compatible(2020, 1, 5)
        with tf.compat.forward_compatibility_horizon(2018, 1, 1):
            assert not compatible(2019, 1, 1)
        assert compatible(2020, 1, 4)
    assert not compatible(2019, 12, 1)
