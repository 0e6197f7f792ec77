"""Nested structures: which containers are traversed."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import tfteach as tf
from tfteach.framework import nest


def test_views_of_dicts_and_ranges_are_walked_into() -> None:
    with tf.Graph().as_default():
        weights = {"w": tf.Variable([2.0]), "b": tf.Variable([3.0])}
        train = tf.train.GradientDescentOptimizer(1.0).minimize(
            tf.reduce_sum(weights["w"] * weights["b"]), var_list=weights.values()
        )
        group = tf.group(weights["w"].op, {train: 1}.keys())
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(group)
            values = sess.run(list(weights.values()))
            assert [float(v[0]) for v in values] == [-1.0, 1.0]
    assert nest.map_structure(lambda n: n + 1, range(2)) == [1, 2]
    assert nest.map_structure(lambda n: n + 1, {"b": 1, "a": 2}.values()) == [2, 3]


class Point:
    """As attrs makes classes: the constructor's name of `_x` is `x`."""

    Field = namedtuple("Field", "name")
    __attrs_attrs__ = (Field("_x"), Field("y"))

    def __init__(self, x: Any, y: Any) -> None:
        self._x, self.y = x, y


def test_attrs_classes_are_constructed_by_position() -> None:
    moved = nest.map_structure(lambda v: v + 1, Point(1, [2, 3]))
    assert (moved._x, moved.y) == (2, [3, 4])
    with tf.Session() as session:
        fetched = session.run([Point(tf.constant(1), {"z": tf.constant(2)})])[0]
    assert type(fetched) is Point
    assert (fetched._x, fetched.y) == (1, {"z": 2})
